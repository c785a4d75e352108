# shellcheck shell=bash
# BPF events on a kernel that allows them: queue pairs' lives and deaths, connections, ports, and that nothing of it stays.
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh

programs_of_kernel() { # what bpftool lists, without what changes by itself
    {
        bpftool prog list
        bpftool map list
        bpftool link list
    } | grep -oE '^[0-9]+: \S+ *(name \S+)?' | sed 's/^[0-9]*: //' | sort
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
metric rocelet_bpf_program_loaded | sort | uniq -c || true
curl -fsS "$HTTP/metrics" | grep rocelet_bpf_program_loaded
stop_rocelet
check_within 5 "nothing stays after the end" 'programs_of_kernel | diff /tmp/before - >$OUT/leftovers'
