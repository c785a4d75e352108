# shellcheck shell=bash
# BPF events on a kernel that allows them: queue pairs' lives and deaths, connections, ports, and that nothing of it stays.
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh

programs_of_kernel() { # what bpftool lists, without what changes by itself
    {
        bpftool prog list
        bpftool map list
        bpftool link list
    } | { grep -oE '^[0-9]+: \S+ *(name \S+)?' || true; } | sed 's/^[0-9]*: //' | sort
}

loaded() { # PROGRAM [HOOK]
    metric rocelet_bpf_program_loaded "program=\"$1\"" ${2:+"hook=\"$2\""} | grep -qx 1
}

event() { # REGEX: one that the API tells
    curl -fsS -m 2 "$HTTP/api/v1/events" | grep -qE "$1"
}

find_pf
modprobe -a rdma_cm ib_cm
programs_of_kernel >/tmp/before
start_rocelet --log-level debug
wait_until "curl -fsS $HTTP/readyz"
check_within 10 "without RDMA devices the host's programs are there" 'loaded netdev_moves && loaded nic_health && loaded dcb_set'
check "and others are not" '! loaded qp_created && ! loaded soft_completion'

make_vfs 2
make_pod left "${VFS[0]}" 10.9.0.1/24
make_pod right "${VFS[1]}" 10.9.0.2/24
check_within 20 "with devices all programs are there" '! metric rocelet_bpf_program_loaded | grep -qx 0'

say "a queue pair's life"
check "ib_write_bw runs" 'perftest ib_write_bw left right -n 100 -s 1024 --tclass=106'
grep -c "queue pair" "$OUT/rocelet.log" || true

say "connections"
check "a connection is made" 'perftest ib_write_bw left right -R -n 100 -s 1024'
check_within 3 "it is counted, on both sides" '(( $(metric roce_connections_total '\''result="connected"'\'') >= 1 && $(metric roce_connections_total '\''result="accepted"'\'') >= 1 ))'
check "and how long it took" '(( $(metric roce_connect_seconds_count) >= 1 ))'
timeout 20 ip netns exec left ib_write_bw -R -d rxe_left -p 19999 10.9.0.2 >"$OUT/reject.log" 2>&1 || true
check_within 3 "one to a closed port is rejected with its reason" 'event ConnectionRejected.*nobody.listens'
check_within 3 "and counted" '(( $(metric roce_connection_rejects_total '\''reason="invalid_service_id"'\'') >= 1 ))'

say "ports"
ip -n right link set net1 down
check_within 3 "a port that goes down is told" 'event PortDown'
ip -n right link set net1 up
check_within 5 "and that it is back" 'event PortActive'
curl -fsS "$HTTP/api/v1/events" >"$OUT/events.json"
curl -fsS "$HTTP/metrics" | grep -E "^roce_(conn|soft)|resident|rocelet_(events|bpf)" || true
stop_rocelet
check_within 5 "nothing stays after the end" 'programs_of_kernel | diff /tmp/before - >$OUT/leftovers'
