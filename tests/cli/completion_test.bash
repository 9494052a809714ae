#!/bin/bash
# completion_test.bash CUSTODIAN COMPLETION: tests which completions bash offers for custodian's command line.
set -u
custodian=$1
# shellcheck source=/dev/null
source "$2"
failed=0

# offers "<words, the last one unfinished>": prints the completions in one line.
offers() {
  mapfile -t COMP_WORDS < <(printf '%s' "$1" | tr '|' '\n')
  [[ $1 == *'|' ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _custodian
  echo "${COMPREPLY[*]}"
}

expect() {
  local got
  got=$(offers "$1")
  if [[ $got != "$2" ]]; then
    echo "FAILED: $1: offers '$got', not '$2'"
    failed=1
  fi
}

expect_some() {
  local got
  got=" $(offers "$1") "
  if [[ $got != *" $2 "* ]]; then
    echo "FAILED: $1: offers '$got', and '$2' is missing"
    failed=1
  fi
}

expect_none() {
  local got
  got=" $(offers "$1") "
  if [[ $got == *" $2 "* ]]; then
    echo "FAILED: $1: offers $2"
    failed=1
  fi
}

expect 'custodian|' 'lock semaphore elect once member barrier latch counter observe watch members discover list inspect revoke break doctor serve'
expect 'custodian|in' 'inspect'
expect 'custodian|--serv' '--servers'
expect 'custodian|--vers' '--version'
expect 'custodian|--servers|lock|in' 'inspect'
expect 'custodian|--servers|' ''
expect 'custodian|inspect|/lo' ''
expect 'custodian|lock|--tls-s' '--tls-server-name'
expect 'custodian|--sasl|' 'gssapi digest-md5'
expect 'custodian|lock|--sasl-k' '--sasl-keytab'
expect_some "custodian|--sasl-keytab|$(dirname "$custodian")/custodian" "$custodian"
expect_some "custodian|--tls-ca|$(dirname "$custodian")/custodian" "$custodian"
expect 'custodian|barrier|/a|wait|--w' '--wait'
expect 'custodian|latch|/a|wait|--arr' '--arrivals'
expect 'custodian|counter|/a|add|1|--int' '--integer'
expect 'custodian|discover|/services|printer|--js' '--json'
expect 'custodian|members|/fleet|--js' '--json'
expect 'custodian|member|/fleet|--take' '--take-over'
expect 'custodian|member|/fleet|--payload|' ''
expect_none 'custodian|member|/fleet|--' '--on-lost'
expect 'custodian|elect|/a|--not' '--notify-systemd'
expect 'custodian|elect|/a|--http-' '--http-token-file'
expect 'custodian|serve|--lis' '--listen'
expect 'custodian|serve|--listen|' ''
expect 'custodian|inspect|--wa' '--watch'
expect 'custodian|watch|/a|--de' '--depth'
expect 'custodian|watch|/a|--depth|' ''
expect 'custodian|inspect|/locks/a|--wa' '--watch'
expect 'custodian|lock|/a|--kind|' 'mutex read write semaphore-mutex'
expect 'custodian|lock|/a|--kind|re' 'read'
expect 'custodian|lock|/a|--profile|' 'curator kazoo'
expect 'custodian|lock|/a|--on-lost|' 'terminate kill ignore'
expect 'custodian|elect|/a|--on-lost|' 'terminate kill'
expect 'custodian|once|/a|--on-lost|' 'terminate kill'
expect 'custodian|once|/a|--on-f' '--on-failure'
expect 'custodian|once|/a|--on-failure|' 'skip retry'
expect 'custodian|once|/a|--every|' ''
expect 'custodian|lock|/a|--hold-at-l' '--hold-at-least'
expect 'custodian|lock|/a|--on-revoke|' 'ignore terminate'
expect 'custodian|elect|/a|--acl|' 'open creator-all creator-all-read-all'
expect 'custodian|semaphore|/a|--on-r' '--on-revoke'
expect_none 'custodian|elect|/a|--on' '--on-revoke'
expect 'custodian|break|/a|--session|' ''
expect 'custodian|break|/a|--y' '--yes'
expect_none 'custodian|inspect|--' '--yes'
expect_none 'custodian|doctor|--' '--version'
expect_some 'custodian|lock|/a|--|tru' 'true'
expect_some 'custodian|lock|/a|--|ls|/et' '/etc'
# The words of the command to run are not custodian's.
expect 'custodian|lock|/a|--|custodian-no-such-command|--ki' ''

# Every option in the help is offered.
words_of() { "$custodian" "$@" --help | grep -oE -- '^  --[a-z-]+|^  -[a-z],--[a-z-]+' | sed 's/.*--/--/'; }
commands=$("$custodian" --help | sed -n '/^Commands/,$p' | grep -oE '^  [a-z]+' | tr -d ' ')
[[ $(wc -w <<< "$commands") -ge 8 ]] || { echo "FAILED: the help shows these commands: $commands"; failed=1; }
for option in $(words_of); do expect_some 'custodian|-' "$option"; done
for command in $commands; do
  expect_some 'custodian|' "$command"
  for option in $(words_of "$command"); do expect_some "custodian|$command|-" "$option"; done
done
exit $failed
