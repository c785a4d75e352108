#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The host's half: the names of all kill points, from the source, which the guest cannot read.
set -euo pipefail
: "${LAB_OUT:?output folder}"
"$(dirname "$0")/../kill_points.sh" >"$LAB_OUT/kill_points"
