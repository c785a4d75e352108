# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Many sandboxes get and return VFs by CNI at once, more sandboxes than VFs: no ADD and no DEL fails, and every VF is restored.
# lab: --timeout 600
# proves: k8s/cni daemon/cni daemon/attach
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/cni.sh
. /rocelet/lab/guest/cni.sh

# cni_pairs.sh [PAIRS]
PAIRS=${1:-64} N_VFS=7
SOFT_ROCE=false

# The status of each is in /tmp/rival-N.
two_at_once() { # ID
    local i pids=()
    for i in 0 1; do
        {
            status=0
            plugin ADD "rival$i" "pair-$i" "$(netconf "$1")" >"/tmp/answer-$i" || status=$?
            echo $status >"/tmp/rival-$i"
        } &
        pids+=($!)
    done
    wait "${pids[@]}"
}

make_pool $N_VFS
echo '{}' >"$CONFIG"
install_plugin rocelet-cni
for ((i = 0; i < PAIRS; i++)); do ip netns add pair-$i; done
start_engine
pairs() { # N
    /rocelet/lab/guest/cni_pairs.py "$PLUGIN" "$CNI_DIR" "$1" "${VF_IDS[@]}"
}

check "a first quarter of them" "pairs $((PAIRS / 4))" # the descriptors reach their number
namespaces=$(n_namespaces) fds=$(n_fds)
took=
check "$PAIRS pairs of ADD and DEL over $N_VFS VFs" "took=\$(pairs $PAIRS) || { echo \"\$took\"; false; }"
echo "# all took (s), the longest ADD and the longest DEL (ms): $took"
two_at_once "${VF_IDS[0]}"
echo "# $(cat /tmp/rival-0 /tmp/rival-1 | xargs): $(cat /tmp/answer-0 /tmp/answer-1 | xargs)"
check "two ADDs of one VF at once: one succeeds, the other reports that it is in use" \
    "[[ \$(sort /tmp/rival-0 /tmp/rival-1 | xargs) == '0 1' ]] && cat /tmp/answer-0 /tmp/answer-1 | grep -q '\"code\": 102'"
check "DEL of both" "plugin DEL rival0 pair-0 '$(netconf "${VF_IDS[0]}")' && plugin DEL rival1 '' '$(netconf "${VF_IDS[0]}")'"
check_all_free
check "no DEL waits" spool_is_empty
check "no namespace is held" "(( $(n_namespaces) <= namespaces ))"
check_within 10 "no descriptor is left" "(( \$(n_fds) <= fds ))"
echo "# descriptors: $fds before, $(n_fds) after"
stop_rocelet
check_complaints "going on without( them)?$" "that there is no runtime"
echo "# the scenario took $SECONDS s"
