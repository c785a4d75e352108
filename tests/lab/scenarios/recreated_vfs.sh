# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# sriov_numvfs is written while pods have VFs: the VFs with the same names afterwards are new ones. The original state of the old ones is not
# restored on them, and none is lost: they are in the host, whatever happens to the old ones' pods.
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

say "the VFs are created again"
echo 0 >"/sys/class/net/$PF/device/sriov_numvfs"
make_vfs 2
ip link set "$PF" vf 1 vlan 55 trust on
for id in "${VF_IDS[@]}"; do CLEAN[$id]=$(look_of "$id"); done

check_all_free # although their pods still run
check "and events report the old ones" "rocectl events | grep -c 'returned from namespace .*: it was moved out of its pod' | grep -qx 2"

say "the pods end, one by its namespace, one by a request"
ip netns delete pod0
check "which is rejected: nothing is attached" "! rocectl detach ${VF_IDS[1]} 2>/tmp/answer && grep -q 'is not attached' /tmp/answer"
check_all_free
check "the administrator's settings stay" "has_settings ${VF_IDS[1]} 'vlan 55' 'trust on'"
check "the next pod gets one" "ip netns add b && attach ${VF_IDS[0]} b 10.9.0.3/24 && is_complete b ${VF_IDS[0]} 10.9.0.3/24"
rocectl detach "${VF_IDS[0]}"
check_all_free
stop_rocelet
