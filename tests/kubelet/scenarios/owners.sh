# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Owners after a restart of the kubelet: each owner in the new kubelet's list counts at once, although the list lacks the device's previous pod.
# proves: daemon/pods k8s/kubelet
# when: core
# shellcheck source=../rig/lib.sh
. "$(dirname "$0")/../rig/lib.sh" "$1"

readonly VF=rocelet.dev/vf

# The pods with devices in rocelet's API, "NAME=ID ..", sorted.
owners() {
    api pods "' '.join(sorted(p['name'].removesuffix('-rig') + '=' + d['id'] for p in doc['pods'] for c in p['containers'] for d in c['devices']))"
}

# The same from /metrics.
owners_in_series() {
    curl -fsS -m 60 "$HTTP/metrics" | sed -n 's/^rocelet_device_allocated_info{.*id="\([^"]*\)".*pod="\([^"]*\)-rig".*} 1$/\2=\1/p' | sort | xargs
}

# The same from the kubelet.
owners_by_kubelet() { # POD..
    local pod id
    for pod in "$@"; do
        for id in $(pod_resources "$pod" $VF); do echo "$pod=$id"; done
    done | sort | xargs
}

make_hardware 1 3
configure <<'EOT'
{"resourceList": [{"resourceName": "vf", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["ens1np0"], "isRdma": true}}]}
EOT
start_kubelet
start_rocelet --registration legacy
need_within 20 "three VFs are offered" "(( \$(n_registered $VF) == 3 ))"
run_pod a $VF=1
run_pod b $VF=1
run_pod x $VF=1
check_within 10 "each has one" "[[ \$(owners) == \$(owners_by_kubelet a b x) && -n \$(owners) ]]"

say "the kubelet is killed and comes back, b and x end, and c starts"
stop_kubelet KILL
launch_kubelet
wait_until 60 kubelet_ready
need_within 20 "the new kubelet has the list" "(( \$(lists_received $VF) > 0 ))"
remove_pod b
remove_pod x
run_pod c $VF=1
NAMED=$(owners_by_kubelet a c)
OURS=$(pod_resources c $VF)
check "c has the device of b or x" "[[ -n '$OURS' && '$NAMED' == *c=* && '$NAMED' == *a=* ]]"
check_within 5 "rocelet reports c as its owner, although the list lacks the other device" "[[ ' '\$(owners)' ' == *' c=$OURS '* ]]"
check_within 5 "and so does /metrics" "[[ ' '\$(owners_in_series)' ' == *' c=$OURS '* ]]"
check "a keeps its device" "[[ ' '\$(owners)' ' == *' a=$(pod_resources a $VF) '* ]]"
check "nothing has two owners" "[[ -z \$(owners | tr ' ' '\n' | cut -d= -f2 | sort | uniq -d) ]]"
check "no series without its pod" "! curl -fsS -m 60 $HTTP/metrics | grep -q 'pod=\"\"'"
check "ordinary reuse is no warning" "! grep ' warn ' $OUT/rocelet.log | grep -q 'trusting the Allocate'"
check_within 90 "and once the kubelet has updated its list, free devices have no owner" "[[ \$(owners) == '$NAMED' ]]"
stop_rocelet
