# shellcheck shell=bash disable=SC2154
# tools/test sources this file. A test with real servers waits in real time, and a machine that is shared stands still at
# times. An entry in which a check did not hold is run three times more, by itself. If it passes each time, it has failed
# by chance: the sum counts it as passed, and the end names it with its case. Such a case is a defect of the test, or of
# the library, that has still to be found; it does not keep back the work of others meanwhile.

# Of each entry that failed by chance: its name, and the case.
by_chance=()

# may_be_chance <label> <entry> <outcome>: whether a failure can be one of chance. It is none without a server, if the
# program did not end by itself, if a sanitizer reports anything, or if entries failed by chance twice before.
may_be_chance() {
  [[ $1 =~ ^(integration|programs|interop|chaos)$ && $3 == *'***Failed'* ]] || return 1
  ((${#by_chance[@]} < 2)) || return 1
  grep -qs '^failed' "$results/$1.$2" || return 1
  # Only the entries that ran beside this one have their output in the log, too.
  ! grep -qE '(Address|Thread|Leak)Sanitizer|UndefinedBehavior|runtime error:' "$results/$1.log"
}

# passes_alone <label> <entry>: runs it three times; its results are those of the last time
passes_alone() {
  local again=$results/again
  for _ in 1 2 3; do
    printf '\n%s has failed: again, by itself\n' "$2"
    rm -rf "$again"
    mkdir "$again"
    CUSTODIAN_TEST_RESULTS=$again "${without_randomisation[@]}" ctest --preset "$preset" --tests-regex "^$2\$" || return 1
  done
  by_chance+=("$2: $(sed -n 's/^failed\t//p' "$results/$1.$2" | head -n 1)")
  mv "$again/$1.$2" "$results/$1.$2"
}
