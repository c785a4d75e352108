#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# empty_programs.sh - prints the milliseconds that so many starts of an empty program need here: the unit of limits for
# delays, since processors differ, and emulated ones most.
#
#   empty_programs.sh TIMES
set -euo pipefail

for _ in {1..51}; do
	began=${EPOCHREALTIME/[.,]/}
	/bin/true
	echo $((${EPOCHREALTIME/[.,]/} - began))
done | sort -n | awk -v times="$1" 'NR == 26 { printf "%.1f\n", times * $1 / 1000 }'
