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
tests/bench/bench.py "$exporter"
