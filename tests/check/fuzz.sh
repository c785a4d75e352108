#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh PROGRAM [SECONDS=4]: runs a fuzz program with its seeds and its corpus.
set -eu
name=${1##*/}
seeds=tests/fixtures/${name#fuzz_}
mkdir -p "build/fuzz/corpus/$name"
[ -d "$seeds" ] || seeds=
# shellcheck disable=SC2086 # none, or one folder
exec "$1" -max_total_time="${2:-4}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
	-artifact_prefix="build/fuzz/crash-$name-" "build/fuzz/corpus/$name" $seeds
