# For the scripts beside this file, which source it: what one says of itself is the comment that it begins with.

help() { sed -n '2,/^set/{s/^# \{0,1\}//;/^set/d;p}' "${BASH_SOURCE[0]%/*}/${0##*/}"; }

# For a command line that makes no sense.
usage() { help >&2; exit 2; }
