# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A machine of a cluster runs scripts from its scenario, which runs on the host: node.sh AGENT_PORT.
exec /usr/bin/python3 /rocelet/lab/guest/agent.py "${LAB_MGMT%/*}" "$1"
