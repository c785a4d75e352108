# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A pod's author cannot change the isolation that the pool sets.
# lab: --kubelet --memory 4096 --timeout 1800
# proves: daemon/config
# when: turns vlan spelt files evil
# when: soak --timeout 3600 --
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

# allow.sh [ATTACK..]     only these
ONLY=" $* "
SOFT_ROCE=false
HOST_LOCAL='{"type": "host-local", "dataDir": "/etc/rocelet-test", "ranges": [[{"subnet": "10.9.0.0/24"}]]}'
MARK=98765 # the evil plugin starts processes: sleep $MARK
CNI_BIN=/opt/cni/bin

# Pods that must not start: name | keys of their entry | words of the sentence
attacks() {
    cat <<END
vlan | "vlan": 200 | vlan $RESOURCE allow
untag | "vlan": 0 | vlan $RESOURCE allow
spoof | "spoofchk": "off", "ips": ["10.9.0.1/24"] | spoofchk $RESOURCE allow
trust | "TRUST": true | trust $RESOURCE allow
rate | "maxTxRate": 0 | maxTxRate $RESOURCE allow
mac | "mac": "02:00:00:00:00:0a" | mac $RESOURCE allow
route | "gateway": "10.9.0.253" | gateway $RESOURCE allow
mtu | "mtu": 1401 | mtu 1401 1400 $RESOURCE
subnet | "ips": ["10.8.0.1/24"] | ips 10.8.0.1/24 subnets $RESOURCE
wide | "ips": ["10.9.0.1/8"] | ips 10.9.0.1/8 subnet $RESOURCE
gateway | "ips": ["10.9.0.254/24"] | ips 10.9.0.254/24 gateway $RESOURCE
files | "ipam": $HOST_LOCAL | ipam pool
spelt | "IPAM": $HOST_LOCAL | IPAM pool
beside | "ips": ["10.9.0.1/24"], "ipam": $HOST_LOCAL | ipam pool
up | "ipam": {"type": "host-local", "dataDir": "../../../etc/rocelet-test", "ranges": [[{"subnet": "10.9.0.0/24"}]]} | ipam dataDir ../../../etc/rocelet-test
evil | "ipam": {"type": "evil", "needs": {"network": "host", "write": ["/etc"]}} | ipam pool
shell | "ipam": {"type": "../../bin/sh"} | ipam ../../bin/sh
bridge | "ipam": {"type": "bridge"} | ipam pool
ptp | "ipam": {"type": "ptp"} | ipam pool
END
}

# Everything that a plugin could have changed in the host's network; links on rig0 are the pods' eth0.
host_network() {
    ip -oneline link show | grep -v ' master rig0 ' | cut -d' ' -f2 | sort
}

# Files newer than the first attack, in folders where only administrators write.
new_files() {
    find /etc /usr /opt /root /home /srv /var/tmp /var/spool -xdev -newer /tmp/before ! -type d
}

# containerd, too, runs plugins, for the pods' eth0; these exit by themselves.
no_process_left() {
    ! pgrep -fx "sleep $MARK" && ! pgrep -P "$ROCELET_PID" && ! pgrep -x 'bridge|ptp|evil|host-local'
}

NAMES=() WORDS=()
# The pods created so far fail, each with its own sentence, and are deleted.
check_refused() {
    local i
    for i in "${!NAMES[@]}"; do
        becomes_true $((90 * PATIENCE)) "refused ${NAMES[i]} ${WORDS[i]} || pod_started ${NAMES[i]}" || true
        check "${NAMES[i]}: the pod does not start, and its status has the reason" "refused ${NAMES[i]} ${WORDS[i]}"
        echo "# $(pod_status "${NAMES[i]}" | grep -o 'default/.*' | cut -c1-220)"
        check "${NAMES[i]}: nothing was started" "[[ ! -e $PODS/${NAMES[i]}/starts ]]"
    done
    check "no VF has another VLAN, spoof checking off, trust, or another MAC" \
        "! ip link show dev $PF | grep -E 'vlan (0|200)\b|spoof checking off|trust on|02:00:00:00:00:0a'"
    check "no file was created" "[[ -z \$(new_files) ]]"
    new_files | sed 's/^/# new: /'
    for i in "${!NAMES[@]}"; do remove_pod "${NAMES[i]}"; done
    NAMES=() WORDS=()
    check_within 30 "no process is left" no_process_left
    check_within 30 "the host's network is unchanged" '[[ $(host_network) == "$network" ]]'
    diff <(echo "$network") <(host_network) | sed 's/^/# /' || true
    check_all_free
}

make_pool 4 '{"mtu": 1400, "vlan": 100, "maxTxRate": 500, "routes": [{"dst": "10.99.0.0/16", "gw": "10.9.0.254"}], "subnets": ["10.9.0.0/24"]}'
mkdir -p $CNI_BIN
cat >$CNI_BIN/evil <<END
#!/bin/sh
id >/etc/rocelet-evil
setsid sleep $MARK </dev/null >/dev/null 2>&1 &
echo '{"ips": [{"address": "10.9.0.9/24"}]}'
END
chmod 755 $CNI_BIN/evil
start_node
start_engine
need_within 30 "the kubelet lists the VFs" "(( \$(n_registered $RESOURCE) == 4 ))"

say "a pod that requests what every pod may"
run_pod good "$RESOURCE=1" "$(entry '"interface": "net1", "ips": ["10.9.0.1/24"], "mtu": 1300')"
good=$(vf_of good)
check "it has its VF, its address and its MTU" "is_complete good $good 10.9.0.1/24 && in_netns good ip link show net1 | grep -q 'mtu 1300 '"
check "and the pool's settings" "has_settings $good 'vlan 100' 'max_tx_rate 500Mbps' 'spoof checking on' 'trust off'"
remove_pod good
check_all_free
network=$(host_network)
touch /tmp/before

say "pods that request more"
while IFS='|' read -r name keys words; do
    name=${name// /}
    [[ $ONLY == *" $name "* || $ONLY == "  " ]] || continue
    name=no-$name
    make_pod "$name" "$RESOURCE=1" "$(entry "${keys% }")"
    NAMES+=("$name") WORDS+=("$words")
    ((${#NAMES[@]} < ${#VF_IDS[@]})) || check_refused
done < <(attacks)
check_refused

say "a pool that allows one of these"
sed -i 's/"network": {/&"allow": ["vlan"], /' "$CONFIG"
wait_until "metric rocelet_config_reloads_total 'result=\"ok\"' | grep -qx 1"
run_pod may "$RESOURCE=1" "$(entry '"vlan": 200, "ips": ["10.9.0.1/24"]')"
check "its pod has the requested VLAN" "has_settings $(vf_of may) 'vlan 200' 'max_tx_rate 500Mbps' 'trust off'"
make_pod may-not "$RESOURCE=1" "$(entry '"vlan": 200, "trust": true')"
check_within 90 "but other settings are rejected" "refused may-not trust $RESOURCE allow"
remove_pod may
remove_pod may-not
check_all_free

stop_rocelet
echo "# the scenario took $SECONDS s"
