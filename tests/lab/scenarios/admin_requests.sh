# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Admin requests are parsed and validated like a pool's network: the same mistakes get the same sentences, and change nothing.
# proves: daemon/api daemon/config daemon/attach
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

SOFT_ROCE=false

# Invalid networks: keys | words of the sentence
invalid_networks() {
    cat <<'END'
"ips": ["10.9.0.0/24"] | ips item 1 10.9.0.0/24 network
"ips": ["10.9.0.255/24"] | ips item 1 10.9.0.255/24 broadcast
"ips": ["127.0.0.1/8"] | ips item 1 127.0.0.1/8
"ips": ["224.0.0.1/24"] | ips item 1 224.0.0.1/24
"ips": ["10.9.0.1"] | ips item 1 10.9.0.1
"ips": ["10.9.0.1/24"], "ipam": {"type": "static"} | ipam ips
"ips": ["fd00::1/64"], "mtu": 1279 | mtu 1280
"vlan": 4095 | vlan 4095 4094
"vlanQoS": 1 | vlanQoS vlan
"maxTxRate": 10, "minTxRate": 11 | minTxRate maxTxRate
"trust": "yes" | trust yes off, on
"linkState": "up" | linkState up auto, enable, disable
"routes": [{"dst": "10.0.0.0/8", "gw": "fe80::1"}] | routes item 1 10.0.0.0/8
"gateway": "10.9.0.254/24" | gateway 10.9.0.254/24
"vlans": 5 | vlans unknown key vlan
END
}

request() { # KEYS [DEVICE]
    curl -sS -m 30 --unix-socket /run/rocelet/rocelet.sock -w '%{http_code}\n' --data @- http://localhost/api/v1/attach <<END
{"device": "${2:-${VF_IDS[0]}}", "netns": "/run/netns/a"${1:+, $1}}
END
}

# The output of --check-config for a pool with that network.
check_pool() { # KEYS
    echo "{\"pools\": [{\"resourceName\": \"roce\", \"selectors\": {}, \"network\": {$1}}]}" >/tmp/plan.json
    "/usr/local/sbin/${LAB_ROCELET//\//-}" --config /tmp/plan.json --check-config 2>&1
}

has_words() { # TEXT WORDS..
    local word
    for word in "${@:2}"; do [[ $1 == *"$word"* ]] || { echo "no '$word' in: $1"; return 1; }; done
}

# The sentence without its location and without quotes, which differ between request and pool.
sentence_of() { # TEXT
    head -n1 <<<"$1" | sed -E 's/^.*"error":"(.*)"\}.*$/\1/; s/^(rocelet: [^ ]*:[0-9]+|the request): //; s/\\?"//g'
}

find_pf
FUNCTION=$(basename "$(readlink "/sys/class/net/$PF/device")")
say "a device that is not a VF"
cp "$BUILD/rocectl" /usr/local/sbin/
echo '{}' >$CONFIG
mac=$(cat "/sys/class/net/$PF/address")
ip netns add a
start_engine
check "a setting of VFs only is rejected" 'answer=$(request "\"vlan\": 5" "$FUNCTION") && has_words "$answer" vlan VF 400'
echo "# $answer"
check "and the device has not moved" '[[ -e /sys/class/net/$PF ]]'
check "its MAC is set on the netdev" 'answer=$(request "\"mac\": \"02:00:00:00:00:0c\"" "$FUNCTION") && has_words "$answer" 200 && in_netns a ip link show net1 | grep -q 02:00:00:00:00:0c'
echo "# $answer"
rocectl detach "$FUNCTION" || true
check_within 30 "and put back" '[[ $(cat "/sys/class/net/$PF/address") == "$mac" ]]'
stop_rocelet

make_pool 1
start_engine
say "invalid networks"
recorded=$(journal_size)
before=$(look_of "${VF_IDS[0]}")
while IFS='|' read -r keys words; do
    keys=${keys% } words=${words# }
    answer=$(request "$keys")
    pool=$(check_pool "$keys" || true)
    # shellcheck disable=SC2086
    check "$keys: the request is refused with its reason" 'has_words "$answer" $words 400 && [[ $answer != *pool* ]]'
    # shellcheck disable=SC2086
    check "$keys: the pool is rejected with its reason" 'has_words "$pool" $words'
    check "$keys: in the same words" '[[ $(sentence_of "$answer") == "$(sentence_of "$pool")" ]]'
    echo "# $(sentence_of "$answer")"
done < <(invalid_networks)
check "nothing was changed" '[[ $(look_of "${VF_IDS[0]}") == "$before" ]] && is_free "${VF_IDS[0]}"'
check "nothing was recorded" "[[ \$(journal_size) == '$recorded' ]]"

say "settings that a request may have and a pod may not"
check "a request with all of them succeeds" 'request "\"ips\": [\"10.9.0.1/24\"], \"vlan\": 100, \"trust\": \"on\", \"spoofchk\": \"off\", \"maxTxRate\": 200, \"mtu\": 1400" | grep -q 200'
check "with the requested settings" "is_complete a ${VF_IDS[0]} 10.9.0.1/24 && has_settings ${VF_IDS[0]} 'vlan 100' 'trust on' 'spoof checking off' 'max_tx_rate 200Mbps'"
rocectl detach "${VF_IDS[0]}"
check_all_free
stop_rocelet
