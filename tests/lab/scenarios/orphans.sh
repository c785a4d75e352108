# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# VFs without a record, and one that was moved out of its pod: a running pod keeps its own, all others return to the host clean.
# lab: --kubelet --memory 4096 --timeout 1200
# proves: daemon/attach daemon/pods
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

# Without a record the MAC that the PF had for a VF and the netdev's own are lost, too: the PF then has none for it, and a new netdev gets
# one of its own.
eval "with_mac_$(declare -f look_of)"
look_of() { # ID
    with_mac_look_of "$1" | sed -E 's, link/ether [^ ]+,,'
}

mac_of() { # ID
    cat "/sys/bus/pci/devices/$1/net/"*/address
}

make_vf_pod() { # NAME IP/LEN
    run_pod "$1" "$RESOURCE=1" "[{\"resource\": \"$RESOURCE\", \"ips\": [\"$2\"]}]"
}

n_with_status() { # REASON FUNCTION
    rocectl events --limit 200 | grep -w "$1" | grep -cw "$2" || true
}

# The API has events since the daemon's start only.
event() { # REASON FUNCTION
    (($(n_with_status "$1" "$2") > 0))
}

# The same interface, so it was never removed, not even for a moment.
keeps() { # POD ID IP/LEN INDEX
    is_complete "$1" "$2" "$3" && [[ $(net1_index "$1") == "$4" ]]
}

net1_index() { # POD
    in_netns "$1" cat /sys/class/net/net1/ifindex 2>/dev/null || in_netns "$1" ip -o link show net1 | cut -d: -f1
}

is_in_host_as() { # ID NAME
    [[ -e /sys/bus/pci/devices/$1/net/$2 ]]
}

make_pool 3 '{"mtu": 1400, "vlan": 100}'
start_node
start_engine
need_within 30 "the kubelet lists the VFs" "(( \$(n_registered $RESOURCE) == 3 ))"

say "the journal cannot be read, and is lost, while a pod runs"
make_vf_pod a 10.9.0.1/24
a=$(pod_env a $VARIABLE) index=$(net1_index a)
kill_rocelet
for file in "$STATE_DIR"/devices/*; do echo garbage >"$file"; done
start_engine
check_within 30 "unreadable: it stays with its pod" "[[ \$(engine_state $a) == in_pod ]] && event Adopted $a"
check "and was not removed meanwhile" "keeps a $a 10.9.0.1/24 $index"
kill_rocelet
rm -rf "$STATE_DIR"
start_engine
check_within 30 "lost: it stays with its pod" "[[ \$(engine_state $a) == in_pod ]] && event Adopted $a"
check "and was not removed meanwhile" "keeps a $a 10.9.0.1/24 $index"
remove_pod a
check_all_free

say "its pod ends, and then its record is lost: an orphan in the host"
make_vf_pod b 10.9.0.2/24
b=$(pod_env b $VARIABLE)
kill_rocelet
remove_pod b
wait_until 60 "is_in_host_as $b net1"
rm -rf "$STATE_DIR"
start_engine
check_within 30 "it is reported as an orphan, and returned" "event Orphan $b && event Returned $b"
check_all_free

say "the same, and its pod has written another name into the alias"
make_vf_pod e 10.9.0.5/24
e=$(pod_env e $VARIABLE)
in_netns e ip link set net1 alias "rocelet chosen7 default/e"
kill_rocelet
remove_pod e
wait_until 60 "is_in_host_as $e net1"
rm -rf "$STATE_DIR"
start_engine
check_within 30 "it is reported as an orphan, and returned" "event Orphan $e && event Returned $e"
check "not under the name that its pod chose" "! is_in_host_as $e chosen7"
check_all_free

say "an orphan in a namespace that exists without a pod"
c=${VF_IDS[2]}
ip netns add stranger
attach "$c" stranger 10.9.0.3/24
kill_rocelet
rm -rf "$STATE_DIR"
start_engine
check_within 30 "it is reported as an orphan, and returned" "event Orphan $c && event Returned $c"
check "its namespace is left alone" "in_netns stranger ip link show lo"
check_all_free
ip netns delete stranger

say "an administrator moves it to the host while its pod runs"
declare -A MACS
for id in "${VF_IDS[@]}"; do MACS[$id]=$(mac_of "$id"); done
make_vf_pod d 10.9.0.4/24
d=$(pod_env d $VARIABLE)
in_netns d ip link set net1 netns 1
check_within 60 "an event reports it, and it is returned" "rocectl events --limit 200 | grep -w Returned | grep -w $d | grep -q 'moved out of its pod'"
check_within 60 "and attached again, as the pod still has it" "[[ \$(engine_state $d) == in_pod ]] && is_complete d $d 10.9.0.4/24"
remove_pod d
check_all_free
check "with its original MAC, which the journal has" "[[ \$(mac_of $d) == ${MACS[$d]} ]]"

stop_rocelet
echo "# the scenario took $SECONDS s"
