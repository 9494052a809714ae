#!/bin/sh
# manual_test.sh CUSTODIAN MANUAL: the manual page is well formed, and has everything that the help has.
set -u
custodian=$1
manual=$2
failed=0
miss() {
  echo "FAILED: the manual has no $1"
  failed=1
}
# The text as people read it, with plain hyphens.
text=$(sed 's/\\-/-/g; s/\\f[BIRP]//g' "$manual")
in_manual() { printf '%s\n' "$text" | grep -qE -- "$1"; }

commands=$("$custodian" --help | sed -n '/^Commands/,$p' | grep -oE '^  [a-z]+' | tr -d ' ')
[ -n "$commands" ] || { echo "FAILED: the help shows no commands"; failed=1; }
for command in "" $commands; do
  [ -z "$command" ] || in_manual "^\.SS \"?(custodian )?$command" || miss "section for $command"
  # shellcheck disable=SC2086
  for option in $("$custodian" $command --help | grep -oE -- '^  --[a-z-]+|^  -[a-z],--[a-z-]+' | sed 's/.*--/--/'); do
    in_manual "(^|[^a-z-])$option([^a-z-]|\$)" || miss "$option, of '$command'"
  done
done
for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" ENVIRONMENT EXAMPLES; do
  in_manual "^\.SH \"?$section" || miss "section $section"
done
for variable in CUSTODIAN_SERVERS CUSTODIAN_AUTH CUSTODIAN_LOCK_PATH CUSTODIAN_LOCK_NODE CUSTODIAN_FENCING_TOKEN; do
  in_manual "$variable" || miss "$variable"
done
if command -v groff > /dev/null; then
  warnings=$(groff -man -Tutf8 -ww -z "$manual" 2>&1)
  [ -z "$warnings" ] || { echo "FAILED: $warnings"; failed=1; }
else
  echo "no groff here: the form of the manual was not checked"
fi
exit $failed
