#!/bin/bash
# check.sh - every test of the project, one line each, "N passed, N failed[, N skipped]" last.
#
#   check.sh [PART...]    parts: lint unit interop ship kubelet san threads fuzz lab cluster page (default: all but lint, threads, cluster and page,
#                         after installing what they need)
#
# That takes a quarter of an hour on two idle cores. CHECK=full is what CI runs: lint, threads and page as well, most scenarios,
# and each fuzz program for 4 s, those of what a peer sends for 10 (make soak: minutes). Otherwise some of the scenarios, and 2 s.
# FUZZ_SECONDS, LAB_SCENARIOS, KUBELET_SCENARIOS, CLUSTER_SCENARIOS: other choices. A scenario's arguments follow its name, as in dirty:all.
set -u
shopt -s lastpipe # what reads from a pipe counts
cd "$(dirname "$0")/.." || exit 1
LOGS=build/check
if [ "${CHECK:-}" = full ]; then
	# Of what allow, crash and nic_counters go through some of each kind; make soak: all, and privileges, of which unit has a part.
	LAB_SCENARIOS=${LAB_SCENARIOS:-inventory plugin metrics badinput attach:1 allow:vlan:spelt:files:evil cage orphans beyond identity_host anew dirty views journal clock reboot orders company upgrade crash:some bpf_events nic_events nic_counters:congestion:settings}
	KUBELET_SCENARIOS=${KUBELET_SCENARIOS:-rig pods health restart owners numa sandboxes pod_status}
else
	FUZZ_SECONDS=${FUZZ_SECONDS:-2}
	# One kill before and one after the record is on the disk, on the way there and back, and one with another netdev.
	KILLS=1:attach-record-before:attach-move-after:back-record-after:back-move-before:back-renew-after
	LAB_SCENARIOS=${LAB_SCENARIOS:-attach:1 bpf_events crash:$KILLS plugin metrics}
	KUBELET_SCENARIOS=${KUBELET_SCENARIOS:-pods restart owners numa}
fi
CLUSTER_SCENARIOS=${CLUSTER_SCENARIOS:-switch install}
LAB_PORT=${LAB_PORT:-19907} # on 127.0.0.1, for scenarios with a part on the host
passed=0 failed=0 skipped=0

say() { printf '%s %s\n' "$1" "$2"; }

failures=() # said again at the end: who keeps only the end of this shall see what it was

fail() { # TEXT [LOG OF A SCENARIO]
	local checks=()
	[ $# = 1 ] || mapfile -t checks < <(grep --no-group-separator -A 1 -E '^(not ok|FAILED |failed \(status)' "$2" | sed '/^Traceback/d; s/^/    /')
	say "FAILED" "$1"
	failures+=("$1" "${checks[@]}")
	[ ${#checks[@]} = 0 ] || printf '    %s\n' "${checks[@]}"
}

# --- what runs now, and how long that usually takes ---------------------------------------------

# A line for each: SECONDS NAME. What it has taken on two idle cores is checked in; what it took on this machine counts more.
USUAL=tests/check.seconds
LAST=/var/cache/rocelet-check/seconds
mkdir -p "${LAST%/*}" 2>/dev/null && [ -w "${LAST%/*}" ] || LAST=build/check.seconds

# Prints the seconds, or nothing.
usual() { # NAME
	cat "$USUAL" "$LAST" 2>/dev/null | awk -v name="$1" '{ s = $1; sub(/^[0-9]+ /, "") } $0 == name { last = s } END { print last }'
}

# Prints ", usually 4 min", or nothing.
usually() { # NAME
	usual "$1" | awk '$1 >= 90 { printf ", usually %.0f min", $1 / 60 } $1 && $1 < 90 { printf ", usually %d s", $1 }'
}

announce() { # NAME
	say " ...  " "$1$(usually "$1")"
}

remember() { # NAME SECONDS
	{
		flock 9
		{ grep -vxE "[0-9]+ $1" "$LAST" 2>/dev/null; echo "$2 $1"; } >"$LAST.new"
		mv "$LAST.new" "$LAST"
	} 9>"$LAST.lock"
}

once_s=0 # of the part's seconds, what is only spent once

# What is built or fetched by the first run on a machine, and kept: COMMAND built says whether it is there.
once() { # NAME COMMAND MAKE [ARG]
	local began=$SECONDS
	if ! "$2" built "${@:4}" >/dev/null 2>&1; then
		say " ...  " "$1 is made, once$(usually "$1")"
		step "$1" "$2" "${@:3}"
		once_s=$((once_s + SECONDS - began))
	fi
}

# --- verdicts -----------------------------------------------------------------------------------

# step NAME COMMAND...: one test that is its exit status; its output is shown when it fails.
step() {
	local name=$1 log began=$SECONDS
	shift
	log=$LOGS/${name//[^a-z0-9_-]/_}.log
	announce "$name"
	if "$@" >"$log" 2>&1; then
		say "  ok  " "$name"
		passed=$((passed + 1))
		remember "$name" $((SECONDS - began))
	else
		fail "$name (exit $?): $*"
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
	bad=$(grep -xE '\[  (FAILED |ERROR  ) \] \w+' "$log" | awk '{ print $NF }' | sort -u | wc -l)
	not=$(grep -xE '\[  SKIPPED \] \w+' "$log" | sort -u | wc -l)
	if [ "$status" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
	if [ "$status" = 0 ] && [ $((ok + not)) = 0 ]; then bad=1; fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + not))
	if [ "$bad" != 0 ]; then
		fail "$name: $bad of $((ok + bad + not)) (exit $status)"
		tail -n 40 "$log" | sed 's/^/        /'
	else
		say "  ok  " "$name: $ok$([ "$not" = 0 ] || echo ", $not skipped: $(grep -m1 -oP 'skipped: \K.*' "$log")")"
	fi
}

# The cmocka programs of a folder, some at a time: they mostly wait for time-outs. The one that waits longest is the first.
cmocka_all() { # TITLE FOLDER LOG_PREFIX
	local t
	# shellcheck disable=SC2016
	{
		echo test_engine_random
		find "$2" -maxdepth 1 -name 'test_*' -type f -executable ! -name test_engine_random -printf '%f\n'
	} | xargs -P 6 -I{} sh -c '"$2/$1" >"$3-$1.log" 2>&1; echo $? >"$3-$1.log.rc"; echo "$1"' sh {} "$2" "$LOGS/$3" |
		while read -r t; do cmocka "$1 $t" "$LOGS/$3-$t.log"; done
}

make_quietly() { make --no-print-directory --silent -j2 "$@"; }

# What a part needs.
build() { # MAKE_ARGUMENTS..
	announce "build $*"
	local began=$SECONDS
	make_quietly "$@" || exit 1
	# Nobody learns from one that had nothing to do.
	[ $((SECONDS - began)) -lt 20 ] || remember "build $*" $((SECONDS - began))
}

part_lint() {
	step "build with gcc" make_quietly CC=gcc all tests
	step "compile with clang" make_quietly CC=clang test-objects fuzz
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
	build all tests
	cmocka_all unit build/tests unit
	judges <<-END
		$(as_root "privileges of the running daemon" "making calls for the daemon" tests/interop/privileges_python.py build/rocelet)
		TLS, tokens and passwords|tests/interop/guard_python.py build/rocelet
	END
}

# Other people's implementations judge ours, which is instrumented for the occasion. The longest first.
part_interop() {
	local san=build/san
	build SAN=1 $san/interop/grpc_echo $san/interop/plugin_host $san/interop/cri_watch $san/interop/packet_watch $san/bench/mk_sysfs all
	judges <<-END
		diagnosis of the running daemon|tests/interop/diagnosis_python.py $san/rocelet $san/bench/mk_sysfs $san/rocectl
		configurations and command lines|tests/interop/config_python.py $san/rocelet $san/rocectl $san/bench/mk_sysfs
		rocectl top on a terminal|tests/interop/top_python.py $san/rocelet $san/rocectl $san/bench/mk_sysfs
		daemon under it|tests/interop/daemon_python.py $san/rocelet $san/bench/mk_sysfs
		what pods read|tests/interop/pod_status_python.py $san/rocelet $san/bench/mk_sysfs $san/rocectl
		one daemon after the other|tests/interop/hand_over_python.py $san/rocelet $san/bench/mk_sysfs
		diagnosis of scenarios|tests/scenarios/judge.py $san/rocectl
		kubelet of grpc-python|tests/interop/kubelet_python.py $san/interop/plugin_host
		runtime of grpc-python|tests/interop/cri_python.py $san/interop/cri_watch
		$(as_root "scapy and tshark on captures" sniffing tests/interop/capture_python.py $san/rocectl)
		packets of scapy and tshark|tests/interop/packets_python.py $san/interop/packet_watch
		what is proposed to a node|tests/interop/suggest_python.py $san/rocelet $san/rocectl
		support bundles|tests/interop/bundle_python.py $san/rocelet $san/rocectl
		migration|tests/interop/migration_python.py $san/rocelet $san/rocectl $san/bench/mk_sysfs
		grpc-python|tests/interop/grpc_python.py $san/interop/grpc_echo
	END
}

# Prints the line of a judge that needs root; without it, one that says so.
as_root() { # NAME WHAT_NEEDS_IT COMMAND..
	if [ "$(id -u)" = 0 ]; then echo "$1|${*:3}"; else echo "$1||$2 needs root"; fi
}

# Programs in Python that judge ours and count their checks in their last line: a line for each on standard input, "NAME|COMMAND" or
# "NAME||WHY IT CANNOT RUN". Some at a time, as they wait for time-outs more than for a processor.
judges() {
	local name command why status seconds log lines=()
	while IFS='|' read -r name command why; do
		if [ -n "$why" ]; then skip "interop $name" "$why"; else lines+=("$name|$command"); fi
	done
	# shellcheck disable=SC2016
	printf '%s\n' "${lines[@]}" | xargs -P 3 -d '\n' -I{} bash -c '
		name=${1%%|*} command=${1#*|} status=0 began=$SECONDS
		log=${command%% *} log=$LOGS/interop-${log##*/}.log
		announce "interop $name" >&3
		timeout 900 /usr/bin/python3 $command >"$log" 2>&1 </dev/null || status=$?
		echo "$status $((SECONDS - began)) $log $name"' bash {} |
		while read -r status seconds log name; do judge_scenario "interop $name" "$log" "$status" "$seconds"; done
}

browser() { # built|install
	if [ "$1" = built ]; then command -v chromium; else tests/deps.sh page; fi
}

# In a headless Chromium, behind a real nginx and kubectl's proxy.
part_page() {
	local nginx kubectl
	once "browser" browser install
	build all build/bench/mk_sysfs
	nginx=$(tests/lib/debtool.sh nginx) || exit 1
	kubectl=$(tests/ship/kubectl.sh) || exit 1
	# shellcheck disable=SC2086 # one word for each
	judged "page in a browser" /usr/bin/python3 -B tests/web/page_python.py build/rocelet build/bench/mk_sysfs "$nginx/usr/sbin/nginx" $kubectl
}

part_san() {
	build SAN=1 all tests
	cmocka_all ASan+UBSan build/san/tests san
}

# Where workers and the loop meet. Without address randomisation: the sanitizer of older compilers cannot live with much of it.
part_threads() {
	local t
	for t in node sampler loop; do
		build SAN=thread "build/tsan/tests/test_$t"
		step "TSan test_$t" setarch -R "build/tsan/tests/test_$t"
	done
}

fuzz_one() {
	local program=$1 name=${1##*/} seeds seconds=${FUZZ_SECONDS:-4}
	[[ -n ${FUZZ_SECONDS:-} || $name != fuzz_@(grpc_*|plugin_*|pod_resources|pool_config|checkpoint|cri) ]] || seconds=10
	seeds=tests/fixtures/${name#fuzz_}
	mkdir -p "build/fuzz/corpus/$name"
	[ -d "$seeds" ] || seeds=
	# shellcheck disable=SC2086
	"$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="build/fuzz/crash-$name-" "build/fuzz/corpus/$name" $seeds
}

# Two at a time: the machine has two cores.
part_fuzz() {
	local p status
	build fuzz
	export -f fuzz_one
	export LOGS FUZZ_SECONDS
	# shellcheck disable=SC2016
	printf '%s\n' build/fuzz/fuzz_* | xargs -P 2 -I{} bash -c 'fuzz_one "$1" >"$LOGS/${1##*/}.log" 2>&1; echo "$1 $?"' bash {} |
		while read -r p status; do fuzz_result "${p##*/}" "$status"; done
}

fuzz_result() { # NAME STATUS
	local log=$LOGS/$1.log
	if [ "$2" = 0 ]; then
		say "  ok  " "$1, $(grep -o 'number_of_executed_units: *[0-9]*' "$log" | grep -o '[0-9]*$') runs"
		passed=$((passed + 1))
	else
		fail "$1 (exit $2)"
		tail -n 40 "$log" | sed 's/^/        /'
		failed=$((failed + 1))
	fi
}

# Scenarios, some at a time: each is announced, run, and judged when it has ended.
scenarios() { # PART N_AT_A_TIME SCENARIO..
	local name status seconds
	# shellcheck disable=SC2016
	printf '%s\n' "${@:3}" | xargs -P "$2" -I{} bash -c '
		name=${2%%:*} status=0 began=$SECONDS
		announce "$1 $name" >&3
		"run_$1" ${2//:/ } >"$LOGS/$1-$name.log" 2>&1 </dev/null || status=$?
		echo "$name $status $((SECONDS - began))"' bash "$1" {} |
		while read -r name status seconds; do judge_scenario "$1 $name" "$LOGS/$1-$name.log" "$status" "$seconds"; done
}

# A scenario counts its own checks in its last line.
judge_scenario() { # NAME LOG STATUS SECONDS
	local last
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$2" | tail -n 1)
	if [ -z "$last" ]; then
		fail "$1 (exit $3)"
		tail -n 60 "$2" | sed 's/^/        /'
		failed=$((failed + 1))
		return
	fi
	count_scenario "$1" "$3" "$last" "$2" "$4"
}

# What is shipped. Quick: the manifests, and the image of this machine's architecture.
part_ship() {
	local kubectl prometheus
	build all build/bench/mk_sysfs
	kubectl=$(tests/ship/kubectl.sh) || exit 1
	prometheus=$(tests/lib/debtool.sh prometheus) || exit 1
	# shellcheck disable=SC2086 # one word for each
	judged "ship manifests" /usr/bin/python3 tests/ship/manifests.py build/rocelet build/bench/mk_sysfs "$prometheus/usr/bin/promtool" $kubectl
	judged "ship runbook" /usr/bin/python3 tests/ship/runbook.py build/rocectl
	judged "ship rules" /usr/bin/python3 tests/ship/rules.py "$prometheus/usr/bin/promtool"
	judged "ship dashboards" /usr/bin/python3 tests/ship/dashboards.py build/rocelet build/bench/mk_sysfs "$prometheus/usr/bin/prometheus"
	if [ "$(id -u)" != 0 ]; then
		skip "image" "chroot needs root"
		return
	fi
	build image
	judged "ship image" tests/ship/image.sh
	[ "${CHECK:-}" = full ] || return
	judged "ship image, twice" tests/ship/image.sh again
	judged "ship package" tests/ship/deb.sh
}

# A program that counts its own checks in its last line.
judged() { # NAME COMMAND..
	local name=$1 log=$LOGS/${1//[^a-z0-9]/-}.log status=0 began=$SECONDS
	shift
	announce "$name"
	timeout 900 "$@" >"$log" 2>&1 </dev/null || status=$?
	judge_scenario "$name" "$log" "$status" $((SECONDS - began))
}

run_kubelet() { # SCENARIO
	tests/kubelet/kubelet.sh run "$@"
}

run_lab() { # SCENARIO [ARGS..]
	tests/lab/lab.sh run --forward "$LAB_PORT:9907" "$@"
}

run_cluster() { # SCENARIO
	tests/lab/lab.sh cluster "$@"
}

part_kubelet() {
	if [ "$(id -u)" != 0 ]; then
		skip "kubelet" "its namespaces need root"
		return
	fi
	build all tests
	once "kubelet from source" tests/kubelet/kubelet.sh build
	# Two at a time: they mostly wait.
	# shellcheck disable=SC2086
	scenarios kubelet 2 $KUBELET_SCENARIOS
}

part_lab() {
	if [ "$(id -u)" != 0 ]; then
		skip "lab" "the virtual machine's image needs root"
		return
	fi
	build all tests
	build KILL_POINTS=1 build/kill/rocelet
	once "lab image" tests/lab/lab.sh image
	once "kubelet from source" tests/kubelet/kubelet.sh build
	# One at a time: emulated processors wait for each other, and two machines of two take more than twice as long on two real ones.
	# shellcheck disable=SC2086
	scenarios lab 1 $LAB_SCENARIOS
}

# One at a time: two machines and a control plane are enough for two processors.
part_cluster() {
	if [ "$(id -u)" != 0 ]; then
		skip "cluster" "its virtual machines and namespaces need root"
		return
	fi
	build image VERSION="$(sed -n 's/^VERSION := //p' Makefile)-next" # what is updated to
	build all tests
	build image
	once "lab image" tests/lab/lab.sh image
	once "kubelet from source" tests/kubelet/kubelet.sh build
	once "control plane from source" tests/kubelet/kubelet.sh build control-plane
	# shellcheck disable=SC2086
	scenarios cluster 1 $CLUSTER_SCENARIOS
}

count_scenario() { # NAME STATUS LAST_LINE LOG SECONDS
	local ok bad
	ok=$(echo "$3" | grep -oE '^[0-9]+') bad=$(echo "$3" | grep -oE '[0-9]+ failed' | grep -oE '[0-9]+')
	if [ "$2" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
	passed=$((passed + ok)) failed=$((failed + bad))
	if [ "$bad" = 0 ]; then
		say "  ok  " "$1: $ok"
		remember "$1" "$5"
		grep -E '^# ' "$4" | sed 's/^/        /'
	else
		fail "$1: $3" "$4"
		tail -n 80 "$4" | sed 's/^/        /'
	fi
}

if [ $# = 0 ]; then
	tests/deps.sh || exit 1
	set -- unit interop ship kubelet san fuzz lab
	[ "${CHECK:-}" != full ] || set -- lint unit interop ship page kubelet san threads fuzz lab
fi
rm -rf "$LOGS"
mkdir -p "$LOGS"
exec 3>&1
export -f announce say usual usually run_kubelet run_lab run_cluster
export LOGS USUAL LAST LAB_PORT
for part in "$@"; do
	began=$SECONDS once_s=0 before=$failed
	say "======" "$part$(usually "$part${CHECK:+, $CHECK}")"
	"part_$part"
	took=$((SECONDS - began - once_s))
	say "      " "$part took $took s"
	[ $failed != $before ] || remember "$part${CHECK:+, $CHECK}" $took
done
[ ${#failures[@]} = 0 ] || printf '%s\n' "what failed:" "${failures[@]/#/    }"
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ]
