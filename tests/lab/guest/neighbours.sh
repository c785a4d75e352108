# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Pods for the kernels on which soft-RoCE works in the initial network namespace alone (6.1 and 6.12): each is a VF there, with an
# address and an RDMA device, whose packets to each other do go over the NIC. Sourced by lib.sh on those kernels.

NEIGHBOURS=() # name and address of each

make_pod() { # NAME VF_NETDEV IP/LEN [RDMA_DEVICE]
    local name=$1 vf=$2 address=$3 rdma=${4:-rxe_$1} netdev=net_$1
    ip link set "$vf" down
    ip link set "$vf" name "$netdev"
    # Accept packets from an address of this machine.
    echo 0 | tee /proc/sys/net/ipv4/conf/{all,"$netdev"}/rp_filter >/dev/null
    echo 1 >"/proc/sys/net/ipv4/conf/$netdev/accept_local"
    # Only the netdev that has an address answers for it: the emulated switch sends broadcasts back to their sender, too.
    echo 1 >"/proc/sys/net/ipv4/conf/$netdev/arp_ignore"
    echo 2 >"/proc/sys/net/ipv4/conf/$netdev/arp_announce"
    ip address add "$address" dev "$netdev"
    ip link set "$netdev" up
    wait_until "has_carrier $name $netdev"
    go_over_the_nic "$name" "${address%/*}"
    rdma link add "$rdma" type rxe netdev "$netdev"
    wait_until "rdma link show $rdma/1 | grep -q ACTIVE"
}

# The table of the machine's own addresses is consulted first for received packets, and last for sent ones.
go_over_the_nic() { # NAME IP
    local i
    if ((!${#NEIGHBOURS[@]})); then
        ip rule add pref 20 lookup 100
        ip rule add pref 30 lookup local
        ip rule delete pref 0
    fi
    ip rule add pref 10 iif "net_$1" lookup local
    for ((i = 0; i < ${#NEIGHBOURS[@]}; i += 2)); do
        neighbour_route "${NEIGHBOURS[i]}" "${NEIGHBOURS[i + 1]}" "$2"
    done
    NEIGHBOURS+=("$1" "$2")
    route_to_neighbours "$1"
}

route_to_neighbours() { # NAME
    local i
    for ((i = 0; i < ${#NEIGHBOURS[@]}; i += 2)); do
        [[ ${NEIGHBOURS[i]} == "$1" ]] || neighbour_route "$1" "$(pod_ip "$1")" "${NEIGHBOURS[i + 1]}"
    done
}

# One of several routes to the same address; the sender chooses by its netdev.
neighbour_route() { # NAME ITS_IP TO_IP
    ip route append "$3" dev "net_$1" src "$2" table 100
}

in_pod() { # NAME COMMAND..
    "${@:2}"
}

pod_netns() { # NAME
    echo /proc/1/ns/net
}

pod_netdev() { # NAME
    echo "net_$1"
}

# A netdev that is set down loses its routes: add them again.
pod_link() { # NAME up|down
    ip link set "net_$1" "$2"
    [[ $2 == down ]] || route_to_neighbours "$1"
}
