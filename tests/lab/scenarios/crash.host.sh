#!/bin/bash
# The host's half: the names of all kill points, from the source, one a line in LAB_OUT/kill_points. A new step cannot be forgotten.
set -euo pipefail
: "${LAB_OUT:?output folder}"
cd "$(dirname "$0")/../../.."

# Before and after each step.
steps() {
	sed -nE 's/^\s*STEP_([A-Z]+),.*/attach-\L\1/p; s/^\s*BACK_([A-Z]+),.*/back-\L\1/p' daemon/attach/steps.h
}

# Within some.
others() {
	grep -rhoE 'kill_point\("[a-z0-9-]+", "(before|after)"\)' daemon | sed -E 's/.*"(.*)", "(.*)".*/\1-\2/'
}

{
	steps | sed 'h; s/$/-before/p; g; s/$/-after/'
	others
} | sort -u >"$LAB_OUT/kill_points"
(($(wc -l <"$LAB_OUT/kill_points") >= 30)) || { echo "that cannot be all:"; cat "$LAB_OUT/kill_points"; exit 1; }
