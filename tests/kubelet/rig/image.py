# SPDX-License-Identifier: Apache-2.0
"""Writes an image of one layer, a static busybox, as an OCI archive for `ctr images import`: image.py BUSYBOX NAME TAR."""
import gzip, hashlib, io, json, sys, tarfile

APPLETS = "sh ls cat sleep env echo mv mkdir rm date test ip grep".split()
FOREVER = "trap exit TERM INT; while :; do sleep 3600 & wait; done"
OCI = "application/vnd.oci.image."


def add(tar, name, content=None, **attributes):
    info = tarfile.TarInfo(name)
    info.mode, info.size = 0o755, len(content or b"")
    for key, value in attributes.items():
        setattr(info, key, value)
    tar.addfile(info, io.BytesIO(content or b""))


def root_file_system(busybox):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for folder in ("bin", "dev", "etc", "proc", "sys", "tmp"):
            add(tar, folder, type=tarfile.DIRTYPE)
        with open(busybox, "rb") as file:
            add(tar, "bin/busybox", file.read())
        for applet in APPLETS:
            add(tar, f"bin/{applet}", type=tarfile.SYMTYPE, linkname="busybox")
        for folder in ("lib", "lib64"):  # so that programs of the machine run if its /usr is mounted
            add(tar, folder, type=tarfile.SYMTYPE, linkname=f"usr/{folder}")
    return out.getvalue()


class Archive:
    def __init__(self):
        self.blobs = {}

    def blob(self, kind, content):
        """Adds it and returns its descriptor."""
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        digest = hashlib.sha256(content).hexdigest()
        self.blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": OCI + kind, "digest": f"sha256:{digest}", "size": len(content)}

    def write(self, path, index):
        with tarfile.open(path, "w") as tar:
            add(tar, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
            add(tar, "index.json", json.dumps(index).encode())
            for name, content in self.blobs.items():
                add(tar, name, content)


def main(busybox, name, path):
    tree, archive = root_file_system(busybox), Archive()
    config = archive.blob("config.v1+json", {
        "architecture": "amd64", "os": "linux",
        "config": {"Env": ["PATH=/usr/sbin:/usr/bin:/bin"], "Entrypoint": ["/bin/sh", "-c", FOREVER]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tree).hexdigest()]}})
    layer = archive.blob("layer.v1.tar+gzip", gzip.compress(tree, 1, mtime=0))
    manifest = archive.blob("manifest.v1+json", {"schemaVersion": 2, "config": config, "layers": [layer]})
    manifest["annotations"] = {"io.containerd.image.name": name}
    archive.write(path, {"schemaVersion": 2, "manifests": [manifest]})


main(*sys.argv[1:])
