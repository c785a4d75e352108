# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Helpers for scenarios, which start with:  . /rocelet/lab/guest/lib.sh

. /rocelet/lib/checks.sh

readonly BUILD=/rocelet/build OUT=/out
readonly HTTP=http://127.0.0.1:9907

# Capabilities of the overlays' containers (SECURITY.md, "Privileges"); no scenario's daemon has more than the native one.
# shellcheck disable=SC2034 # scenarios do
readonly NATIVE_CAPABILITIES=-all,+net_admin,+net_broadcast,+net_raw,+sys_admin,+sys_ptrace,+dac_read_search,+mknod,+chown,+setpcap,+setuid
readonly OBSERVE_CAPABILITIES=-all,+net_admin,+net_broadcast,+sys_ptrace,+dac_read_search,+bpf,+perfmon

CAPABILITIES=$NATIVE_CAPABILITIES
ROCELET_PID=
VFS=() # the VFs' netdevs, in order; see make_vfs
PF=    # the physical function's netdev

# ---- virtual functions

find_pf() {
    local path
    path=$(echo /sys/class/net/*/device/sriov_totalvfs)
    [[ -e $path ]] || fail "the guest has no SR-IOV NIC"
    PF=$(cut -d/ -f5 <<<"$path")
}

# Fills VFS. The PF goes up first: with it down, igbvf finds its VFs in reset and gives them no carrier.
make_vfs() { # N
    find_pf
    ip link set "$PF" up
    echo "$1" >"/sys/class/net/$PF/device/sriov_numvfs"
    local index
    for ((index = 0; index < $1; index++)); do
        wait_until "vf_netdev $index"
    done
    udevadm settle --timeout=20 # udev renames each once
    VFS=()
    for ((index = 0; index < $1; index++)); do
        VFS+=("$(vf_netdev "$index")")
    done
}

vf_netdev() { # INDEX
    local path
    path=$(echo "/sys/class/net/$PF/device/virtfn$1/net"/*)
    [[ -e $path ]] && echo "${path##*/}"
}

# ---- pods: network namespaces with a VF as net1 and an RDMA device on it

# The order matters: rxe cannot change namespace, so its device is made inside, on a VF that is already there, addressed and up.
make_pod() { # NAME VF_NETDEV IP/LEN [RDMA_DEVICE]
    local name=$1 vf=$2 address=$3 rdma=${4:-rxe_$1}
    ip netns add "$name"
    ip link set "$vf" netns "$name" name net1
    ip -n "$name" link set lo up
    ip -n "$name" address add "$address" dev net1
    ip -n "$name" link set net1 up
    wait_until "has_carrier $name net1"
    in_pod "$name" rdma link add "$rdma" type rxe netdev net1
    wait_until "rdma link show $rdma/1 | grep -q ACTIVE"
}

# Only these functions define what a pod is; kubelet.sh redefines them for real pods, neighbours.sh for older kernels.
in_pod() { # NAME COMMAND..
    ip netns exec "$@"
}

pod_netns() { # NAME
    echo "/run/netns/$1"
}

pod_netdev() { # NAME
    echo net1
}

# Runs a program of the machine in the pod's network namespace: to inspect it, not as the pod.
in_netns() { # NAME COMMAND..
    nsenter --net="$(pod_netns "$1")" "${@:2}"
}

pod_link() { # NAME up|down
    in_netns "$1" ip link set "$(pod_netdev "$1")" "$2"
}

has_carrier() { # POD NETDEV
    in_netns "$1" ip link show "$2" | grep -q LOWER_UP
}

pod_ip() { # NAME
    in_netns "$1" ip -4 -brief address show "$(pod_netdev "$1")" | awk '{ sub("/.*", "", $3); print $3 }'
}

# The RDMA device on the pod's netdev: those of others are listed without a netdev name.
pod_rdma() { # NAME
    in_netns "$1" rdma link show | awk -v netdev="$(pod_netdev "$1")" '$0 ~ " netdev " netdev "( |$)" { sub("/.*", "", $2); print $2 }'
}

ping_pod() { # FROM TO
    in_pod "$1" busybox ping -c 1 -W 5 "$(pod_ip "$2")"
}

# One perftest run; ARGS go to both ends. Fails if either end does.
perftest() { # TOOL CLIENT_POD SERVER_POD [ARGS..]
    local tool=$1 client=$2 server=$3 pid
    shift 3
    in_pod "$server" "$tool" -d "$(pod_rdma "$server")" "$@" >"$OUT/perftest-server.log" 2>&1 &
    pid=$!
    wait_until "in_netns $server ss -Hltn 'sport = :18515' | grep -q . || ! kill -0 $pid"
    in_pod "$client" "$tool" -d "$(pod_rdma "$client")" "$@" "$(pod_ip "$server")" >"$OUT/perftest-client.log" 2>&1 || has_no_report || return
    wait "$pid" || has_no_report
}

# All data was transferred, but on a busy machine the processors' clocks may differ too much for perftest to print a rate: it then exits with an error,
# without telling its peer.
has_no_report() {
    grep -q "Can't produce a report" "$OUT"/perftest-{client,server}.log
}

# One congestion notification packet, as a receiver's NIC would send it: soft-RoCE sends none. It goes through an ordinary
# socket: a BTH with opcode 0x81, 16 reserved bytes, and an unused ICRC (rxe ignores CNPs).
send_cnp() { # FROM_POD TO_POD [QP]
    local qp bth reserved
    qp=$(printf '\\x%02x\\x%02x\\x%02x' $((${3:-17} >> 16 & 255)) $((${3:-17} >> 8 & 255)) $((${3:-17} & 255)))
    bth="\\x81\\x40\\xff\\xff\\x00$qp\\x00\\x00\\x00\\x00"
    reserved=$(printf '\\x00%.0s' {1..20})
    in_netns "$1" bash -c 'printf "$1" >"/dev/udp/$2/4791"' send_cnp "$bth$reserved" "$(pod_ip "$2")"
}

# Makes a pod's own transmit queue congested: packets above RATE wait, and waiting ECN-capable packets are
# marked CE, as a switch would do.
congest_pod() { # POD RATE, for example 8mbit
    local netdev
    netdev=$(pod_netdev "$1")
    in_netns "$1" tc qdisc replace dev "$netdev" root handle 1: tbf rate "$2" burst 10kb latency 400ms
    in_netns "$1" tc qdisc add dev "$netdev" parent 1:1 handle 10: red limit 400000 min 5000 max 20000 avpkt 1100 burst 6 \
        ecn bandwidth "$2" probability 1
}

# Writes a line to FILE for every RoCEv2 packet on a pod's netdev that FILTER selects; until the scenario ends.
capture() { # POD FILTER FILE
    in_netns "$1" tcpdump -i "$(pod_netdev "$1")" -n -p --immediate-mode -l "udp dst port 4791 and $2" >"$3" 2>"$3.err" &
    wait_until "grep -q 'listening on' $3.err"
}

lines() { # FILE
    wc -l <"$1"
}

# A counter of an RDMA device, from the kernel: for comparison with the daemon's numbers.
rdma_counter() { # DEVICE COUNTER
    rdma statistic show link "$1/1" | awk -v name="$2" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }'
}

# ---- the daemon

# Starts it from a disk of the machine, as installed programs are: over the share every page of code is a round trip.
start_rocelet() { # [ARGS..]
    launch_rocelet "$LAB_ROCELET" "$@"
    wait_until "healthy || ! kill -0 $ROCELET_PID"
    kill -0 "$ROCELET_PID" 2>/dev/null || fail "rocelet ended before it answered on $HTTP/healthz"
}

# On the share, where it outlives the machine; each line is a round trip to the host. A scenario that measures chooses another place, and
# copies it when it is done.
DAEMON_LOG=$OUT/rocelet.log

# Without waiting. PROGRAM is below build/.
launch_rocelet() { # PROGRAM [ARGS..]
    local installed=/usr/local/sbin/${1//\//-}
    [[ -e $installed ]] || cp "$BUILD/$1" "$installed"
    # The image has no sanitizers' libraries; they are beside the program. The tunable is the one of the image and the unit.
    (cd / && GLIBC_TUNABLES=glibc.malloc.tcache_count=0 LD_LIBRARY_PATH=$BUILD/${1%rocelet}lib exec setpriv --bounding-set "$CAPABILITIES" --inh-caps=-all "$installed" "${@:2}") \
        >>"$DAEMON_LOG" 2>&1 &
    ROCELET_PID=$!
}

# The kernel's log has a line for each call that the filter rejected, with the program's name.
refused_calls() {
    dmesg | { grep -oE 'audit: type=1326 .*' || true; } | { grep -oE ' (comm|syscall|sig)=[^ ]+' || true; } | paste -d' ' - - - | sort | uniq -c
}

last_checks() {
    local refused
    refused=$(refused_calls)
    check "no system call was refused" '[[ -z $refused ]]'
    [[ -z $refused ]] || echo "$refused"
}

healthy() {
    curl -fsS -m 2 -o /dev/null "$HTTP/healthz"
}

# What the daemon has allocated: anonymous memory, but not the stacks of its threads (8 MB each), which stay as large as they once were.
allocated_kb() {
    awk '/^[0-9a-f]+-[0-9a-f]+ / { own = NF == 5 || $6 == "[heap]" } $1 == "Size:" { own = own && $2 != 8192 } $1 == "Rss:" && own { n += $2 } END { print n }' \
        "/proc/$ROCELET_PID/smaps"
}

stop_rocelet() {
    kill -TERM "$ROCELET_PID"
    wait_until "! kill -0 $ROCELET_PID"
    local status=0
    wait "$ROCELET_PID" || status=$?
    ROCELET_PID=
    ((status == 0)) || fail "rocelet ended with status $status after SIGTERM"
}

devices_json() {
    curl -fsS -m 60 "$HTTP/api/v1/devices"
}

# One value of /api/v1/devices by a Python expression over: functions, netdevs, rdma (by id or name).
devices() { # EXPRESSION
    devices_json | python3 -c '
import json, sys
doc = json.load(sys.stdin)
functions = {d["id"]: d for d in doc["devices"]}
netdevs = {n["name"]: n for d in doc["devices"] for n in d.get("netdevs", [])}
rdma = {r["name"]: r for d in doc["devices"] for r in d.get("rdma", [])}
print(eval(sys.argv[1]))' "$1"
}

holds_in_devices() { # EXPRESSION
    [[ $(devices "$1") == True ]]
}

# ---- older kernels

if [[ $(uname -r) == 6.* ]]; then
    # shellcheck source=neighbours.sh
    . /rocelet/lab/guest/neighbours.sh
fi

# ---- the host's half of a scenario

# Runs scenarios/SCENARIO.host.sh ARGS.. on the host and returns its status.
host_part() { # [ARGS..]
    printf '%q ' "$@" >"$OUT/host.request.new"
    mv "$OUT/host.request.new" "$OUT/host.request"
    until [[ -e $OUT/host.status ]]; do sleep 0.1; done
    local status
    status=$(<"$OUT/host.status")
    rm "$OUT/host.status"
    return "$status"
}
