# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rocelet-cni makes containerd's own network: as the only plugin of its list, and as the first of a list with tuning, rdma and sbr. It gets only the
# runtime's ADD and DEL, one DEL while no daemon runs.
# lab: --kubelet --memory 4096 --timeout 1500
# proves: k8s/cni daemon/cni
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/cni.sh
. /rocelet/lab/guest/cni.sh

IP=10.9.0.1/24
ALONE="" CHAIN="" # network lists, as soon as there are VFs

network_list() { # PLUGIN..
    local plugins
    plugins=$(printf ', %s' "$@")
    echo "{\"cniVersion\": \"1.0.0\", \"name\": \"fast\", \"plugins\": [${plugins#, }]}"
}

ours() { # TYPE SOFT_ROCE
    echo "{\"type\": \"$1\", \"deviceID\": \"${VF_IDS[0]}\", \"vlan\": 100, \"softRoce\": $2,
      \"ipam\": {\"type\": \"static\", \"addresses\": [{\"address\": \"$IP\"}], \"routes\": [{\"dst\": \"0.0.0.0/0\", \"gw\": \"10.9.0.254\"}]}}"
}

# Replaces the rig's bridge.
cni_config() {
    echo "$ALONE"
}

# The runtime watches the folder.
use_list() { # LIST
    echo "$1" >/run/rig/cni/.new
    mv /run/rig/cni/.new /run/rig/cni/10-rig.conflist
    ctr --namespace k8s.io version >/dev/null
}

# eth0 is the VF, with its address and settings, and the kubelet reports the address.
is_network_of() { # POD
    in_netns "$1" ethtool -i eth0 | grep -qx "bus-info: ${VF_IDS[0]}" &&
        in_netns "$1" ip -brief address show dev eth0 | grep -w UP | grep -qw $IP &&
        has_settings "${VF_IDS[0]}" 'vlan 100' &&
        [[ $(curl -fsS -m 60 "$KUBELET_URL/pods" | json "[p['status'].get('podIP') for p in doc['items'] if p['metadata']['name'] == '$1-rig']") == "['${IP%/*}']" ]]
}

make_pool 1
echo '{}' >"$CONFIG"
ALONE=$(network_list "$(ours rocelet-cni true)")
CHAIN=$(network_list "$(ours sriov false)" '{"type": "tuning", "sysctl": {"net.ipv4.conf.eth0.arp_ignore": "1"}}' '{"type": "rdma"}' '{"type": "sbr"}')
"$BUILD/rocelet" --install-cni=$CNI_DIR --link=sriov,rdma
start_node
start_engine

say "the only plugin"
run_pod p
check_within 30 "the pod's eth0 is the VF" "is_network_of p"
check "with its RDMA device" "in_netns p rdma link show | grep -q 'netdev eth0'"
check "the API shows it" "curl -fsS $HTTP/api/v1/attachments | grep -q '\"door\":\"cni\"'"
remove_pod p
check_all_free

# The plugin rdma requires exclusive mode, which the kernel refuses while other network namespaces exist; soft-RoCE in pods requires shared mode.
say "a list: sriov, tuning, rdma, sbr"
kill_rocelet
need_within 60 "the RDMA subsystem is in exclusive mode" "rdma system set netns exclusive"
start_engine
use_list "$CHAIN"
run_pod q
check_within 30 "the pod's eth0 is the VF" "is_network_of q"
check "with the setting of tuning" "[[ \$(in_netns q sysctl -n net.ipv4.conf.eth0.arp_ignore) == 1 ]]"
check "and sbr's rule and table" "in_netns q ip rule | grep -q 'from ${IP%/*} lookup 100' && in_netns q ip route show table 100 | grep -q 'default via 10.9.0.254'"
remove_pod q
check_all_free

say "the pod ends while no daemon runs"
run_pod r
check_within 30 "the pod's eth0 is the VF" "is_network_of r"
kill_rocelet
remove_pod r
check_within 60 "its DEL is queued" "[[ -n \$(ls $LEFT/del) ]]"
start_engine
check_all_free
check_within 10 "the queued DEL is done" spool_is_empty

say "the plugin is uninstalled"
"$BUILD/rocelet" --uninstall-cni=$CNI_DIR
check "the plugin and its links are removed, others stay" "[[ ! -e $CNI_DIR/rocelet-cni && ! -L $CNI_DIR/sriov && ! -L $CNI_DIR/rdma && -x $CNI_DIR/tuning ]]"
stop_rocelet
check_complaints "going on without( them)?$"
echo "# the scenario took $SECONDS s"
