#!/bin/bash
# check.sh - every test of the project, one line each, "N passed, N failed[, N skipped]" last.
#
#   check.sh [PART...]    parts: lint unit interop kubelet san threads fuzz lab (default: all but lint, after installing what
#                         they need; san includes threads)
#
# CHECK=full is what CI runs: lint as well, every scenario of the lab, and each fuzz program for 45 s, those of what a peer sends for
# 60. Otherwise the quick half of the lab and 10 s. FUZZ_SECONDS, LAB_SCENARIOS, KUBELET_SCENARIOS: other choices.
set -u
cd "$(dirname "$0")/.." || exit 1
LOGS=build/check
if [ "${CHECK:-}" = full ]; then
	LAB_SCENARIOS=${LAB_SCENARIOS:-boot inventory plugin metrics churn badinput attach allow cage attach_latency attach_churn orphans beyond anew dirty views journal clock reboot orders company crash bpf_events bpf_packets nic_events}
else
	FUZZ_SECONDS=${FUZZ_SECONDS:-10}
	LAB_SCENARIOS=${LAB_SCENARIOS:-boot plugin metrics attach attach_latency crash bpf_events}
fi
LAB_PORT=${LAB_PORT:-19907} # and the next one, on 127.0.0.1, for scenarios with a part on the host
passed=0 failed=0 skipped=0

say() { printf '%s %s\n' "$1" "$2"; }

# step NAME COMMAND...: one test that is its exit status; its output is shown when it fails.
step() {
	local name=$1 log
	shift
	log=$LOGS/${name//[^a-z0-9_-]/_}.log
	if "$@" >"$log" 2>&1; then
		say "  ok  " "$name"
		passed=$((passed + 1))
	else
		say "FAILED" "$name (exit $?): $*"
		tail -n 40 "$log" | sed 's/^/        /'
		failed=$((failed + 1))
	fi
}

skip() {
	say " skip " "$1: $2"
	skipped=$((skipped + 1))
}

# A cmocka program that has run: its tests are counted one by one.
cmocka() { # NAME LOG
	local name=$1 log=$2 ok bad not status
	status=$(cat "$log.rc")
	ok=$(grep -c '^\[       OK \]' "$log")
	# Both are named twice: when they happen and at the end.
	bad=$(grep -o '^\[  FAILED  \] [a-z].*' "$log" | sort -u | wc -l)
	not=$(grep -o '^\[  SKIPPED \] [a-z].*' "$log" | sort -u | wc -l)
	if [ "$status" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
	if [ "$status" = 0 ] && [ $((ok + not)) = 0 ]; then bad=1; fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + not))
	if [ "$bad" != 0 ]; then
		say "FAILED" "$name: $bad of $((ok + bad + not)) (exit $status)"
		tail -n 40 "$log" | sed 's/^/        /'
	else
		say "  ok  " "$name: $ok$([ "$not" = 0 ] || echo ", $not skipped: $(grep -m1 -oP 'skipped: \K.*' "$log")")"
	fi
}

# The cmocka programs of a folder, some at a time: they mostly wait for time-outs.
cmocka_all() { # TITLE FOLDER LOG_PREFIX
	local t
	# shellcheck disable=SC2016
	find "$2" -maxdepth 1 -name 'test_*' -type f -executable -print0 |
		xargs -0 -P 4 -I{} sh -c 'log=$2-${1##*/}.log; "$1" >"$log" 2>&1; echo $? >"$log.rc"' sh {} "$LOGS/$3"
	for t in "$2"/test_*; do
		[ -x "$t" ] && [ ! -d "$t" ] && cmocka "$1 ${t##*/}" "$LOGS/$3-${t##*/}.log"
	done
}

make_quietly() { make --no-print-directory --silent -j2 "$@"; }

part_lint() {
	step "build with gcc" make_quietly CC=gcc all tests
	step "build with clang" make_quietly CC=clang all tests
	# Debian 12's; each version formats and checks a little differently.
	if clang-format --version | grep -q 'version 14\.'; then
		step "formatting" make_quietly fmt-check
		step "clang-tidy" make_quietly tidy
	else
		skip "formatting" "the rules are written for clang-format 14"
		skip "clang-tidy" "the checks are chosen for clang-tidy 14"
	fi
	step "include rules" make_quietly check-deps
	step "cppcheck" make_quietly cppcheck
	# shellcheck disable=SC2046
	step "shellcheck" shellcheck -x -e SC1091 $(git ls-files '*.sh' .ci/run)
}

part_unit() {
	make_quietly all tests || exit 1
	cmocka_all unit build/tests unit
}

# Other people's implementations judge ours, which is instrumented for the occasion. They count their own checks in their last
# lines.
part_interop() {
	make_quietly SAN=1 build/san/interop/grpc_echo build/san/interop/plugin_host build/san/interop/cri_watch build/san/interop/packet_watch build/san/bench/mk_sysfs all || exit 1
	interop grpc-python tests/interop/grpc_python.py build/san/interop/grpc_echo
	interop "kubelet of grpc-python" tests/interop/kubelet_python.py build/san/interop/plugin_host
	interop "runtime of grpc-python" tests/interop/cri_python.py build/san/interop/cri_watch
	capture_judge
	interop "packets of scapy and tshark" tests/interop/packets_python.py build/san/interop/packet_watch
	interop "daemon under it" tests/interop/daemon_python.py build/san/rocelet build/san/bench/mk_sysfs
	interop "configurations and command lines" tests/interop/config_python.py build/san/rocelet build/san/rocectl build/san/bench/mk_sysfs
}

# Namespaces and packet sockets need root.
capture_judge() {
	if [ "$(id -u)" != 0 ]; then
		skip "captures" "sniffing needs root"
		return
	fi
	interop "scapy and tshark on captures" tests/interop/capture_python.py build/san/rocectl
}

interop() {
	local name=$1 log last
	shift
	log=$LOGS/interop-${1##*/}.log
	timeout 300 /usr/bin/python3 "$@" >"$log" 2>&1
	local status=$?
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
	count_scenario "interop $name" "$status" "${last:-0 passed, 0 failed}" "$log"
}

part_san() {
	make_quietly SAN=1 all tests || exit 1
	cmocka_all ASan+UBSan build/san/tests san
	part_threads
}

# Where workers and the loop meet. Without address randomisation: the sanitizer of older compilers cannot live with much of it.
part_threads() {
	local t
	for t in node sampler loop; do
		make_quietly SAN=thread "build/tsan/tests/test_$t" || exit 1
		step "TSan test_$t" setarch -R "build/tsan/tests/test_$t"
	done
}

fuzz_one() {
	local program=$1 name=${1##*/} seeds seconds=${FUZZ_SECONDS:-45}
	[[ -n ${FUZZ_SECONDS:-} || $name != fuzz_@(grpc_*|plugin_*|pod_resources|pool_config|checkpoint|cri) ]] || seconds=60
	# Small decoders have been everywhere within seconds.
	[[ -n ${FUZZ_SECONDS:-} || $name != fuzz_@(accept|alias|cgroup|pause_dcb|vf_settings) ]] || seconds=20
	seeds=tests/fixtures/${name#fuzz_}
	mkdir -p "build/fuzz/corpus/$name"
	[ -d "$seeds" ] || seeds=
	# shellcheck disable=SC2086
	"$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="build/fuzz/crash-$name-" "build/fuzz/corpus/$name" $seeds
}

# Two at a time: the machine has two cores.
part_fuzz() {
	local programs p i
	make_quietly fuzz || exit 1
	programs=(build/fuzz/fuzz_*)
	for ((i = 0; i < ${#programs[@]}; i += 2)); do
		for p in "${programs[@]:i:2}"; do
			(fuzz_one "$p" >"$LOGS/${p##*/}.log" 2>&1; echo $? >"$LOGS/${p##*/}.rc") &
		done
		wait
		for p in "${programs[@]:i:2}"; do
			step "${p##*/}, $(grep -o 'number_of_executed_units: *[0-9]*' "$LOGS/${p##*/}.log" | grep -o '[0-9]*$') runs" \
				fuzz_result "${p##*/}"
		done
	done
}

fuzz_result() {
	tail -n 30 "$LOGS/$1.log"
	[ "$(cat "$LOGS/$1.rc")" = 0 ]
}

run_scenario() { # NAME LOG COMMAND..
	local status=0
	"${@:3}" >"$2" 2>&1 || status=$?
	judge_scenario "$1" "$2" "$status"
}

# A scenario counts its own checks in its last line.
judge_scenario() { # NAME LOG STATUS
	local last
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$2" | tail -n 1)
	if [ -z "$last" ]; then
		say "FAILED" "$1 (exit $3)"
		tail -n 60 "$2" | sed 's/^/        /'
		failed=$((failed + 1))
		return
	fi
	count_scenario "$1" "$3" "$last" "$2"
}

part_kubelet() {
	local name
	if [ "$(id -u)" != 0 ]; then
		skip "kubelet" "its namespaces need root"
		return
	fi
	make_quietly all tests || exit 1
	step "kubelet, built from source or cached" tests/kubelet/kubelet.sh build
	for name in ${KUBELET_SCENARIOS:-rig pods health restart owners numa sandboxes}; do
		run_scenario "kubelet $name" "$LOGS/kubelet-$name.log" tests/kubelet/kubelet.sh run "$name"
	done
}

part_lab() {
	local name
	if [ "$(id -u)" != 0 ]; then
		skip "lab" "the virtual machine's image needs root"
		return
	fi
	make_quietly all tests || exit 1
	make_quietly KILL_POINTS=1 build/kill/rocelet || exit 1
	step "lab image" tests/lab/lab.sh image
	step "kubelet for the lab, built from source or cached" tests/kubelet/kubelet.sh build
	# Two at a time: a machine's emulated processors keep little more than one real one busy.
	# shellcheck disable=SC2016,SC2086
	printf '%s\n' $LAB_SCENARIOS | xargs -P 2 --process-slot-var=SLOT -I{} sh -c '
		status=0
		tests/lab/lab.sh run --forward "$(($3 + SLOT)):9907" "$1" >"$2-$1.log" 2>&1 </dev/null || status=$?
		echo "$status" >"$2-$1.log.rc"' sh {} "$LOGS/lab" "$LAB_PORT"
	for name in $LAB_SCENARIOS; do
		judge_scenario "lab $name" "$LOGS/lab-$name.log" "$(cat "$LOGS/lab-$name.log.rc")"
	done
}

count_scenario() { # NAME STATUS LAST_LINE LOG
	local ok bad
	ok=$(echo "$3" | grep -oE '^[0-9]+') bad=$(echo "$3" | grep -oE '[0-9]+ failed' | grep -oE '[0-9]+')
	if [ "$2" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
	passed=$((passed + ok)) failed=$((failed + bad))
	if [ "$bad" = 0 ]; then
		say "  ok  " "$1: $ok"
		grep -E '^# ' "$4" | sed 's/^/        /'
	else
		say "FAILED" "$1: $3"
		tail -n 80 "$4" | sed 's/^/        /'
		# Last, as who shows only the end of this shall see what it was.
		grep -A 1 -E '^(not ok|failed \(status)' "$4" | sed 's/^/        /'
	fi
}

if [ $# = 0 ]; then
	tests/deps.sh || exit 1
	set -- unit interop kubelet san fuzz lab
	[ "${CHECK:-}" != full ] || set -- lint "$@"
fi
rm -rf "$LOGS"
mkdir -p "$LOGS"
for part in "$@"; do
	start=$SECONDS
	"part_$part"
	say "      " "$part took $((SECONDS - start)) s"
done
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ]
