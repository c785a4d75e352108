#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The host's half: promtool checks the page, and a real Prometheus that scrapes it.
set -euo pipefail
: "${LAB_PORT:?host port that leads to the daemon}" "${LAB_OUT:?output folder}"
top=$(cd "$(dirname "$0")/../../.." && pwd)
tools=$("$top/tests/lib/debtool.sh" prometheus)/usr/bin
work=$(mktemp -d)
trap 'kill "${pid:-}" 2>/dev/null || true; rm -rf "$work"' EXIT

wait_until() {
	local deadline=$((SECONDS + 30))
	until "$@" >/dev/null 2>&1; do
		((SECONDS < deadline)) || { echo "not within 30 s: $*"; tail -n 20 "$work/log" || true; return 1; }
		sleep 0.1
	done
}

curl -fsS "http://127.0.0.1:$LAB_PORT/metrics" >"$work/page"
"$tools/promtool" check metrics <"$work/page"

cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 1s}
scrape_configs: [{job_name: rocelet, static_configs: [{targets: ["127.0.0.1:$LAB_PORT"]}]}]
END
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$tools/prometheus" --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" \
	--web.listen-address="127.0.0.1:$port" >"$work/log" 2>&1 &
pid=$!

query() { # EXPRESSION: fails when the answer is empty
	curl -fsS --data-urlencode "query=$1" "http://127.0.0.1:$port/api/v1/query" | grep -q '"value"'
}

wait_until query 'up{job="rocelet"} == 1'
wait_until query 'roce_packets_total{device="rxe_left",direction="sent",source="hw"} > 0'
wait_until query 'scrape_samples_scraped > 20'
echo "Prometheus: up == 1, $(curl -fsS --data-urlencode 'query=scrape_samples_scraped' "http://127.0.0.1:$port/api/v1/query" |
	grep -o '"[0-9]*"\]' | tr -d '"]') samples per scrape"
