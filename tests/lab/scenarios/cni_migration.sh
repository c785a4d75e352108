# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The network configurations of the migration guide, each before and after, on a VF: unchanged by links of the plugins' names, and rewritten.
# Both give the pod the same interface, and return the VF.
# lab: --timeout 600
# proves: k8s/cni daemon/cni docs/start/migration.md
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/cni.sh
. /rocelet/lab/guest/cni.sh

SOFT_ROCE=false
LINKS=/run/cni-bin # before Debian's plugins, which have a host-device of their own

libcni() { # add|check|del FILE BOX
    /rocelet/lab/guest/libcni.py "$1" "$2" "$3" "/run/netns/$3" "$VF" "$LINKS:$CNI_DIR" >/tmp/answer || { cat /tmp/answer; return 1; }
}

# The pod's link, the prefix length of its address, its rules and the PF's settings. host-local may choose any address.
has() { # BOX
    in_netns "$1" ip -d link show dev net1 | sed -E '1s/^[0-9]+: //; s/ (qlen|numtxqueues) .*//; s/ qdisc [^ ]+//'
    in_netns "$1" ip -brief -4 address show dev net1 | grep -oE '/[0-9]+' || true
    in_netns "$1" ip rule | sed -E 's/from [0-9.]+/from IP/'
    vf_settings "$VF"
}

# Applies a configuration: ADD, CHECK if its version has CHECK, DEL; then the VF is free again.
apply() { # FILE
    BOX=box$((n++))
    ip netns add "$BOX"
    check "${1##*/}: ADD ($(tr -d '\n' <"$1" | grep -oE '"type": "[a-z-]+"' | cut -d'"' -f4 | xargs))" "libcni add $1 $BOX"
    has "$BOX" >"$1.has"
    check "${1##*/}: the interface is the VF" "in_netns $BOX ethtool -i net1 | grep -qx 'bus-info: $VF'"
    grep -q '"cniVersion": "0.3' "$1" || check "${1##*/}: CHECK" "libcni check $1 $BOX"
    check "${1##*/}: DEL" "libcni del $1 $BOX"
    ip netns delete "$BOX"
    check_within 30 "${1##*/}: the VF is free and restored" "is_free $VF"
    is_free "$VF" || show_difference "$VF"
}

rdma system set netns exclusive # as rdmaIsolation and the type rdma require, and before any other network namespace
make_pool 1
VF=${VF_IDS[0]} n=0
echo '{}' >"$CONFIG"
mkdir $LINKS
"$BUILD/rocelet" --install-cni=$LINKS --link=sriov,ib-sriov,rdma,host-device
host_part
mkdir /tmp/lists
cp "$OUT"/before-* "$OUT"/after-* /tmp/lists/
start_engine
for before in /tmp/lists/before-*; do
    after=${before/before/after} pair=${before##*-}
    # The lab's PF cannot set a VF's link state.
    sed -i -E "s/0000:03:00.2/$VF/; s/\"link_state\": \"[a-z]+\",? *//" "$before" "$after"
    apply "$before"
    apply "$after"
    check "pair $pair: both give the same result" "diff $before.has $after.has"
done
check "there were pairs" "(( n >= 6 ))"
stop_rocelet
check_complaints "going on without( them)?$" "that there is no runtime"
echo "# the scenario took $SECONDS s"
