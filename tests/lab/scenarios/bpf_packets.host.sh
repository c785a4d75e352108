#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The host's half: compares the counts on a pod's netdev with tshark's.
#   bpf_packets.host.sh NAME POD NETDEV [LEFT_OUT..]
set -euo pipefail
: "${LAB_OUT:?folder with the captures}"
cd "$LAB_OUT"
exec /usr/bin/python3 "$(dirname "$0")/../judge.py" "$3" "$1.before" "$1.after" "$1.$2.in" "$1.$2.out" "${@:4}" >"$1.$2.judged"
