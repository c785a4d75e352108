#!/bin/bash
# kill_points.sh - the places in which a KILL_POINTS=1 build dies when ROCELET_KILL_AT names one, a line each: around every step
# of attach and return (the engine's own included), and inside those that make more than one change.
set -eu
cd "$(dirname "$0")/../.."

{
    sed -nE 's/^\t\[STEP_[A-Z]+\] = \{"([a-z-]+)".*/attach-\1/p; s/^\t\[BACK_[A-Z]+\] = \{"([a-z-]+)".*/\1/p' daemon/attach/steps.c |
        while read -r step; do printf '%s-before\n%s-after\n' "$step" "$step"; done
    grep -rhoE 'kill_point\("[a-z0-9-]+", "(before|after)"\)' daemon/attach | sed -E 's/.*"([^"]+)", "([^"]+)".*/\1-\2/'
} | awk '!seen[$0]++'
