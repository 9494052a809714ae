#!/bin/sh
# units_test.sh CUSTODIAN UNITS: systemd accepts each unit, and the command accepts each unit's command line.
set -u
custodian=$1
units=$2
failed=0
command -v systemd-analyze > /dev/null || {
  echo "no systemd here: the units were not checked"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $*"
  failed=1
}

# The programs of the units must be there.
found=0
for unit in "$units"/*.service; do
  found=$((found + 1))
  name=$(basename "$unit" .service)
  sed "s,/usr/bin/custodian,$custodian,; s,/etc/custodian,$work,; s,\$COMMAND,true," "$unit" > "$work/$name.service"
  said=$(systemd-analyze verify --man=no --recursive-errors=no "$work/${name}job.service" 2>&1) || fail "$name: $said"
  [ -z "$said" ] || fail "$name: $said"

  # Without servers the command ends by 64 for a wrong option, and by 69 for the servers that are not there.
  line=$(sed -n 's/^ExecStart=//p' "$work/$name.service" | sed 's/%i/job/; s/%H/host/; s/ --notify-systemd/ --wait 1ms --notify-systemd/')
  case $name in *elect*) line=$(printf '%s' "$line" | sed 's/ --wait 1ms//') ;; esac
  # shellcheck disable=SC2086
  CUSTODIAN_SERVERS=127.0.0.1:1 timeout 1 $line > "$work/out" 2>&1
  status=$?
  case $status in 69 | 124 | 143) ;; *) fail "$name: $line: exit status $status: $(cat "$work/out")" ;; esac
done
[ "$found" -ge 2 ] || fail "there are $found units in $units"

# A unit that systemd would not take is noticed.
sed 's/KillMode=mixed/KillMode=mixd/' "$work/custodian-lock@.service" > "$work/wrong@.service"
if systemd-analyze verify --man=no --recursive-errors=no "$work/wrong@job.service" > /dev/null 2>&1; then fail "a wrong KillMode is accepted"; fi
exit $failed
