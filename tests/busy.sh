#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# busy.sh - run a command as on a busy machine, where a test that depends on its speed fails. The exit status is the command's.
#
#   busy.sh loops N COMMAND...         beside N processes that use all the processor time they get
#   busy.sh quota PERCENT COMMAND...   with PERCENT of one core for the command and its children; needs root and the cgroup controller "cpu"
#   busy.sh pauses MS COMMAND...       while one of its processes after the other, chosen at random, is stopped for up to MS at a time
#
# They nest: busy.sh loops 4 tests/busy.sh pauses 300 COMMAND...
set -u

usage() {
	sed -n '2,/^#$/d; /^#   busy/s/^#   //p' "$0" >&2
	exit 2
}

beside_loops() { # N COMMAND..
	local i loops=()
	for ((i = 0; i < $1; i++)); do
		setpriv --pdeathsig KILL bash -c 'while :; do :; done' &
		loops+=($!)
	done
	"${@:2}"
	status=$?
	kill "${loops[@]}"
}

# Prints a new group with that limit, of version 1 or 2.
limited_group() { # PERCENT
	local name=rocelet-busy-$$ period=100000 group
	local quota=$(($1 * period / 100))
	if [ -d /sys/fs/cgroup/cpu ]; then
		group=/sys/fs/cgroup/cpu/$name
		mkdir "$group" && echo "$period" >"$group/cpu.cfs_period_us" && echo "$quota" >"$group/cpu.cfs_quota_us"
	else
		group=/sys/fs/cgroup/$name
		echo +cpu >/sys/fs/cgroup/cgroup.subtree_control && mkdir "$group" && echo "$quota $period" >"$group/cpu.max"
	fi && echo "$group"
}

with_quota() { # PERCENT COMMAND..
	local group own
	group=$(limited_group "$1") || exit 1
	# shellcheck disable=SC2016
	bash -c 'echo $$ >"$1/cgroup.procs" && exec "${@:2}"' bash "$group" "${@:2}"
	status=$?
	# Processes that the command has left behind continue without the limit: a group with processes cannot be removed.
	while read -r own; do echo "$own" >"${group%/*}/cgroup.procs"; done <"$group/cgroup.procs" 2>/dev/null
	rmdir "$group"
}

# A random number of seconds.
up_to() { # MS
	local ms=$((1 + RANDOM % $1))
	echo "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

# All of one session: the command and its children, except those with a session of their own.
pause_one() { # SESSION MS
	local all one
	mapfile -t all < <(pgrep -s "$1")
	[ ${#all[@]} != 0 ] || return
	one=${all[RANDOM % ${#all[@]}]}
	kill -STOP "$one" 2>/dev/null || return
	sleep "$(up_to "$2")"
	kill -CONT "$one" 2>/dev/null
}

with_pauses() { # MS COMMAND..
	setsid "${@:2}" <&0 &
	local session=$!
	trap 'pkill -KILL -s $session' TERM INT HUP
	while kill -0 "$session" 2>/dev/null; do
		pause_one "$session" "$1"
		sleep "$(up_to "$1")"
	done
	wait "$session"
	status=$?
}

[[ $# -ge 3 && $2 =~ ^[1-9][0-9]*$ ]] || usage
case $1 in
loops) beside_loops "${@:2}" ;;
quota) with_quota "${@:2}" ;;
pauses) with_pauses "${@:2}" ;;
*) usage ;;
esac
exit "$status"
