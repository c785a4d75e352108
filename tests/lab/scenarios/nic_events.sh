# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# BPF reports which process changes a NIC's DCB settings, its devlink health reports, and hung transmit queues. No emulated NIC has these: the host builds
# one (tests/lab/module), for the kernel whose headers fit Debian 12's compiler.
# lab: --kernel 6.1 --timeout 300
# proves: bpf daemon/events
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/nic.sh
. /rocelet/lab/guest/nic.sh
# shellcheck source=../guest/bpf.sh
. /rocelet/lab/guest/bpf.sh

event() { # REASON REGEX: an event of that NIC in the API
    curl -fsS -m 60 "$HTTP/api/v1/events" | /usr/bin/python3 -c '
import json, re, sys
for e in json.load(sys.stdin)["events"]:
    if e["reason"] == sys.argv[1] and re.search(sys.argv[2], e["message"]):
        sys.exit()
sys.exit("no such event")' "$@" 2>/dev/null
}

n_events() { # REASON
    curl -fsS -m 60 "$HTTP/api/v1/events" | json "len([e for e in doc['events'] if e['reason'] == '$1'])"
}

is_attached() { # PROGRAM
    curl -fsS -m 60 "$HTTP/metrics" | grep -q "^rocelet_bpf_program_loaded{.*program=\"$1\".*} 1$"
}

fault() {
    echo "$1" >"$nic/lab/fault"
}

# The older protocol, which no tool uses: a request to set PFC for all priorities (net/dcb/dcbnl.c, dcbnl_setpfccfg).
set_pfc_cee() { # NETDEV
    /usr/bin/python3 -c '
import socket, struct, sys
def attribute(kind, payload):
    return struct.pack("HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)
RTM_SETDCB, DCB_CMD_PFC_SCFG, IFNAME, PFC_CFG, UP_ATTR_ALL = 79, 8, 1, 4, 9
body = struct.pack("BBH", 0, DCB_CMD_PFC_SCFG, 0) + attribute(IFNAME, sys.argv[1].encode() + b"\0")
body += attribute(PFC_CFG | 0x8000, attribute(UP_ATTR_ALL, b"\1"))
with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as s:
    s.send(struct.pack("IHHII", 16 + len(body), RTM_SETDCB, 5, 1, 0) + body)
    s.recv(4096)' "$1"
}

say "a NIC with settings"
load_nic
find_pf
nic=$(realpath "/sys/class/net/$PF/device") function=${nic##*/}
bind_nic "$function" mlx5_core
echo mlx5_0 >"$nic/lab/device"
udevadm settle --timeout=20 # udev renames it once
ip link set "$(ls "$nic/net")" name labnic0
start_rocelet
wait_until is_up
check_within 10 "the programs on settings and health are attached" 'is_attached dcb_set && is_attached dcb_app_set && is_attached dcb_app_deleted && is_attached dcb_set_cee && is_attached nic_health && is_attached tx_timeout'

say "DCB"
by='by dcb, pid [0-9]+'
dcb pfc set dev labnic0 prio-pfc all:off 3:on
check_within 2 "PFC: the priorities and the process" 'event PfcChanged "labnic0: PFC on for priority 3 $by"'
dcb ets set dev labnic0 tc-tsa all:strict
check_within 2 "ETS: the process" 'event EtsChanged "labnic0.*$by"'
dcb app add dev labnic0 dscp-prio 26:3
check_within 2 "a mapping of DSCP to priority: the process" 'event PriorityMapChanged "labnic0: DSCP 26 mapped to priority 3 $by"'
dcb app del dev labnic0 dscp-prio 26:3
check_within 2 "and the end of the mapping" 'event PriorityMapChanged "labnic0: DSCP 26 no longer mapped to priority 3 $by"'
uid=8dbc5577-d0e2-4706-8787-57d52c03ddf2
as_pod "$uid" dcb pfc set dev labnic0 prio-pfc all:off 5:on
check_within 2 "of a tool in a pod that has already exited: the pod" "event PfcChanged \"labnic0: PFC on for priority 5 $by; pod $uid\""
changes=$(n_events PfcChanged)
dcb pfc show dev labnic0 >/dev/null
set_pfc_cee labnic0
check_within 2 "PFC by the older protocol" 'event PfcChanged "labnic0: PFC is set through CEE by python3"'
check "reading the settings before was no change" '(($(n_events PfcChanged) == changes + 1))'

say "health"
fault "firmware syndrome 0x1"
check_within 2 "a report, with the NIC, the reporter and its text" 'event NicHealth "$function.*fw.*firmware syndrome 0x1"'
fault "firmware syndrome 0x2"
check_within 2 "an aborted recovery" 'event NicRecoveryAborted "$function.*fw"'

say "a transmit queue that hangs"
faults() { # KIND
    curl -fsS -m 60 "$HTTP/metrics" | sed -n "s/^roce_nic_faults_total{device=\"mlx5_0\",kind=\"$1\"} //p"
}
sysfs_timeouts() {
    cat "$nic/net/labnic0/queues/tx-0/tx_timeout"
}
check_within 30 "the driver's reports were counted, and no queue hung yet" '[[ $(faults health_report) == 2 && $(faults tx_timeout) == 0 ]]'
ip link set labnic0 up
echo 1 >"$nic/lab/hang"
check_within 30 "an event with the netdev, its function and driver" 'event TxTimeout "labnic0 \(index [0-9]+, $function\): transmit queue 0 .*mlx5_core resets it"'
check_within 10 "the counter, as the kernel's own of the queue" '[[ $(faults tx_timeout) -ge 1 && $(faults tx_timeout) == $(sysfs_timeouts) ]]'
# Its reporter has failed: the cause is a stuck NIC, of which the reset is a symptom.
reset_is_reported() {
    curl -fsS -m 60 "$HTTP/api/v1/diagnosis" |
        json 'any(v["device"] == "mlx5_0" and "nic_reset" in [v["cause"], *v["symptoms"]] for v in doc["verdicts"])' | grep -q True
}
check_within 30 "a verdict on that device" reset_is_reported
before=$(faults tx_timeout)
ip netns add pod0
ip link set labnic0 netns pod0
ip -n pod0 link set labnic0 up
echo 1 >"$nic/lab/hang"
check_within 30 "and in a pod's namespace, which the host's sysfs does not show" '(($(faults tx_timeout) > before))'
ip netns del pod0
stop_rocelet
rmmod lab_nic
