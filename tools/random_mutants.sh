# shellcheck shell=bash disable=SC2034,SC2154
# tools/check-mutants sources this file for --random: it draws the mutants, tries one, and reports the results.

declare -A vouched=([custodian_unit]=yes [custodian_scripted/sample]=yes)   # programs that pass without a mutant
declare -A unfit=()     # lines that do not pass without one

# draw_mutants: draws more than requested, since some will not compile
draw_mutants() {
  mutants=$work/drawn
  mkdir "$mutants"
  stale=$(python3 tools/mutate.py draw --tree "$source" --seed "$seed" --count $((2 * random + 20)) --to "$mutants" \
    "${servers[@]}") || die "no mutants could be drawn"
  mapfile -t names < <(names_of_all)
  ((${#names[@]} > 0)) || die "there is nothing to change"
  printf 'seed %d: %d mutants at random' "$seed" "$random"
  if ((skip > 0)); then printf ', without the first %d' "$skip"; fi
  printf '\n'
  if [[ -n $stale ]]; then printf '%s\n' "$stale"; fi
}

# build_programs: builds the programs that nearly every mutant is tried with; `lines` are those that must pass
build_programs() {
  programs=(custodian_unit custodian_scripted)
  lines=(custodian_unit "custodian_scripted/sample ~[timed]")
  build "${programs[@]}" || { errors >&2; die "it does not compile without a mutant"; }
}

# check_lines <worker>: requires the lines to pass, and allows four times as long with a mutant. All workers wait for
# the first one.
check_lines() {
  if (($1 > 1)); then return; fi
  local began=$SECONDS
  sound "${lines[@]}" || die "a test fails without a mutant"
  printf '%d\n' $((SECONDS - began)) >"$work/took"
}

title() { header "$1" Guard; }

# Some suites need a library that may not be installed. (With -q, grep would end before ninja has written all, and ninja
# would fail.)
is_target() { ninja -C "$build" -t targets all | grep "^$1: " >/dev/null; }

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
    printf '%s\n' "$line" >>"$work/unfit"
    return 1
  fi
}

# try <name>: tries the mutant, again without suites that turn out to fail by themselves; sets `outcome` and `verdict`
try() {
  local found because
  while true; do
    apply "$1" 2>"$log" || die "$(title "$1"): does not apply: $(head -n 1 "$log")"
    face "$1"
    found=$outcome because=$by
    apply "$1" --reverse
    if [[ $found != killed && $found != hung ]] || vouch; then break; fi
  done
  outcome=$found
  case $outcome in
    killed) verdict="killed by $(program_of "$killer"): $because" ;;
    hung) verdict="killed by time, $(program_of "$killer"): $because" ;;
    alive) verdict="LIVES: no test misses it" ;;
    uncompiled) verdict="drawn again: $because" ;;
    *) die "$(title "$1"): $because" ;;
  esac
}

# sum_up: prints those that live; returns 1 if there are any, or an entry of equivalent.json is stale
sum_up() {
  local living name killed hung
  mapfile -t living < <(cat "$work"/outcomes.* | sed -n 's/^alive //p' | sort)
  for name in "${living[@]}"; do
    printf '\nlives: %s\n' "$(title "$name")"
    sed -n '/^diff /,$p' "$mutants/$name.patch"
  done
  hung=$(count hung)
  killed=$(($(count killed) + hung))
  printf '\nseed %d: %d mutants, %d killed (%d by time), %d live, %d more drawn again, %d s\n' "$seed" \
    $((killed + ${#living[@]})) "$killed" "$hung" "${#living[@]}" "$(count uncompiled)" "$SECONDS"
  if ((${#living[@]} > 0)) || [[ -n $stale ]]; then return 1; fi
  [[ ! -e $work/unfit ]] || die "suites that fail without a mutant were left out: $(sort -u "$work/unfit")"
  ((killed >= random - skip)) || die "only $killed of the mutants drawn compile"
}
