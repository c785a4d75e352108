# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For scenarios of the packet programs: their counts compared with captures of the same packets, and leftover objects. Sourced
# after lib.sh.

readonly BPF_OBJECTS='prog map link' # as bpftool names them

# The kernel's BPF objects, and where they are attached in the networks of the machine and of PODS; equal before and after rocelet.
bpf_remains() { # [POD..]
    local kind pod
    for kind in $BPF_OBJECTS; do
        bpftool -j "$kind" list | json "'\\n'.join(sorted(f'$kind {o.get(\"type\")} {o.get(\"name\")}' for o in doc))"
    done
    bpftool net list
    tc qdisc show | grep -w clsact || true
    for pod in "$@"; do
        in_netns "$pod" bpftool net list
        in_netns "$pod" tc qdisc show | grep -w clsact || true
    done
}

show_logs() {
    echo "--- the daemon's account of its BPF programs"
    bpf_config 'json.dumps(bpf, indent=1)' || true
    list_programs || true
}

n_bpf_objects() {
    local kind n=0
    for kind in $BPF_OBJECTS; do n=$((n + $(bpftool -j "$kind" list | json 'len(doc)'))); done
    echo "$n"
}

# One value of "bpf" in /api/v1/config, by a Python expression over: ports (by RDMA device), programs, bpf.
bpf_config() { # EXPRESSION
    curl -fsS -m 60 "$HTTP/api/v1/config" | /usr/bin/python3 -c '
import json, sys
bpf = json.load(sys.stdin)["bpf"]
ports, programs = {p["device"]: p for p in bpf["ports"]}, bpf["programs"]
print(eval(sys.argv[1]))' "$1"
}

holds_in_bpf() { # EXPRESSION
    [[ $(bpf_config "$1") == True ]]
}

# Prints the programs, their hooks, and the kernel's errors as comments, which summaries repeat.
list_programs() {
    echo "# BPF programs on kernel $(uname -r), by hook:"
    curl -fsS -m 60 "$HTTP/api/v1/config" | /usr/bin/python3 -c '
import collections, json, sys, textwrap
bpf, by_hook = json.load(sys.stdin)["bpf"], collections.defaultdict(list)
for p in bpf["programs"]:
    by_hook[p["hook"]].append(p["name"] + (" (" + p["error"] + ")" if p["error"] else ""))
for p in bpf["ports"]:
    by_hook[p["hook"]].append("packets of " + (p["device"] or p["netdev"]) + (" (" + p["error"] + ")" if p["error"] else ""))
for hook, programs in sorted(by_hook.items()):
    print(textwrap.fill(f"{hook}: " + ", ".join(programs), 120, initial_indent="#   ", subsequent_indent="#     "))'
}

# ---- captures: all packets of the netdevs of pods left and right, by direction, and the page before and after

CAPTURES=()
readonly MARK="all before has been captured"

start_judging() { # NAME POD..
    local name=$1 pod
    shift
    next_samples
    curl -fsS "$HTTP/metrics" >"$OUT/$name.before"
    CAPTURES=()
    for pod in "$@"; do
        capture_all "$pod" in "/tmp/$name.$pod.in"
        capture_all "$pod" out "/tmp/$name.$pod.out"
    done
}

# Enough of each packet to decode it. Not written over the share while packets arrive.
capture_all() { # POD in|out FILE
    nsenter --net="$(pod_netns "$1")" tcpdump -i "$(pod_netdev "$1")" -p -n -Q "$2" -s 192 -B 32768 -U -w "$3" not tcp 2>"$3.err" &
    CAPTURES+=("$!" "$3")
    wait_until "grep -q 'listening on' $3.err"
}

# The kernel delivers packets in blocks, and a capture that ends loses undelivered ones: true when each capture has a datagram that was
# sent to an unused port after all counted packets.
captures_are_whole() {
    local i
    send_mark left right
    send_mark right left
    for ((i = 1; i < ${#CAPTURES[@]}; i += 2)); do grep -q "$MARK" "${CAPTURES[i]}" || return; done
}

send_mark() { # FROM TO
    in_netns "$1" bash -c 'printf "$1" >"/dev/udp/$2/9"' mark "$MARK" "$(pod_ip "$2")"
}

# The captures' files are POD.in and POD.out below /out, with NAME in front.
stop_judging() { # NAME
    local i
    next_samples
    curl -fsS "$HTTP/metrics" >"$OUT/$1.after"
    wait_until captures_are_whole
    for ((i = 0; i < ${#CAPTURES[@]}; i += 2)); do
        kill -TERM "${CAPTURES[i]}"
        wait "${CAPTURES[i]}"
        grep -q '^0 packets dropped by kernel' "${CAPTURES[i + 1]}.err" || fail "the capture is not whole: $(cat "${CAPTURES[i + 1]}.err")"
        cp "${CAPTURES[i + 1]}" "$OUT/"
    done
}

# Runs the judge, with its figures in the log.
judged() { # NAME POD [LEFT_OUT..]
    local netdev status=0
    netdev=$(pod_netdev "$2")
    [[ $netdev != net1 ]] || netdev+=:$2
    host_part "$1" "$2" "$netdev" "${@:3}" || status=$?
    cat "$OUT/$1.$2.judged" || true
    return "$status"
}

# Runs a command in a cgroup as a kubelet names it for a container of that pod.
as_pod() { # UID COMMAND..
    local container=/sys/fs/cgroup/kubepods/burstable/pod$1/x
    mkdir -p "$container"
    (
        echo "$BASHPID" >"$container/cgroup.procs"
        "${@:2}"
    )
}
