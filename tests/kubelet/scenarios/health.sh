# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Health in the kubelet's list: each possible fault of a device makes it unhealthy there, with a reason, and healthy again when the
# fault ends; pods with the device keep running.
# proves: daemon/pools daemon/plugin
# shellcheck source=../rig/lib.sh
. "$(dirname "$0")/../rig/lib.sh" "$1"

readonly VF=rocelet.dev/vf

# Makes ens1v1 unhealthy and healthy again.
flips() { # WHAT REASON BREAK MEND
    eval "$3"
    check_within 10 "$1: the kubelet counts one less" "[[ \$(registered $VF) == '$(pci_of ens1v{0,2,3} | sort | xargs)' ]]"
    check_within 5 "$1: /api/v1/devices has the reason" "curl -fsS $HTTP/api/v1/devices | grep -q '$2'"
    check_within 5 "$1: so do the metrics" "curl -fsS $HTTP/metrics | grep -v '^#' | grep '$2' | grep -v ' 0\$' | grep -q \"$(pci_of ens1v1)\\|$(rdma_of ens1v1)\""
    eval "$4"
    check_within 20 "$1: it comes back" "(( \$(n_registered $VF) == 4 ))"
}

make_hardware 2 8
configure <<EOT
{"resourceList": [{"resourceName": "vf", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["ens1np0#0-3"], "isRdma": true}}]}
EOT
start_kubelet
start_rocelet
need_within 20 "four healthy devices" "(( \$(n_registered $VF) == 4 ))"
FUNCTION=$(function_of ens1v1) NODE=uverbs$(index_of ens1v1)
PORT=$FUNCTION/infiniband/$(rdma_of ens1v1)/ports/1

flips "carrier lost" link_down 'set_carrier ens1v1 down' 'set_carrier ens1v1 up'
flips "RDMA port down" port_down 'echo "1: DOWN" >$PORT/state' 'echo "4: ACTIVE" >$PORT/state'
flips "no character device" no_chardev 'rm $TREE/class/infiniband_verbs/$NODE' 'ln -s ../../devices/pci0000:00/$(pci_of ens1v1)/infiniband_verbs/$NODE $TREE/class/infiniband_verbs/$NODE'
flips "no device node" no_chardev 'rm /dev/infiniband/$NODE' 'make_chardev $NODE'
flips "driver unbound" no_driver 'rm $FUNCTION/driver' 'ln -s ../../../bus/pci/drivers/mlx5_core $FUNCTION/driver'

say "unhealthy devices are not allocated"
set_carrier ens1v1 down
wait_until "(( \$(n_registered $VF) == 3 ))"
make_pod all "$VF=4"
check_within 10 "a pod that requests more than the healthy devices is rejected" "pod_status all | grep -q UnexpectedAdmissionError"
remove_pod all
run_pod three "$VF=3"
check "three get the healthy three" "[[ \$(pod_env three PCIDEVICE_ROCELET_DEV_VF | tr , '\n' | sort | xargs) == '$(pci_of ens1v{0,2,3} | sort | xargs)' ]]"
set_carrier ens1v1 up
wait_until "(( \$(n_registered $VF) == 4 ))"
run_pod last "$VF=1"
check "the recovered one is allocated" "[[ $(pod_env last PCIDEVICE_ROCELET_DEV_VF) == $(pci_of ens1v1) ]]"

say "pods with an unhealthy device keep running"
before=$(pod_pid three)
for netdev in ens1np0 ens1v{0..3}; do set_carrier "$netdev" down; done
check_within 10 "without the uplink all its VFs are unhealthy, also those in use" "(( \$(n_registered $VF) == 0 ))"
check "the pods keep running" "[[ \$(pod_pid three) == $before && -n \$(pod_pid last) ]]"
check "and PodResources still names their devices" "[[ \$(pod_resources three $VF | wc -w) == 3 ]]"
for netdev in ens1np0 ens1v{0..3}; do set_carrier "$netdev" up; done
check_within 20 "with the uplink they are healthy again" "(( \$(n_registered $VF) == 4 ))"
remove_pod three
remove_pod last

say "the daemon's death"
lists=$(lists_received "$VF")
stop_rocelet KILL
make_pod orphan "$VF=1"
check_within 15 "without rocelet nothing is allocated" "pod_status orphan | grep -q UnexpectedAdmissionError"
remove_pod orphan
start_rocelet
need_within 20 "a new daemon is found" "(( \$(lists_received $VF) > $lists && \$(n_registered $VF) == 4 ))"
run_pod again "$VF=4"
check "and allocates everything" "[[ \$(pod_resources again $VF | wc -w) == 4 ]]"
stop_rocelet
