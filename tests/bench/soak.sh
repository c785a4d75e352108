#!/bin/bash
# soak.sh - what takes too long for check: the daemon under valgrind while devices come and go and somebody scrapes, and the
# same load without valgrind, where its memory and descriptors must not grow.
#
# SOAK_SCRAPES (10000) and SOAK_CHANGES (1000) are for each of the two runs. About five minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT
rm -rf build/soak
mkdir -p build/soak
status=0
timeout 900 tests/bench/soak.py "$work" build/soak "${SOAK_SCRAPES:-10000}" "${SOAK_CHANGES:-1000}" || status=$?
[ "$status" = 0 ] || echo "logs: build/soak" >&2
exit "$status"
