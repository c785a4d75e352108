#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of a release: one image for several architectures, its signature, bills of materials and checksums.

  release.py index OUT.tar NAME:TAG IMAGE.tar...    writes an OCI layout with one index of images of oci.py
  release.py sbom IMAGE.tar OUT                     writes the bill of materials that an image contains
  release.py sign OUT.tar NAME:TAG COMMAND          adds a signature in the form of cosign: COMMAND gets the payload on stdin and prints a signature
  release.py sums FOLDER                            writes SHA256SUMS of the files of a folder
  release.py check                                  checks that all files name the same version
  release.py set VERSION                            writes the version into all files

The layout is what `skopeo copy oci-archive:...`, `ctr images import`, `oras` and `crane push` read. The signature is a second manifest in
the layout, with the tag sha256-DIGEST.sig and a layer with the payload "simple signing"; once both are copied into a registry, `cosign verify --key` finds it.
The same images give the same bytes; a signature is as reproducible as the command.
"""
import base64
import io
import json
import os
import re
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../../..")
sys.path.insert(0, HERE)
import oci  # noqa: E402
import sbom  # noqa: E402

REF = "org.opencontainers.image.ref.name"
SIGNATURE = "dev.cosignproject.cosign/signature"
PAYLOAD = "application/vnd.dev.cosign.simplesigning.v1+json"

# --- layouts: names and contents ----------------------------------------------------------------


def load(path):
    with tarfile.open(path) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}


def save(path, files):
    with tarfile.open(path + ".new", "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), oci.WHEN
            tar.addfile(info, io.BytesIO(data))
    os.rename(path + ".new", path)


def blob_of(files, descriptor):
    data = files["blobs/" + descriptor["digest"].replace(":", "/")]
    if "sha256:" + oci.sha256(data) != descriptor["digest"] or len(data) != descriptor["size"]:
        sys.exit(f"release.py: {descriptor['digest']} is damaged")
    return data


def only_manifest(files):
    descriptor, = json.loads(files["index.json"])["manifests"]
    return descriptor


def index(name, images):
    """Joins layouts with one image each to a layout with one index."""
    files, manifests = {}, []
    for image in images:
        descriptor = only_manifest(image)
        blob_of(image, descriptor)
        manifests.append({k: v for k, v in descriptor.items() if k != "annotations"})
        files.update({path: data for path, data in image.items() if path.startswith("blobs/")})
    platforms = [m["platform"]["architecture"] for m in manifests]
    if len(set(platforms)) != len(platforms):
        sys.exit(f"release.py: two images for one architecture: {platforms}")
    manifests.sort(key=lambda m: m["platform"]["architecture"])
    inner = oci.to_json({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests})
    files[oci.blob(inner)] = inner
    files["oci-layout"] = oci.to_json({"imageLayoutVersion": "1.0.0"})
    files["index.json"] = oci.to_json({"schemaVersion": 2, "manifests": [oci.descriptor(
        "index.v1+json", inner, annotations={"io.containerd.image.name": name, REF: name.rpartition(":")[2]})]})
    return files


# --- signatures -----------------------------------------------------------------------------------


def payload(name, digest):
    return oci.to_json({"critical": {"identity": {"docker-reference": name.rpartition(":")[0]}, "image": {"docker-manifest-digest": digest},
                                     "type": "cosign container image signature"}, "optional": None})


def sign(files, name, signer):
    """Adds a signature of the image with that name. signer(payload) returns the signature; both are bytes."""
    outer = json.loads(files["index.json"])
    image = next(m for m in outer["manifests"] if m["annotations"][REF] == name.rpartition(":")[2])
    data = payload(name, image["digest"])
    config = oci.to_json({"architecture": "", "config": {}, "created": "1970-01-01T00:00:00Z", "history": [{"created": "1970-01-01T00:00:00Z"}], "os": "",
                          "rootfs": {"type": "layers", "diff_ids": ["sha256:" + oci.sha256(data)]}})
    layer = {"mediaType": PAYLOAD, "digest": "sha256:" + oci.sha256(data), "size": len(data),
             "annotations": {SIGNATURE: base64.b64encode(signer(data)).decode()}}
    manifest = oci.to_json({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                            "config": oci.descriptor("config.v1+json", config), "layers": [layer]})
    tag = image["digest"].replace(":", "-") + ".sig"
    outer["manifests"] = [m for m in outer["manifests"] if m["annotations"][REF] != tag]
    outer["manifests"].append(oci.descriptor("manifest.v1+json", manifest, annotations={REF: tag}))
    return {**files, "index.json": oci.to_json(outer), **{oci.blob(d): d for d in (data, config, manifest)}}


def run_signer(command):
    def signer(data):
        done = subprocess.run(["sh", "-c", command], input=data, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0 or not done.stdout:
            sys.exit(f"release.py: no signature from: {command}")
        return done.stdout
    return signer


# --- the version ----------------------------------------------------------------------------------

# Files that name the version. They cannot include the Makefile, which defines it. Each pattern has the version as its only group.
PLACES = (
    ("k8s/deploy/base/daemonset.yaml", r"image: localhost/rocelet:(\S+)"),
    ("k8s/deploy/Dockerfile", r"localhost/rocelet:(\S+)"),
    ("k8s/deploy/overlays/multus/daemonset.yaml", r"image: localhost/rocelet:(\S+)"),
    ("k8s/deploy/components/node-features-uninstall/kustomization.yaml", r"image: localhost/rocelet:(\S+)"),
    ("k8s/deploy/overlays/native-versioned/version.yaml", r"value: (?:rocelet-)?(\d+\.\d+\.\d+\S*)"),
    ("daemon/debian/changelog", r"\Arocelet \((\S+)\)"),
    ("docs/changelog.md", r"\n## ([^\s,]+)"),
    ("README.md", r"build/rocelet-(\d+\.\d+\.\d+)"),
    ("docs/start/install.md", r"(?:localhost/rocelet:|newTag: |build/rocelet-|arm64/rocelet-|deb/rocelet_)(\d+\.\d+\.\d+)"),
    ("docs/start/platforms.md", r"build/rocelet-(\d+\.\d+\.\d+)"),
    ("docs/tasks/gitops.md", r"(?:newTag: |targetRevision: |build/rocelet-)(\d+\.\d+\.\d+)"),
    ("docs/tasks/groups.md", r"build/rocelet-(\d+\.\d+\.\d+)"),
    ("docs/tasks/node-facts.md", r"image: localhost/rocelet:(\S+)"),
    ("docs/tasks/release.md", r"(?:rocelet[-:]|oci\.tar:|perftest[:-])(\d+\.\d+\.\d+)"),
)


def makefile_version():
    with open(os.path.join(TOP, "Makefile"), encoding="utf-8") as f:
        return re.search(r"^VERSION := (.*)$", f.read(), re.M)[1]


def wrong_places(version, top=TOP):
    """Lists the files that name another version, or none. In a changelog, only the newest entry is compared."""
    wrong = []
    for path, pattern in PLACES:
        with open(os.path.join(top, path), encoding="utf-8") as f:
            found = re.findall(pattern, f.read())
        found = found[:1] if "changelog" in path else found
        if not found or set(found) != {version}:
            wrong.append(f"{path}: {', '.join(sorted(set(found))) or 'no version'}, not {version}")
    return wrong


def set_version(version, top=TOP):
    """Writes the version into all files except the changelogs, because their entries are written manually."""
    for path, pattern in (("Makefile", r"(?m)^VERSION := (.*)$"), *(p for p in PLACES if "changelog" not in p[0])):
        with open(os.path.join(top, path), encoding="utf-8") as f:
            text = f.read()
        text = re.sub(pattern, lambda m: m[0][:m.start(1) - m.start()] + version + m[0][m.end(1) - m.start():], text)
        with open(os.path.join(top, path), "w", encoding="utf-8") as f:
            f.write(text)


# --- commands -------------------------------------------------------------------------------------


def write_sums(folder):
    lines = []
    for name in sorted(os.listdir(folder)):
        if not name.startswith("SHA256SUMS"):
            with open(os.path.join(folder, name), "rb") as f:
                lines.append(f"{oci.sha256(f.read())}  {name}\n")
    with open(os.path.join(folder, "SHA256SUMS"), "w", encoding="utf-8") as f:
        f.writelines(lines)


def sbom_of(image):
    import gzip
    manifest = json.loads(blob_of(image, only_manifest(image)))
    layer, = manifest["layers"]
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob_of(image, layer)))) as tar:
        return tar.extractfile(sbom.PLACE).read()


def main(command, *args):
    if command == "index":
        save(args[0], index(args[1], [load(path) for path in args[2:]]))
    elif command == "sbom":
        with open(args[1], "wb") as f:
            f.write(sbom_of(load(args[0])))
    elif command == "sign":
        save(args[0], sign(load(args[0]), args[1], run_signer(args[2])))
    elif command == "sums":
        write_sums(args[0])
    elif command == "check":
        sys.exit("\n".join(wrong_places(makefile_version())) or 0)
    elif command == "set":
        set_version(*args)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
