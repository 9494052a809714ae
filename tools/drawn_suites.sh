# shellcheck shell=bash
# .ci/run and tools/test source this file. A suite of integration takes a sanitizer as long as a release build, so each
# suite is given to one of the two: a seed decides to which.

# drawn_suites <asan|tsan> <seed>: prints the suites of integration that the sanitizer is given, a line each
drawn_suites() {
  local names place owner
  mapfile -t names < <(sed -n 's/^ *custodian_add_suite(\([a-z_]*\) integration$/\1/p' tests/integration/CMakeLists.txt |
    while read -r name; do
      printf '%s %s\n' "$(cksum <<<"$2 $name" | cut -d ' ' -f 1)" "$name"
    done | sort -n | cut -d ' ' -f 2)
  for place in "${!names[@]}"; do
    owner=asan
    # ThreadSanitizer has no new_servers: tests/integration/CMakeLists.txt says why.
    if ((place % 2 == 1)) && [[ ${names[place]} != new_servers ]]; then owner=tsan; fi
    if [[ $owner == "$1" ]]; then printf '%s\n' "${names[place]}"; fi
  done
}
