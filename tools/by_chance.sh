# shellcheck shell=bash disable=SC2154
# tools/test sources this file. A test with real servers waits in real time, and a machine that is shared stands still at
# times. A suite in which a check did not hold is run three times more, by itself. If each case that had failed passes each
# time, it has failed by chance: the sum counts the suite as passed, and the end names its cases. Such a case is a defect
# of the test, or of the library, that has still to be found; it does not keep back the work of others meanwhile.

# Of each case that failed by chance: its suite and its name.
by_chance=()
# How many suites were run again, and for how many seconds; more than two failures in a run are no chance.
again_suites=0 again_took=0
again_seconds=${CUSTODIAN_TEST_AGAIN_SECONDS:-900}

# may_be_chance <label> <suite> <outcome>: whether a failure can be one of chance, and there is time to find out
may_be_chance() {
  local ran=$results/$1.$2 seconds
  [[ $1 =~ ^(integration|programs|interop)$ && $3 == *'***Failed'* ]] || return 1
  # These draw their faults at random, and check promises that no machine breaks by standing still.
  [[ ! $2 =~ ^(additions|parties|crowds|moving|cut_storm|deadlocks)$ ]] || return 1
  seconds=$(sed -nE 's/.*[^0-9]([0-9]+)[.][0-9]+ sec.*/\1/p' <<<"$3")
  ((again_suites < 2 && again_took + 3 * ${seconds:-0} <= again_seconds)) || return 1
  # Each case has ended, and one of them has failed.
  [[ -e $ran ]] || return 1
  awk -F '\t' '{ n[$1]++ } END { exit !(n["failed"] && n["started"] == n["passed"] + n["failed"] + n["skipped"]) }' "$ran" ||
    return 1
  # The log has the output of the other suites that failed, too: what is found in any of them counts.
  ! grep -qE '(Address|Thread|Leak)Sanitizer|UndefinedBehavior|runtime error:|signal [0-9]|terminate called|Assertion .* failed|(134|136|139) ==' \
    "$results/$1.log"
}

# passes_alone <label> <suite>: runs it three times; its results are those of the last time
passes_alone() {
  local again=$results/again began=$SECONDS failed case passes=yes
  mapfile -t failed < <(sed -n 's/^failed\t//p' "$results/$1.$2")
  again_suites=$((again_suites + 1))
  for _ in 1 2 3; do
    printf '\n%s has failed: again, by itself\n' "$2"
    rm -rf "$again"
    mkdir "$again"
    CUSTODIAN_TEST_RESULTS=$again "${without_randomisation[@]}" ctest --preset "$preset" --tests-regex "^$2\$" || passes=no
    for case in "${failed[@]}"; do
      grep -qxF $'passed\t'"$case" "$again/$1.$2" || passes=no
    done
    if [[ $passes == no ]]; then break; fi
  done
  again_took=$((again_took + SECONDS - began))
  [[ $passes == yes ]] || return 1
  by_chance+=("${failed[@]/#/$2: }")
  mv "$again/$1.$2" "$results/$1.$2"
}
