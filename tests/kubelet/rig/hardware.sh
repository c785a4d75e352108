# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Fake hardware: a synthetic sysfs tree of mlx5-like functions, and character devices to match in /dev/infiniband. They have no
# driver: they only exist, have names and are passed to containers.

readonly TREE=/run/rig/sys NUMA_TREE=/run/rig/numa

# PFs are mlx5_0.. with netdevs ens1np0, ens2np0, ..; VFs are distributed over them in turn, as mlx5_<PFS>.. with netdevs ens1v0, ens2v0,
# ens1v1, .. The first PF and its VFs are on NUMA node 0, the second's on node 1, and so on.
make_hardware() { # PFS VFS
    local path
    "$PROJECT_DIR/build/bench/mk_sysfs" "$TREE" "$1" "$2" >/dev/null
    for path in "$TREE"/class/infiniband_{verbs,mad}/*; do make_chardev "${path##*/}"; done
    mknod -m 666 /dev/infiniband/rdma_cm c 10 122
}

# Creates the node with the number in sysfs, also again after it was removed.
make_chardev() { # NAME
    local number
    number=$(cat "$TREE"/class/infiniband_*/"$1"/dev)
    mknod -m 666 "/dev/infiniband/$1" c "${number%:*}" "${number#*:}"
}

# A function's folder, by one of its netdevs.
function_of() { # NETDEV
    readlink -f "$TREE/class/net/$1/device"
}

pci_of() { # NETDEV..
    local netdev
    for netdev in "$@"; do basename "$(function_of "$netdev")"; done
}

netdev_of() { # PCI_ADDRESS
    ls "$TREE"/devices/*/"$1"/net
}

rdma_of() { # NETDEV
    ls "$(function_of "$1")/infiniband"
}

# The number of a function's uverbs, umad and issm.
index_of() { # NETDEV
    local path
    path=$(echo "$(function_of "$1")"/infiniband_verbs/uverbs*)
    echo "${path##*uverbs}"
}

# The names in /dev/infiniband that a container with these devices must have, sorted, in one line.
chardevs_of() { # NETDEV..
    local netdev index
    {
        echo rdma_cm
        for netdev in "$@"; do
            index=$(index_of "$netdev")
            printf '%s\n' "uverbs$index" "umad$index"
        done
    } | sort | xargs
}

set_carrier() { # NETDEV up|down
    local function carrier=0 state="1: DOWN"
    function=$(function_of "$1")
    [[ $2 == down ]] || carrier=1 state="4: ACTIVE"
    echo "$carrier" >"$function/net/$1/carrier"
    echo "$2" >"$function/net/$1/operstate"
    echo "$state" >"$function/infiniband/$(rdma_of "$1")/ports/1/state"
}

# Shows the kubelet a machine of two NUMA nodes, with the processors distributed in turn. Call it before the kubelet starts.
fake_numa() {
    local node cpu list
    rm -rf "$NUMA_TREE"
    mkdir -p "$NUMA_TREE"/node{0,1}
    for node in online possible has_cpu has_memory has_normal_memory; do echo 0-1 >"$NUMA_TREE/$node"; done
    for node in 0 1; do
        list=
        for ((cpu = node; cpu < $(nproc --all); cpu += 2)); do
            ln -s "../../cpu/cpu$cpu" "$NUMA_TREE/node$node/cpu$cpu"
            list+=${list:+,}$cpu
        done
        echo "$list" >"$NUMA_TREE/node$node/cpulist"
        echo "$((node ? 20 : 10)) $((node ? 10 : 20))" >"$NUMA_TREE/node$node/distance"
        printf 'Node %s MemTotal: 8388608 kB\nNode %s MemFree: 8000000 kB\n' "$node" "$node" >"$NUMA_TREE/node$node/meminfo"
    done
    mount --bind "$NUMA_TREE" /sys/devices/system/node
}
