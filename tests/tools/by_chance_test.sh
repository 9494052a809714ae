#!/usr/bin/env bash
# shellcheck disable=SC2317
# When tools/test takes a failure for one of chance: with a ctest that is played here.
set -euo pipefail
cd "$(dirname "$0")/../.."
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

# The outcomes of the runs to come, in their order; an entry that runs has two cases.
runs=()
ctest() {
  local outcome=${runs[0]}
  runs=("${runs[@]:1}")
  printf 'passed\tone\n%s\tanother\n' "$outcome" >>"$CUSTODIAN_TEST_RESULTS/integration.client"
  [[ $outcome == passed ]]
}
client_has_failed() {
  printf 'started\tone\nfailed\tone\nstarted\tanother\npassed\tanother\n' >"$results/integration.client"
  echo 'the log' >"$results/integration.log"
  cp "$results/integration.client" "$results/unit.client"
  cp "$results/integration.log" "$results/unit.log"
}

client_has_failed
expect "a check of a test with servers may fail by chance" may_be_chance integration client '***Failed    3.00 sec'
expect "a test without a server fails for a reason" not may_be_chance unit client '***Failed    3.00 sec'
expect "a process that dies has a reason" not may_be_chance integration client '***Exception: SegFault  3.00 sec'
expect "what passes is left alone" not may_be_chance integration client 'Passed    3.00 sec'
echo 'WARNING: ThreadSanitizer: data race' >>"$results/integration.log"
expect "a sanitizer's report has a reason" not may_be_chance integration client '***Failed    3.00 sec'
client_has_failed
echo 'started	one' >"$results/integration.client"
expect "a process that ends within a case has a reason" not may_be_chance integration client '***Failed    3.00 sec'

client_has_failed
runs=(passed passed failed)
expect "it must pass each time" not passes_alone integration client >/dev/null
expect "all three runs were made" same "${#runs[@]}" 0
expect "nothing is called chance then" same "${#by_chance[@]}" 0
expect "the first results stay then" grep -q 'failed.one' "$results/integration.client"

runs=(passed passed passed)
expect "one that passes three times has failed by chance" passes_alone integration client >/dev/null
expect "it is named with its case" same "${by_chance[0]-}" "client: one"
expect "the results are those of one run" same "$(wc -l <"$results/integration.client")" 2
expect "no failure is among them" not grep -q failed "$results/integration.client"

client_has_failed
expect "a second one may be chance, too" may_be_chance integration client '***Failed    3.00 sec'
by_chance+=("client: one")
expect "a third one is none" not may_be_chance integration client '***Failed    3.00 sec'
exit "$failures"
