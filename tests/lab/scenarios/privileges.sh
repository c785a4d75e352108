# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The capabilities of the native overlay are sufficient and necessary: without one of them exactly those features fail that the daemon names
# beforehand. And a configuration that needs more capabilities than the daemon has.
#   privileges.sh [CAPABILITY..]    only without these; all
# lab: --timeout 1800
# proves: daemon/privileges k8s/deploy
# when: turns net_admin sys_ptrace mknod setuid
# when: soak --timeout 3600 --
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

POD=a STRANGER_UID=1000
IP=10.9.0.1/24

# [CAPABILITY]: the probes below that fail without it.
declare -A STOPS=(
    [net_admin]="ready pod_packets foreign foreign_change attach neighbours soft_roce ipam stranger"
    [net_broadcast]="foreign_change"
    [net_raw]="neighbours"
    [sys_admin]="ready bpf packets pod_packets attach neighbours soft_roce ipam stranger"
    [sys_ptrace]="ready attach neighbours soft_roce ipam stranger"
    [dac_read_search]="stranger"
    [mknod]="soft_roce"
    [chown]="soft_roce"
    [setpcap]="ipam"
    [setuid]="ipam"
)
# The same for the overlays that attach nothing.
declare -A OBSERVER_STOPS=(
    [nothing]="pod_packets"
    [net_admin]="packets pod_packets foreign foreign_change"
    [bpf]="bpf packets pod_packets"
    [perfmon]="bpf packets pod_packets"
)

request_attach() { # KEYS [NETNS]
    curl -fsS -m 60 --unix-socket /run/rocelet/rocelet.sock -o /dev/null --data @- http://localhost/api/v1/attach <<END
{"device": "$ID", "netns": "${2:-/run/netns/$POD}", $1}
END
}

# Attaches and detaches.
attach_and_detach() { # KEYS [NETNS]
    request_attach "$@" 2>/dev/null || return
    in_netns $POD ip -brief address show dev net1 | grep -qw $IP || return
    rocectl detach "$ID" && becomes_true 60 "is_free $ID"
}

# The created device nodes have the group and mode of the host's, and one is the device's own.
has_nodes() {
    rm -f "/dev/rocelet/${NODE##*/}"
    request_attach "\"ips\": [\"$IP\"], \"softRoce\": true" 2>/dev/null || return
    local made=/dev/rocelet/by-name/$ID like
    like=$(stat -c '%G %a' "$NODE")
    [[ -c $made && $(stat -c '%G %a' "/dev/rocelet/${NODE##*/}") == "$like" ]] || return
    rocectl detach "$ID" && becomes_true 60 "is_free $ID"
}

# The daemon's announcement of the address; the namespace has no other sender.
notifies_neighbours() {
    local pid status=0
    in_netns $POD tcpdump -i any -n -p --immediate-mode -l "arp and host ${IP%/*}" >/tmp/arp 2>/tmp/arp.err &
    pid=$!
    wait_until "grep -q 'listening on' /tmp/arp.err"
    request_attach "\"ips\": [\"$IP\"]" 2>/dev/null && becomes_true "$WITHIN" '[[ -s /tmp/arp ]]' || status=1
    kill $pid
    rocectl detach "$ID" 2>/dev/null && becomes_true 60 "is_free $ID"
    return $status
}

attaches() {
    attach_and_detach "\"ips\": [\"$IP\"]"
}

runs_plugin() {
    attach_and_detach "\"ipam\": {\"type\": \"static\", \"addresses\": [{\"address\": \"$IP\"}]}"
}

# A namespace that only an open file of another user's process keeps.
to_another_users_namespace() {
    attach_and_detach "\"ips\": [\"$IP\"]" "/proc/$STRANGER/fd/9"
}

program_loaded() {
    curl -fsS -m 5 "$HTTP/metrics" | grep -q '^rocelet_bpf_program_loaded{.*} 1$'
}

watches() { # RDMA_DEVICE
    curl -fsS -m 5 "$HTTP/api/v1/config" | json "[p for p in (doc['bpf'] or {}).get('ports', []) if p['device'] == '$1' and not p['error']] != []" | grep -qx True
}

mtu_elsewhere() {
    devices '[n["mtu"] for d in doc["devices"] for n in d.get("netdevs", []) if d["id"] == "'"$OTHER"'"]'
}

follows() { # MTU
    ip -n other link set "${VFS[1]}" mtu "$1"
    becomes_true "$WITHIN" "[[ \$(mtu_elsewhere) == '[$1]' ]]"
}

FAILING=()
# A probe that should succeed has a minute, for busy machines.
probe() { # NAME SECONDS CONDITION..
    local seconds=$2
    WITHIN=3
    if [[ " $EXPECTED " != *" $1 "* ]]; then WITHIN=60 seconds=$((seconds ? 60 : 0)); fi
    becomes_true "$seconds" "${@:3}" &>/dev/null || FAILING+=("$1")
}

# Fills FAILING.
probe_all() { # MTU [WHETHER_TO_ATTACH]
    FAILING=()
    : >"$OUT/rocelet.log"
    start_rocelet --config $CONFIG --state-dir $STATE_DIR --log-level debug
    wait_until '! curl -sS '$HTTP'/readyz | grep -q "have not been\|has not been"'
    probe ready 10 is_up
    # BPF starts last, and slowly here: wait until it reports success or failure.
    wait_until 60 "program_loaded || grep -q 'bpf.*going on without' $OUT/rocelet.log"
    probe bpf 0 program_loaded
    probe packets 10 watches rxe_host
    probe pod_packets 10 watches rxe_other
    probe foreign 5 "[[ \$(mtu_elsewhere) != '[]' ]]"
    probe foreign_change 0 follows "$1"
    ${2:-true} || return 0
    probe attach 0 attaches
    probe neighbours 0 notifies_neighbours
    probe soft_roce 0 has_nodes
    probe ipam 0 runs_plugin
    probe stranger 0 to_another_users_namespace
}

# The mask in the form of /proc/PID/status.
mask_of() { # CAPABILITIES
    local name mask=0
    local -A bits=([chown]=0 [setuid]=7 [setpcap]=8 [net_broadcast]=11 [net_admin]=12 [net_raw]=13 [sys_ptrace]=19 [sys_admin]=21 [mknod]=27
        [dac_read_search]=2 [perfmon]=38 [bpf]=39)
    for name in $1; do
        [[ $name == -all ]] || mask=$((mask | 1 << bits[$name]))
    done
    printf '%016x' $mask
}

named() { # CAPABILITY
    grep -qE " warn .*CAP_${1^^} is missing: " "$OUT/rocelet.log" && rocectl doctor | grep -q "CAP_${1^^}"
}

# Every thread has exactly these.
has_capabilities() { # MASK
    local line
    for line in CapEff CapPrm CapBnd; do
        [[ $(awk -v key="$line:" '$1 == key { print $2 }' /proc/"$ROCELET_PID"/task/*/status | sort -u) == "$1" ]] || return
    done
    [[ $(awk '$1 == "CapInh:" || $1 == "CapAmb:" { print $2 }' /proc/"$ROCELET_PID"/task/*/status | sort -u) == 0000000000000000 ]]
}

is_confined() {
    [[ $(awk '$1 == "NoNewPrivs:" || $1 == "Seccomp:" { print $1 $2 }' /proc/"$ROCELET_PID"/task/*/status | sort -u | xargs) == "NoNewPrivs:1 Seccomp:2" ]]
}

SOFT_ROCE=true
make_pool 2 '{"ipam": {"type": "static", "addresses": [{"address": "10.9.0.9/24"}]}}' # so that every capability is needed
sed -i "s/$PF#0-1/$PF#0/" $CONFIG # the other VF is for a namespace that rocelet does not manage
VF_IDS=("${VF_IDS[0]}")
ID=${VF_IDS[0]} OTHER=$(basename "$(readlink "/sys/class/net/${VFS[1]}/device")")
ip link add host0 type veth peer name host1
ip link set host0 up
ip link set host1 up
rdma link add rxe_host type rxe netdev host0
ip netns add $POD
ip netns add other
ip link set "${VFS[1]}" netns other
ip -n other link set "${VFS[1]}" up
ip netns exec other rdma link add rxe_other type rxe netdev "${VFS[1]}"
NODE=/dev/infiniband/test9
mknod -m 660 $NODE c 10 255
chgrp audio $NODE
# A process that only has the namespace's file open.
(exec 9</run/netns/$POD && exec setpriv --reuid $STRANGER_UID --regid $STRANGER_UID --clear-groups --inh-caps=-all sleep infinity) &
STRANGER=$!
wait_until "[[ \$(cat /proc/$STRANGER/comm) == sleep ]]"

say "with all of them"
EXPECTED=
probe_all 1400
check "everything works" '[[ -z ${FAILING[*]} ]]'
echo "# fails: ${FAILING[*]:-nothing}"
check "nothing is missing" '! grep -q "is missing" $OUT/rocelet.log && is_up'
check "every thread has these, and no other" "has_capabilities $(mask_of "${NATIVE_CAPABILITIES//,+/ }")"
check "every thread is under the filter, and cannot gain privileges" is_confined
cp "$OUT/rocelet.log" "$OUT/rocelet-all.log"
stop_rocelet

MTU=1400
# Runs all probes without each capability in turn.
without_each() { # LIST WHETHER_TO_ATTACH CAPABILITY..
    local list=$1 attach=$2 capability stops
    for capability in "${@:3}"; do
        say "without $capability"
        CAPABILITIES=$list, MTU=$((MTU - 4))
        CAPABILITIES=${CAPABILITIES/,+$capability,/,}
        CAPABILITIES=${CAPABILITIES%,}
        if $attach; then stops=${STOPS[$capability]}; else stops=${OBSERVER_STOPS[$capability]}; fi
        EXPECTED=$stops
        probe_all $MTU "$attach"
        echo "# without $capability: ${FAILING[*]:-nothing stops}"
        check "probes that fail: ${stops:-nothing}" "[[ '${FAILING[*]}' == '$stops' ]]"
        [[ $capability == nothing ]] || check "the log and doctor name it" "named $capability"
        stop_rocelet
        cp "$OUT/rocelet.log" "$OUT/rocelet-$capability.log"
    done
}

read -ra without <<<"${*:-net_admin net_broadcast net_raw sys_admin sys_ptrace dac_read_search mknod chown setpcap setuid}"
without_each "$NATIVE_CAPABILITIES" true "${without[@]}"

say "a daemon that attaches nothing"
cp $CONFIG /tmp/native.json
echo '{}' >$CONFIG
without_each "$OBSERVE_CAPABILITIES" false nothing net_admin bpf perfmon

say "a daemon that can only observe gets a configuration that needs more"
CAPABILITIES=$OBSERVE_CAPABILITIES
: >"$OUT/rocelet.log"
start_engine --no-bpf
check "it is ready, and logs what it cannot see" 'grep -q "CAP_SYS_ADMIN is missing: packets in pods" $OUT/rocelet.log'
cp /tmp/native.json $CONFIG
check_within 60 "then /readyz names the missing capabilities" 'curl -sS $HTTP/readyz | grep -q "^not ready: .*CAP_SYS_"'
check "and the log, in a sentence each" 'grep -q "CAP_SYS_ADMIN is missing: .*entered" $OUT/rocelet.log && grep -q "CAP_MKNOD is missing: " $OUT/rocelet.log'
echo '{"pools": []}' >$CONFIG
check_within 60 "and it is ready once the configuration does not need them" 'curl -fsS $HTTP/readyz'
stop_rocelet

CAPABILITIES=$NATIVE_CAPABILITIES
cp /tmp/native.json $CONFIG
start_engine
check_all_free
stop_rocelet
kill $STRANGER
echo "# the scenario took $SECONDS s"
