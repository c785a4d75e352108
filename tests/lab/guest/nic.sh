# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The lab's NIC in the guest (tests/lab/module); sourced after lib.sh.

# The host builds it for this kernel; udev must not rename its RDMA devices after their bus.
load_nic() {
    check "the host builds a NIC for this kernel" 'host_part module "$(uname -r)"'
    insmod "$OUT/lab_nic.ko"
    mkdir -p /run/udev/rules.d
    ln -sf /dev/null /run/udev/rules.d/60-rdma-persistent-naming.rules
    udevadm control --reload
}

# Binds the emulated NIC's function to the lab's driver of that name.
bind_nic() { # FUNCTION DRIVER
    local path=/sys/bus/pci/devices/$1
    [[ ! -e $path/driver ]] || echo "$1" >"$path/driver/unbind"
    echo "$2" >"$path/driver_override"
    echo "$1" >/sys/bus/pci/drivers_probe
}
