#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill_points.sh - lists the kill points, at which a KILL_POINTS=1 build dies if ROCELET_KILL_AT names one: around every step
# of attach and return (the engine's own included), and inside those that make more than one change. Fails if the source has a kill
# point that is not listed, as it would never be tested; prints where.
set -eu
cd "$(dirname "$0")/../.."
STEPS=daemon/attach/steps/steps.c
LITERAL='kill_point\("([a-z0-9-]+)", "(before|after)"\)'

# Kill points of the source that are not listed here, without the two around each step in $STEPS.
unknown() {
    grep -rnE 'kill_point\(' --include='*.c' daemon hw k8s include | grep -vE "$LITERAL" |
        grep -vE "^$STEPS:[0-9]+:	kill_point\(point, \"(before|after)\"\);" || true
}

left=$(unknown)
[ -z "$left" ] || {
    printf 'kill points without a name that can be read here:\n%s\n' "$left" >&2
    exit 1
}

# The names of the steps in their table.
steps() {
    sed -nE 's/^\t\[STEP_[A-Z]+\] = \{\.name = "([a-z-]+)".*/attach-\1/p; s/^\t\[BACK_[A-Z]+\] = \{\.name = "([a-z-]+)".*/\1/p' "$STEPS"
}

named=$(steps | wc -l) rows=$(grep -cE '^	\[(STEP|BACK)_' "$STEPS")
((named == rows && named > 0)) || {
    echo "the names of $named of the $rows steps in $STEPS can be read here" >&2
    exit 1
}

{
    steps | while read -r step; do printf '%s-before\n%s-after\n' "$step" "$step"; done
    grep -rhoE "$LITERAL" --include='*.c' daemon hw k8s include | sed -E "s/$LITERAL/\1-\2/"
} | awk '!seen[$0]++'
