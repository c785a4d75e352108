#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every shell script of the checkout, read by shellcheck.
set -eu
git ls-files -z '*.sh' .ci/run | xargs -0 -P2 -n 40 shellcheck -x -e SC1091
