# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A machine that has booted once is saved, and scenarios start from that. A state is a folder of the cache, with the memory and the devices of a
# machine that has not written to its disks and has not mounted any of the host's folders: see guest/init.sh.

STATE= # the folder from which the machine starts; empty when it boots

# Finds or makes the state of the machine that the options ask for. Whatever goes wrong with it, the machine boots.
prepare_state() {
    local name
    STATE=
    [[ ${ROCELET_LAB_STATE:-1} != 0 ]] || return 0
    name=state-$KERNEL-${MEMORY}m-${NICS}n${WITH_KUBELET:+-kubelet}${WITH_IOMMU:+-iommu}${FORWARDS[0]:+-mgmt}
    STATE=$LAB_CACHE/$name-$(state_ingredients | grep -v '^# SPDX-' | sha256sum | cut -c1-16)
    if [[ -d $STATE ]]; then
        touch "$STATE"
        fits_processor || rm -rf "$STATE"
    fi
    export ROOT_DIR KERNEL_DIR MEMORY NICS WITH_KUBELET WITH_IOMMU MGMT=${FORWARDS[0]:+yes}
    [[ -d $STATE ]] || build_once "$name" "$STATE" build-state.sh || no_state "could not be made"
}

state_ingredients() {
    echo "$ROOT_DIR $KERNEL_DIR $(accelerator) $CPUS"
    dpkg-query -W -f '${Version}\n' qemu-system-x86
    sed -n '/^$/q; /^\(model name\|flags\)/p' /proc/cpuinfo
    cat "$LAB_DIR"/{guest/init.sh,host/{machine,state,build-state}.sh}
}

# The guest knows how fast the time stamp counter runs.
fits_processor() {
    local saved now
    saved=$(<"$STATE/tsc_khz")
    now=$(tsc_khz)
    ((1000 * (now - saved) < saved && 1000 * (saved - now) < saved))
}

no_state() { # WHY
    note "the machine's saved state $1: it boots"
    STATE=
}

forget_state() {
    rm -rf "$STATE"
    no_state "does not restore"
}

# The disk that says whether the machine is the saved one or a restored one.
wake_disk() { # saved|restored
    QEMU+=(-drive "if=none,id=wake,format=raw,readonly=on,file=$STATE/$1" -device virtio-blk-pci,drive=wake -global migration.mapped-ram=on)
}

# Options for QEMU, after all others.
restore_options() {
    wake_disk restored
    QEMU+=(-incoming "file:$STATE/memory")
}

# The guest has reached its scenario.
was_restored() {
    becomes_true "$STALL_TIMEOUT" "[[ -e $OUT/started ]] || ! machine_runs" && [[ -e $OUT/started ]]
}
