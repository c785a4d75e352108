# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Checks the rig itself, with a stand-in instead of rocelet: a failure here is not caused by the daemon.
# proves: tests/kubelet
# shellcheck source=../rig/lib.sh
. "$(dirname "$0")/../rig/lib.sh" "$1"

readonly RESOURCE=test.dev/standin

start_standin() { # ID[@NUMA]..
    : >"$OUT/standin.log"
    /usr/bin/python3 "$KUBELET_DIR/rig/standin.py" "$RESOURCE" "$@" >>"$OUT/standin.log" 2>&1 </dev/null &
    STANDIN_PID=$!
    wait_until "grep -q '^registered' $OUT/standin.log"
}

make_hardware 2 4
fake_numa
start_kubelet "topologyManagerPolicy: single-numa-node"
start_standin uverbs0@0 uverbs1@1 uverbs2@0 uverbs3@1
need_within 5 "the kubelet lists the devices" "[[ \$(registered $RESOURCE) == 'uverbs0 uverbs1 uverbs2 uverbs3' ]]"
check "and has counted one registration" "(( \$(registrations $RESOURCE) == 1 ))"

say "pods"
run_pod a "$RESOURCE=2"
run_pod b "$RESOURCE=2"
run_pod none
check "a container sees its devices" "[[ '$(pod_devices a)' == 'uverbs0 uverbs2' || '$(pod_devices a)' == 'uverbs1 uverbs3' ]]"
check "they are on one NUMA node" "[[ '$(pod_devices a) $(pod_devices b)' == *0\ uverbs2* ]]"
check "and its environment" "[[ $(pod_env a STANDIN) == '$(pod_devices a | tr ' ' ,)' ]]"
check "PodResources agrees" "[[ \$(pod_resources a $RESOURCE) == '$(pod_devices a)' ]]"
check "a pod that requests nothing gets nothing" "[[ -z \$(pod_devices none) ]]"
check "PreStartContainer was called" "grep -q 'PreStartContainer $(pod_devices a)' $OUT/standin.log"
make_pod greedy "$RESOURCE=1"
check_within 10 "a pod that requests too much is rejected" "pod_status greedy | grep -q TopologyAffinityError"
remove_pod greedy
remove_pod b

say "a failing PreStartContainer"
rm /dev/infiniband/uverbs*
make_pod b "$RESOURCE=2"
check_within 10 "with the plugin's sentence" "pod_status b | grep -q 'has no device node'"
for i in 0 1 2 3; do make_chardev "uverbs$i"; done
check_within 60 "until it is answered well" "pod_started b"
remove_pod b

say "health"
echo "$(pod_devices a) uverbs1 uverbs3" >/run/rig/standin
check_within 5 "the kubelet no longer counts unhealthy devices" "[[ -z \$(registered $RESOURCE) ]]"
make_pod sick "$RESOURCE=1"
check_within 10 "an unhealthy device is not allocated" "pod_status sick | grep -q TopologyAffinityError"
remove_pod sick
rm /run/rig/standin
check_within 5 "and counts them again" "(( \$(n_registered $RESOURCE) == 4 ))"

say "the kubelet's death"
before=$(pod_pid a)
kill "$STANDIN_PID"
stop_kubelet KILL
launch_kubelet
wait_until "kubelet_ready"
start_standin uverbs0@0 uverbs1@1 uverbs2@0 uverbs3@1
check_within 5 "it is registered again" "(( \$(registrations $RESOURCE) == 1 ))"
check "the pod keeps running" "[[ '$before' == \$(pod_pid a) ]]"

say "the checkpoint lacks the last list"
json "doc['Data']['RegisteredDevices'].pop('$RESOURCE') and False or json.dumps(doc)" <"$CHECKPOINT" >"$CHECKPOINT.old"
check "as if an older state had been written last" "json \"'$RESOURCE' in doc['Data']['RegisteredDevices']\" <$CHECKPOINT.old | grep -qx False"
mv "$CHECKPOINT.old" "$CHECKPOINT"
check_within 30 "a scenario that waits for the list gets it" "[[ \$(registered $RESOURCE) == 'uverbs0 uverbs1 uverbs2 uverbs3' ]]"
