#!/bin/bash
# shellcheck.sh: every shell script of the checkout.
set -eu
git ls-files -z '*.sh' .ci/run | xargs -0 shellcheck -x -e SC1091
