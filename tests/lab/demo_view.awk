# The demo's table, from two scrapes of /metrics: LAST_PAGE PAGE.
# Variables: last (name of the first file), elapsed (seconds so far), url, terminal (redraw when set).
# Exit status 0 when some device moved bytes between the scrapes. What a page does not say is "-", never 0.

BEGIN {
    row_format = "%-14s %4s  %-10s %-9s %9s %9s %9s %9s %9s %9s"
}

/^rocelet_sample_timestamp_seconds / {
    if (FILENAME == last) taken_before = $2
    else ms = ($2 - taken_before) * 1000
}

/^roce_/ {
    parse($0)
    key = series_key()
    if (FILENAME == last) {
        before[key] = value
    } else {
        now[key] = value
        list_port()
    }
}

END {
    if (terminal) printf "\033[H"
    if (terminal) print_line(sprintf("rocelet demo, %d s     page: %s     Ctrl-C ends it", elapsed, url))
    if (terminal) print_line("")
    if (terminal || elapsed == 0)
        print_line(sprintf(row_format, "DEVICE", "PORT", "POD", "NETDEV", "RX MB/s", "TX MB/s", "RX pkt/s", "TX pkt/s", "CE", "CNP"))
    for (i = 1; i <= ports; i++) print_port(port_list[i])
    if (!ports) print_line("no RDMA device on the page")
    if (terminal) printf "\033[J"
    exit !moved
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
        pod[port] = label["netns"] == "" ? "(host)" : label["netns"]
    }
}

function print_port(port,    parts) {
    split(port, parts, "/")
    if (increase("roce_bytes_total", port, "sent") > 0 || increase("roce_bytes_total", port, "received") > 0) moved = 1
    print_line(sprintf(row_format, parts[1], parts[2], or_dash(pod[port]), or_dash(netdev[port]),
        rate("roce_bytes_total", port, "received", 1e6, "%.2f"), rate("roce_bytes_total", port, "sent", 1e6, "%.2f"),
        rate("roce_packets_total", port, "received", 1, "%.0f"), rate("roce_packets_total", port, "sent", 1, "%.0f"),
        total("roce_ecn_ce_received_packets_total", port), total("roce_cnp_received_packets_total", port)))
}

# -1 when it cannot be told: absent from a page, or the counter started anew.
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
    print text (terminal ? "\033[K" : "")
}
