# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The wall clock is set by hours, back and forward, while pods start and while they run: every pod starts with its own VF, and
# every VF comes back.
# lab: --kubelet --memory 4096 --timeout 1800
# proves: daemon/attach include/loop
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

SOFT_ROCE=false
# A pod's sandbox is started only once its volume exists, and is not complete while its network is blocked.
readonly VOLUME=/run/late HOLD_UP=/run/hold_up
readonly NEEDS_VOLUME="doc['spec']['volumes'].append({'name': 'late', 'hostPath': {'path': '$VOLUME', 'type': 'File'}}) or doc['spec']['containers'][0]['volumeMounts'].append({'name': 'late', 'mountPath': '/late'})"

# Not while the scenario waits for something.
set_clock() { # SECONDS
    date -s "@$(($(date +%s) + $1))"
}

# A plugin behind the bridge, which blocks until the scenario releases it.
make_networks_slow() {
    cat >/usr/lib/cni/slow <<END
#!/bin/bash
config=\$(cat)
case \$CNI_COMMAND in
VERSION) echo '{"cniVersion": "1.0.0", "supportedVersions": ["1.0.0"]}' ;;
ADD)
    while [[ -e $HOLD_UP ]]; do sleep 0.1; done
    python3 -c 'import json, sys; print(json.dumps(json.loads(sys.argv[1])["prevResult"]))' "\$config"
    ;;
esac
END
    chmod +x /usr/lib/cni/slow
    sed -i 's/\]}$/, {"type": "slow"}]}/' /run/rig/cni/10-rig.conflist
}

has_vf() { # POD
    [[ -n $(pod_resources "$1" $RESOURCE) ]]
}

# Returns when the kubelet has allocated a VF; there is no sandbox yet.
begin_pod() { # EXPRESSION NAME ANNOTATION
    rm -f $VOLUME
    touch $HOLD_UP
    make_pod_with "$1" "$2" "$RESOURCE=1" "$3"
    need_within 60 "$2 is allocated a VF" "has_vf $2"
}

release() {
    touch $VOLUME
    rm $HOLD_UP
}

# The sandboxes that containerd lists.
sandboxes() {
    ctr --namespace k8s.io containers list -q 'labels."io.cri-containerd.kind"==sandbox'
}

# A new sandbox exists; those of old pods may be removed meanwhile.
has_new_sandbox() {
    sandboxes | grep -vxFf /tmp/sandboxes.before | grep -q .
}

# Changes the clock while the sandbox is made, and back, unnoticed by the daemon.
release_unnoticed() { # SECONDS
    sandboxes >/tmp/sandboxes.before
    kill -STOP "$ROCELET_PID"
    set_clock "$1"
    release
    wait_until 60 has_new_sandbox
    set_clock $((-$1))
    kill -CONT "$ROCELET_PID"
}

check_starts() { # POD IP/LEN
    check_within 40 "it starts" "pod_started $1"
    check_within 5 "with its interface" "is_complete $1 \$(vf_of $1) $2"
}

end_pod() { # NAME
    remove_pod "$1"
    check_all_free
}

# The process of the other pod with this name.
other_pid() { # NAME OLD
    pgrep -fx ".* rig-pod-$1" | grep -vx "$2"
}

# The VF behind a netdev in the namespace of PID.
vf_called() { # PID NAME
    nsenter -t "$1" -n ethtool -i "$2" 2>/dev/null | sed -n 's/^bus-info: //p'
}

make_pool 3
start_node
make_networks_slow
start_engine
need_within 30 "the kubelet lists the VFs" "(( \$(n_registered $RESOURCE) == 3 ))"

n=0
for hours in -3 6 -3; do
    for how in "$NEEDS_VOLUME" False; do
        say "by $hours hours, between Allocate and $([[ $how == False ]] && echo "the end of the sandbox's making" || echo "its beginning")"
        n=$((n + 1))
        begin_pod "$how" "slow$n" "$(entry "\"ips\": [\"10.9.0.$n/24\"]")"
        set_clock $((hours * 3600))
        release
        check_starts "slow$n" "10.9.0.$n/24"
        end_pod "slow$n"
    done
done

say "forward by some minutes while the sandbox is made, and back before the daemon notices it"
begin_pod "$NEEDS_VOLUME" moment "$(entry '"ips": ["10.9.0.1/24"]')"
release_unnoticed 280
check_starts moment 10.9.0.1/24
end_pod moment

say "back by hours, and forward"
begin_pod "$NEEDS_VOLUME" moment "$(entry '"ips": ["10.9.0.2/24"]')"
release_unnoticed -7200
check_starts moment 10.9.0.2/24
end_pod moment

say "a pod of tomorrow, and one of the same name"
set_clock 86400
POD_FIRST='env >/seen/env; trap "" TERM; echo started >>/seen/starts; while :; do sleep 1; done'
make_pod_with "doc['spec'].update(terminationGracePeriodSeconds=600)" twin "$RESOURCE=1"
# The kubelet stops a container that it has not seen running together with its sandbox, at once.
wait_until "$POD_TIMEOUT" "pod_started twin && pod_status twin | grep -q '^Running'"
POD_FIRST=:
old=$(pod_pid twin) vf=$(vf_of twin)
check "the old one has its interface" "[[ \$(vf_called $old net1) == $vf ]]"
nsenter -t "$old" -n ip link set net1 down
nsenter -t "$old" -n ip link set net1 name old0 # so that another net1 could be added
set_clock -86400
rm /run/rig/manifests/twin.json
need_within 30 "the kubelet forgets it" "! pod_known twin"
begin_pod "$NEEDS_VOLUME" twin "$(entry '"ips": ["10.9.0.2/24"]')"
new_vf=$(pod_resources twin $RESOURCE)
check "the new one gets another VF" "[[ $new_vf != $vf ]]"
release
check_within 60 "and starts" "[[ -n \$(other_pid twin $old) ]]"
check "with its own interface" "[[ \$(vf_called \$(other_pid twin $old) net1) == $new_vf ]]"
check "the old one is still there, with its own and no other" "[[ \$(vf_called $old old0) == $vf && -z \$(vf_called $old net1) ]]"
kill -KILL "$old"
check_within 60 "whose VF comes back when it has ended" "is_free $vf"
end_pod twin
stop_rocelet
