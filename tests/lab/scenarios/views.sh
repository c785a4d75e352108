# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# An invisible namespace is not an ended one: a pod whose namespace has lost its path keeps its VF, and a daemon that cannot see the host's
# processes returns no device.
# proves: daemon/pods daemon/attach
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

SOFT_ROCE=false
IP=10.9.0.1/24

# As for a pod, a process keeps the namespace, whatever happens to its path.
make_namespace() { # NAME
    ip netns add "$1"
    ip netns exec "$1" sleep infinity &
    PROCESS=$!
    wait_until "[[ \$(readlink /proc/$PROCESS/ns/net) == net:\[\$(stat -c %i /run/netns/$1)\] ]]"
}

inside() { # COMMAND..
    nsenter --net="/proc/$PROCESS/ns/net" "$@"
}

index_inside() {
    inside ip -o link show net1 | cut -d: -f1
}

# The same interface, so it was never removed, not even for a moment.
keeps() { # INDEX
    [[ $(index_inside) == "$1" ]] && inside ip -brief address show dev net1 | grep -qw "$IP"
}

searches() { # RESULT
    metric rocelet_namespace_searches_total "result=\"$1\""
}

# In a container without the host's processes and mounts.
start_blind() {
    unshare --mount --pid --fork --kill-child --mount-proc sh -c 'mount -t tmpfs none /run/netns; exec "$@"' blind \
        /usr/local/sbin/rocelet --config "$CONFIG" --state-dir "$STATE_DIR" >>"$OUT/rocelet.log" 2>&1 &
    ROCELET_PID=$!
    wait_until healthy
}

make_pool 1
id=${VF_IDS[0]}
start_engine

say "the path of a namespace in use is unmounted"
make_namespace pod
attach "$id" pod "$IP"
index=$(index_inside)
umount /run/netns/pod
check_within 60 "that is noticed, and the namespace is found" "(( \$(searches alive) > 0 ))"
check "its VF is still there" "keeps $index && [[ \$(engine_state $id) == in_pod ]]"
next_samples
check "and nothing came back" "(( \$(metric rocelet_return_total) == 0 ))"

say "a daemon starts without the host's processes and /run/netns"
kill_rocelet
start_blind
check_within 30 "/readyz names what is missing" "curl -sS $HTTP/readyz | grep -q 'hostPID: true'"
check "doctor too" "rocectl doctor | grep -q 'hostPID: true'"
check "admin requests are rejected" "! rocectl detach $id"
check "its VF is still there" "keeps $index"

say "a daemon starts with them"
kill_rocelet
wait_until "! healthy"
start_engine
check_within 60 "the namespace is found" "(( \$(searches alive) > 0 ))"
check "its VF is still there" "keeps $index && [[ \$(engine_state $id) == in_pod ]]"

say "its namespace ends"
kill "$PROCESS"
check_all_free
rm -f /run/netns/pod

stop_rocelet
echo "# the scenario took $SECONDS s"
