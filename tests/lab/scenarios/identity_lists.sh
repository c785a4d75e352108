# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Lists and files that wrongly report an end, or hide one: the list of another runtime, a macvlan that its
# pod has hidden, a state folder that is removed, a pool that changes meanwhile.
# lab: --kubelet --memory 4096 --timeout 1200
# proves: daemon/attach daemon/attach/steps hw/ops
# needs: kill-points
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

SOFT_ROCE=false
readonly SLOT=rocelet.dev/slot OTHER=/run/other/containerd.sock

vf_pod() { # NAME IP/LEN
    run_pod "$1" "$RESOURCE=1" "[{\"resource\": \"$RESOURCE\", \"ips\": [\"$2\"]}]"
}

slot_annotation() { # IP/LEN
    echo "[{\"resource\": \"$SLOT\", \"ips\": [\"$1\"]}]"
}

slot_pod() { # NAME IP/LEN
    run_pod "$1" "$SLOT=1" "$(slot_annotation "$2")"
}

index_of() { # POD
    in_netns "$1" ip -o link show net1 | cut -d: -f1
}

# The same interface, so it was never removed, not even for a moment.
keeps() { # POD INDEX IP/LEN
    [[ $(index_of "$1") == "$2" ]] && in_netns "$1" ip -brief address show dev net1 | grep -qw "$3"
}

event() { # REASON WORDS
    rocectl events --limit 200 | grep -w "$1" | grep -q "$2"
}

# A runtime that the kubelet does not use.
start_other_runtime() {
    mkdir -p /run/other /var/lib/other
    printf '%s\n' 'version = 2' 'root = "/var/lib/other"' 'state = "/run/other/state"' '[grpc]' "address = \"$OTHER\"" >/run/other/config.toml
    containerd --config /run/other/config.toml >"$OUT/other-containerd.log" 2>&1 </dev/null &
    OTHER_PID=$!
    wait_until 60 "ctr --address $OTHER version >/dev/null 2>&1"
}

n_slots_in_use() {
    curl -fsS -m 60 "$HTTP/api/v1/attachments" | tr '{' '\n' | grep -c "\"resource\":\"$SLOT\"" || true
}

# Moves the interface as a pod with NET_ADMIN can, into a network namespace of its own.
hide() { # POD NETNS IP/LEN
    in_netns "$1" ip link set net1 down name mine0 alias ''
    in_netns "$1" ip link set mine0 netns "/run/netns/$2"
    ip -n "$2" address add "$3" dev mine0
    ip -n "$2" link set mine0 up
}

hidden() { # NETNS
    ip -n "$1" link show mine0 >/dev/null 2>&1
}

make_pool 2
rdma link add rxe_pf type rxe netdev "$PF"
SLOTS="{\"resourceName\": \"slot\", \"resourcePrefix\": \"rocelet.dev\", \"kind\": \"shared\", \"slots\": 4, \"interface\": \"macvlan\", \"network\": {}, \"selectors\": {\"ifNames\": [\"$PF\"], \"isRdma\": true}}"
sed -i "s|^{\"pools\": \[|&$SLOTS,\n|" "$CONFIG"
start_node
start_engine
need_within 60 "the kubelet lists VFs and slots" "(( \$(n_registered $RESOURCE) == 2 && \$(n_registered $SLOT) == 4 ))"

say "the list of another runtime"
vf_pod a 10.9.0.1/24
vf_pod b 10.9.0.2/24
slot_pod m 10.9.9.1/24
a=$(vf_of a) index_a=$(index_of a) index_b=$(index_of b) index_m=$(index_of m)
start_other_runtime
kill_rocelet
start_rocelet --config "$CONFIG" --state-dir "$STATE_DIR" --cri-socket "$OTHER"
check_within 60 "the contradiction is reported" "event RuntimeContradicted 'does not list the sandbox of'"
check "doctor names the socket" "rocectl doctor | grep -q '$OTHER does not list the sandbox of'"
check_within 10 "it is not ready" "curl -sS $HTTP/readyz | grep -q 'does not list the sandbox of'"
check_within 60 "all three are counted" "(( \$(metric rocelet_runtime_contradictions) == 3 ))"
check "a keeps its VF" "keeps a $index_a 10.9.0.1/24"
check "b keeps its VF" "keeps b $index_b 10.9.0.2/24"
check "m keeps its macvlan" "keeps m $index_m 10.9.9.1/24"
remove_pod a
check_within 60 "a pod that ends gives its VF back all the same" "is_free $a"
kill "$OTHER_PID"
wait "$OTHER_PID" 2>/dev/null || true
kill_rocelet
start_engine
check_within 60 "with the right runtime there is no contradiction" "(( \$(metric rocelet_runtime_contradictions) == 0 ))"
check "and no interface was removed meanwhile" "keeps b $index_b 10.9.0.2/24 && keeps m $index_m 10.9.9.1/24"

say "a macvlan that its pod has hidden"
ip netns add hidden
hide m hidden 10.9.9.1/24
remove_pod m
check_within 60 "is found and deleted when its pod has ended" "! hidden hidden"
check_within 60 "and its slot is free" "(( \$(n_slots_in_use) == 0 ))"
slot_pod n 10.9.9.1/24
check "the next pod gets its address" "in_netns n ip -brief address show dev net1 | grep -qw 10.9.9.1/24"
hide n hidden 10.9.9.1/24
kill_rocelet
remove_pod n
start_engine
check_within 60 "also when its pod ends while no daemon runs" "! hidden hidden && (( \$(n_slots_in_use) == 0 ))"

say "an address in use by a station of the network"
ip link add link "$PF" name station0 netns hidden type macvlan mode bridge
ip -n hidden link set station0 address 02:00:00:00:09:09 up
ip -n hidden address add 10.9.9.7/24 dev station0
make_pod p "$SLOT=1" "$(slot_annotation 10.9.9.7/24)"
check_within 90 "it is rejected, and the pod's status names the station" "pod_status p | grep -q '10.9.9.7 is in use on the network of $PF, by 02:00:00:00:09:09'"
ip -n hidden link delete station0
check_within 120 "until the station is removed" "pod_started p && in_netns p ip -brief address show dev net1 | grep -qw 10.9.9.7/24"
remove_pod p
ip netns delete hidden

say "the state folder is removed"
rm -rf "$STATE_DIR"
vf_pod c 10.9.0.3/24
c=$(vf_of c) index_c=$(index_of c)
check "the next pod gets its VF" "is_complete c $c 10.9.0.3/24"
check "the folder is accessible by root only" "[[ \$(stat -c %a:%u $STATE_DIR/devices) == 700:0 ]]"
check "with the records of both pods" "[[ -s $STATE_DIR/devices/$c && -s $STATE_DIR/devices/$(vf_of b) ]]"
check "an event reports it" "event JournalBad 'was removed: it is created again, with the records of [1-9]'"
kill_rocelet
start_engine
check_within 60 "both are known after a restart" "[[ \$(engine_state $c) == in_pod && \$(engine_state $(vf_of b)) == in_pod ]]"
check "and were not removed meanwhile" "keeps b $index_b 10.9.0.2/24 && keeps c $index_c 10.9.0.3/24"
check "neither is an orphan" "! event Orphan . && ! event Adopted ."

say "a pool that changes while a pod has its device"
sed 's/"softRoce": false/&, "clean": "always-reset"/' "$CONFIG" >"$CONFIG.new"
check "the new text has the key" "grep -q always-reset $CONFIG.new"
mv "$CONFIG.new" "$CONFIG"
wait_until 60 "curl -fsS -m 60 $HTTP/api/v1/config | grep -q always-reset"
remove_pod c
check_within 60 "the device is returned as the new text requires" "event Returned \"$c returned from .*with a new netdev, as its pool requires\""
remove_pod b
check_all_free

say "a function loses its driver, and the disk does not accept the record"
kill_rocelet
start_armed back-renew-3-before
id=${VF_IDS[0]}
ip netns add pod1
check "it is attached" "attach $id pod1 10.9.0.5/24"
in_netns pod1 ip link set net1 group 7 # so that it gets a new netdev
record=$STATE_DIR/devices/$id
mount --bind "$record" "$record"
mount -o remount,bind,ro "$record"
timeout 60 /usr/local/sbin/rocectl detach "$id" >/dev/null 2>&1 || true
dies 60 || fail "the daemon still runs"
check "it has no driver" "[[ ! -e /sys/bus/pci/devices/$id/driver ]]"
ip netns delete pod1
umount "$record"
start_engine
check_within 60 "it has one again" "[[ -e /sys/bus/pci/devices/$id/driver ]]"
check_within 60 "and is free" "[[ \$(engine_state $id) == free && -n \$(netdev_of $id) ]]"

say "a pod removes the alias, and the record is corrupt"
ip netns add pod1
check "it is attached" "attach $id pod1 10.9.0.5/24"
in_netns pod1 ip link set net1 alias ''
in_netns pod1 ip link set net1 group 7
kill_rocelet
head -c 32768 /dev/urandom >"$record"
name=$(sed -n "s/^name '\(.*\)'/\1/p" <<<"${CLEAN[$id]}")
ip netns delete pod1
wait_until "[[ -n \$(netdev_of $id 2>/dev/null) ]]"
start_engine
# The driver has chosen another MAC for the new netdev.
check_within 60 "it is free, under a name that the pod did not choose" "[[ \$(engine_state $id) == free && \$(netdev_of $id) == $name ]]"
check "nothing that the pod has set is left" "ip -d link show dev $name | grep -q 'group default'"
check "by a new netdev, which an event reports" "event Returned \"$id returned from .*with a new netdev\""
stop_rocelet
echo "# the scenario took $SECONDS s"
