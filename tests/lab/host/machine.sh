# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# One virtual machine: start it, watch it, end it. Whatever ends lab.sh ends the machine too.

# Where the machine stands; set by start_machine.
OUT=
QEMU_PID=
HOST_PART= # process of the scenario's part on the host, while it runs

CPUS=2
FABRIC=user,restrict=on # what the igb is connected to: a netdev of QEMU
NODE=                   # a digit: which machine it is, of several

# KVM counts only when the processor has the hardware for it: some containers offer a /dev/kvm that opens and then
# cannot run a kernel. ROCELET_LAB_ACCEL=kvm|tcg decides otherwise.
accelerator() {
    if [[ -n ${ROCELET_LAB_ACCEL:-} ]]; then
        echo "$ROCELET_LAB_ACCEL"
    elif [[ -w /dev/kvm ]] && grep -qwE 'vmx|svm' /proc/cpuinfo; then
        echo kvm
    else
        echo tcg
    fi
}

# Fills the array QEMU with everything but the consoles, what it starts from, and what share_kubelet and management_nic add.
machine_command() {
    local accel nic
    accel=(-accel "$(accelerator)")
    case ${accel[1]} in
        tcg) accel=(-accel tcg,thread=multi) ;;
        icount) accel=(-accel tcg,thread=single -icount shift=1,sleep=off) ;;
    esac
    # setpriv: not even a kill -9 of lab.sh leaves a machine behind.
    QEMU=(setpriv --pdeathsig KILL qemu-system-x86_64 -name rocelet-lab -nodefaults -no-user-config -display none -no-reboot
        -M q35 "${accel[@]}" -smp "$CPUS" -m "$MEMORY"
        # Before all devices that it translates for. Interrupt remapping needs a split irqchip under KVM, and nothing here needs it.
        ${WITH_IOMMU:+-device intel-iommu,intremap=off}
        # With more address bits the guest puts the VFs' registers where QEMU does not map them.
        -cpu max,host-phys-bits=off,phys-bits=36
        -drive "if=none,id=root,format=raw,snapshot=on,file=$ROOT_DIR/root.img" -device virtio-blk-pci,drive=root
        -drive "if=none,id=modules,format=raw,readonly=on,file=$KERNEL_DIR/modules.img" -device virtio-blk-pci,drive=modules
        -virtfs "local,mount_tag=lab,security_model=none,readonly=on,path=$LAB_DIR"
        -virtfs "local,mount_tag=build,security_model=none,readonly=on,path=$PROJECT_DIR/build"
        -virtfs "local,mount_tag=lib,security_model=none,readonly=on,path=$PROJECT_DIR/tests/lib"
        -virtfs "local,mount_tag=out,security_model=none,path=$OUT"
        # Makes a restored guest's random numbers others than those of the next one.
        -device vmgenid,guid=auto
        # igb needs a PCIe slot of its own for its VFs.
        -device pcie-root-port,id=rp1,chassis=1
        -netdev "$FABRIC,id=fabric" -device "igb,bus=rp1,netdev=fabric,romfile=${NODE:+,mac=52:54:00:00:0$NODE:01}")
    for ((nic = 2; nic <= NICS; nic++)); do
        QEMU+=(-device "pcie-root-port,id=rp$nic,chassis=$nic" -netdev "user,restrict=on,id=fabric$nic" -device "igb,bus=rp$nic,netdev=fabric$nic,romfile=")
    done
}

tsc_khz() {
    [[ $(accelerator) != icount ]] || { echo 1000000; return; }
    /usr/bin/python3 "$LAB_DIR/host/tsc_khz.py"
}

# The start of a machine that boots: the kernel, and an initrd to which this checkout's init.sh is appended.
boot_options() { # INITRD [KERNEL_ARGS]
    { cat "$KERNEL_DIR/initrd" && cd "$LAB_DIR/guest" && cpio --quiet -o -H newc <<<init.sh; } >"$1"
    QEMU+=(-kernel "$KERNEL_DIR/vmlinuz" -initrd "$1"
        # nohz, highres: with one-shot timers the emulation now and then loses one, and the guest stands still.
        -append "console=ttyS0 panic=-1 oops=panic mitigations=off tsc=reliable tsc_early_khz=$(tsc_khz) nohz=off highres=off nowatchdog audit=0 apparmor=0 cryptomgr.notests no_timer_check${WITH_IOMMU:+ intel_iommu=on} ${2:-}")
}

# The kubelet that tests/kubelet builds once, and the helpers of its rig.
share_kubelet() {
    local folder
    [[ -n $WITH_KUBELET ]] || return 0
    folder=$("$PROJECT_DIR/tests/kubelet/kubelet.sh" build) || die "there is no kubelet to share"
    QEMU+=(-virtfs "local,mount_tag=kubelet-bin,security_model=none,readonly=on,path=$folder"
        -virtfs "local,mount_tag=kubelet,security_model=none,readonly=on,path=$PROJECT_DIR/tests/kubelet")
}

readonly FORWARD_ADDRESS=10.0.2.15 # of the guest, in QEMU's user network

forward_options() { # HOSTPORT:GUESTPORT..
    local rules='' pair
    (($#)) || return 0
    for pair in "$@"; do
        rules+=",hostfwd=tcp:127.0.0.1:${pair%%:*}-$FORWARD_ADDRESS:${pair##*:}"
    done
    management_nic "$rules"
}

management_nic() { # RULES
    QEMU+=(-netdev "user,id=mgmt,restrict=on$1" -device virtio-net-pci,netdev=mgmt,romfile=)
}

is_free_port() { # PORT
    ! (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Below the ports that the kernel gives away by itself.
free_port() {
    local port
    while port=$((20000 + RANDOM % 10000)); do
        ! is_free_port "$port" || break
    done
    echo "$port"
}

# HOSTPORT 0 is whichever is free: two checkouts may run the same scenario at once.
choose_forwards() {
    local i
    for i in "${!FORWARDS[@]}"; do
        [[ ${FORWARDS[i]} != 0:* ]] || FORWARDS[i]=$(free_port):${FORWARDS[i]#0:}
    done
}

require_free_port() { # PORT
    is_free_port "$1" ||
        die "port $1 on 127.0.0.1 is in use on this host; stop what listens there (ss -ltnp 'sport = :$1') and try again"
}

# An empty output folder, held by a lock as long as this lab.sh lives.
claim_output() { # SCENARIO
    local name=$1
    [[ $KERNEL == newest ]] || name+=-$KERNEL
    OUT=$PROJECT_DIR/build/lab/$name
    mkdir -p "$PROJECT_DIR/build/lab"
    exec 8>"$OUT.lock"
    flock -n 8 || die "scenario '$1' is already running in this checkout"
    rm -rf "$OUT"
    mkdir "$OUT"
}

# What init.sh reads in the guest.
write_run_env() { # MGMT_ADDRESS SCRIPT [ARGS..]
    {
        echo "SCRIPT=$2"
        echo "ARGS=($(printf '%q ' "${@:3}"))"
        echo "LAB_TIMEOUT=$TIMEOUT"
        echo "LAB_HOSTNAME=${NODE:+node}${NODE:-lab}"
        echo "LAB_MGMT=$1"
        echo "LAB_KUBELET=$WITH_KUBELET"
        echo "LAB_ROCELET=${ROCELET_LAB_ROCELET:-rocelet}"
    } >"$OUT/run.env"
}

# What a sanitizer's build needs, beside it.
share_sanitizers() {
    local program=$PROJECT_DIR/build/${ROCELET_LAB_ROCELET:-rocelet}
    [[ $program == */*san/* ]] || return 0
    mkdir -p "${program%/*}/lib"
    ldd "$program" | awk '/san\.so/ { print $3 }' | xargs -r cp -t "${program%/*}/lib"
}

start_machine() { # SCENARIO [ARGS..]
    local pair
    choose_forwards
    for pair in "${FORWARDS[@]}"; do require_free_port "${pair%%:*}"; done
    prepare_image
    prepare_state
    if [[ -n $STATE ]]; then
        launch_machine "$@"
        was_restored && return
        stop_machine
        forget_state
    fi
    launch_machine "$@"
}

launch_machine() { # SCENARIO [ARGS..]
    claim_output "$1"
    write_run_env "${FORWARDS[0]:+$FORWARD_ADDRESS/24}" "scenarios/$1.sh" "${@:2}"
    machine_command
    share_kubelet
    share_sanitizers
    forward_options "${FORWARDS[@]}"
    if [[ -n $STATE ]]; then restore_options; else boot_options "$OUT/initrd"; fi
    note "starting the virtual machine ($(accelerator), kernel $KERNEL${STATE:+, as it was saved})"
    "${QEMU[@]}" -serial "file:$OUT/console.log" </dev/null >"$OUT/qemu.log" 2>&1 8>&- &
    QEMU_PID=$!
    trap stop_machine EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

machine_runs() {
    kill -0 "$QEMU_PID" 2>/dev/null
}

# The guest powers itself off when it is done; a guest that does not is not waited for.
stop_machine() {
    trap - EXIT
    [[ -z $HOST_PART ]] || kill "$HOST_PART" 2>/dev/null || true
    [[ -n $QEMU_PID ]] || return 0
    kill "$QEMU_PID" 2>/dev/null || true
    wait "$QEMU_PID" 2>/dev/null || true
    QEMU_PID=
}

show_tail() { # TITLE FILE LINES
    [[ -s $2 ]] || return 0
    printf -- '----- %s: last lines of %s\n' "$1" "${2#"$PROJECT_DIR"/}"
    tail -n "$3" "$2"
}
