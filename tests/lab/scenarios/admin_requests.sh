# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What a person orders is read and judged as what stands in a pool: the same slips, the same sentences, and nothing is changed by them.
# proves: daemon/api daemon/config daemon/attach
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

SOFT_ROCE=false

# Plans that nobody may have: keys | words of the sentence
plans() {
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

order() { # KEYS [DEVICE]
    curl -sS -m 30 --unix-socket /run/rocelet/rocelet.sock -w '%{http_code}\n' --data @- http://localhost/api/v1/attach <<END
{"device": "${2:-${VF_IDS[0]}}", "netns": "/run/netns/a"${1:+, $1}}
END
}

# --check-config of a pool with that network.
pool_says() { # KEYS
    echo "{\"pools\": [{\"resourceName\": \"roce\", \"selectors\": {}, \"network\": {$1}}]}" >/tmp/plan.json
    "/usr/local/sbin/${LAB_ROCELET//\//-}" --config /tmp/plan.json --check-config 2>&1
}

has_words() { # TEXT WORDS..
    local word
    for word in "${@:2}"; do [[ $1 == *"$word"* ]] || { echo "no '$word' in: $1"; return 1; }; done
}

# The sentence without where it was found, and without quotes: one judge says the same to everybody.
sentence_of() { # TEXT
    head -n1 <<<"$1" | sed -E 's/^.*"error":"(.*)"\}.*$/\1/; s/^(rocelet: [^ ]*:[0-9]+|the request): //; s/\\?"//g'
}

find_pf
FUNCTION=$(basename "$(readlink "/sys/class/net/$PF/device")")
say "a device that is no VF"
cp "$BUILD/rocectl" /usr/local/sbin/
echo '{}' >$CONFIG
mac=$(cat "/sys/class/net/$PF/address")
ip netns add a
start_engine
check "what only a VF has is refused of it" 'said=$(order "\"vlan\": 5" "$FUNCTION") && has_words "$said" vlan VF 400'
echo "# $said"
check "and it has not moved" '[[ -e /sys/class/net/$PF ]]'
check "its MAC is set on the netdev" 'said=$(order "\"mac\": \"02:00:00:00:00:0c\"" "$FUNCTION") && has_words "$said" 200 && in_netns a ip link show net1 | grep -q 02:00:00:00:00:0c'
echo "# $said"
rocectl detach "$FUNCTION" || true
check_within 30 "and put back" '[[ $(cat "/sys/class/net/$PF/address") == "$mac" ]]'
stop_rocelet

make_pool 1
start_engine
say "plans that nobody may have"
recorded=$(journal_size)
before=$(look_of "${VF_IDS[0]}")
while IFS='|' read -r keys words; do
    keys=${keys% } words=${words# }
    said=$(order "$keys")
    pool=$(pool_says "$keys" || true)
    # shellcheck disable=SC2086
    check "$keys: the request is refused with its reason" 'has_words "$said" $words 400 && [[ $said != *pool* ]]'
    # shellcheck disable=SC2086
    check "$keys: so is the pool" 'has_words "$pool" $words'
    check "$keys: in the same words" '[[ $(sentence_of "$said") == "$(sentence_of "$pool")" ]]'
    echo "# $(sentence_of "$said")"
done < <(plans)
check "nothing was changed" '[[ $(look_of "${VF_IDS[0]}") == "$before" ]] && is_free "${VF_IDS[0]}"'
check "nothing was recorded" "[[ \$(journal_size) == '$recorded' ]]"

say "what an order may say and a pod may not"
check "a plan with all of it is done" 'order "\"ips\": [\"10.9.0.1/24\"], \"vlan\": 100, \"trust\": \"on\", \"spoofchk\": \"off\", \"maxTxRate\": 200, \"mtu\": 1400" | grep -q 200'
check "as it says" "is_complete a ${VF_IDS[0]} 10.9.0.1/24 && has_settings ${VF_IDS[0]} 'vlan 100' 'trust on' 'spoof checking off' 'max_tx_rate 200Mbps'"
rocectl detach "${VF_IDS[0]}"
check_all_free
stop_rocelet
