# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Fault scenarios, played by a NIC whose counters, settings and health are scripted, through the kernel's own interfaces: the running
# daemon gives the same verdicts as replay on the file.
#   nic_counters.sh [ROUND..]        default: all of its own rounds
#   nic_counters.sh all [ROUND..]    rounds of every other scenario that this NIC can show: --timeout 3600
# lab: --kernel 6.1 --timeout 600 --nics 12
# proves: daemon/diagnosis hw/counters daemon/metrics
# when: turns congestion settings imperfect
# when: soak --timeout 3600 -- all
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/nic.sh
. /rocelet/lab/guest/nic.sh

player() { # make|play ROUND [LOG]
    /usr/bin/python3 /rocelet/lab/guest/nic_player.py "$OUT/metrics.md" "$1" "$OUT/pieces/$2" "${@:3}"
}

# The configuration that the files require.
configuration() { # ROUND
    head -n 1 "$OUT/pieces/$1/healthy.jsonl" |
        json 'json.dumps({"expect-congestion-control": doc["expect_congestion_control"], "diagnosis": doc["thresholds"]})'
}

total() { # DEVICE: one of its counters
    curl -fsS -m 60 "$HTTP/metrics" | sed -n "s/^roce_sequence_nak_received_total{device=\"$1\".*} //p"
}

index_of() { # DEVICE
    rdma dev show "$1" | cut -d: -f1
}

# Unplugs the NIC and plugs it in again, with fewer counters, which restart, under other indices.
replugged() { # DEVICE
    local path function index step
    path=$(realpath "/sys/class/infiniband/$1/device") function=${path##*/} index=$(index_of "$1")
    echo "$function" >/sys/bus/pci/drivers/mlx5_core/unbind
    check_within 60 "unplugged: it has no numbers" '[[ -z $(total '"$1"') ]]'
    echo "$function" >/sys/bus/pci/drivers_probe
    printf 'hw %s\n' packet_seq_err np_cnp_sent >"$path/lab/names"
    printf 'hw packet_seq_err = 7000000\nhw np_cnp_sent = 5\n' >"$path/lab/script"
    # Its totals exist from its first sample on.
    step=$(cat "$path/lab/step")
    wait_until "[[ \$(cat $path/lab/step) != $step ]]"
    echo "$1" >"$path/lab/device"
    udevadm settle --timeout=60
    check "plugged in again, it has another index" '[[ $(index_of '"$1) != $index"' ]]'
    check_within 60 "and totals of the new counters" '[[ $(total '"$1"') == 7000000 ]]'
    check_within 60 "the series of missing counters are gone" '! curl -fsS -m 60 "$HTTP/metrics" | grep -q "^roce_out_of_sequence_packets_total{device=\"'"$1"'\""'
    curl -fsS -m 60 "$HTTP/api/v1/diagnosis" |
        json '" ".join(sorted(v["cause"] for v in doc["verdicts"] if v["device"] == "'"$1"'")) or "none"' >"$OUT/replugged"
    check "no verdict on that but those of a missing NIC: $(cat "$OUT/replugged")" '! grep -vqE "^((nic_stuck|link_flap|port_never_up|blind_spot|none) ?)+$" "$OUT/replugged"'
}

play_round() { # NAME
    local round=$1 verdict name what
    say "$round"
    player make "$round"
    configuration "$round" >/tmp/config.json
    start_rocelet --config /tmp/config.json --all-series # of virtual functions, too
    player play "$round" "$OUT/$round.log"
    check "replay judges the played round" 'host_part replay "$round"'
    /usr/bin/python3 /rocelet/lab/guest/nic_verdicts.py "$OUT/pieces/$round" "$OUT/$round.log" >"$OUT/$round.verdicts"
    while read -r verdict name what; do
        check "$name $what" '[[ $verdict == ok ]]'
    done < <(grep -v '^#' "$OUT/$round.verdicts")
    grep '^#' "$OUT/$round.verdicts" || true # a round without verdicts has no delays
    [[ $round != imperfect ]] || replugged mlx5_0
    stop_rocelet
}

load_nic
[[ -n ${1:-} ]] || set -- congestion loss settings bnxt imperfect
if [[ $1 == all ]]; then
    check "the host makes the rounds" 'host_part all_pieces'
    shift
    # shellcheck disable=SC2046 # names of rounds
    (($#)) || set -- $(cd "$OUT/pieces" && printf '%s\n' * | sort -V)
else
    check "the host makes the rounds" 'host_part pieces'
fi
for round; do
    play_round "$round"
done
