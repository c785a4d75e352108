# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A hostile IPAM plugin with uid 0 cannot send requests to other services. Beside real pods, a kubelet and containerd.
# lab: --kubelet --memory 4096 --timeout 1800
# proves: daemon/attach/ipam daemon/compose daemon/config
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/cni.sh
. /rocelet/lab/guest/cni.sh

SOFT_ROCE=false
HOSTILE=/opt/hostile GIVEN=/var/lib/hostile ABSTRACT=@hostile-shim

# Prints the plugin's report: it runs for a free VF, with a namespace of its own.
attack() { # NEEDS
    curl -sS -m 60 --unix-socket /run/rocelet/rocelet.sock --data @- http://localhost/api/v1/attach <<END
{"device": "$free", "netns": "/run/netns/enemy", "ipam": {"type": "hostile", "needs": $1}}
END
}

# A service that accepts connections until the scenario ends.
serve() { # PATH
    python3 -c '
import signal, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1].replace("@", "\0"))
s.listen(64)
signal.pause()' "$1" &
}

# The report lists the sockets and files that it reached; nothing else has happened.
reaches() { # WHAT NEEDS REACHED READ
    answer=$(attack "$2")
    echo "# $1: $answer"
    check "$1: it reached '$3' and read '$4'" '[[ $answer == *"reached: '"$3; read: $4;"'"* ]]'
    check "$1: the other pod has its VF" "is_complete victim $victim 10.9.0.1/24"
    check_within 30 "$1: the VF is free and as before" "is_free $free"
}

make_pool 2 '{"subnets": ["10.9.0.0/24"]}'
mkdir -p $HOSTILE $GIVEN
cp /rocelet/lab/guest/hostile.py $HOSTILE/hostile
ip netns add enemy
start_node
start_engine --cni-path $HOSTILE
need_within 30 "the kubelet lists the VFs" "(( \$(n_registered $RESOURCE) == 2 ))"
run_pod victim "$RESOURCE=1" "$(entry '"ips": ["10.9.0.1/24"]')"
victim=$(vf_of victim)
free=${VF_IDS[0]}
[[ $free != "$victim" ]] || free=${VF_IDS[1]}
check "the victim has its VF" "is_complete victim $victim 10.9.0.1/24"
serve $GIVEN/socket
serve $ABSTRACT
need_within 10 "the services are there" "grep -q $ABSTRACT /proc/net/unix && [[ -S $GIVEN/socket ]]"

# All listening sockets of this machine, and files that must stay secret.
find /run /var/lib /tmp /var/tmp -type s >/etc/hostile.sockets
echo $ABSTRACT >>/etc/hostile.sockets
find "$STATE_DIR" /run/rocelet /var/lib/kubelet -maxdepth 2 -type f -size +0 >/etc/hostile.files
echo /etc/shadow >>/etc/hostile.files
echo "$victim" >/etc/hostile.victim
for socket in /run/containerd/containerd.sock /run/rocelet/rocelet.sock /var/lib/kubelet/device-plugins/kubelet.sock \
    /var/lib/kubelet/device-plugins/rocelet-metrics.sock /var/lib/kubelet/pod-resources/kubelet.sock; do
    check "$socket is among the sockets that it tries" "grep -qx $socket /etc/hostile.sockets"
done
check "so is the state folder" "grep -q ^$STATE_DIR/ /etc/hostile.files"

# Files outside of hidden folders are readable by root (SECURITY.md).
reaches "with nothing" '{}' "" /etc/shadow
reaches "with the host's network" '{"network": "host", "capabilities": ["NET_RAW"]}' "" /etc/shadow
reaches "with a folder" "{\"write\": [\"$GIVEN\"]}" $GIVEN/socket /etc/shadow
reaches "with both" "{\"network\": \"host\", \"write\": [\"$GIVEN\"]}" "$GIVEN/socket $ABSTRACT" /etc/shadow
reaches "with all that could be above" '{"write": ["/var/lib", "/run"]}' $GIVEN/socket /etc/shadow

remove_pod victim
check_all_free
stop_rocelet

# Users of the cluster write CNI configurations: those cannot open the sandbox, only the administrator's option can.
echo '{}' >"$CONFIG"
ipam() { # [KEYS]
    config "$free" "\"ipam\": {\"type\": \"hostile\"${1:-}}"
}
from_configuration() { # WHAT OPTION REACHED
    start_engine --cni-path $HOSTILE ${2:+--cni-ipam-needs "$2"}
    answer=$(cni ADD enemy --netns /run/netns/enemy --config "$(ipam)" || true)
    echo "# $1: $answer"
    check "$1: it reached '$3'" '[[ $answer == *"reached: '"$3; read: /etc/shadow;"'"* ]]'
    check_within 30 "$1: the VF is free and as before" "is_free $free"
    check "$1: \"needs\" is refused" "cni_fails 7 ADD enemy --netns /run/netns/enemy --config '$(ipam ', "needs": {"network": "host"}')'"
    stop_rocelet
}
from_configuration "of a CNI configuration" "" ""
from_configuration "with an option for another plugin" other:network=host ""
from_configuration "with a folder" hostile:write=$GIVEN $GIVEN/socket
from_configuration "with both" hostile:write=$GIVEN,hostile:network=host "$GIVEN/socket $ABSTRACT"
