# shellcheck shell=bash
# Fault scenarios, played by a NIC whose counters, settings and health are scripted, through the kernel's own interfaces: what the running
# daemon says of each is what replay says of its file.
#   nic_counters.sh [ROUND..]        default: all of its own rounds
#   nic_counters.sh all [ROUND..]    rounds of every other scenario that this NIC can show: --timeout 3600
# lab: --kernel 6.1 --timeout 600 --nics 12
# proves: daemon/diagnosis hw/counters daemon/metrics
# when: turns congestion settings
# when: soak --timeout 3600 -- all
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/nic.sh
. /rocelet/lab/guest/nic.sh

player() { # make|play ROUND [LOG]
    /usr/bin/python3 /rocelet/lab/guest/nic_player.py "$OUT/metrics.md" "$1" "$OUT/pieces/$2" "${@:3}"
}

# What the files want of whoever judges them.
configuration() { # ROUND
    head -n 1 "$OUT/pieces/$1/healthy.jsonl" |
        json 'json.dumps({"expect-congestion-control": doc["expect_congestion_control"], "diagnosis": doc["thresholds"]})'
}

play_round() { # NAME
    local round=$1 verdict name what
    say "$round"
    player make "$round"
    configuration "$round" >/tmp/config.json
    start_rocelet --config /tmp/config.json
    player play "$round" "$OUT/$round.log"
    check "replay judges what was played" 'host_part replay "$round"'
    /usr/bin/python3 /rocelet/lab/guest/nic_told.py "$OUT/pieces/$round" "$OUT/$round.log" >"$OUT/$round.told"
    while read -r verdict name what; do
        check "$name $what" '[[ $verdict == ok ]]'
    done < <(grep -v '^#' "$OUT/$round.told")
    grep '^#' "$OUT/$round.told" || true # a round of silence has no delays
    stop_rocelet
}

load_nic
[[ -n ${1:-} ]] || set -- congestion loss settings bnxt
if [[ $1 == all ]]; then
    check "the host makes what is played" 'host_part all_pieces'
    shift
    # shellcheck disable=SC2046 # names of rounds
    (($#)) || set -- $(cd "$OUT/pieces" && printf '%s\n' * | sort -V)
else
    check "the host makes what is played" 'host_part pieces'
fi
for round; do
    play_round "$round"
done
