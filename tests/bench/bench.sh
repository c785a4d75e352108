#!/bin/bash
# bench.sh - every figure of the project that is measured on the host: sampling alone, then against node_exporter.
set -euo pipefail
cd "$(dirname "$0")/../.."
exporter=$(tests/lib/debtool.sh prometheus-node-exporter)/usr/bin/prometheus-node-exporter

work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT
build/bench/mk_sysfs "$work/tree" 8 128 >/dev/null
echo "sampling 136 devices from held descriptors:"
build/bench/bench_sample "$work/tree" 200
BUS=1 build/bench/mk_sysfs "$work/full" 8 1024 >/dev/null
echo "looking at 1,032 functions from sysfs alone:"
build/bench/bench_scan "$work/full"
tests/bench/bench.py "$exporter"
if [ "$(id -u)" = 0 ]; then
	printf '\nfrom the kernel to /api/v1/devices, in the lab, median of 5 against a bar of 50 ms:\n'
	status=0
	tests/lab/lab.sh run --quiet inventory 5 50 >build/lab-inventory.log 2>&1 || status=$?
	grep -E '^# |^not ok|passed,' build/lab/inventory/scenario.log || tail -n 20 build/lab-inventory.log
	exit "$status"
fi
