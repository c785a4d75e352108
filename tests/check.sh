#!/bin/bash
# check.sh - every kind of test; `check.sh --help` says how they are chosen. Without names it first installs the packages that they need.
set -eu
cd "$(dirname "$0")/.."
export CHECK_BEGAN=${EPOCHREALTIME/,/.}
case " $*" in
*\ [a-z]* | *--list* | *--help*) ;; # what is named is run with what there is
*) tests/deps.sh ;;
esac
exec /usr/bin/python3 -B tests/check/main.py "$@"
