# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The status files of pods' devices (podStatus), through the mounts of a real kubelet and runtime: they appear and stay current, a pod does not
# see those of another one, a restarted container sees its own again, and they are removed with the pod.
# proves: daemon/plugin daemon/pools
# shellcheck source=../rig/lib.sh
. "$(dirname "$0")/../rig/lib.sh" "$1"

readonly VF=rocelet.dev/vf VARIABLE=ROCELET_STATUS_ROCELET_DEV_VF HOST=/run/rocelet/pod-status

# Evaluates a Python expression over the first status file in a container's environment, `doc`, read through its mounts.
status_of() { # POD EXPRESSION
    local file
    file=$(pod_env "$1" "$VARIABLE")
    json "$2" <"/proc/$(pod_pid "$1")/root${file%%,*}"
}

status_is() { [[ $(status_of "$1" "$2" 2>/dev/null) == "$3" ]]; } # POD EXPRESSION WANTED

is_newer() { (($(status_of "$1" "doc['timeMs']" 2>/dev/null || echo 0) > $2)); } # POD THAN_MS

seen_folders() { ls "/proc/$(pod_pid "$1")/root/run/rocelet"; } # POD

make_hardware 2 8
start_kubelet
configure <<<'{"pools": [{"resourceName": "vf", "podStatus": true, "selectors": {"isRdma": true, "pfNames": ["ens1np0"]}}]}'
start_rocelet
need_within 20 "the kubelet lists four VFs" "(( \$(n_registered $VF) == 4 ))"
check "without pods there is no folder" "[[ ! -e $HOST ]]"

run_pod a $VF=1
run_pod b $VF=2
check "each has the paths of its devices' files" "[[ -n '$(pod_env a $VARIABLE)' && \$(pod_env b $VARIABLE | tr , '\n' | wc -l) == 2 ]]"
check_within 10 "a reads the file of its own device" "status_is a \"doc['function']\" '$(pod_env a PCIDEVICE_ROCELET_DEV_VF)'"
check "the file is about its port" "status_is a \"doc['ports'][0]['device']\" '$(rdma_of "$(netdev_of "$(pod_env a PCIDEVICE_ROCELET_DEV_VF)")")'"
check "a has one folder, b has two" "[[ \$(seen_folders a | wc -l) == 1 && \$(seen_folders b | wc -l) == 2 ]]"
check "b does not see the folder of a" "[[ -z \$(comm -12 <(seen_folders a) <(seen_folders b)) ]]"
check "it cannot be written to" "! nsenter -t $(pod_pid a) -m touch /run/rocelet/$(seen_folders a)/x 2>/dev/null"
before=$(status_of a "doc['timeMs']")
check_within 10 "it goes on" "is_newer a $before"

say "the container is restarted"
started=$(pod_pid a)
kill -KILL "$started"
need_within 60 "a's container is started again" "[[ -n \$(pod_pid a) && \$(pod_pid a) != $started ]]"
check_within 10 "it reads again" "is_newer a $before"

say "the daemon is killed"
stop_rocelet KILL
before=$(status_of a "doc['timeMs']")
sleep 2
check "without the daemon its time does not advance" "status_is a \"doc['timeMs']\" $before"
start_rocelet
check_within 20 "it goes on" "is_newer a $before"

say "the folders are lost, as in a reboot"
started=$(pod_pid a)
stop_rocelet KILL
rm -rf $HOST
start_rocelet
need_within 20 "the folders are there" "[[ \$(ls $HOST | wc -l) == 3 ]]"
kill -KILL "$started"
need_within 120 "a's container is started again" "[[ -n \$(pod_pid a) && \$(pod_pid a) != $started ]]"
check_within 10 "it reads again" "is_newer a $before"

say "the pod ends"
remove_pod a
check_within 60 "its folder is removed" "[[ \$(ls $HOST | wc -l) == 2 ]]"
remove_pod b
check_within 60 "without pods all folders are removed" "[[ -z \$(ls -A $HOST) ]]"
run_pod c $VF=4
check_within 10 "the next pod reads the file of its own device" "status_is c \"doc['function'] in '$(pod_env c PCIDEVICE_ROCELET_DEV_VF)'\" True"
remove_pod c
