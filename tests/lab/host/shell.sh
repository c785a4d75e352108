# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lab.sh shell: the guest's serial line on this terminal.

cmd_shell() {
    parse_run_options "$@"
    [[ -t 0 && -t 1 ]] || die "shell: this needs a terminal"
    local saved
    prepare_image
    claim_output shell
    write_run_env "${FORWARDS[0]:+$FORWARD_ADDRESS/24}" shell
    printf 'LAB_ROWS=%d LAB_COLUMNS=%d LAB_TERM=%q\n' "$(tput lines)" "$(tput cols)" "$TERM" >>"$OUT/run.env"
    machine_command
    share_kubelet
    forward_options "${FORWARDS[@]}"
    boot_options "$OUT/initrd" quiet
    saved=$(stty -g)
    note "starting the virtual machine (about 10 s)"
    "${QEMU[@]}" -chardev stdio,id=terminal,mux=on,signal=off -serial chardev:terminal -mon chardev=terminal 8>&- || true
    stty "$saved"
}
