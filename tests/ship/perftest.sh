#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# perftest.sh - judges the image of `make perftest-image`: the example's commands run in it, with nothing of this machine but its kernel.
# As root (chroot).
#
# run:
# proves: k8s/deploy/image
# when: turns
# needs: root build-lock
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/lib/checks.sh

VERSION=$(sed -n 's/^VERSION := //p' Makefile)
readonly VERSION ROOT=build/perftest
ARCH=$(dpkg --print-architecture)
ARCHIVE=build/perftest-$VERSION-$ARCH.tar

inside() { chroot "$ROOT" /usr/bin/sh -ec "$1"; }

# The commands of the example, except those that only an image without perftest needs.
example_commands() {
    sed -n '/- |$/,/resources:/p' k8s/deploy/examples/perftest.yaml | grep -oE '\b(command -v|seq|sleep|ib_write_bw)\b' | sort -u
}

check "it can be built" "make --no-print-directory --silent perftest-image"
check "the example has the expected commands" "[[ \$(example_commands | tr '\n' ' ') == 'command -v ib_write_bw seq sleep ' ]]"
check "and are in it" "inside 'command -v ib_write_bw seq sleep'"
check "perftest starts" "inside 'ib_write_bw --version' | grep -q '^Version: '"
check "providers of libibverbs are in it" "[[ -n \$(find $ROOT/usr/lib -name 'libmlx5-rdmav*.so') ]]"
check "the archive has its name" "[[ \$(tar -xOf $ARCHIVE manifest.json | json 'doc[0][\"RepoTags\"][0]') == localhost/perftest:$VERSION ]]"
check "it is not named rocelet" "! tar -xOf $ARCHIVE manifest.json | grep -q rocelet"
