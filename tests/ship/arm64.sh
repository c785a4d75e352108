#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# arm64.sh - the programs for arm64: unit tests, and the image, run by qemu's user mode on a machine of another architecture. As root.
#
# qemu emulates arm64's instructions and passes system calls to this machine's kernel, but does not support all of them. Groups of tests that
# need an unsupported one are listed below, with the number of tests that fail for that reason: as many may, and are counted as skipped. All
# others must pass. Only an arm64 kernel can load the BPF objects: here only their content is checked.
# run:
# proves: Makefile k8s/deploy/image bpf
# when: soak
# needs: root
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/lib/checks.sh

readonly BUILD=build/arm64 LOGS=build/arm64/logs
TESTS=0 SKIPPED=0

# GROUP TESTS REASON: the limitation of qemu 7.2.
not_under_qemu() {
    cat <<'END'
bpf_source 1 bpf(2)
netdev_inside 4 bpf(2)
packet_port 14 bpf(2)
packet_watch 5 bpf(2)
packet_wiring 2 a daemon in a forked process does not get to answer
roce_packets 10 bpf(2)
engine_failures 2 clone3(2), which makes the sandbox of IPAM plugins
engine_requests 1 clone3(2)
engine_return 1 clone3(2)
ipam 17 clone3(2)
main 3 starting arm64's programs
output 2 starting arm64's programs
netns_ops 16 ioctl(2) of namespaces
packet_ports 1 ioctl(2) of namespaces
scan 1 ioctl(2) of namespaces
steps 60 ioctl(2) of namespaces
steps_faults 6 ioctl(2) of namespaces
steps_rdma 12 ioctl(2) of namespaces
netns_hang 1 openat2(2)
reports 1 generic netlink
config_file 1 /proc/self/stat is qemu's own, with a size
default_routes 1 /proc/net/route is qemu's own
lock 3 a daemon in a forked process does not get to answer
END
}

# The program names the registers: an arm64 kprobe reads its arguments from regs[], an x86 one from di, si, ..
registers_are_arm64s() {
    local object n=0
    for object in "$BUILD"/gen/*.bpf.o; do
        ! bpftool btf dump file "$object" | grep -qE "'(di|si|dx)' type_id" || { echo "$object reads x86 registers"; return 1; }
        bpftool btf dump file "$object" | grep -q "STRUCT 'user_pt_regs'" && n=$((n + 1))
    done
    ((n > 0))
}

# Four at a time, as they mostly wait. In namespaces whose end removes all processes and files that a test has left.
run_tests() {
    # shellcheck disable=SC2016 # the inner shell's
    tests/lib/groups.sh "$BUILD/tests" "$QEMU" -L "$SYSROOT" |
        unshare --mount --pid --fork --kill-child --mount-proc sh -c 'mount -t tmpfs tmpfs /tmp && exec "$@"' sh xargs -P 4 -L 1 sh -c 'log=$4/group-$6.log; timeout -k 5 300 "$1" -L "$2" "$3/tests/$5" "$6" >"$log" 2>&1; echo $? >"$log.rc"' sh "$QEMU" "$SYSROOT" "$BUILD" "$LOGS"
}

# Each group's tests, as cmocka reports them. A group without a result has failed.
judge_test() { # NAME
    local log=$LOGS/group-$1.log bad allowed why
    bad=$(awk '/^\[  (FAILED |ERROR  ) \] [a-z0-9_]+$/ { print $NF }' "$log" | sort -u | wc -l)
    read -r allowed why < <(not_under_qemu | awk -v name="$1" '$1 == name { sub(/^[^ ]+ /, ""); print }') || allowed=0
    grep -qaE '^\[=+\] [0-9]+ test' <(tail -n 400 "$log") || bad=all
    check "$1" "[[ $bad != all ]] && (( $bad <= $allowed && ($bad > 0 || $(<"$log.rc") == 0) ))"
    TESTS=$((TESTS + $(grep -acE '^\[       OK \]' "$log" || true)))
    [[ $bad == 0 || $bad == all ]] || echo "# $1: $bad tests not under qemu: ${why:-no reason is known}"
    [[ $bad == all ]] || SKIPPED=$((SKIPPED + bad))
}

make --no-print-directory --silent -j2 build/bench/mk_sysfs
make --no-print-directory --silent -j2 ARCH=arm64 all tests image
SYSROOT=$(k8s/deploy/image/sysroot.sh arm64)
QEMU=$(tests/ship/qemu.sh arm64)
rm -rf "$LOGS" && mkdir -p "$LOGS"
# The tree is created by a program of this machine: qemu's programs cannot start one of their own kind.
cp build/bench/mk_sysfs "$BUILD/bench/mk_sysfs"
check "BPF programs read arm64's registers" registers_are_arm64s
run_tests
for log in "$LOGS"/group-*.log; do
    log=${log##*/group-}
    judge_test "${log%.log}"
done
check "the image passes its checks" "tests/ship/image.sh arm64 >'$LOGS/image.log' 2>&1"
echo "# arm64: $TESTS unit tests passed, $SKIPPED not run because of qemu's limitations"
