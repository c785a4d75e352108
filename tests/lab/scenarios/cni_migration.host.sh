#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The host's half: the network configurations of the migration guide, in pairs, before-N and after-N, which the guest cannot read.
set -euo pipefail
: "${LAB_OUT:?output folder}"
python3 - "$(dirname "$0")/../../../docs/start/migration.md" "$LAB_OUT" <<'END_OF_PYTHON'
import json, re, sys

with open(sys.argv[1]) as f:
    blocks = [text for text in re.findall(r"^```json\n(.*?)^```", f.read(), re.M | re.S) if "cniVersion" in json.loads(text)]
for i, text in enumerate(blocks):
    with open(f"{sys.argv[2]}/{('before', 'after')[i % 2]}-{i // 2}", "w") as f:
        f.write(text)
assert blocks and len(blocks) % 2 == 0
END_OF_PYTHON
