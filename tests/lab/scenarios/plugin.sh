# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The device plugin on real hardware events: the kubelet's list follows soon after the kernel's message. The kubelet is a
# stand-in; the real one is tests/kubelet's.
# proves: daemon/plugin daemon/pools daemon/inventory
# when: turns
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh

# plugin.sh [ROUNDS [BAR]]
ROUNDS=${1:-1} BAR=${2:-}
# shellcheck source=../guest/latency.sh
. /rocelet/lab/guest/latency.sh
RESOURCE=lab.rocelet/vf

say "a stand-in for the kubelet, and VFs"
make_vfs 2
VF_IDS=()
for vf in "${VFS[@]}"; do VF_IDS+=("$(basename "$(readlink "/sys/class/net/$vf/device")")"); done
NUMVFS=/sys/class/net/$PF/device/sriov_numvfs
python3 /rocelet/lab/guest/kubelet.py /tmp/registered &
KUBELET_PID=$!
wait_until 60 "[[ -S /var/lib/kubelet/device-plugins/kubelet.sock ]]"
cat >/tmp/config.json <<END
{"pools": [{"resourceName": "vf", "resourcePrefix": "lab.rocelet", "selectors": {"pfNames": ["$PF#0-7"], "drivers": ["igbvf"]}, "hold": {
  "linkDown": {"downMs": 0, "upMs": 0}, "noDriver": {"downMs": 0, "upMs": 0}}}]}
END
start_rocelet --config /tmp/config.json
wait_until 30 "grep -q '^$RESOURCE lab.rocelet_vf.sock v1beta1' /tmp/registered"
check "both VFs are offered" "holds_in_devices 'all(functions[i][\"resources\"][0][\"resource\"] == \"$RESOURCE\" for i in (\"${VF_IDS[0]}\", \"${VF_IDS[1]}\"))'"
check "the PF is not, and the reason is reported" "holds_in_devices 'functions[\"$(basename "$(readlink "/sys/class/net/$PF/device")")\"][\"notOffered\"] is not None'"

say "latency: from the kernel's message to the kubelet's list"
latencies "in the kubelet's list" list "$RESOURCE" <<END
vf_gone | echo 0 >$NUMVFS | KERNEL.* remove +/.*${VF_IDS[1]}/net/.* \\(net\\) | "${VF_IDS[1]}" not in healthy.union(unhealthy) | echo 2 >$NUMVFS | {"${VF_IDS[0]}", "${VF_IDS[1]}"} <= healthy
END
wait_until "ip link show $PF | grep -q LOWER_UP"
latencies "in the kubelet's list" list "$RESOURCE" <<END
driver_unbound | echo ${VF_IDS[0]} >/sys/bus/pci/drivers/igbvf/unbind | KERNEL.* unbind +/.*${VF_IDS[0]} \\(pci\\) | "${VF_IDS[0]}" not in healthy | echo ${VF_IDS[0]} >/sys/bus/pci/drivers/igbvf/bind | "${VF_IDS[0]}" in healthy
pf_carrier_lost | ip link set $PF down | \\] [0-9]+: $PF: | not healthy | ip link set $PF up | {"${VF_IDS[0]}", "${VF_IDS[1]}"} <= healthy
END
stop_rocelet
check "its socket is removed" "[[ ! -e /var/lib/kubelet/device-plugins/lab.rocelet_vf.sock ]]"

say "the configuration that rocelet proposes for this node, written to the file that it follows"
both_are_free() {
    holds_in_devices "all(functions[i]['resources'][0]['healthy'] for i in ('${VF_IDS[0]}', '${VF_IDS[1]}'))"
}
echo '{}' >/tmp/config.json
start_rocelet --config /tmp/config.json
wait_until "$BUILD/rocectl suggest >/tmp/suggested.json && grep -q 'VFs of' /tmp/suggested.json"
cat /tmp/suggested.json
check "the flag prints the same" 'diff <("$BUILD/rocelet" --suggest-config) /tmp/suggested.json'
check "it has no mistake" '"$BUILD/rocelet" --config /tmp/suggested.json --check-config --strict'
cat /tmp/suggested.json >/tmp/config.json
wait_until 30 "grep -q '^rocelet.dev/soft-roce rocelet.dev_soft-roce.sock v1beta1' /tmp/registered"
check "both VFs can be allocated" "wait_until 30 both_are_free"
check "nothing else is offered" "holds_in_devices \"sorted(i for i in functions if functions[i]['resources']) == sorted(['${VF_IDS[0]}', '${VF_IDS[1]}'])\""
stop_rocelet
kill "$KUBELET_PID"
