# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Somebody writes sriov_numvfs while pods have VFs: those that bear their names afterwards are new ones. What the old ones were like is not
# forced on them, and nobody loses them: they are in the host, whatever became of the old ones' pods.
# proves: daemon/attach/journal daemon/inventory
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

SOFT_ROCE=false
make_pool 2
start_engine
for i in 0 1; do
    ip netns add "pod$i"
    attach "${VF_IDS[i]}" "pod$i" "10.9.0.$((i + 1))/24" --vlan 33
done

say "the VFs are made anew"
echo 0 >"/sys/class/net/$PF/device/sriov_numvfs"
make_vfs 2
ip link set "$PF" vf 1 vlan 55 trust on
for id in "${VF_IDS[@]}"; do CLEAN[$id]=$(look_of "$id"); done

check_all_free # though their pods stand
check "and that is told" "rocectl events | grep -c 'returned from namespace .*: it was moved out of its pod' | grep -qx 2"

say "the pods end, one by its namespace, one by an order"
ip netns delete pod0
check "of which nothing is left to take back" "! rocectl detach ${VF_IDS[1]} 2>/tmp/said && grep -q 'is not attached' /tmp/said"
check_all_free
check "what the administrator has set stays" "has_settings ${VF_IDS[1]} 'vlan 55' 'trust on'"
check "the next pod gets one" "ip netns add b && attach ${VF_IDS[0]} b 10.9.0.3/24 && is_complete b ${VF_IDS[0]} 10.9.0.3/24"
rocectl detach "${VF_IDS[0]}"
check_all_free
stop_rocelet
