# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For scenarios of CNI: requests as a runtime sends them. Sourced after attach.sh.

readonly LEFT=$STATE_DIR/cni

cni() { # COMMAND CONTAINER [ARGS..]
    /rocelet/lab/guest/cni_driver.py "$1" "$2" net1 "${@:3}"
}

# The request must fail with that code; prints the answer.
cni_fails() { # CODE COMMAND CONTAINER [ARGS..]
    local answer
    if answer=$(cni "${@:2}"); then
        echo "# no error: $answer"
        return 1
    fi
    echo "# $answer"
    [[ $answer == *"\"code\":$1,"* ]]
}

config() { # ID [KEYS]
    echo "{\"deviceID\": \"$1\"${2:+, $2}}"
}

# ---- the plugin itself, as a runtime executes it

PLUGIN=/usr/local/sbin/rocelet-cni
readonly CNI_DIR=/usr/lib/cni # a runtime's plugins

install_plugin() { # PROGRAM   below build/
    cp "$BUILD/$1" $PLUGIN # not over the share, like the daemon
}

# NETNS is a name, or "" if the runtime no longer has one. With ROCELET_KILL_AT a build with kill points dies there.
plugin() { # COMMAND CONTAINER NETNS CONFIG
    CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=${3:+/run/netns/$3} CNI_IFNAME=net1 CNI_PATH=$CNI_DIR "$PLUGIN" <<<"$4"
}

# True if the plugin dies at that point.
plugin_dies() { # KILL_POINT COMMAND CONTAINER NETNS CONFIG
    local status=0
    ROCELET_KILL_AT=$1 plugin "${@:2}" &>/tmp/answer || status=$?
    ((status == 128 + 9)) || { echo "# status $status: $(cat /tmp/answer)"; return 1; }
}

# A network configuration of rocelet-cni.
netconf() { # ID [KEYS]
    echo "{\"cniVersion\": \"1.1.0\", \"name\": \"fast\", \"type\": \"rocelet-cni\", \"deviceID\": \"$1\"${2:+, $2}}"
}

# No DEL is queued for the daemon. A killed plugin may have left a partial file, which is never read: its name begins with a dot.
spool_is_empty() {
    [[ -z $(ls "$LEFT/del" 2>/dev/null) && -z $(ls -A "$LEFT/bad" 2>/dev/null) ]]
}
