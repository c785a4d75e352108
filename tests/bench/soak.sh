#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# soak.sh - tests that take too long for `make check`: every test at its longest (tests/check.sh --all: hours, most of them in the lab with all
# its kernels; clusters; arm64 with qemu), and these parts:
#
#   tidy       the static analyzer with its highest limit of steps, about ten minutes
#   histories  SOAK_HISTORIES (10000) random histories of the attach engine, about ten minutes
#   bpf        the packet program attached and detached 1,000 times, and in 1,000 namespaces
#   daemon     the daemon under valgrind while devices are added, removed and scraped, and the same load without valgrind, where its memory
#              and descriptors must not grow: SOAK_SCRAPES (10000) and SOAK_CHANGES (1000), about five minutes for each of the two runs
#
# SOAK_PARTS: a subset of "all tidy histories bpf daemon" (the default).
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT
rm -rf build/soak
mkdir -p build/soak
status=0
parts=" ${SOAK_PARTS:-all tidy histories bpf daemon} "

# Random histories of the attach engine, in parallel batches of a hundred, because they mostly wait.
histories() { # N
	# shellcheck disable=SC2016
	seq 1 100 "$1" | xargs -P 16 -I{} sh -c 'log=build/soak/histories-$1.log
		SEED=$1 HISTORIES=100 timeout 3600 build/tests/attach engine_random >"$log" 2>&1 || { grep -hE "^SEED|not so|ERROR" "$log" | tail -n 3; exit 1; }' sh {}
}

if [[ $parts == *" all "* ]]; then
	tests/check.sh --all || status=$?
fi
if [[ $parts == *" tidy "* ]]; then
	make --no-print-directory TIDY_STEPS=225000 tidy >build/soak/tidy.log 2>&1 || status=$?
	tail -n 20 build/soak/tidy.log
fi
if [[ $parts == *" histories "* ]]; then
	echo "engine_random, ${SOAK_HISTORIES:-10000} histories:"
	histories "${SOAK_HISTORIES:-10000}" && echo "none failed" || status=1
fi
if [[ $parts == *" bpf "* ]]; then
	echo "packet_port, 1,000 times on and off and with 1,000 namespaces:"
	CYCLES=1000 build/tests/packets packet_port 2>&1 | grep -E 'PASSED|FAILED|skipped' || status=1
fi
if [[ $parts == *" daemon "* ]]; then
	timeout 900 tests/bench/soak.py "$work" build/soak "${SOAK_SCRAPES:-10000}" "${SOAK_CHANGES:-1000}" || status=$?
fi
[ "$status" = 0 ] || echo "logs: build/soak, build/check" >&2
exit "$status"
