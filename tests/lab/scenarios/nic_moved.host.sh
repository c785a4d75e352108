#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The host's half: the NIC's module, for the guest's kernel.
#   nic_moved.host.sh module RELEASE
set -euo pipefail
[[ $1 == module ]]
exec "$(dirname "$0")/../host/nic_module.sh" "$2" "${LAB_OUT:?output folder}"
