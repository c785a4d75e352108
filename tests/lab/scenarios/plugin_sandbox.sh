# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# IPAM plugins of every kind, good and bad: they cannot change the host, and leave nothing behind.
# proves: daemon/attach/ipam
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

POD=sandbox PLUGINS=/opt/sandbox LEASES=/var/lib/sandbox
MARK=98765 # plugins start processes: sleep $MARK

request_attach() { # IPAM
    curl -sS -m 60 --unix-socket /run/rocelet/rocelet.sock --data @- http://localhost/api/v1/attach <<END
{"device": "${VF_IDS[0]}", "netns": "/run/netns/$POD", "ipam": $1}
END
}

plugin() { # NAME: a script from standard input
    (echo "#!/bin/sh" && cat) >"$PLUGINS/$1"
    chmod 755 "$PLUGINS/$1"
}

n_marked() {
    pgrep -fxc "sleep $MARK"
}

# Everything that a plugin could have changed in the host's network.
host_network() {
    ip -oneline link show | cut -d' ' -f2 | sort
}

# The word is in the answer, or in the log if the machine was too slow for an answer.
reports() { # WORD PLUGIN
    [[ $answer == *"$1"* ]] || grep -q "step ipam: $2: .*$1" "$OUT/rocelet.log"
}

# The request fails with a sentence that has the words, and nothing is left of the plugin.
fails() { # WHAT IPAM WORDS..
    local plugin=$1 answer word
    answer=$(request_attach "$2")
    echo "# $1: $answer"
    for word in "${@:3}"; do check_within 60 "$1: the sentence has $word" 'reports "$word" "$plugin"'; done
    check_within 10 "$1: none of its processes is left" "(( \$(n_marked) == 0 )) && ! pgrep -x 'bridge|ptp|bomb|hang|leave'"
    check_within 30 "$1: the host's network is unchanged" '[[ $(host_network) == "$before" ]]'
    check_within 30 "$1: the VF is free and restored" "is_free ${VF_IDS[0]}"
}

SOFT_ROCE=false
make_pool 1
mkdir -p $PLUGINS
ip netns add $POD
before=$(host_network)
plugin write <<<'echo $$ >/etc/rocelet-test && exit 7; ip link set lo down && exit 8; exit 9'
plugin bomb <<<"b() { sleep $MARK & b & b; }; b"
plugin hang <<<"setsid sleep $MARK & exec sleep $MARK"
plugin leave <<END
setsid sleep $MARK </dev/null >/dev/null 2>&1 &
[ \$CNI_COMMAND = DEL ] || echo '{"ips": [{"address": "10.9.0.3/24"}]}'
END
start_engine --cni-path $PLUGINS:/usr/lib/cni

say "valid plugins"
request_attach '{"type": "static", "addresses": [{"address": "10.9.0.1/24"}]}'
check "static gives its address" "is_complete $POD ${VF_IDS[0]} 10.9.0.1/24"
rocectl detach "${VF_IDS[0]}"
check_all_free
request_attach '{"type": "host-local", "dataDir": "'$LEASES'", "ranges": [[{"subnet": "10.9.0.0/24", "rangeStart": "10.9.0.7"}]]}'
check "host-local gives one of its range" "is_complete $POD ${VF_IDS[0]} 10.9.0.7/24"
check "and keeps it in its folder" "ls $LEASES/*/10.9.0.7"
rocectl detach "${VF_IDS[0]}"
check_all_free
check "until it is released" "! ls $LEASES/*/10.9.0.7 2>/dev/null"
request_attach '{"type": "leave"}'
check "the answer of one that leaves a process behind is used" "is_complete $POD ${VF_IDS[0]} 10.9.0.3/24"
check "and its process is killed" "(( \$(n_marked) == 0 ))"
rocectl detach "${VF_IDS[0]}"
check_all_free

say "invalid plugins"
fails bridge '{"type": "bridge"}' bridge
fails ptp '{"type": "ptp"}' ptp
fails write '{"type": "write"}' 'exit status 9'
fails bomb '{"type": "bomb"}' bomb
fails hang '{"type": "hang"}' 'no answer within 15000 ms'
fails path '{"type": "../../bin/sh"}' path
check "no file was created" "[[ ! -e /etc/rocelet-test ]]"

say "the daemon dies while one hangs"
request_attach '{"type": "hang"}' >/dev/null 2>&1 &
check_within 30 "it hangs" "(( \$(n_marked) == 2 ))"
kill_rocelet
check_within 10 "its processes died with the daemon" "(( \$(n_marked) == 0 ))"
wait
start_engine --cni-path $PLUGINS:/usr/lib/cni
check_all_free
stop_rocelet
