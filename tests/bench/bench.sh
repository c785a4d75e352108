#!/bin/bash
# bench.sh - every figure of the project that is measured on the host: sampling alone, then against node_exporter.
set -euo pipefail
cd "$(dirname "$0")/../.."
exporter=$(tests/lib/debtool.sh prometheus-node-exporter)/usr/bin/prometheus-node-exporter

[ ! -x build/bench/bench_sample ] || build/bench/bench_sample
tests/bench/bench.py "$exporter"
