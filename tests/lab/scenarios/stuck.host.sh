#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The host's half: a file system in a file; the guest has no mkfs.
set -euo pipefail
rm -f "${LAB_OUT:?output folder}/disk"
mkfs.ext4 -q -F "$LAB_OUT/disk" 64M
