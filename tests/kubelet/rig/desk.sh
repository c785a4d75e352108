#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The content of a rig of `kubelet.sh up`: hardware and a kubelet. Start the daemon in `kubelet.sh shell`.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh" "$1"

trap - EXIT
make_hardware 2 8
start_kubelet
