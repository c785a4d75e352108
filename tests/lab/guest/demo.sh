# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For the demo's scenarios: what its view on the host shows. To be sourced after attach.sh.

# What rocelet cannot know, for the list of events.
tell() { # WORDS..
    echo "$(date -u +%FT%T.%3NZ) $*" >>"$OUT/steps"
}

# For the host, which cannot reach the daemon's socket: what people would ask for themselves, and all that happened in one list.
show_attachments() { # [ROCECTL_COMMAND]   pods, or devices where nobody has pods
    touch "$OUT/steps"
    while sleep 1; do
        show pods "$(rocectl "${1:-pods}")"
        show events "$({ rocectl events | event_lines; cat "$OUT/steps"; } | sort)"
    done 2>/dev/null
}

declare -A SHOWN

# Writes a file anew when it is to be another, in one step for whoever reads it.
show() { # FILE TEXT
    [[ $2 != "${SHOWN[$1]:-}" ]] || return 0
    echo "$2" >"$OUT/$1.new"
    mv "$OUT/$1.new" "$OUT/$1"
    SHOWN[$1]=$2
}

# LAST TYPE REASON POD DEVICE COUNT MESSAGE -> LAST REASON: MESSAGE
event_lines() {
    awk 'NR > 1 { line = $1 " " $3 ":"; for (i = 7; i <= NF; i++) line = line " " $i; print line }'
}

# train0 writes to train1's memory: its queue is congested, so that some packets arrive with CE marks, and what starts beside it has the
# processors.
mark_traffic() {
    congest_pod train0 8mbit
    answer_with_cnps &
}

# What train1's NIC would send on CE marks, if it were one; soft-RoCE does not.
answer_with_cnps() {
    while sleep 5; do send_cnp train1 train0; done
}

# The host shows it from here on.
traffic_is_there() { # RDMA_DEVICE   of train1
    becomes_true 120 "(( \$(rdma_counter $1 rcvd_pkts) > 500 ))" || return
    tell "traffic from train0 to train1"
    touch "$OUT/ready"
}
