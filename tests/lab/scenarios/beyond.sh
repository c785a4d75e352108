# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A pod has ended, but a socket pins its network namespace, which no process can enter any more. The VF comes back
# with a new netdev.
# proves: daemon/attach/steps hw/ops
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

# Starts a process outside of the namespace that keeps a socket of it.
keep_socket() { # POD
    python3 - "/run/netns/$1" <<'END' &
import ctypes, os, signal, socket, sys
libc = ctypes.CDLL(None)
home = os.open("/proc/self/ns/net", os.O_RDONLY)
there = os.open(sys.argv[1], os.O_RDONLY)
assert libc.setns(there, 0) == 0
kept = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
assert libc.setns(home, 0) == 0
os.close(there)
os.close(home)
open("/tmp/kept", "w").close()
signal.pause()
END
    HOLDER=$!
    wait_until "[[ -e /tmp/kept ]]"
    rm /tmp/kept
}

close_socket() {
    kill "$HOLDER"
    wait "$HOLDER" 2>/dev/null || true
}

resets() {
    metric rocelet_return_resets_total 'reason="beyond"'
}

comes_back() { # RESETS
    check_within 30 "the VF is free and as before" "is_free ${VF_IDS[0]}"
    check "with a new netdev, and the reason in an event" "rocectl events --limit 1 | grep -q 'with a new netdev: the old one is stuck in an unreachable namespace'"
    check_within 5 "which is counted" "[[ \$(resets) == $1 ]]"
}

make_pool 1
start_engine
N=0
for SOFT_ROCE in false true; do
    say "a socket pins the namespace, with soft-RoCE: $SOFT_ROCE"
    ip netns add a
    attach "${VF_IDS[0]}" a 10.9.0.1/24
    keep_socket a
    ip netns delete a
    rocectl detach "${VF_IDS[0]}" || true # if the end of the pod is not noticed, an admin request returns the VF
    N=$((N + 1))
    comes_back "$N"
    close_socket
done
check "the next pod gets it" "ip netns add b && attach ${VF_IDS[0]} b 10.9.0.2/24 && is_complete b ${VF_IDS[0]} 10.9.0.2/24"
rocectl detach "${VF_IDS[0]}"
check_all_free
stop_rocelet
