#!/usr/bin/env bash
# shellcheck disable=SC2317
# When tools/test takes a failure for one of chance: with a ctest that is played here.
set -euo pipefail
cd "$(dirname "$0")/../.."
# The time for more runs is what it is by default, whatever the run that this test is a part of was given.
unset CUSTODIAN_TEST_AGAIN_SECONDS
# shellcheck source=tools/by_chance.sh
source tools/by_chance.sh

# What tools/by_chance.sh is given by tools/test.
# shellcheck disable=SC2034
preset=release without_randomisation=()
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

failures=0
# expect <sentence> <command>...: the command must succeed
expect() {
  if "${@:2}"; then return; fi
  echo "FAILED: $1"
  failures=1
}
not() { ! "$@"; }
same() { [[ $1 == "$2" ]]; }

# What becomes of the case "one" in the runs to come, in their order, while "another" passes.
runs=()
ctest() {
  local outcome=${runs[0]}
  runs=("${runs[@]:1}")
  printf 'started\tone\n%s\tone\nstarted\tanother\npassed\tanother\n' "$outcome" >>"$CUSTODIAN_TEST_RESULTS/integration.client"
  [[ $outcome != failed ]]
}
# client_has_run <line>...: these are the lines of its results, and nothing is known of any run before
client_has_run() {
  again_suites=0 again_took=0 by_chance=()
  printf '%b\n' "$@" | tee "$results/integration.client" >"$results/unit.client"
  echo 'the log' | tee "$results/integration.log" >"$results/unit.log"
}
client_has_failed() { client_has_run 'started\tone' 'failed\tone' 'started\tanother' 'passed\tanother'; }
after_3_s='***Failed    3.00 sec'

client_has_failed
expect "a check of a test with servers may fail by chance" may_be_chance integration client "$after_3_s"
expect "a test without a server fails for a reason" not may_be_chance unit client "$after_3_s"
expect "what draws its faults at random fails for a reason" not may_be_chance integration crowds "$after_3_s"
expect "a process that dies has a reason" not may_be_chance integration client '***Exception: SegFault  3.00 sec'
expect "what passes is left alone" not may_be_chance integration client 'Passed    3.00 sec'
expect "there must be time for three runs" not may_be_chance integration client '***Failed  301.00 sec'
expect "time is not needed for more than three runs" may_be_chance integration client '***Failed  299.99 sec'
expect "a suite that has left no results fails for a reason" not may_be_chance integration others "$after_3_s"
for report in 'WARNING: ThreadSanitizer: data race' 'w3 has ended: signal 6' '139 == 0'; do
  client_has_failed
  echo "$report" >>"$results/integration.log"
  expect "'$report' has a reason" not may_be_chance integration client "$after_3_s"
done
client_has_run 'started\tone' 'failed\tone' 'started\tanother'
expect "a process that ends within a case has a reason" not may_be_chance integration client "$after_3_s"
client_has_run 'started\tone' 'passed\tone'
expect "a process that fails behind its cases has a reason" not may_be_chance integration client "$after_3_s"

for last in failed skipped; do
  client_has_failed
  runs=(passed passed "$last")
  expect "the case must pass each time, and not be $last" not passes_alone integration client >/dev/null
  expect "all three runs were made" same "${#runs[@]}" 0
  expect "nothing is called chance then" same "${#by_chance[@]}" 0
  expect "the first results stay then" grep -q 'failed.one' "$results/integration.client"
done

client_has_failed
runs=(passed passed passed)
expect "one that passes three times has failed by chance" passes_alone integration client >/dev/null
expect "it is named with its case" same "${by_chance[0]-}" "client: one"
expect "the results are those of one run" same "$(wc -l <"$results/integration.client")" 4
expect "no failure is among them" not grep -q failed "$results/integration.client"

printf '%b\n' 'started\tone' 'failed\tone' >"$results/integration.client"
expect "a second suite may be chance, too" may_be_chance integration client "$after_3_s"
runs=(failed)
expect "the first failure ends it" not passes_alone integration client >/dev/null
expect "a third suite is no chance, whatever became of the two" not may_be_chance integration client "$after_3_s"
exit "$failures"
