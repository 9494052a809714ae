# The scripts in this folder source this file: a script's help text is the comment at its beginning.

help() { sed -n '2,/^set/{s/^# \{0,1\}//;/^set/d;p}' "${BASH_SOURCE[0]%/*}/${0##*/}"; }

# Ends the script after a wrong command line.
usage() { help >&2; exit 2; }
