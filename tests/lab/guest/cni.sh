# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For scenarios of the CNI door: requests as a runtime sends them. To be sourced after attach.sh.

readonly LEFT=$STATE_DIR/cni

cni() { # COMMAND CONTAINER [ARGS..]
    /rocelet/lab/guest/cni_driver.py "$1" "$2" net1 "${@:3}"
}

# Fails with that code; the answer is shown.
cni_fails() { # CODE COMMAND CONTAINER [ARGS..]
    local said
    if said=$(cni "${@:2}"); then
        echo "# no error: $said"
        return 1
    fi
    echo "# $said"
    [[ $said == *"\"code\":$1,"* ]]
}

config() { # ID [KEYS]
    echo "{\"deviceID\": \"$1\"${2:+, $2}}"
}

# ---- the plugin itself, as a runtime executes it

PLUGIN=/usr/local/sbin/rocelet-cni
readonly CNI_DIR=/usr/lib/cni # where a runtime's plugins are

install_plugin() { # PROGRAM   below build/
    cp "$BUILD/$1" $PLUGIN # not over the share, like the daemon
}

# NETNS is a name, or "" where the runtime has none any more. With ROCELET_KILL_AT a build with kill points dies there.
plugin() { # COMMAND CONTAINER NETNS CONFIG
    CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=${3:+/run/netns/$3} CNI_IFNAME=net1 CNI_PATH=$CNI_DIR "$PLUGIN" <<<"$4"
}

# Is it killed at that point?
plugin_dies() { # KILL_POINT COMMAND CONTAINER NETNS CONFIG
    local status=0
    ROCELET_KILL_AT=$1 plugin "${@:2}" &>/tmp/said || status=$?
    ((status == 128 + 9)) || { echo "# status $status: $(cat /tmp/said)"; return 1; }
}

# A network configuration of rocelet-cni.
netconf() { # ID [KEYS]
    echo "{\"cniVersion\": \"1.1.0\", \"name\": \"fast\", \"type\": \"rocelet-cni\", \"deviceID\": \"$1\"${2:+, $2}}"
}

# No DEL waits for the daemon. A killed plugin may have left a part of one, which nothing reads: its name begins with a dot.
spool_is_empty() {
    [[ -z $(ls "$LEFT/del" 2>/dev/null) && -z $(ls -A "$LEFT/bad" 2>/dev/null) ]]
}
