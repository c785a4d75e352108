# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs one apt-get at a time: it fails at once while another one holds its locks, and tests that need packages run in parallel.

apt_quiet() { # [apt options] COMMAND..
    DEBIAN_FRONTEND=noninteractive flock /var/lib/apt/lists apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" >/dev/null
}
