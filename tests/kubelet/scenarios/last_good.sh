# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The daemon is killed, and starts again with a wrong configuration file: with the last good one the kubelet keeps its devices, a running pod keeps
# its own, and another pod starts.
# proves: daemon/config daemon/compose
# shellcheck source=../rig/lib.sh
. "$(dirname "$0")/../rig/lib.sh" "$1"

readonly VF=rocelet.dev/vf
FLAGS=(--registration legacy --state-dir /run/rig/state)

readyz() { curl -sS -m 60 "$HTTP/readyz"; }

# For start_rocelet: the daemon is not ready while the file is wrong.
is_up() { curl -fsS -m 2 "$HTTP/healthz" &>/dev/null; }

make_hardware 1 3
configure <<'EOT'
{"resourceList": [{"resourceName": "vf", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["ens1np0"], "isRdma": true}}]}
EOT
start_kubelet
start_rocelet "${FLAGS[@]}"
need_within 20 "three VFs are offered" "(( \$(n_registered $VF) == 3 ))"
run_pod a $VF=1
KEPT=$(pod_resources a $VF) PID=$(pod_pid a)
check_within 10 "the configuration is kept" "[[ -s /run/rig/state/config.good ]]"

for wrong in '{"resourceList": [' '{"sample-interval": "x"}' '{"pools": [{"resourceName": "vf", "selectors": 5}]}'; do
    say "a restart with $wrong"
    lists=$(lists_received $VF)
    stop_rocelet KILL
    configure <<<"$wrong"
    start_rocelet "${FLAGS[@]}"
    need_within 20 "the kubelet has a new list of the same devices" "(( \$(lists_received $VF) > $lists && \$(n_registered $VF) == 3 ))"
    check "the daemon is not ready, and has the reason" "readyz | grep -q 'not ready: running with the last good configuration of 20.*, because .*rocelet.json'"
    check "the pod has its device and was not restarted" "[[ \$(pod_resources a $VF) == $KEPT && \$(pod_pid a) == $PID ]]"
    check "rocelet reports the pod as the device's owner" "[[ \$(api pods \"' '.join(d['id'] for p in doc['pods'] for c in p['containers'] for d in c['devices'])\") == $KEPT ]]"
done
run_pod b $VF=1
check "another pod gets another device" "[[ -n \$(pod_resources b $VF) && \$(pod_resources b $VF) != $KEPT ]]"
configure <<'EOT'
{"resourceList": [{"resourceName": "vf", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["ens1np0"], "isRdma": true}}]}
EOT
check_within 20 "with a correct file it is ready" "[[ \$(readyz) == ok ]]"
stop_rocelet
