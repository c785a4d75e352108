# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Many VFs go into a pod and come back at once, by as many admin requests as there are VFs, compared with the minimum that the kernel needs to move them.
# lab: --nics 3
# proves: daemon/attach daemon/attach/steps daemon/http
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

# at_once.sh [ROUNDS [BAR]]   with a bar: at most BAR times the kernel's floor; on an idle machine (make bench)
ROUNDS=${1:-1} BAR=${2:-}
N=21
SOFT_ROCE=false

names_in_host() {
    local id
    for id in "${VF_IDS[@]}"; do echo "$id $(netdev_of "$id")"; done
}

all_are_in_host() {
    [[ $(names_in_host 2>/dev/null) == "$ORIGINAL_NAMES" ]]
}

ratio_of() { # N: measured by bench_attach with N VFs
    "$BUILD/bench/bench_attach" --at-once "$STATE_DIR" "$ROUNDS" /run/netns/many "${VF_IDS[@]:0:$1}" >/tmp/bench || fail "$(cat /tmp/bench)"
    sed "s/^/# $1 VFs: /" /tmp/bench
    sed -nE 's,^returns / floor: ([0-9.]+) .*,\1,p' /tmp/bench >/tmp/ratio
}

requests() { # attach|detach
    local i
    for ((i = 0; i < N; i++)); do
        if [[ $1 == detach ]]; then
            echo "{\"device\": \"${VF_IDS[i]}\"}"
        else
            echo "{\"device\": \"${VF_IDS[i]}\", \"netns\": \"/run/netns/many\", \"interface\": \"net$i\", \"ips\": [\"10.9.$i.1/24\"]}"
        fi
    done
}

in_pod() {
    in_netns many ip -brief address | grep -c '^net[0-9]* .* 10\.9\.'
}

make_all_vfs $N
ORIGINAL_NAMES=$(names_in_host)
ip netns add many
ip -n many link set lo up
for n in 7 21; do
    ratio_of $n
    check "$n returns at once were measured${BAR:+: at most $BAR times the floor}" "awk -v r=\"$(cat /tmp/ratio)\" 'BEGIN { exit !(r > 0 && r <= ${BAR:-1000}) }'"
done
check_within 10 "all are in the host with their original names" all_are_in_host
start_rocelet --config "$CONFIG" --state-dir "$STATE_DIR"
for ((round = 0; round < ROUNDS; round++)); do
    took=$(requests attach | /rocelet/lab/guest/at_once.py attach 2>&1) || fail "attach: $took"
    check "$N admin requests at once: all $N VFs are in the pod" "(( \$(in_pod) == N ))"
    back=$(requests detach | /rocelet/lab/guest/at_once.py detach 2>&1) || fail "detach: $back"
    check_within 10 "and come back with their original names" all_are_in_host
    echo "# $N attaches at once $took ms, $N returns $back ms, by the daemon"
done
check_complaints "going on without( them)?$" "that there is no runtime"
stop_rocelet
