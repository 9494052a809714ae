# bash completion for custodian. Source it, or put it into bash-completion's directory of completions as "custodian".

_custodian()
{
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="lock semaphore elect once member barrier latch counter observe watch members discover list inspect revoke
    break doctor serve"
  commands=${commands//$'\n'/ }
  local options="--help --servers --namespace --session-timeout --auth --tls --tls-ca --tls-cert --tls-key
    --tls-key-password-file --tls-server-name --sasl --sasl-keytab --sasl-user --sasl-password-file
    --sasl-server-name --verbose -h -v"
  local with_value=" --servers --namespace --session-timeout --auth --tls-ca --tls-cert --tls-key
    --tls-key-password-file --tls-server-name --sasl --sasl-keytab --sasl-user --sasl-password-file
    --sasl-server-name --wait --kind --profile --hold-at-most --hold-at-least --every --on-failure --no-turn-status --identity
    --on-lost --on-revoke --acl --permits --take --depth --arrivals --id --payload --admin-port --node --session --touch-interval
    --longer-than --of --max-nodes --http --http-token-file --listen --token-file "
  with_value=${with_value//$'\n'/ }
  COMPREPLY=()

  local command="" word index skip=""
  for ((index = 1; index < COMP_CWORD; ++index)); do
    word=${COMP_WORDS[index]}
    if [[ -n $skip ]]; then
      skip=""
    elif [[ $word == -- ]]; then
      # The words that follow belong to another command.
      if declare -F _command_offset > /dev/null; then
        _command_offset $((index + 1))
      elif ((COMP_CWORD == index + 1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      fi
      return
    elif [[ $with_value == *" $word "* ]]; then
      skip=yes
    elif [[ -z $command && $word != -* && " $commands " == *" $word "* ]]; then
      command=$word
    fi
  done

  if [[ -n $skip ]]; then
    local values=""
    case $previous in
      --tls-ca | --tls-cert | --tls-key | --tls-key-password-file | --sasl-keytab | --sasl-password-file | \
        --token-file | --http-token-file)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
      --sasl) values="gssapi digest-md5" ;;
      --kind) values="mutex read write semaphore-mutex" ;;
      --profile) values="curator kazoo" ;;
      --on-failure) values="skip retry" ;;
      --on-revoke) values="ignore terminate" ;;
      --acl) values="open creator-all creator-all-read-all" ;;
      --on-lost)
        values="terminate kill"
        [[ $command != elect && $command != once ]] && values+=" ignore"
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
    return
  fi

  local running="--hold-at-most --on-lost --acl --touch-interval --notify-systemd --"
  case $command in
    "")
      [[ $current == -* ]] || options=$commands
      [[ $current == -* ]] && options+=" --version"
      ;;
    lock) options+=" --wait --no-wait --kind --profile --hold-at-least --identity --on-revoke $running" ;;
    semaphore) options+=" --permits --take --wait --no-wait --hold-at-least --identity --on-revoke $running" ;;
    once) options+=" --every --on-failure --catch-up --no-turn-status --quiet --wait --identity --on-revoke --show --json $running" ;;
    elect) options+=" --id --http --http-token-file $running" ;;
    member) options+=" --id --payload --take-over --wait --acl --touch-interval --notify-systemd --" ;;
    barrier) options+=" --wait" ;;
    latch) options+=" --arrivals --wait" ;;
    counter) options+=" --integer" ;;
    observe) options+=" --once --json" ;;
    watch) options+=" --depth --once --json" ;;
    discover) options+=" --json" ;;
    list) options+=" --cycles --longer-than --of --watch --json --max-nodes" ;;
    members | discover) options+=" --json" ;;
    inspect) options+=" --watch --json --permits --no-addresses --admin-port" ;;
    revoke) options+=" --node --json" ;;
    break) options+=" --node --session --yes --json" ;;
    doctor) options+=" --touch-interval --admin-port --json" ;;
    serve) options+=" --listen --token-file --every --max-nodes" ;;
  esac
  # Paths cannot be completed here.
  if [[ -z $command || $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  fi
}

complete -o default -F _custodian custodian
