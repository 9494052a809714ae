# shellcheck shell=bash
# .ci/run and tools/test source this file: it builds the next step's targets in the background, while tests run, which
# mostly wait.

ahead=

# build_ahead <preset> <target>...: builds at the lowest priority. Whether it succeeds or not, the step that needs the
# targets builds the rest, after stop_ahead.
build_ahead() {
  # Servers with data on a disk would wait for the compilers' writes; tools/test says where data are.
  local data=${TMPDIR:-/dev/shm}
  if [[ ! -w $data || $(stat --file-system --format=%T "$data") != tmpfs ]]; then return; fi
  if (($(df --output=avail --block-size=1M "$data" | tail -n 1) < 2048)); then return; fi
  # The build has a process group, so that it can be stopped. In a session of its own it would get a share of the
  # processors of its own.
  set -m
  chrt --idle 0 bash -c 'cmake --preset "$1" && exec ninja -C "build/$1" -j "$(nproc)" "${@:2}"' ahead "$@" >/dev/null 2>&1 &
  set +m
  ahead=$!
}

stop_ahead() {
  if [[ -z $ahead ]]; then return; fi
  kill -- "-$ahead" 2>/dev/null || true
  wait "$ahead" 2>/dev/null || true
  ahead=
}
