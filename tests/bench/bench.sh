#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh - measures all figures of the project: on the host, then (as root) in the virtual machine and with the real kubelet.
set -euo pipefail
cd "$(dirname "$0")/../.."
exporter=$(tests/lib/debtool.sh prometheus-node-exporter)/usr/bin/prometheus-node-exporter
status=0

work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT

# Runs a scenario of a rig and prints its figures.
scenario() { # TITLE RIG NAME [ARGS..]
	printf '\n%s:\n' "$1"
	"tests/$2/$2.sh" run --quiet "${@:3}" >"build/bench-$3.log" 2>&1 || status=$?
	grep -hE '^# |^not ok|passed,' "build/$2/$3/scenario.log" || tail -n 20 "build/bench-$3.log"
}

build/bench/mk_sysfs "$work/tree" 8 128 >/dev/null
echo "sampling 136 devices from held descriptors:"
build/bench/bench_sample "$work/tree" 200
BUS=1 build/bench/mk_sysfs "$work/full" 8 1024 >/dev/null
echo "scanning 1,032 functions in sysfs alone:"
build/bench/bench_scan "$work/full"
echo "the device plugin with 1,024 VFs in sysfs alone (bars: 1.5 walks over the tree for a start, 20 messages over a bare socket for Allocate):"
build/bench/bench_plugin "$PWD/build/rocelet" "$work/full" 20 || status=$?
echo "PreStartContainer after the sandbox was reported (bar: 40 times an empty job of a worker):"
build/bench/bench_gate 200 40 || status=$?
echo "judging 136 ports once (bar: 300 us, 4.5 MiB):"
build/bench/bench_diagnosis || status=$?
echo "verdicts on imperfect samples (bars: none in healthy node-hours, 98 % precision and recall, 97 % severity and onset):"
build/bench/bench_verdicts 2000 5400 || status=$?
echo "the start of the CNI plugin (bar: 2 ms, or 1.25 times /bin/true):"
/usr/bin/python3 -B tests/interop/cni_python.py build/rocelet-cni build/rocelet it_starts_fast || status=$?
echo "rocectl pcap with captures of 2 GB, compared with tcpdump:"
tests/bench/bench_capture.py build/rocectl || status=$?
echo "a scrape compared with node_exporter's (bar for 136 devices, as Prometheus asks: 60 times less CPU):"
tests/bench/bench.py "$exporter" 60 || status=$?
echo "packet programs, ns per packet, and the time above an empty program in units of an empty TC program:"
build/bench/bench_packets || status=$?
[ "$(id -u)" = 0 ] || exit "$status"
echo "RoCE packets counted by BPF, read and rendered once per second (bar: 20 times /proc/net/dev of the same interfaces):"
build/bench/bench_ports 64 200 20 || status=$?
scenario "from the kernel to /api/v1/devices, in the lab, median of 5 (bar: 8 starts of an empty program there)" lab inventory 5 8
scenario "from the kernel to the kubelet's list, in the lab, median of 5 (bar: 8 starts of an empty program there)" lab plugin 5 8
ROCELET_LAB_ACCEL=icount ROCELET_LAB_STATE=0 scenario \
	"an attach beside the kernel's floor (bar 1.3 times), an ADD (bar 1.4 times) and host-device, in the lab, time counted in instructions" \
	lab attach_latency 20 1.3 1.4
scenario "a restart with 32 attached VFs, in the lab (bar: registered within 300 starts of an empty program there, 300 ms where one takes 1 ms)" lab restart_many 5 300
scenario "a queue pair that fails, in the lab (bar: reported within 16 starts of an empty program there)" lab bpf_events 16
ROUNDS=20 BAR_MS=$(tests/lab/guest/empty_programs.sh 60)
export ROUNDS BAR_MS
tests/kubelet/kubelet.sh build >build/bench-kubelet.log
scenario "a kubelet killed 20 times, registered again within 60 starts of an empty program, $BAR_MS ms" kubelet restart
exit "$status"
