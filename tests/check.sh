#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh - runs the tests; see `check.sh --help`. Without test names it installs the packages that they need first.
set -eu
cd "$(dirname "$0")/.."
export CHECK_BEGAN=${EPOCHREALTIME/,/.}
case " $*" in
*\ [a-z]* | *--list* | *--help*) ;; # named tests run with the installed packages
*) tests/deps.sh ;;
esac
exec /usr/bin/python3 -B tests/check/main.py "$@"
