#!/bin/bash
# soak.sh - what takes too long for check: the daemon under valgrind while devices come and go and somebody scrapes, and the
# same load without valgrind, where its memory and descriptors must not grow.
#
# SOAK_SCRAPES (10000) and SOAK_CHANGES (1000) are for each of the two runs, about five minutes on two cores; SOAK_HISTORIES (10000)
# random histories of the attach engine take about ten. Then, as root, in the lab, hours: 30 pods in a row that look for their
# interface first, all that a pod may not ask for, the daemon without each of its capabilities, every kill point three times, a pod that
# changes all there is to change of its interface, 1,000 attaches and 50 pods
# while the daemon, the kubelet and the runtime are killed, and 100 more with soft-RoCE devices, at which kernels are known to fail now
# and then; 1,000 namespaces whose packets are counted, and the program put on and off an interface here as often; and the scenarios of
# BPF on each of the lab's kernels, with what loads there; every fault scenario that the lab's NIC can show, and real congestion, three times.
# And arm64 by qemu (`make check-arm64`), some minutes; and an installation, its updates and its end on a cluster (`make check-cluster`), ten.
# Each fuzz program runs for SOAK_FUZZ (120) seconds, two at a time.
# The static analyzer follows each function as far as it can, about ten minutes.
# Verdicts on imperfect samples of 20,000 healthy node-hours and 27,000 faults, from a new seed each time, some minutes.
# SOAK_PARTS: which of "tidy arm64 cluster fuzz verdicts histories daemon attach crash dirty churn rxe bpf kernels diagnosis" (all).
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT
rm -rf build/soak
mkdir -p build/soak
status=0
parts=" ${SOAK_PARTS:-tidy arm64 cluster fuzz verdicts histories daemon attach crash dirty churn rxe bpf kernels diagnosis} "
KERNEL=newest

# Runs a scenario of the lab and prints its figures.
scenario() { # PART TIMEOUT_S NAME [ARGS..]
	local log=$3
	[[ $parts == *" $1 "* ]] || return 0
	[ "$(id -u)" = 0 ] || { echo "lab $3: its virtual machine needs root"; return 0; }
	echo "lab ${*:3}, kernel $KERNEL:"
	[[ $KERNEL == newest ]] || log+=-$KERNEL
	tests/lab/lab.sh run --quiet --kernel "$KERNEL" --timeout "$2" "${@:3}" >"build/soak/$log.log" 2>&1 || status=$?
	grep -hE '^# |^not ok|^failed|passed,' "build/lab/$log/scenario.log" || tail -n 20 "build/soak/$log.log"
}

# Random histories of the attach engine, a hundred after one another, many side by side: they mostly wait.
histories() { # N
	# shellcheck disable=SC2016
	seq 1 100 "$1" | xargs -P 16 -I{} sh -c 'log=build/soak/histories-$1.log
		SEED=$1 HISTORIES=100 timeout 3600 build/tests/test_engine_random >"$log" 2>&1 || { grep -hE "^SEED|not so|ERROR" "$log" | tail -n 3; exit 1; }' sh {}
}

if [[ $parts == *" tidy "* ]]; then
	make --no-print-directory TIDY_STEPS=225000 tidy >build/soak/tidy.log 2>&1 || status=$?
	tail -n 20 build/soak/tidy.log
fi
if [[ $parts == *" arm64 "* ]]; then
	tests/ship/arm64.sh >build/soak/arm64.log 2>&1 || status=$?
	grep -aE '^# |^not ok|passed,' build/soak/arm64.log
fi
if [[ $parts == *" cluster "* ]]; then
	tests/check.sh cluster >build/soak/cluster.log 2>&1 || status=$?
	grep -aE '^        # |^FAILED|passed,' build/soak/cluster.log
fi
if [[ $parts == *" fuzz "* ]]; then
	FUZZ_SECONDS=${SOAK_FUZZ:-120} tests/check.sh fuzz >build/soak/fuzz.log 2>&1 || status=$?
	grep -aE '^FAILED|passed,' build/soak/fuzz.log
fi
if [[ $parts == *" verdicts "* ]]; then
	seed=$(date +%s)
	echo "verdicts on imperfect samples, seed $seed:"
	build/bench/bench_verdicts 20000 27000 "$seed" || status=$?
fi
if [[ $parts == *" histories "* ]]; then
	echo "test_engine_random, ${SOAK_HISTORIES:-10000} histories:"
	histories "${SOAK_HISTORIES:-10000}" && echo "none failed" || status=1
fi
scenario attach 600 boot
scenario attach 600 attach_latency
scenario attach 3600 attach 30
scenario churn 3600 churn
scenario crash 3600 crash 3
scenario dirty 5400 dirty all
scenario attach 3600 allow
scenario attach 3600 privileges
scenario churn 14400 attach_churn 1000 50
scenario rxe 3600 attach_churn 100 4 true
scenario bpf 7200 bpf_packets 1000
if [[ $parts == *" bpf "* ]]; then
	echo "test_packet_port, 1,000 times on and off and with 1,000 namespaces:"
	CYCLES=1000 build/tests/test_packet_port 2>&1 | grep -E 'PASSED|FAILED|skipped' || status=1
fi
for KERNEL in 6.1 6.12 newest; do
	scenario kernels 600 bpf_events
	scenario kernels 900 bpf_packets
done
scenario diagnosis 7200 congestion 3
KERNEL=6.1
scenario diagnosis 1200 nic_counters
scenario diagnosis 3600 nic_counters all
[[ $parts == *" daemon "* ]] || exit "$status"
timeout 900 tests/bench/soak.py "$work" build/soak "${SOAK_SCRAPES:-10000}" "${SOAK_CHANGES:-1000}" || status=$?
[ "$status" = 0 ] || echo "logs: build/soak" >&2
exit "$status"
