#!/bin/bash
# arm64.sh - the programs for arm64: unit tests, and the image, run by qemu's user mode on a machine of another architecture. As root.
#
# qemu carries out arm64's instructions and hands system calls to this machine's kernel, some of which it does not know: those tests are
# left out, by name and with the reason, and everything else must hold. That BPF objects load is for a kernel to say, so of them only
# what can be seen is judged.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/lib/checks.sh

readonly BUILD=build/arm64 LOGS=build/arm64/logs
SKIPPED=0

# PROGRAM REASON: what qemu does not have.
not_under_qemu() {
    cat <<'END'
END
}

reason() { # PROGRAM
    not_under_qemu | awk -v name="$1" '$1 == name { sub(/^[^ ]+ /, ""); print }'
}

# Registers are named in the program: an arm64 kprobe reads its arguments from regs[], an x86 one from di, si, ..
registers_are_arm64s() {
    local object n=0
    for object in "$BUILD"/gen/*.bpf.o; do
        ! bpftool btf dump file "$object" | grep -qE "'(di|si|dx)' type_id" || { echo "$object reads x86 registers"; return 1; }
        bpftool btf dump file "$object" | grep -q "STRUCT 'user_pt_regs'" && n=$((n + 1))
    done
    ((n > 0))
}

run_test() { # PROGRAM
    local name=${1##*/} why
    why=$(reason "$name")
    if [[ -n $why ]]; then
        echo "# not run: $name: $why"
        SKIPPED=$((SKIPPED + 1))
        return
    fi
    check "$name" "timeout 300 '$QEMU' -L '$SYSROOT' '$1' >'$LOGS/$name.log' 2>&1"
    (($(grep -c . <<<"$(failed_tests "$name")") == 0)) || failed_tests "$name"
}

failed_tests() { # NAME
    grep -xE '\[  (FAILED |ERROR  ) \] \w+' "$LOGS/$1.log" 2>/dev/null | sort -u || true
}

make --no-print-directory --silent -j2 build/bench/mk_sysfs
make --no-print-directory --silent -j2 ARCH=arm64 all tests image
SYSROOT=$(k8s/deploy/image/sysroot.sh arm64)
QEMU=$(tests/ship/qemu.sh arm64)
mkdir -p "$LOGS"
# A tree is made by a program of this machine: qemu's programs cannot start one of their own kind.
cp build/bench/mk_sysfs "$BUILD/bench/mk_sysfs"
check "BPF programs read arm64's registers" registers_are_arm64s
for program in "$BUILD"/tests/test_*; do [[ ! -x $program || -d $program ]] || run_test "$program"; done
check "the image holds" "tests/ship/image.sh arm64 >'$LOGS/image.log' 2>&1"
echo "# arm64: $SKIPPED programs not run"
