# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Lists and files that say that something has ended which has not, and the other way round: the list of another runtime, a macvlan that its
# pod has hidden, a state folder that is removed, a pool that has changed since.
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

# It was never away, not even for a moment.
keeps() { # POD INDEX IP/LEN
    [[ $(index_of "$1") == "$2" ]] && in_netns "$1" ip -brief address show dev net1 | grep -qw "$3"
}

told() { # REASON WORDS
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

# As a pod with NET_ADMIN would that makes network namespaces of its own.
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
check_within 60 "it is contradicted, which is told" "told RuntimeContradicted 'does not list the sandbox of'"
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
check_within 60 "with the right one nothing is contradicted" "(( \$(metric rocelet_runtime_contradictions) == 0 ))"
check "and nothing was away meanwhile" "keeps b $index_b 10.9.0.2/24 && keeps m $index_m 10.9.9.1/24"

say "a macvlan that its pod has hidden"
ip netns add hidden
hide m hidden 10.9.9.1/24
remove_pod m
check_within 60 "is found and deleted when its pod has ended" "! hidden hidden"
check_within 60 "and its slot is free" "(( \$(n_slots_in_use) == 0 ))"
slot_pod n 10.9.9.1/24
check "its address is the next pod's" "in_netns n ip -brief address show dev net1 | grep -qw 10.9.9.1/24"
hide n hidden 10.9.9.1/24
kill_rocelet
remove_pod n
start_engine
check_within 60 "also when its pod ends while no daemon runs" "! hidden hidden && (( \$(n_slots_in_use) == 0 ))"

say "an address that a station of the network has"
ip link add link "$PF" name station0 netns hidden type macvlan mode bridge
ip -n hidden link set station0 address 02:00:00:00:09:09 up
ip -n hidden address add 10.9.9.7/24 dev station0
make_pod p "$SLOT=1" "$(slot_annotation 10.9.9.7/24)"
check_within 90 "is not given, and the pod says who has it" "pod_status p | grep -q '10.9.9.7 is in use on the network of $PF, by 02:00:00:00:09:09'"
ip -n hidden link delete station0
check_within 120 "until the station has gone" "pod_started p && in_netns p ip -brief address show dev net1 | grep -qw 10.9.9.7/24"
remove_pod p
ip netns delete hidden

say "the state folder is removed"
rm -rf "$STATE_DIR"
vf_pod c 10.9.0.3/24
c=$(vf_of c) index_c=$(index_of c)
check "the next pod gets its VF" "is_complete c $c 10.9.0.3/24"
check "the folder is root's alone" "[[ \$(stat -c %a:%u $STATE_DIR/devices) == 700:0 ]]"
check "with the records of both pods" "[[ -s $STATE_DIR/devices/$c && -s $STATE_DIR/devices/$(vf_of b) ]]"
check "which is told" "told JournalBad 'was removed: it is created again, with the records of [1-9]'"
kill_rocelet
start_engine
check_within 60 "both are known after a restart" "[[ \$(engine_state $c) == in_pod && \$(engine_state $(vf_of b)) == in_pod ]]"
check "and were not away" "keeps b $index_b 10.9.0.2/24 && keeps c $index_c 10.9.0.3/24"
check "no one of them is an orphan" "! told Orphan . && ! told Adopted ."

say "a pool that says otherwise since"
sed 's/"softRoce": false/&, "clean": "always-reset"/' "$CONFIG" >"$CONFIG.new"
check "the new text has the key" "grep -q always-reset $CONFIG.new"
mv "$CONFIG.new" "$CONFIG"
wait_until 60 "curl -fsS -m 60 $HTTP/api/v1/config | grep -q always-reset"
remove_pod c
check_within 60 "the device follows it" "told Returned \"$c returned from .*with a new netdev, as its pool requires\""
remove_pod b
check_all_free

say "a function loses its driver, and the disk cannot take it down"
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
dies 60 || fail "it lives"
check "it has no driver" "[[ ! -e /sys/bus/pci/devices/$id/driver ]]"
ip netns delete pod1
umount "$record"
start_engine
check_within 60 "it has one again" "[[ -e /sys/bus/pci/devices/$id/driver ]]"
check_within 60 "and is free" "[[ \$(engine_state $id) == free && -n \$(netdev_of $id) ]]"

say "a pod takes our mark away, and the record cannot be read"
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
# Its MAC was the driver's choice, which is another one now.
check_within 60 "it is free, under a name that the pod did not choose" "[[ \$(engine_state $id) == free && \$(netdev_of $id) == $name ]]"
check "nothing that the pod has set is left" "ip -d link show dev $name | grep -q 'group default'"
check "by a new netdev, which is told" "told Returned \"$id returned from .*with a new netdev\""
stop_rocelet
echo "# the scenario took $SECONDS s"
