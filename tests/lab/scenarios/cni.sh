# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# VFs are attached by CNI: requests as runtimes send them, in every order, and missing ones.
# lab: --timeout 900
# proves: daemon/cni daemon/attach
# when: turns
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/cni.sh
. /rocelet/lab/guest/cni.sh

SOFT_ROCE=false
make_pool 4
echo '{}' >"$CONFIG"
free=${VF_IDS[2]} other=${VF_IDS[3]}
ip netns add a
ip netns add b
start_engine

say "a container without a pod"
keys='"vlan": 100, "vlanQoS": 3, "spoofchk": "off", "trust": "on", "max_tx_rate": 200, "mac": "02:00:00:00:00:0a", "runtimeConfig": {"ips": ["10.9.0.1/24"]}'
check "ADD" "answer=\$(cni ADD ca --netns /run/netns/a --config '$(config "$free" "$keys")')"
echo "# $answer"
check "its result is the interface" '[[ $answer == *"\"name\":\"net1\""*"\"mac\":\"02:00:00:00:00:0a\""*"10.9.0.1/24"* ]]'
check "which exists" "is_complete a $free 10.9.0.1/24"
check "as the configuration says" "has_settings $free 'vlan 100' 'qos 3' 'spoof checking off' 'trust on' 'max_tx_rate 200Mbps' '02:00:00:00:00:0a'"
check "the API shows it like others" "curl -fsS $HTTP/api/v1/attachments | grep -q '\"door\":\"cni\"'"
check "CHECK" "cni CHECK ca --netns /run/netns/a --config '$(config "$free" "$keys")'"
check "the same ADD again is refused" "cni_fails 102 ADD ca --netns /run/netns/a --config '$(config "$free" "$keys")'"
check "another device for the same interface, too" "cni_fails 102 ADD ca --netns /run/netns/a --config '$(config "$other")'"
check "and the device for another container" "cni_fails 102 ADD cb --netns /run/netns/b --config '$(config "$free")'"
check "a second one" "cni ADD cb --netns /run/netns/b --config '$(config "$other" '"vlan": 100, "vlanQoS": 3, "runtimeConfig": {"ips": ["10.9.0.2/24"]}')'"
check_within 10 "ping goes through" "in_netns a busybox ping -c 1 -W 5 10.9.0.2 >/dev/null"
in_netns a ip link set net1 down
check_within 20 "CHECK reports a change" "cni_fails 103 CHECK ca --netns /run/netns/a --config '$(config "$free" "$keys")'"

say "DEL"
check "without netns and configuration" "cni DEL ca"
check "the VF is free and as before" "is_free $free"
check "again" "cni DEL ca"
check "of an unknown container" "cni DEL never --netns /run/netns/none"
check "CHECK of a deleted one fails" "cni_fails 3 CHECK ca --netns /run/netns/a --config '$(config "$free")'"

say "GC"
check "without a list nothing is touched" "cni GC x && cni GC x --config '{\"cni.dev/valid-attachments\": null}' && is_complete b $other 10.9.0.2/24"
check "with another network's list neither" "cni GC x --config '{\"name\": \"slow\", \"cni.dev/valid-attachments\": []}' && is_complete b $other 10.9.0.2/24"
check "an attachment in the list stays" "cni GC x --config '{\"cni.dev/valid-attachments\": [{\"containerID\": \"cb\", \"ifname\": \"net1\"}]}' && is_complete b $other 10.9.0.2/24"
check "one that is not in the list comes back" "cni GC x --config '{\"cni.dev/valid-attachments\": []}' && is_free $other"
check "STATUS" "cni STATUS x"

say "requests that fail"
check "no such device" "cni_fails 101 ADD ca --netns /run/netns/a --config '$(config 0000:ff:00.0)'"
check "a PF with VFs" "cni_fails 102 ADD ca --netns /run/netns/a --config '$(config "$PF")'"
check "no device" "cni_fails 7 ADD ca --netns /run/netns/a"
check "a namespace that is a file" "cni_fails 8 ADD ca --netns /etc/passwd --config '$(config "$free")'"
check "a namespace that is a device" "cni_fails 8 ADD ca --netns /dev/zero --config '$(config "$free")'"
check "the host's namespace" "cni_fails 8 ADD ca --netns /proc/1/ns/net --config '$(config "$free")'"
check "an invalid VLAN" "cni_fails 7 ADD ca --netns /run/netns/a --config '$(config "$free" '"vlan": 5000')'"
check "an ingress rate" "cni_fails 2 ADD ca --netns /run/netns/a --config '$(config "$free" '"runtimeConfig": {"bandwidth": {"ingressRate": 5}}')'"
check "nothing was changed" "is_free $free && is_free $other"

say "the daemon is killed"
check "ADD" "cni ADD ca --netns /run/netns/a --config '$(config "$free" '"runtimeConfig": {"ips": ["10.9.0.1/24"]}')'"
kill_rocelet
/rocelet/lab/guest/cni_driver.py DEL ca net1 --leave "$LEFT/del"
echo garbage >"$LEFT/del/garbage"
start_engine
check_within 30 "a DEL in the queue folder is done" "is_free $free"
check_within 10 "and its file removed, garbage put aside" '[[ -z $(ls "$LEFT/del") && $(ls "$LEFT/bad") == garbage ]]'
check "DEL after a restart" "cni ADD ca --netns /run/netns/a --config '$(config "$free")' && kill_rocelet && start_engine && cni DEL ca && is_free $free"
check "ADD once more" "cni ADD ca --netns /run/netns/a --config '$(config "$free")'"
ip netns delete a
check_within 30 "the VF comes back from a namespace that ends without DEL" "is_free $free"

stop_rocelet
check_complaints "going on without( them)?$|garbage|differs from its attachment: down|differs from its plan: down" "what was done here"
echo "# the scenario took $SECONDS s"
