#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# image.sh [ARCH] - judges the image of `make image`, which must have been built: its content, that it needs nothing else, and that its
# programs run in it, with qemu if this machine cannot run them. As root (chroot).
#
#   image.sh again       also: two builds of the same sources, in different folders, are the same bytes
# run:
# proves: k8s/deploy/image Makefile
# when: turns
# when: turns again
# needs: root image build-lock
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/lib/checks.sh

NATIVE=$(dpkg --print-architecture)
VERSION=$(sed -n 's/^VERSION := //p' Makefile)
readonly NATIVE VERSION
WORK=$(mktemp -d /var/tmp/rocelet-image.XXXXXX) ARCH=$NATIVE
ROOT=$WORK/root
RUNNER=()
DAEMON=

trap 'leave "$?"' EXIT
leave() { # STATUS
    local status=0
    trap - ERR EXIT
    [[ -z $DAEMON ]] || kill -KILL "$DAEMON" 2>/dev/null || true
    (on_exit "$1") || status=$?
    rm -rf --one-file-system "$WORK"
    exit "$status"
}

tarball() {
    local folder=build
    [[ $ARCH == "$NATIVE" ]] || folder=build/$ARCH
    echo "$folder/rocelet-$VERSION-$ARCH.tar"
}

# Unpacks the image as a runtime does, checking every digest on the way, and prints its configuration.
unpack() { # TARBALL ROOT
    /usr/bin/python3 - "$1" "$2" <<'END'
import hashlib, io, json, sys, tarfile
tar = tarfile.open(sys.argv[1])
def read(name): return tar.extractfile(name).read()
def blob(d):
    data = read("blobs/" + d["digest"].replace(":", "/"))
    assert "sha256:" + hashlib.sha256(data).hexdigest() == d["digest"] and len(data) == d["size"], d
    return data
assert json.loads(read("oci-layout"))["imageLayoutVersion"] == "1.0.0"
entry, = json.loads(read("index.json"))["manifests"]
manifest = json.loads(blob(entry))
config, (layer,) = json.loads(blob(manifest["config"])), manifest["layers"]
docker, = json.loads(read("manifest.json"))
assert docker["Config"] == "blobs/" + manifest["config"]["digest"].replace(":", "/") and docker["RepoTags"] == [entry["annotations"]["io.containerd.image.name"]]
import gzip
raw = gzip.decompress(blob(layer))
assert ["sha256:" + hashlib.sha256(raw).hexdigest()] == config["rootfs"]["diff_ids"]
files = tarfile.open(fileobj=io.BytesIO(raw))
assert all(m.uid == m.gid == 0 and not m.mode & 0o6000 and not m.isdev() and not m.name.startswith("/") for m in files), "owners, modes"
files.extractall(sys.argv[2])
print(json.dumps({"name": docker["RepoTags"][0], "platform": entry["platform"], **config}))
END
}

elves() { find "$ROOT" -type f \( -path '*/sbin/*' -o -name '*.so*' \); }

# Every library that a program or library needs is in the image.
libraries_are_closed() {
    local elf name
    while read -r elf; do
        for name in $(readelf -d "$elf" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'); do
            [[ -f $ROOT/usr/lib/$TRIPLET/$name ]] || { echo "${elf#"$ROOT"} lacks $name"; return 1; }
        done
    done < <(elves)
}

# libibverbs reads a name in each file and opens lib<name>-rdmav<ABI>.so.
providers_are_there() {
    local name n=0
    while read -r name; do
        compgen -G "$ROOT/usr/lib/$TRIPLET/libibverbs/lib$name-rdmav*.so" >/dev/null || { echo "no provider $name"; return 1; }
        n=$((n + 1))
    done < <(awk '$1 == "driver" { print $2 }' "$ROOT"/etc/libibverbs.d/*.driver)
    ((n >= 10))
}

# The image's loader finds all libraries that the providers of libibverbs, which are opened at run time, need.
loader_finds_all() {
    local elf loader
    loader=$(readelf -l "$ROOT/usr/sbin/rocelet" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
    while read -r elf; do
        (in_image "$loader" --list "${elf#"$ROOT"}") >"$WORK/list" 2>&1 || { cat "$WORK/list"; return 1; }
        ! grep 'not found' "$WORK/list" || return 1
    done < <(find "$ROOT/usr/lib/$TRIPLET/libibverbs" -type f)
}

packages_are_listed() {
    local folder=$ROOT/var/lib/dpkg/status.d package
    for package in "$folder"/*; do
        [[ -s $ROOT/usr/share/doc/${package##*/}/copyright ]] || { echo "no copyright of ${package##*/}"; return 1; }
        grep -q '^Version: ' "$package" || { echo "no version of ${package##*/}"; return 1; }
    done
    (($(find "$folder" -type f | wc -l) > 10))
}

licences_are_there() { # CONFIG
    local file label
    for file in LICENSE NOTICE bpf/LICENSE.BSD-2-Clause bpf/LICENSE.GPL-2.0; do
        cmp "$file" "$ROOT/usr/share/doc/rocelet/${file##*/}" || return 1
    done
    label=$(json 'doc["config"]["Labels"]["org.opencontainers.image.licenses"]' <<<"$1")
    [[ $label == "Apache-2.0 AND (GPL-2.0-only OR BSD-2-Clause)" ]] && grep -qF "licenses=\"$label\"" k8s/deploy/Dockerfile
}

# The unpacked size without libc's own packages.
unpacked_bytes() {
    find "$ROOT" -type f ! -name 'libc.so*' ! -name 'ld-linux*' ! -name 'libm.so*' ! -name 'libresolv*' ! -name 'libpthread*' ! -name 'libdl.so*' ! -name 'librt.so*' \
        -printf '%s\n' | awk '{ n += $1 } END { print n }'
}

# Runs a program with nothing of this machine but its kernel, and qemu if needed: the root contains only the image.
in_image() { # PROGRAM ARGS..
    exec chroot "$ROOT" "${RUNNER[@]}" "$@"
}

page() { curl -fsS -m 30 --unix-socket "$SOCKET" "http://rocelet$1"; }

serves() {
    page /metrics >"$WORK/page" 2>/dev/null && grep -q '^roce_port_info{' "$WORK/page"
}

judge_contents() {
    local config
    config=$(unpack "$(tarball)" "$ROOT")
    check "its name is localhost/rocelet:$VERSION, for $ARCH" \
        "[[ \$(json 'doc[\"name\"], doc[\"architecture\"], doc[\"platform\"][\"architecture\"]' <<<'$config') == \"('localhost/rocelet:$VERSION', '$ARCH', '$ARCH')\" ]]"
    check "the Dockerfile has the same entry point, environment and port" "same_as_dockerfile '$config'"
    check "every needed library is in it" libraries_are_closed
    check "every provider of libibverbs is in it" providers_are_there
    check "there is no shell" "[[ -z \$(find '$ROOT' -name '*sh' -perm /111 -o -name 'busybox*') ]]"
    check "every package is listed, with its copyright" packages_are_listed
    check "the project's licences are in it, and its label names them" "licences_are_there '$config'"
    check "at most 40 MB beyond libc" "(( \$(unpacked_bytes) <= 40000000 ))"
    echo "# image $ARCH: $(du -h --apparent-size "$(tarball)" | cut -f1) packed, $(($(unpacked_bytes) / 1000)) kB unpacked beyond libc, $(find "$ROOT/var/lib/dpkg/status.d" -type f | wc -l) packages"
}

# The image's configuration equals the Dockerfile's last stage, which `make rootfs` fills.
same_as_dockerfile() { # CONFIG
    local last
    last=$(sed -n '/^FROM scratch/,$p' k8s/deploy/Dockerfile)
    grep -qx 'COPY --from=build /src/build/rootfs /' <<<"$last" && grep -q '^RUN .*make rootfs$' k8s/deploy/Dockerfile &&
        [[ "$(json '"\n".join(["ENV " + e for e in doc["config"]["Env"]] + ["WORKDIR " + doc["config"]["WorkingDir"]]
            + ["EXPOSE " + p for p in doc["config"]["ExposedPorts"]] + ["ENTRYPOINT " + str(doc["config"]["Entrypoint"]).replace(chr(39), chr(34))])' <<<"$1")" == "$(grep -E '^(ENV|WORKDIR|EXPOSE|ENTRYPOINT)' <<<"$last")" ]]
}

judge_programs() {
    local tree=/run/tree
    check "rocelet prints its version" "[[ \$(in_image /usr/sbin/rocelet --version) == 'rocelet $VERSION' ]]"
    check "rocectl prints its version" "[[ \$(in_image /usr/sbin/rocectl --version) == 'rocectl $VERSION' ]]"
    check "the CNI plugin is installed, and starts" "(in_image /usr/sbin/rocelet --install-cni=/run) && [[ \$(CNI_COMMAND=VERSION in_image /run/rocelet-cni) == *'\"1.1.0\"'* ]]"
    check "the loader finds what is opened at run time" loader_finds_all
    build/bench/mk_sysfs "$ROOT$tree" 2 4 >/dev/null
    echo '{"pools": [{"resourceName": "roce", "selectors": {"isRdma": true}}]}' >"$ROOT/run/config.json"
    check "--check-config prints the pool and its devices" \
        "[[ \$(in_image /usr/sbin/rocelet --config /run/config.json --sysfs-root $tree --check-config 2>&1 | grep -c 'rocelet.dev/roce') -ge 2 ]]"
    SOCKET=$ROOT/run/rocelet.d/rocelet.sock
    in_image /usr/sbin/rocelet --sysfs-root $tree --run-dir /run/rocelet.d --state-dir /run/state \
        --kubelet-dir /nonexistent --listen '' --all-series >"$WORK/daemon.log" 2>&1 &
    DAEMON=$!
    check_within 10 "its page has the tree's RDMA devices" serves
    check "all six of them" "[[ \$(grep -c '^roce_port_info{' '$WORK/page') == 6 ]]"
    check "rocectl gets answers from it" "(in_image /usr/sbin/rocectl --socket /run/rocelet.d/rocelet.sock --json doctor) | json 'type(doc)'"
    [[ ${#RUNNER[@]} != 0 ]] || echo "# $(awk '$1 == "VmRSS:" { printf "%.1f MB resident", $2 / 1000 }' "/proc/$DAEMON/status") with 6 devices"
    kill "$DAEMON"
    check "it exits on SIGTERM" "wait $DAEMON"
    DAEMON=
}

show_logs() { tail -n 20 "$WORK"/*.log 2>/dev/null; }

# Builds the same sources from scratch in another folder. Without ccache, which would return copies of the first build.
build_again() {
    local there=$WORK/some/where/else
    mkdir -p "$there"
    # shellcheck disable=SC2016 # the inner shell's
    git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ ! -e "$f" ] || cp -P --parents "$f" "$0"; done' "$there"
    (umask 077; cd "$there" && SOURCE_DATE_EPOCH=$1 REVISION=tests CCACHE=0 make --no-print-directory --silent -j2 image) >"$WORK/again.log" 2>&1
    SOURCE_DATE_EPOCH=$1 REVISION=tests CCACHE=0 make --no-print-directory --silent -j2 image >>"$WORK/again.log" 2>&1
    check "two folders, the same bytes" "cmp '$there/$(tarball)' '$(tarball)'"
}

[[ ${1:-again} == again ]] || ARCH=$1
TRIPLET=$(case $ARCH in amd64) echo x86_64 ;; arm64) echo aarch64 ;; esac)-linux-gnu
mkdir "$ROOT"
judge_contents
if [[ $ARCH != "$NATIVE" ]]; then
    cp "$(tests/ship/qemu.sh "$ARCH")" "$ROOT/qemu"
    RUNNER=(/qemu)
fi
judge_programs
[[ ${1:-} != again ]] || build_again 1700000000
