# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Work that does not end: the state folder's file system is frozen, as for a snapshot. It is reported and blocks neither other work nor the daemon's exit.
# proves: include/loop daemon/attach daemon/compose
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

SOFT_ROCE=false
DISK=/tmp/disk FROZEN=/var/lib/frozen

logged() { # WORDS
    grep -qE "$1" "$OUT/rocelet.log"
}

oldest() {
    metric rocelet_oldest_work_seconds | cut -d. -f1
}

make_pool 6
ip netns add stuck
host_part
cp "$OUT/disk" $DISK
mkdir -p $FROZEN
modprobe loop
mount -o loop $DISK $FROZEN
STATE=$FROZEN/state
start_rocelet --config "$CONFIG" --state-dir $STATE
need_within 30 "it is up" is_up

say "the disk is frozen: five attaches begin, one more than there are workers"
fsfreeze -f $FROZEN
for i in 0 1 2 3 4; do
    rocectl attach "${VF_IDS[i]}" --netns /run/netns/stuck --interface "net$i" --ip "10.9.0.$((i + 1))/24" >/dev/null 2>&1 &
done
check_within 60 "the log names the device and the step" "logged 'attach of ${VF_IDS[0]}, at step record, has been running for 1[0-9] s: waiting for its end'"
check_within 60 "and the one that waits for a worker" "(( \$(grep -c 'at step record, has been running' $OUT/rocelet.log) == 5 ))"
check "doctor reports it" "rocectl doctor | grep -q 'at step record, has been running for'; rocectl doctor -o json | grep -q '\"stuck\"'"
check_within 30 "the metric reports it" "(( \$(oldest) >= 10 ))"
check "the daemon answers" "healthy"
before=$(metric rocelet_sample_timestamp_seconds)
check_within 30 "samples go on" '[[ $(metric rocelet_sample_timestamp_seconds) != "$before" ]]'

say "the disk thaws"
fsfreeze -u $FROZEN
check_within 60 "the log says that it has ended" "(( \$(grep -cE 'the attach of .* has ended, after' $OUT/rocelet.log) == 5 ))"
check_within 60 "all are in their namespace" "[[ \$(ip -n stuck -oneline link show | grep -c ' net[0-4]') == 5 ]]"
check_within 30 "the metric is small again" "(( \$(oldest) < 10 ))"
wait_until "! pgrep -x rocectl"
rocectl detach "${VF_IDS[0]}"
check_within 30 "and one returns" "is_free ${VF_IDS[0]}"

say "the disk is frozen again, and the daemon stopped"
fsfreeze -f $FROZEN
rocectl attach "${VF_IDS[0]}" --netns /run/netns/stuck --interface net0 --ip 10.9.0.1/24 >/dev/null 2>&1 &
check_within 60 "an attach is stuck" "(( \$(grep -c 'at step record, has been running' $OUT/rocelet.log) == 6 ))"
kill -TERM "$ROCELET_PID"
check_within 60 "the daemon exits without waiting, and logs that" "logged 'at step record, has been running for [0-9]+ s: exiting without waiting'"
fsfreeze -u $FROZEN # the kernel cannot kill a process that waits for a disk
ended=0
wait "$ROCELET_PID" || ended=$?
check "its exit status reports unfinished work" "((ended == 1))"
ROCELET_PID=

say "the next daemon repairs"
start_rocelet --config "$CONFIG" --state-dir $STATE
need_within 30 "it is up" is_up
for i in 1 2 3 4; do
    check "VF $i is still where it was" "[[ \$(engine_state ${VF_IDS[i]}) == in_pod ]]"
    rocectl detach "${VF_IDS[i]}"
done
rocectl detach "${VF_IDS[0]}" >/dev/null 2>&1 || true # if it was attached
check_all_free
stop_rocelet
umount $FROZEN
