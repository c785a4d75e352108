# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For the demo's scenarios: the content of its view on the host. Sourced after attach.sh.

# Adds a step of the demo itself to the list of events.
add_event() { # WORDS..
    echo "$(date -u +%FT%T.%3NZ) $*" >>"$OUT/steps"
}

# Writes the output of rocectl and a list of all events for the host, which cannot reach the daemon's socket.
show_attachments() { # [ROCECTL_COMMAND]   pods, or devices if there are no pods
    touch "$OUT/steps"
    while sleep 1; do
        show pods "$(rocectl "${1:-pods}")"
        show events "$({ rocectl events -o json | event_lines; cat "$OUT/steps"; } | sort)"
    done 2>/dev/null
}

declare -A SHOWN

# Replaces a file atomically if its content differs.
show() { # FILE TEXT
    [[ $2 != "${SHOWN[$1]:-}" ]] || return 0
    echo "$2" >"$OUT/$1.new"
    mv "$OUT/$1.new" "$OUT/$1"
    SHOWN[$1]=$2
}

# The document of events -> TIME REASON: MESSAGE
event_lines() {
    json "'\n'.join(f'{e[\"last\"]} {e[\"reason\"]}: {e[\"message\"]}' for e in doc['events'])"
}

# train0 writes to train1's memory: congests its queue, so that some packets arrive with CE marks, and the other programs of the
# demo get the processors.
mark_traffic() {
    congest_pod train0 8mbit
    answer_with_cnps &
}

# Sends CNPs for CE marks as train1's NIC would; soft-RoCE does not.
answer_with_cnps() {
    while sleep 5; do send_cnp train1 train0; done
}

# From here on the host shows the traffic.
traffic_is_there() { # RDMA_DEVICE   of train1
    becomes_true 120 "(( \$(rdma_counter $1 rcvd_pkts) > 500 ))" || return
    add_event "traffic from train0 to train1"
    touch "$OUT/ready"
}
