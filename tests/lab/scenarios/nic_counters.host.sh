#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The host's half of nic_counters.
#   nic_counters.host.sh module RELEASE     the NIC's module, for the guest's kernel
#   nic_counters.host.sh pieces             the counters that are played, and the page with the drivers' names
#   nic_counters.host.sh all_pieces         the same of every scenario that the NIC can show
#   nic_counters.host.sh replay ROUND       the verdicts of replay on the played round
set -euo pipefail
: "${LAB_OUT:?output folder}"
cd "$(dirname "$0")/../../.."
case $1 in
    module) exec tests/lab/host/nic_module.sh "$2" "$LAB_OUT" ;;
    pieces)
        /usr/bin/python3 tests/scenarios/pieces.py "$LAB_OUT/pieces"
        cp docs/reference/metrics.md "$LAB_OUT/"
        ;;
    all_pieces)
        cp docs/reference/metrics.md "$LAB_OUT/"
        /usr/bin/python3 tests/scenarios/pieces.py "$LAB_OUT/pieces" docs/reference/metrics.md
        ;;
    replay)
        for piece in "$LAB_OUT/pieces/$2"/*.played.jsonl; do
            build/rocectl diagnose --replay "$piece" -o json >"${piece%.played.jsonl}.replay.json" || [ $? -ge 4 ] # a verdict
        done
        ;;
esac
