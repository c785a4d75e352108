# SPDX-License-Identifier: Apache-2.0
# The demo's view, made from two scrapes of /metrics and the output of rocectl:
#     file=last PAGE file=page PAGE file=pods TEXT file=shown TEXT file=events TEXT
# pods: the table of rocectl; events: a line each, which begins with its time; shown: the events printed before.
# Variables: elapsed (seconds so far), url, notice (a line, or none), terminal (redraw when set), columns (cut lines there, 0 = do not).
# Exit status 0 if a pod's device moved bytes between the scrapes and VFs are attached to pods.
# A value that a page lacks is "-", never 0.

BEGIN {
    row_format = "%-17s %4s  %-12s %-9s %9s %9s %9s %9s %9s %9s"
    events_shown = 12
}

file == "pods" { pod_lines[++n_pod_lines] = $0; next }
file == "shown" { old[$0] = 1; next }
file == "events" { event_list[++n_events] = $0; next }

/^rocelet_sample_timestamp_seconds / {
    if (file == "last") taken_before = $2
    else ms = ($2 - taken_before) * 1000
}

/^rocelet_attachments{state="in_pod"} / {
    in_pods = $2
}

/^roce_/ {
    parse($0)
    key = series_key()
    # BPF's series replace missing ones of the NIC; they come after the NIC's.
    if (label["source"] == "bpf" && (file, key) in from_nic) next
    if (label["source"] != "bpf") from_nic[file, key] = 1
    if (file == "last") {
        before[key] = value
    } else {
        now[key] = value
        list_port()
    }
}

END {
    if (terminal) show_screen()
    else show_news()
    exit !(moved && in_pods > 0)
}

function show_screen(    i) {
    printf "\033[H"
    print_line(sprintf("rocelet demo, %d s     page: %s     Ctrl-C ends it", elapsed, url))
    if (notice != "") print_line(notice)
    print_line("")
    print_table_head()
    print_ports()
    print_line("")
    for (i = 1; i <= n_pod_lines; i++) print_line(pod_lines[i])
    print_line("")
    for (i = n_events > events_shown ? n_events - events_shown + 1 : 1; i <= n_events; i++) print_line(event_text(event_list[i]))
    printf "\033[J"
}

# For a log: only new events, and heads only once.
function show_news(    i) {
    for (i = 1; i <= n_events; i++)
        if (!(event_list[i] in old)) print_line(event_text(event_list[i]))
    if (taken_before == "") {
        if (notice != "") print_line(notice)
        for (i = 1; i <= n_pod_lines; i++) print_line(pod_lines[i])
        print_table_head()
    }
    print_ports()
}

# The time of day only.
function event_text(line,    end) {
    end = index(line, "Z ")
    return substr(line, 12, end - 12) substr(line, end + 1)
}

function print_table_head() {
    print_line(sprintf(row_format, "DEVICE", "PORT", "POD", "NETDEV", "RX MB/s", "TX MB/s", "RX pkt/s", "TX pkt/s", "CE", "CNP"))
}

function print_ports(    i) {
    for (i = 1; i <= ports; i++) print_port(port_list[i])
    if (!ports) print_line("no RDMA device on the page")
}

# NAME{LABEL="VALUE",...} VALUE  ->  name, label[], value
function parse(line,    text, pair, at) {
    split("", label)
    name = line
    sub(/[{ ].*/, "", name)
    text = substr(line, length(name) + 1)
    while (match(text, /^[{,][a-z_A-Z0-9]+="([^"\\]|\\.)*"/)) {
        pair = substr(text, 2, RLENGTH - 1)
        at = index(pair, "=")
        label[substr(pair, 1, at - 1)] = substr(pair, at + 2, length(pair) - at - 2)
        text = substr(text, RLENGTH + 1)
    }
    sub(/^[}, ]*/, "", text)
    split(text, value_and_time, " ")
    value = value_and_time[1]
}

function series_key() {
    return name SUBSEP label["device"] "/" label["port"] SUBSEP label["direction"]
}

function list_port(    port) {
    port = label["device"] "/" label["port"]
    if (label["device"] == "" || label["port"] == "") return
    if (!(port in listed)) {
        listed[port] = 1
        port_list[++ports] = port
    }
    if (name == "roce_port_info") {
        netdev[port] = label["netdev"]
        holder[port] = label["pod"]
        where[port] = label["pod"] != "" ? label["pod"] : label["netns"] != "" ? label["netns"] : "(host)"
    }
}

function print_port(port,    parts) {
    split(port, parts, "/")
    if (holder[port] != "" && (increase("roce_bytes_total", port, "sent") > 0 || increase("roce_bytes_total", port, "received") > 0))
        moved = 1
    print_line(sprintf(row_format, parts[1], parts[2], or_dash(where[port]), or_dash(netdev[port]),
        rate("roce_bytes_total", port, "received", 1e6, "%.2f"), rate("roce_bytes_total", port, "sent", 1e6, "%.2f"),
        rate("roce_packets_total", port, "received", 1, "%.0f"), rate("roce_packets_total", port, "sent", 1, "%.0f"),
        total("roce_ecn_ce_received_packets_total", port), total("roce_cnp_received_packets_total", port)))
}

# -1 if unknown: absent from a page, or the counter has restarted.
function increase(name, port, direction,    k) {
    k = name SUBSEP port SUBSEP direction
    if (!(k in before) || !(k in now) || now[k] < before[k]) return -1
    return now[k] - before[k]
}

function rate(name, port, direction, unit, format,    change) {
    change = increase(name, port, direction)
    return change < 0 || ms <= 0 ? "-" : sprintf(format, change / unit / ms * 1000)
}

function total(name, port,    k) {
    k = name SUBSEP port SUBSEP ""
    return k in now ? sprintf("%.0f", now[k]) : "-"
}

function or_dash(text) {
    return text == "" ? "-" : text
}

function print_line(text) {
    if (terminal) text = (columns ? substr(text, 1, columns) : text) "\033[K"
    print text
}
