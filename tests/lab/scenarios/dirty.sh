# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A pod changes everything about its interface that ip, tc, bridge, ethtool, bpftool, netlink, sysfs and sysctl offer: the next pod's
# interface equals one that was never used, nothing of the old one is left anywhere, and traffic passes.
# lab: --timeout 1800
# proves: daemon/attach/steps hw/ops hw/settings
# when: turns some
# when: soak --timeout 5400 -- all
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

# dirty.sh [all|REGEX]    By default some: one of those that the comparison finds in the same part of the state; all; or those that match. The list
# SWEPT is always used whole.
WHICH=${1:-some}
SOFT_ROCE=false
IP=10.9.0.1/24 PEER_IP=10.9.0.2/24

# Commands in the pod's namespace, about net1; each in a pod of its own, since a new netdev because of one would hide the others. With a star:
# one of the "some".
KNOBS=(
    '* ip link set net1 mode dormant'
    '* ip link set net1 multicast off'
    'ip link set net1 allmulticast on'
    '* ip link set net1 promisc on'
    '* ip link set net1 arp off'
    'ip link set net1 dynamic on'
    'ip link set net1 trailers off'
    '* ip link set net1 group 7'
    '* ip link set net1 txqueuelen 17'
    'ip link set net1 mtu 1000'
    'ip link set net1 alias dirt'
    'ip link set net1 address 02:00:00:00:00:99'
    '* ip link set net1 broadcast ff:ff:ff:ff:ff:fe'
    'ip link set net1 gso_max_size 9000'
    '* ip link set net1 gso_max_segs 9'
    'ip link set net1 gro_max_size 9000'
    'ip link set net1 gso_ipv4_max_size 9000'
    'ip link set net1 gro_ipv4_max_size 9000'
    'ip link set net1 protodown on'
    'ip link set net1 carrier off'
    'ip link set net1 down'
    '* ip link set net1 down name dirt0'
    '* ip link property add dev net1 altname dirty-name'
    'on_top bridge'
    '* on_top bond'
    'on_top team'
    'on_top vrf table 7'
    'on_top batadv'
    'ip link add side0 type dummy && ip link add top0 type hsr slave1 net1 slave2 side0'
    '* rdma link add dirt_rxe type rxe netdev net1'
    'bridge link set dev net1 hwmode vepa'
    'bridge vlan add dev net1 vid 7 self'
    'bridge fdb add 02:00:00:00:00:97 dev net1 self'
    'dirt tcx net1 ingress'
    '* dirt tcx net1 egress'
    '* dirt tcx net1 ingress link'
    '* dirt xdp net1'
    '* dirt xdp net1 link'
    '* dirt promiscuous net1'
    '* dirt xsk net1'
    '* dirt nft net1'
    '* dirt napi net1 defer-hard-irqs=7'
    'dirt napi net1 gro-flush-timeout=77777'
    '* dirt napi net1 irq-suspend-timeout=77777'
    'dirt napi net1 threaded=1'
    '* ethtool -G net1 rx 512'
    'ethtool -G net1 tx 512'
    'ethtool -G net1 tx-push on'
    '* ethtool -C net1 rx-usecs 77'
    'ethtool -C net1 tx-usecs 77'
    'ethtool -C net1 adaptive-rx on'
    'ethtool -L net1 combined 1'
    'ethtool -A net1 rx off tx off'
    '* ethtool -s net1 msglvl 0x7fff'
    'ethtool -s net1 wol d'
    'ethtool -s net1 speed 10 duplex half autoneg off'
    'ethtool -s net1 mdix on'
    'ethtool -X net1 equal 1'
    'ethtool -X net1 hkey 00:11'
    'ethtool -X net1 context new'
    'ethtool -N net1 flow-type tcp4 dst-port 80 action -1'
    'ethtool -N net1 rx-flow-hash tcp4 s'
    'ethtool --set-eee net1 eee off'
    'ethtool --set-priv-flags net1 legacy-rx on'
    'ethtool --set-fec net1 encoding off'
    'ethtool --set-tunable net1 rx-copybreak 77'
    'ethtool --set-tunable net1 tx-copybreak 77'
    'ethtool --set-dump net1 1'
    'ethtool --set-module net1 power-mode-policy high'
    'ethtool --set-mm net1 pmac-enabled on'
    'ethtool --set-plca-cfg net1 enable on'
    'ethtool --reset net1 all'
    '* write threaded 1'
    'write napi_defer_hard_irqs 7'
    '* write gro_flush_timeout 100000'
    'write proto_down 1'
    'write power/control on'
    'write power/async enabled'
    '* write queues/rx-0/rps_cpus 1'
    'write queues/rx-0/rps_flow_cnt 128'
    'write queues/tx-0/xps_cpus 1'
    '* write queues/tx-0/xps_rxqs 1'
    '* write queues/tx-0/byte_queue_limits/limit_max 1000'
    'write queues/tx-0/byte_queue_limits/limit_min 1000'
    'write queues/tx-0/byte_queue_limits/hold_time 77'
    'write queues/tx-0/byte_queue_limits/stall_thrs 1000'
    'write queues/tx-0/tx_maxrate 1'
    'echo 1 >/proc/sys/net/ipv6/conf/net1/disable_ipv6'
    '* nested process macvlan'
    '* nested mount vlan id 77'
    '* nested descriptor macvtap'
    '* nested socket ipvlan'
    'nested process ipvtap'
    'nested socket macvlan mode passthru'
    'nested socket vlan id 78 protocol 802.1ad'
    '* nested process vxlan id 7 dev net1 dstport 4789'
    '* nested process macsec'
)

# State that a move to another namespace resets. All in one pod: as long as none of it causes a new netdev, none can hide another.
SWEPT=(
    'ip link set net1 addrgenmode none'
    'ip address add 192.0.2.9/24 dev net1'
    'ip address add 2001:db8::9/64 dev net1 nodad'
    'ip token set ::77 dev net1'
    'ip neigh add 10.9.0.3 lladdr 02:00:00:00:00:98 dev net1 nud permanent'
    'ip neigh add proxy 10.9.0.77 dev net1'
    'ip ntable change name arp_cache dev net1 queue 77'
    'ip route add 198.51.100.0/24 dev net1'
    'ip route add 203.0.113.0/24 dev net1 table 77 mtu 1000'
    'ip -6 route add 2001:db8:1::/64 dev net1'
    'ip nexthop add id 77 dev net1'
    'ip rule add iif net1 blackhole'
    'ip maddress add 01:00:5e:00:00:77 dev net1'
    'ip mptcp endpoint add 10.9.0.1 dev net1 subflow'
    'ip addrlabel add prefix 2001:db8::/32 dev net1 label 77'
    'bridge fdb add 01:00:5e:00:00:78 dev net1 self'
    'tc qdisc replace dev net1 root handle 1: htb default 1'
    'hang 1 netem loss 100%'
    'hang 2 tbf rate 8kbit burst 1kb latency 50ms'
    'hang 3 fq'
    'hang 4 etf clockid CLOCK_TAI delta 1000'
    'hang 5 prio'
    'hang 6 cake'
    'hang 7 plug'
    'tc qdisc add dev net1 ingress_block 7 clsact'
    'tc filter add block 7 matchall action drop'
    'tc filter add dev net1 egress matchall action drop'
    'tc filter add dev net1 parent 1: matchall action mirred egress redirect dev lo'
)

write() { # FILE VALUE
    echo "$2" >"/sys/class/net/net1/$1"
}

dirt() { # ARGS..
    python3 /rocelet/lab/guest/dirt.py "$@"
}

hang() { # N QDISC..
    tc class add dev net1 parent 1: classid "1:$1" htb rate 1mbit && tc qdisc add dev net1 parent "1:$1" "${@:2}"
}

on_top() { # KIND..
    ip link add top0 type "$@" && ip link set net1 down && ip link set net1 master top0 && ip link set top0 up
}

# An interface on net1, moved into a namespace that only its HOLDER keeps: a process in it, or a mount, descriptor or socket elsewhere.
nested() { # process|mount|descriptor|socket KIND..
    local pid holder=$1
    shift
    unshare --net sleep 1000 &
    pid=$!
    until [[ $(readlink "/proc/$pid/ns/net") != "$(readlink /proc/self/ns/net)" ]]; do sleep 0.05; done
    ip link add link net1 hidden0 type "$@" || { kill "$pid"; return 1; }
    ip link set hidden0 netns "$pid"
    nsenter --net="/proc/$pid/ns/net" ip link set hidden0 up
    case $holder in
        process) return ;;
        mount) nsenter --mount=/proc/1/ns/mnt sh -c "touch /run/nested.mount && mount --bind /proc/$pid/ns/net /run/nested.mount" ;;
        descriptor) nsenter --net=/proc/1/ns/net sleep 1000 9<"/proc/$pid/ns/net" & ;;
        socket) dirt socket "$pid" ;;
    esac
    until nested_held "$holder"; do sleep 0.05; done
    kill "$pid"
}

nested_held() { # HOLDER
    local p
    [[ $1 != mount ]] || return 0
    for p in $(pgrep -fx 'sleep 1000'); do
        [[ $1 == descriptor && -e /proc/$p/fd/9 ]] || [[ $(readlink "/proc/$p/fd/"*) == *socket:* ]] && return 0
    done
    return 1
}

# Changes every sysctl of net1 by the smallest possible step; prints how many.
every_sysctl() {
    local file value n=0
    for file in /proc/sys/net/ipv[46]/{conf,neigh}/net1/*; do
        [[ $file != */disable_ipv6 ]] || continue # would reset others
        read -r value 2>/dev/null <"$file" || value=0
        for value in $((value + 1)) $((value - 1)) ::77; do
            if { echo "$value" >"$file"; } 2>/dev/null && [[ $(<"$file") == "$value" || $value == ::77 ]]; then
                n=$((n + 1))
                break
            fi
        done
    done
    echo $n
}

is_wanted() { # KNOB
    case $WHICH in
        all) return 0 ;;
        some) [[ $1 == '* '* ]] ;;
        *) [[ $1 =~ $WHICH ]] ;;
    esac
}

# Commands that switch each changeable offload to its other state.
offloads() {
    ip netns exec pod ethtool -k net1 | sed -nE 's/^\t*([a-z0-9_-]+): on$/\1 off/p; s/^\t*([a-z0-9_-]+): off$/\1 on/p' | sed 's/^/ethtool -K net1 /; 2s/^/* /'
}

# Runs a command in the pod's namespace, with its /sys and the functions above.
in_it() { # COMMAND..
    local helpers
    helpers=$(declare -f write dirt hang on_top nested nested_held every_sysctl state_of)
    ip netns exec pod bash -c "ETHTOOL='${ETHTOOL:-}'
$helpers
$1"
}

dirty() { # KNOB
    in_it "$1" >/tmp/knob.log 2>&1
}

# Everything that can be read about net1, without statistics and carrier, its index, and the random address of each new netdev.
state_of() {
    local option
    ip -d link show dev net1 | sed -E '1s/^[0-9]+: //; 1s/NO-CARRIER,|,LOWER_UP//g; s/ state [A-Z]+//; s/ permaddr [^ ]+//'
    for option in ${ETHTOOL:--g -k -c -a -l -x -n --show-eee --show-priv-flags --show-fec --show-mm --get-plca-cfg}; do
        echo "ethtool $option"
        ethtool "$option" net1 || echo "not supported"
    done
    ethtool net1 | grep -E -A1 'Wake-on|message level|MDI'
    find /sys/class/net/net1/ -type f -perm /200 ! -name uevent ! -name carrier ! -name limit ! -name stall_max -print0 | sort -z |
        xargs -0 grep -s .
    tc qdisc show dev net1
    tc filter show dev net1
    bpftool net show dev net1 | grep -E 'net1|id'
    ip -brief address show dev net1 | awk '{ for (i = 3; i <= NF; i++) if ($i !~ /^fe80/) print "address", $i }'
    ip -4 route show table all dev net1 | sed 's/ linkdown//'
    ip -6 route show table all dev net1 | grep -v -E '^(fe80|multicast ff00|local fe80|anycast)'
    ip neigh show dev net1 nud permanent
    ip neigh show proxy dev net1
    ip ntable show dev net1 | grep -E 'queue|thresh'
    ip maddress show dev net1 | grep -E 'static|link .* users [2-9]'
    bridge fdb show dev net1 | grep -v -E '33:33|01:00:5e:00:00:01|01:80:c2'
    bridge link show dev net1
    bridge vlan show dev net1
    grep -s . /proc/sys/net/ipv[46]/{conf,neigh}/net1/* | grep -v stable_secret
    ls /sys/class/net
} 2>/dev/null

# Before Linux 6.13 there is no such interface.
napi_of() {
    in_it 'dirt napi net1' 2>&1 || true
}

has_new_napi() {
    napi_of | cmp -s /tmp/napi -
}

# Compares the interface of a new pod with the one that was never used.
equals_new() {
    in_it state_of >/tmp/now
    diff /tmp/new /tmp/now >/tmp/difference
}

check_new() { # DESCRIPTION
    check "$1" equals_new
    cat /tmp/difference
}

# Attaches without accepting advertisements of the emulated network's router.
into() { # POD ID IP
    ip netns add "$1"
    ip netns exec "$1" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_ra'
    attach "$2" "$1" "$3" >/dev/null
}

# Ends the pod; its processes continue, as those of a hostile one may.
out_of() { # POD ID
    rocectl detach "$2" >/tmp/detach.log 2>&1 || cat /tmp/detach.log
    wait_until "[[ \$(engine_state $2) == free ]]"
    ip netns delete "$1"
}

# No interface on net1 is hidden in another namespace.
nothing_hidden() {
    local p fd names
    for p in $(pgrep -fx 'sleep 1000' || true); do
        names=$(nsenter --net="/proc/$p/ns/net" ip -brief link)
        for fd in "/proc/$p/fd/"*; do
            [[ $(readlink "$fd") != @(net|socket):* ]] || names+=" $(dirt links "$p" "${fd##*/}")"
        done
        [[ $names != *hidden0* ]] || { echo "hidden0 is pinned by process $p"; return 1; }
    done
    [[ ! -e /run/nested.mount ]] || ! nsenter --net=/run/nested.mount ip link show hidden0 &>/dev/null
}

# The sleep of the machine's heartbeat has another duration.
end_holders() {
    umount /run/nested.mount 2>/dev/null || true
    rm -f /run/nested.mount
    pkill -fx 'sleep 1000' 2>/dev/null || true
}

passes_traffic() {
    ip netns exec pod busybox ping -c 1 -W 2 "${PEER_IP%/*}" >/dev/null
}

resets() { # REASON
    metric rocelet_return_resets_total "reason=\"$1\""
}

modprobe -a bonding team vrf batman_adv macvtap ipvtap vxlan macsec 8021q 2>/dev/null || true
make_pool 2
id=${VF_IDS[0]} peer=${VF_IDS[1]}
start_engine
into pod "$id" $IP
mapfile -t OFFLOADS < <(offloads)
in_it state_of >/tmp/new
# Leaves out queries that this driver does not support.
ETHTOOL=$(grep -B1 '^not supported' /tmp/new | sed -n 's/^ethtool //p' | sort | comm -13 - <(sed -n 's/^ethtool //p' /tmp/new | sort) | tr '\n' ' ')
in_it state_of >/tmp/new
napi_of >/tmp/napi
into peer "$peer" $PEER_IP
check_within 10 "traffic passes" passes_traffic
out_of pod "$id"
into pod "$id" $IP
check_new "after a pod that changed nothing the interface equals an unused one"

say "state that a move resets, in one pod"
n=0 refused=()
for knob in "${SWEPT[@]}"; do
    if dirty "$knob"; then n=$((n + 1)); else refused+=("$knob: $(tail -n 1 /tmp/knob.log)"); fi
done
swept=$n
sysctls=$(in_it every_sysctl)
out_of pod "$id"
into pod "$id" $IP
check_new "nothing is left of $swept settings and $sysctls sysctls"
next_samples
check "and the netdev stays" "[[ $(resets dirty) == 0 ]]"
check "no reset for an unknown reason" "[[ $(resets unknown) == 0 ]]"

say "one at a time"
left=() hidden=() DONE=() tried=${#SWEPT[@]}
for knob in "${KNOBS[@]}" "${OFFLOADS[@]}"; do
    is_wanted "$knob" || continue
    knob=${knob#'* '} tried=$((tried + 1))
    # After a refused command the next one uses the same pod.
    if ! dirty "$knob"; then
        refused+=("$knob: $(tail -n 1 /tmp/knob.log)")
        continue
    fi
    n=$((n + 1))
    DONE+=("$knob")
    out_of pod "$id"
    [[ $knob != ip\ link* ]] || is_clean "$id" || { left+=("$knob"); show_difference "$id"; }
    nothing_hidden || hidden+=("$knob")
    into pod "$id" $IP
    equals_new || { left+=("$knob"); echo "# $knob:"; cat /tmp/difference; }
    [[ $knob != dirt\ @(tcx|xdp|xsk|nft)* ]] || becomes_true 30 passes_traffic || left+=("$knob: no traffic")
    [[ $knob != *@(napi|threaded)* ]] || has_new_napi || { left+=("$knob"); echo "# $knob: $(napi_of)"; }
    end_holders
done
check "none of them is left" "((${#left[@]} == 0))"
check "none is left in another namespace" "((${#hidden[@]} == 0))"
check_within 10 "traffic passes after them" passes_traffic

say "all together"
for knob in "${DONE[@]}"; do
    # Without the command that renames the interface, which the others would not find.
    [[ $knob == *'name dirt0'* ]] || dirty "$knob" || true
done
out_of pod "$id"
check "none is left in another namespace" nothing_hidden
end_holders
into pod "$id" $IP
check_new "nothing is left"
check "nor of its NAPI instances" has_new_napi
check_within 10 "traffic passes" passes_traffic

say "the pod dies, and its hidden interfaces do not"
for holder in process mount descriptor socket; do
    dirty "nested $holder macvlan mode bridge" || fail "$(cat /tmp/knob.log)"
    ip netns delete pod
    wait_until "[[ \$(engine_state $id) == free ]]"
    check "removed although a $holder pins it" nothing_hidden
    end_holders
    into pod "$id" $IP
    check_new "nothing is left"
done
out_of pod "$id"
out_of peer "$peer"
check_all_free
printf '# refused: %s\n' "${refused[@]}"
echo "# $n knobs of $tried that were tried, and $sysctls sysctls; $(resets dirty) new netdevs"
stop_rocelet
echo "# the scenario took $SECONDS s"
