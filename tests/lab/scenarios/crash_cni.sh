# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The CNI plugin, or the daemon, is killed at its kill points of ADD, DEL and GC, and the runtime reacts as runtimes do: the VF is in
# the next sandbox, or free and restored. Another sandbox keeps its VF all the time.
# lab: --timeout 1500
# proves: k8s/cni daemon/cni daemon/attach
# when: soak some
# when: soak --timeout 3600 --
# needs: kill-points
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/cni.sh
. /rocelet/lab/guest/cni.sh

# crash_cni.sh        every kill point of the plugin, and of the daemon in an ADD, a DEL and a GC
# crash_cni.sh some   of each only those after which most work is left
PLUGIN_ADD='^cni-(send|answer|print)-' PLUGIN_DEL='^cni-(send|answer)-' QUEUE='^cni-spool-'
DAEMON_ADD='^(cni-add|attach)-' DAEMON_DEL='^(cni-del|back)-' DAEMON_GC='^back-'
SOME=${1:-}
if [[ $SOME == some ]]; then
    PLUGIN_ADD='^cni-(answer|print)-after$' PLUGIN_DEL='^cni-answer-after$'
    DAEMON_ADD='^(cni-add|attach-move)-after$' DAEMON_DEL='^(cni-del|back-move)-after$' DAEMON_GC='^back-move-after$'
fi
# Kill points that only InfiniBand VFs pass (the lab has none), and those of creating a new netdev, which only residual state causes.
ELSEWHERE='^(attach-admin-2|attach-move-2|back-renew-[0-9])-'

IP=10.9.0.1/24 KEPT_IP=10.9.0.2/24
n=0

# An address from an IPAM plugin only for kill points in IPAM: on a busy machine a plugin may time out.
keys() { # IP
    local ipam="\"ipam\": {\"type\": \"static\", \"addresses\": [{\"address\": \"$1\"}]}"
    [[ -z $SOME ]] || ipam="\"runtimeConfig\": {\"ips\": [\"$1\"]}"
    echo "\"vlan\": 100, \"mtu\": 1400, \"softRoce\": true, $ipam"
}

# As a kubelet that has lost a sandbox creates another.
new_sandbox() {
    n=$((n + 1)) BOX=box$((n + 1))
    ip netns add "$BOX"
}

end_sandbox() {
    ip netns delete "$BOX"
}

# A GC configuration whose valid attachments are those of these sandboxes.
gc_config() { # [CONTAINER..]
    local list
    list=$(printf ', {"containerID": "%s", "ifname": "net1"}' "$@")
    netconf "$VF" "\"cni.dev/valid-attachments\": [${list#, }]"
}

add() {
    plugin ADD "$BOX" "$BOX" "$CONF" >/tmp/answer || { cat /tmp/answer; return 1; }
}

del() {
    plugin DEL "$BOX" "$BOX" "$CONF" >/tmp/answer || { cat /tmp/answer; return 1; }
}

gc() {
    plugin GC "" "" "$(gc_config kept)" >/tmp/answer || { cat /tmp/answer; return 1; }
}

# After a failed ADD: DEL, which every runtime sends, and the pod's next sandbox.
goes_on_after_add() { # POINT
    check "$1: DEL" del
    end_sandbox
    check_within 30 "$1: the VF is free and as before" "is_free $VF"
    is_free "$VF" || show_difference "$VF"
    check_within 10 "$1: no DEL is left" spool_is_empty
    new_sandbox
    check "$1: the next sandbox gets it" "add && is_complete $BOX $VF $IP && has_settings $VF 'vlan 100'"
    goes_on_after_del "$1, then DEL"
}

goes_on_after_del() { # POINT
    check "$1: DEL again" del
    end_sandbox
    check_within 30 "$1: the VF is free and as before" "is_free $VF"
    is_free "$VF" || show_difference "$VF"
    check "$1: the other sandbox keeps its VF" "is_complete kept $KEPT $KEPT_IP"
}

# ---- the plugin is killed

plugin_in_add() { # POINT
    new_sandbox
    check "$1: the plugin dies in ADD" "plugin_dies $1 ADD $BOX $BOX '$CONF'"
    goes_on_after_add "$1"
}

# Without a DEL: the end of the sandbox returns the VF.
plugin_in_add_alone() { # POINT
    new_sandbox
    check "$1: the plugin dies in ADD" "plugin_dies $1 ADD $BOX $BOX '$CONF'"
    end_sandbox
    check_within 30 "$1: without a DEL the VF comes back with its namespace's end" "is_free $VF"
}

plugin_in_del() { # POINT
    new_sandbox
    check "$1: ADD" add
    check "$1: the plugin dies in DEL" "plugin_dies $1 DEL $BOX $BOX '$CONF'"
    goes_on_after_del "$1"
}

# While no daemon runs.
plugin_in_queue() { # POINT
    new_sandbox
    check "$1: ADD" add
    kill_rocelet
    check "$1: the plugin dies while it queues a DEL" "plugin_dies $1 DEL $BOX $BOX '$CONF'"
    check "$1: DEL again" del
    start_engine
    check_within 30 "$1: the VF is free and as before" "is_free $VF"
    check_within 10 "$1: no request is left" spool_is_empty
    goes_on_after_del "$1"
}

plugin_in_gc() { # POINT
    new_sandbox
    check "$1: ADD" add
    check "$1: the plugin dies in GC" "plugin_dies $1 GC '' '' '$(gc_config kept)'"
    check "$1: GC again" gc
    goes_on_after_del "$1"
}

# ---- the daemon is killed

# Armed, and ready for requests. The sandbox that keeps its VF was attached before.
arm() { # POINT
    kill_rocelet
    start_armed "$1"
}

died() { # POINT
    check "$1: the daemon dies" "dies 60"
    kill_rocelet
    start_engine
}

daemon_in_add() { # POINT
    arm "$1"
    new_sandbox
    check "$1: ADD fails, to be tried later" "! add && grep -q '\"code\": 11' /tmp/answer"
    died "$1"
    goes_on_after_add "$1"
}

daemon_in_del() { # POINT
    arm "$1"
    new_sandbox
    check "$1: ADD" add
    check "$1: DEL is queued" del
    died "$1"
    check_within 30 "$1: the VF is free and as before" "is_free $VF"
    check_within 10 "$1: no DEL is left" spool_is_empty
    goes_on_after_del "$1"
}

daemon_in_gc() { # POINT
    arm "$1"
    new_sandbox
    check "$1: ADD" add
    check "$1: GC fails, to be tried later" "! gc && grep -q '\"code\": 11' /tmp/answer"
    died "$1"
    check "$1: GC again" gc
    goes_on_after_del "$1"
}

points() { # PATTERN
    grep -E -e "$1" "$OUT/kill_points" | grep -vE -e "$ELSEWHERE"
}

make_pool 2
echo '{}' >"$CONFIG"
install_plugin kill/rocelet-cni
host_part
VF=${VF_IDS[0]} KEPT=${VF_IDS[1]}
CONF=$(netconf "$VF" "$(keys $IP)")
ip netns add kept
start_engine
need_within 0 "a sandbox that stays" "plugin ADD kept kept '$(netconf "$KEPT" "$(keys $KEPT_IP)")' >/tmp/answer && is_complete kept $KEPT $KEPT_IP"

say "the plugin is killed"
for point in $(points "$PLUGIN_ADD"); do plugin_in_add "$point"; done
plugin_in_add_alone cni-answer-after
for point in $(points "$PLUGIN_DEL"); do plugin_in_del "$point"; plugin_in_gc "$point"; done
for point in $(points "$QUEUE"); do plugin_in_queue "$point"; done
echo "# $SECONDS s"

say "the daemon is killed"
for point in $(points "$DAEMON_ADD"); do daemon_in_add "$point"; done
echo "# ADD: $SECONDS s"
for point in $(points "$DAEMON_DEL"); do daemon_in_del "$point"; done
echo "# DEL: $SECONDS s"
for point in $(points "$DAEMON_GC"); do daemon_in_gc "$point"; done

check "every kill point of CNI is covered here" "[[ -z \$(points '^cni-' | grep -vE '^cni-(send|answer|print|spool|add|del)-') ]]"
check "the other sandbox ends" "plugin DEL kept kept '$(netconf "$KEPT")' && is_free $KEPT"
kill_rocelet
echo "# the scenario took $SECONDS s"
