# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Forged kernel messages, garbage on the daemon's port, and SIGTERM and SIGKILL in the middle of work.
# proves: hw/netlink daemon/http
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh

PLUGINS=/var/lib/kubelet/device-plugins
SOCKETS=(/run/rocelet/rocelet.sock "$PLUGINS/rocelet-metrics.sock")

answers_on() { # SOCKET
    curl -fsS -m 60 -o /dev/null --unix-socket "$1" http://localhost/metrics
}

# For a while after a link comes up the kernel adds addresses and their GIDs.
quiet() {
    local before
    before=$(metric rocelet_inventory_generation)
    sleep 1.5
    [[ $(metric rocelet_inventory_generation) == "$before" ]]
}

ready() {
    wait_until is_up
}

# Events without end: of the second VF's link, and of an RDMA device on it.
start_storm() {
    local i
    for ((i = 0; i < 200; i++)); do echo "link set dev ${VFS[1]} alias storm$i"; done >/tmp/storm
    rm -f /tmp/calm
    while [[ ! -e /tmp/calm ]]; do ip -batch /tmp/storm; done &
    STORM=("$!")
    while [[ ! -e /tmp/calm ]]; do rdma link add rxe_storm type rxe netdev "${VFS[1]}" && rdma link delete rxe_storm; done &
    STORM+=("$!")
}

end_storm() {
    touch /tmp/calm
    wait "${STORM[@]}"
}

mkdir -p "$PLUGINS"
make_vfs 2 # the second is for the storm
VF=${VFS[0]}
for vf in "${VFS[@]}"; do
    ip link set "$vf" up
    wait_until "ip link show $vf | grep -q LOWER_UP"
done
rdma link add rxe_0 type rxe netdev "$VF"
start_rocelet
ready
wait_until "holds_in_devices '\"rxe_0\" in rdma'"

say "forged kernel messages"
wait_until "metric roce_port_info 'device=\"rxe_0\"' >/dev/null"
wait_until quiet
generation=$(metric rocelet_inventory_generation)
python3 /rocelet/lab/guest/forge.py "$ROCELET_PID" "$VF" >/tmp/forged
check "there are sockets of all four kinds to send to" '[[ $(sort -nu /tmp/forged | xargs) == "0 15 16 20" ]]'
check_within 5 "a forged link message is dropped and counted" "(( \$(metric rocelet_malformed_messages_total 'source=\"rtnetlink\"') == 1 ))"
check_within 5 "a forged RDMA message is dropped and counted" "(( \$(metric rocelet_malformed_messages_total 'source=\"rdma\"') == 1 ))"
check_within 5 "a forged devlink message is dropped and counted" "(( \$(metric rocelet_malformed_messages_total 'source=\"devlink\"') == 1 ))"
check "they change nothing" '[[ $(metric rocelet_inventory_generation) == "$generation" ]]'
check "the link and the RDMA device are still there" "holds_in_devices '\"$VF\" in netdevs and \"rxe_0\" in rdma'"

say "garbage on the port, while the host scrapes"
check "the host's scrapes go on" host_part
check_within 5 "the daemon counts the errors" "(( \$(metric rocelet_http_errors_total) > 0 ))"

say "SIGTERM in a storm of events"
start_storm
events=$(metric rocelet_events_total 'source="rtnetlink"')
wait_until "(( \$(metric rocelet_events_total 'source=\"rtnetlink\"') > events + 100 ))"
stop_rocelet
check "the daemon exits cleanly" '[[ -z $ROCELET_PID ]]'
check "its sockets are removed" '[[ ! -e ${SOCKETS[0]} && ! -e ${SOCKETS[1]} ]]'

say "kill -9 in a storm of events"
start_rocelet
ready
kill -KILL "$ROCELET_PID"
wait "$ROCELET_PID" 2>/dev/null || true
check "its sockets are left behind" '[[ -S ${SOCKETS[0]} && -S ${SOCKETS[1]} ]]'
start_rocelet
ready
check "the next daemon replaces them" 'answers_on ${SOCKETS[0]} && answers_on ${SOCKETS[1]}'
end_storm
check_within 5 "and has the right inventory after the storm" "holds_in_devices '\"$VF\" in netdevs and list(rdma) == [\"rxe_0\"]'"
stop_rocelet
check_complaints
