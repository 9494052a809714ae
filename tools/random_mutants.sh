# shellcheck shell=bash disable=SC2154
# tools/check-mutants sources this file for --random: it tries drawn mutants, and reports the results.

declare -A vouched=()   # programs that pass without a mutant
declare -A unfit=()     # lines that do not pass without one
killed=0 hung=0 redrawn=0
living=()

# draw_mutants: draws more than requested, since some will not compile
draw_mutants() {
  mutants=$work/drawn
  mkdir "$mutants"
  stale=$(python3 tools/mutate.py draw --tree "$source" --seed "$seed" --count $((2 * random + 20)) --to "$mutants" \
    "${servers[@]}") || die "no mutants could be drawn"
  mapfile -t names < <(names_of_all)
  ((${#names[@]} > 0)) || die "there is nothing to change"
}

# build_for_all: builds and checks the programs that nearly every mutant is tried with; with a mutant they may take
# several times as long
build_for_all() {
  build custodian_unit custodian_scripted || { errors >&2; die "it does not compile without a mutant"; }
  local built=$SECONDS
  sound custodian_unit "custodian_scripted/sample ~[timed]" || die "a test fails without a mutant"
  vouched=([custodian_unit]=yes [custodian_scripted/sample]=yes)
  local took=$((SECONDS - built))
  if ((run_seconds < 4 * took)); then run_seconds=$((4 * took)); fi
  printf 'built in %d s; the tests pass without a mutant in %d s\n\n' "$built" "$took"
}

# Some suites need a library that may not be installed.
is_target() { ninja -C "$build" -t targets all | grep -q "^$1: "; }

# suites_of <name>: prints the lines with which the mutant is tried
suites_of() {
  local line
  while read -r line; do
    if [[ -z ${unfit[$line]-} ]] && is_target "$(program_of "$line")"; then printf '%s\n' "$line"; fi
  done < <(header "$1" Killed-by)
}

# face <name>: tries the mutant; sets `outcome`, `by` and `killer` from the first suite that fails; alive if all pass
face() {
  local lines
  mapfile -t lines < <(suites_of "$1")
  outcome=uncompiled by="no suite is built here that could notice"
  for killer in "${lines[@]}"; do
    run_line "$killer"
    if [[ $outcome != passed ]]; then return; fi
  done
  if [[ $outcome == passed ]]; then outcome=alive; fi
}

# vouch: whether the killer passes without the mutant. Only parts of it were checked at first.
vouch() {
  local line=$killer
  local program=${line%% *}
  if [[ -n ${vouched[$program]-} ]]; then return; fi
  if sound "$line"; then
    vouched[$program]=yes
  else
    unfit[$line]=yes
    return 1
  fi
}

# try_drawn <name>: tries the mutant, again without suites that turn out to fail by themselves
try_drawn() {
  local found
  while true; do
    apply "$1" 2>"$log" || die "$(header "$1" Guard): does not apply: $(head -n 1 "$log")"
    face "$1"
    found=$outcome because=$by
    apply "$1" --reverse
    if [[ $found != killed && $found != hung ]] || vouch; then break; fi
  done
  outcome=$found
}

# record <name>: counts and prints the result
record() {
  case $outcome in
    killed) killed=$((killed + 1)) verdict="killed by $(program_of "$killer"): $because" ;;
    hung) killed=$((killed + 1)) hung=$((hung + 1)) verdict="killed by time, $(program_of "$killer"): $because" ;;
    alive) living+=("$1") verdict="LIVES: no test misses it" ;;
    uncompiled) redrawn=$((redrawn + 1)) verdict="drawn again: $because" ;;
    *) die "$(header "$1" Guard): $because" ;;
  esac
}

sum_up() {
  local name
  for name in "${living[@]}"; do
    printf '\nlives: %s\n' "$(header "$name" Guard)"
    sed -n '/^diff /,$p' "$mutants/$name.patch"
  done
  printf '\nseed %d: %d mutants, %d killed (%d by time), %d live, %d more drawn again, %d s\n' "$seed" \
    $((killed + ${#living[@]})) "$killed" "$hung" "${#living[@]}" "$redrawn" "$SECONDS"
}

check_random() {
  draw_mutants
  printf 'seed %d: %d mutants at random\n' "$seed" "$random"
  if [[ -n $stale ]]; then printf '%s\n' "$stale"; fi
  build_for_all
  local name began
  for name in "${names[@]}"; do
    if ((killed + ${#living[@]} == random)); then break; fi
    began=$SECONDS
    try_drawn "$name"
    record "$name"
    printf '%s  %d s, %s\n' "$(header "$name" Guard)" $((SECONDS - began)) "$verdict"
  done
  sum_up
  if ((${#living[@]} > 0)) || [[ -n $stale ]]; then exit 1; fi
  ((${#unfit[@]} == 0)) || die "suites that fail without a mutant were left out: ${!unfit[*]}"
  ((killed == random)) || die "only $killed of the mutants drawn compile"
  exit 0
}
