# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The journal with names of any bytes, and with a second daemon.
# lab: --memory 2048 --timeout 600
# proves: daemon/attach/journal daemon/compose
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

SOFT_ROCE=false
is_valid_text() { # FILE
    python3 -c 'import sys; open(sys.argv[1], encoding="utf-8").read()' "$1"
}

# Metrics, API and log are valid text.
outputs_are_valid() {
    curl -fsS -m 60 "$HTTP/metrics" >/tmp/metrics && curl -fsS -m 60 "$HTTP/api/v1/devices" | python3 -m json.tool >/dev/null &&
        curl -fsS -m 60 "$HTTP/api/v1/attachments" | python3 -m json.tool >/dev/null && is_valid_text /tmp/metrics && is_valid_text "$OUT/rocelet.log"
}

make_pool 2
A=${VF_IDS[0]}

say "a pod that gives its interface a name and an alias of any bytes"
for name in $'n\001x' $'\377\376'; do
    ip netns add a
    start_engine
    attach "$A" a 10.9.0.1/24
    ip -n a link set net1 down
    ip -n a link set net1 name "$name" alias $'\033[31m\377'
    check_within 10 "metrics, API and log show it as valid text" outputs_are_valid
    ip netns delete a
    check_within 30 "the VF returns to the host" "is_free $A"
    is_free "$A" || show_difference "$A"
    stop_rocelet
done

say "a second daemon"
start_engine
second=0
timeout 60 /usr/local/sbin/rocelet --config "$CONFIG" --state-dir "$STATE_DIR" --run-dir /tmp/run --listen '' --lock-wait 0 2>/tmp/second || second=$?
check "exits with a distinct status" "((second == 3))"
check "and names the process that has the folder" "grep -q '$STATE_DIR is in use by another rocelet: pid $ROCELET_PID on ' /tmp/second"
rm "$STATE_DIR/lock"
second=0
timeout 60 /usr/local/sbin/rocelet --config "$CONFIG" --state-dir "$STATE_DIR" --run-dir /tmp/run --listen '' --lock-wait 0 2>/tmp/second || second=$?
check "also when the file is deleted" "((second == 3)) && grep -q 'pid $ROCELET_PID' /tmp/second"
second=0
timeout 60 /usr/local/sbin/rocelet --config "$CONFIG" --state-dir /tmp/state --run-dir /tmp/run --listen '' --lock-wait 0 2>/tmp/second || second=$?
check "also with folders of its own" "((second == 3)) && grep -q 'this node is in use by another rocelet: pid $ROCELET_PID (rocelet)' /tmp/second"
mv "$STATE_DIR" /tmp/moved
second=0
timeout 60 /usr/local/sbin/rocelet --config "$CONFIG" --state-dir "$STATE_DIR" --run-dir /tmp/run --listen '' --lock-wait 0 2>/tmp/second || second=$?
check "also when the folder is created again" "((second == 3)) && grep -q 'this node is in use by another rocelet: pid $ROCELET_PID (rocelet)' /tmp/second"
rm -rf "$STATE_DIR"
mv /tmp/moved "$STATE_DIR"
kill_rocelet
start_engine
check "a daemon starts after a killed one" healthy
stop_rocelet
