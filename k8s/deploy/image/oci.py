#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes an image from a folder, as a tar archive that `ctr images import`, `skopeo`, `podman load` and `docker load` read.

  oci.py ROOTFS OUT.tar NAME:TAG ARCH

One layer, one configuration, one manifest (OCI image specification 1.0), and Docker's manifest.json beside them. The same files give the same
bytes: names are sorted, all files belong to root, and all times are SOURCE_DATE_EPOCH (default: 1970).
"""
import gzip
import hashlib
import io
import json
import os
import stat
import sys
import tarfile
import time

WHEN = int(os.environ.get("SOURCE_DATE_EPOCH") or 0)
# The same as in the Dockerfile; a test compares both.
RUN = {
    "Entrypoint": ["/usr/sbin/rocelet"],
    "Env": ["PATH=/usr/sbin:/usr/bin", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"],
    "ExposedPorts": {"9907/tcp": {}},
    "WorkingDir": "/",
}
# For an image of tools: its user gives the command.
PLAIN = {"Env": ["PATH=/usr/sbin:/usr/bin"], "WorkingDir": "/"}


def paths_below(folder):
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        yield path
        if os.path.isdir(path) and not os.path.islink(path):
            yield from paths_below(path)


def member(tar, name, path):
    info = tar.gettarinfo(path, name)
    if not (info.isfile() or info.isdir() or info.issym() or info.islnk()):
        sys.exit(f"oci.py: {path} is neither a file, a folder nor a link")
    if info.islnk():  # hard links become separate files: which of the names comes first is random
        info.type, info.linkname, info.size = tarfile.REGTYPE, "", os.path.getsize(path)
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = WHEN
    info.mode = 0o777 if info.issym() else stat.S_IMODE(info.mode)
    return info


def layer_of(folder):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in paths_below(folder):
            info = member(tar, os.path.relpath(path, folder), path)
            if info.isfile():
                with open(path, "rb") as f:
                    tar.addfile(info, f)
            else:
                tar.addfile(info)
    return raw.getvalue()


def to_json(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def descriptor(media_type, data, **more):
    return {"mediaType": "application/vnd.oci.image." + media_type, "digest": "sha256:" + sha256(data), "size": len(data), **more}


def blob(data):
    return "blobs/sha256/" + sha256(data)


def image(folder, name, arch):
    """Returns {name: content} of the archive's files."""
    layer = layer_of(folder)
    packed = gzip.compress(layer, 9, mtime=0)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(WHEN))
    title, _, version = name.rpartition("/")[2].partition(":")
    labels = {"org.opencontainers.image.title": title, "org.opencontainers.image.version": version}
    if title == "rocelet":
        labels["org.opencontainers.image.licenses"] = "Apache-2.0 AND (GPL-2.0-only OR BSD-2-Clause)"
    config = to_json({
        "architecture": arch, "os": "linux", "created": created, "config": {**(RUN if title == "rocelet" else PLAIN), "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + sha256(layer)]},
        "history": [{"created": created, "created_by": "make image"}],
    })
    manifest = to_json({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("config.v1+json", config), "layers": [descriptor("layer.v1.tar+gzip", packed)],
    })
    index = to_json({"schemaVersion": 2, "manifests": [descriptor(
        "manifest.v1+json", manifest, platform={"architecture": arch, "os": "linux"},
        annotations={"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]})]})
    docker = to_json([{"Config": blob(config), "RepoTags": [name], "Layers": [blob(packed)]}])
    return {"oci-layout": to_json({"imageLayoutVersion": "1.0.0"}), "index.json": index, "manifest.json": docker,
            blob(manifest): manifest, blob(config): config, blob(packed): packed}


def main():
    folder, out, name, arch = sys.argv[1:]
    with tarfile.open(out + ".new", "w", format=tarfile.USTAR_FORMAT) as tar:
        for path, data in sorted(image(folder, name, arch).items()):
            info = tarfile.TarInfo(path)
            info.size, info.mtime = len(data), WHEN
            tar.addfile(info, io.BytesIO(data))
    os.rename(out + ".new", out)


if __name__ == "__main__":
    main()
