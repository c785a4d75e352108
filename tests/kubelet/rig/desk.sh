#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `kubelet.sh up` puts into a rig: hardware and a kubelet. The daemon is started by hand, in `kubelet.sh shell`.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh" "$1"

trap - EXIT
make_hardware 2 8
start_kubelet
