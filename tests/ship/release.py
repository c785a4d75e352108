#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the output of `make release` for images: the index, its signature, the bills of materials, the checksums and the version's places.

  release.py

The images are those of two small folders, one for each architecture, so that no cross build is needed. One line per check.

run:
proves: k8s/deploy/image
when: core
"""
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
sys.path[:0] = [os.path.join(TOP, "k8s/deploy/image"), os.path.join(HERE, "../lib")]
import oci  # noqa: E402
import release  # noqa: E402
import sbom  # noqa: E402
from run_checks import run_checks  # noqa: E402

NAME = "registry.example.com/team/rocelet:1.2.3"
ARCHS = ("amd64", "arm64")
WORK = tempfile.TemporaryDirectory()
checks = []


def check(function):
    checks.append(function)
    return function


def run(*argv, **more):
    return subprocess.run(argv, check=True, capture_output=True, **more).stdout


def rootfs(arch):
    """A file system with a program and two packages."""
    folder = f"{WORK.name}/{arch}"
    for path, text in (
            ("usr/sbin/rocelet", arch), ("usr/lib/os-release", 'ID=debian\nVERSION_ID="12"\n'),
            ("var/lib/dpkg/status.d/libuv1", f"Package: libuv1\nStatus: install ok installed\nArchitecture: {arch}\nVersion: 1.44.2-1+deb12u1\nDescription: x\n y: z\n"),
            ("var/lib/dpkg/status.d/libc6", f"Package: libc6\nSource: glibc\nArchitecture: {arch}\nVersion: 2.36-9\n"),
            ("usr/share/doc/libuv1/copyright", "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nLicense: Expat\n The text.\n\n"
             "Files: b\n c\nCopyright: 2026\nLicense: GPL-2+ or BSD-2-clause, and Odd\n\nLicense: ISC\n only a text, of no file\n"),
            ("usr/share/doc/libc6/copyright", "This is the GNU C library.\n")):
        os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
        with open(f"{folder}/{path}", "w", encoding="utf-8") as f:
            f.write(text)
    run("k8s/deploy/image/sbom.py", folder, arch, "1.2.3", cwd=TOP)
    return folder


def image_of(arch):
    path = f"{WORK.name}/rocelet-1.2.3-{arch}.tar"
    if not os.path.exists(path):
        run("k8s/deploy/image/oci.py", rootfs(arch), path, NAME, arch, cwd=TOP)
    return path


def index_of(archs=ARCHS, out="rocelet.oci.tar"):
    path = f"{WORK.name}/{out}"
    run("k8s/deploy/image/release.py", "index", path, NAME, *(image_of(a) for a in archs), cwd=TOP)
    return release.load(path)


@check
def one_index_has_both_images():
    files = index_of()
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    outer = release.only_manifest(files)
    assert outer["mediaType"] == "application/vnd.oci.image.index.v1+json", outer
    assert outer["annotations"] == {"io.containerd.image.name": NAME, "org.opencontainers.image.ref.name": "1.2.3"}, outer
    inner = json.loads(release.blob_of(files, outer))
    assert [m["platform"] for m in inner["manifests"]] == [{"architecture": a, "os": "linux"} for a in ARCHS], inner
    # The name of a single architecture's image would be imported besides that of the index.
    assert not any("annotations" in m for m in inner["manifests"]), inner
    for one, arch in zip(inner["manifests"], ARCHS):
        manifest = json.loads(release.blob_of(files, one))
        config = json.loads(release.blob_of(files, manifest["config"]))
        assert config["architecture"] == arch, config
        release.blob_of(files, manifest["layers"][0])
    for path, data in files.items():
        assert not path.startswith("blobs/") or path == "blobs/sha256/" + hashlib.sha256(data).hexdigest(), path


@check
def the_same_images_give_the_same_bytes():
    one, other = index_of(), index_of(ARCHS[::-1], "other.tar")
    assert one == other
    with open(WORK.name + "/rocelet.oci.tar", "rb") as a, open(WORK.name + "/other.tar", "rb") as b:
        assert a.read() == b.read()


@check
def two_images_of_an_architecture_are_refused():
    try:
        index_of(("amd64", "amd64"), "twice.tar")
    except subprocess.CalledProcessError as error:
        assert b"two images for one architecture" in error.stderr, error.stderr
    else:
        raise AssertionError("made")


@check
def a_damaged_image_is_refused():
    files = release.load(image_of("amd64"))
    blob = "blobs/" + release.only_manifest(files)["digest"].replace(":", "/")
    damaged = f"{WORK.name}/damaged.tar"
    release.save(damaged, {**files, blob: files[blob].replace(b"1", b"2", 1)})
    failed = subprocess.run(["k8s/deploy/image/release.py", "index", WORK.name + "/of-damaged.tar", NAME, damaged], cwd=TOP, capture_output=True, check=False)
    assert failed.returncode == 1 and b"is damaged" in failed.stderr, failed
    assert not os.path.exists(WORK.name + "/of-damaged.tar")


@check
def a_signature_is_where_cosign_looks():
    index_of()
    key, public, path = (f"{WORK.name}/{name}" for name in ("key.pem", "pub.pem", "rocelet.oci.tar"))
    run("openssl", "ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", key)
    run("openssl", "ec", "-in", key, "-pubout", "-out", public)
    for _twice in range(2):
        run("k8s/deploy/image/release.py", "sign", path, NAME, f"openssl dgst -sha256 -sign {key}", cwd=TOP)
    files = release.load(path)
    image, signature = json.loads(files["index.json"])["manifests"]
    assert signature["annotations"][release.REF] == image["digest"].replace(":", "-") + ".sig", signature
    layer, = json.loads(release.blob_of(files, signature))["layers"]
    data = release.blob_of(files, layer)
    critical = json.loads(data)["critical"]
    assert critical["image"]["docker-manifest-digest"] == image["digest"], critical
    assert critical["identity"]["docker-reference"] == "registry.example.com/team/rocelet", critical
    assert critical["type"] == "cosign container image signature", critical
    for name, content in (("payload", data), ("signature", base64.b64decode(layer["annotations"][release.SIGNATURE]))):
        with open(f"{WORK.name}/{name}", "wb") as f:
            f.write(content)
    run("openssl", "dgst", "-sha256", "-verify", public, "-signature", WORK.name + "/signature", WORK.name + "/payload")


@check
def a_command_that_fails_signs_nothing():
    index_of()
    for command in ("false", "echo signed; false", "true"):
        failed = subprocess.run(["k8s/deploy/image/release.py", "sign", WORK.name + "/rocelet.oci.tar", NAME, command], cwd=TOP, capture_output=True, check=False)
        assert failed.returncode == 1 and b"no signature from: " + command.encode() in failed.stderr, failed
    assert len(json.loads(release.load(WORK.name + "/rocelet.oci.tar")["index.json"])["manifests"]) == 1


@check
def a_bill_of_materials_is_in_the_image_and_beside_it():
    out = WORK.name + "/sbom.json"
    run("k8s/deploy/image/release.py", "sbom", image_of("amd64"), out, cwd=TOP)
    with open(out, "rb") as f, open(f"{WORK.name}/amd64/{sbom.PLACE}", "rb") as inside:
        beside = f.read()
        assert beside == inside.read()
    document = json.loads(beside)
    packages = {p["name"]: p for p in document["packages"]}
    assert {"rocelet", "libuv1", "libc6", "uplot"} <= set(packages), set(packages)
    assert packages["rocelet"]["licenseDeclared"] == "Apache-2.0 AND (GPL-2.0-only OR BSD-2-Clause)"
    assert packages["libuv1"]["externalRefs"][0]["referenceLocator"] == "pkg:deb/debian/libuv1@1.44.2-1%2Bdeb12u1?arch=amd64&distro=debian-12"
    assert "built from glibc" in packages["libc6"]["sourceInfo"]
    # From a machine-readable copyright file; a text for people says nothing that a program may conclude from.
    for field in ("licenseConcluded", "licenseDeclared"):
        assert packages["libuv1"][field] == "(GPL-2.0-or-later OR BSD-2-Clause) AND LicenseRef-Debian-Odd AND MIT", packages["libuv1"]
        assert packages["libc6"][field] == "NOASSERTION", packages["libc6"]
    assert {i["licenseId"]: i["name"] for i in document["hasExtractedLicensingInfos"]} == {"LicenseRef-Debian-Odd": "Odd"}
    for p in packages.values():
        for word in re.findall(r"LicenseRef-[A-Za-z0-9.-]+", p["licenseDeclared"]):
            assert word in {i["licenseId"] for i in document["hasExtractedLicensingInfos"]}, p
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or 0)
    assert document["creationInfo"]["created"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)), document["creationInfo"]
    ids = {p["SPDXID"] for p in document["packages"]} | {document["SPDXID"]}
    assert len(ids) == len(document["packages"]) + 1
    for r in document["relationships"]:
        assert r["spdxElementId"] in ids and r["relatedSpdxElement"] in ids, r
    for required in ("spdxVersion", "dataLicense", "documentNamespace", "name"):
        assert document[required], required


@check
def checksums_hold():
    folder = WORK.name + "/sums"
    os.makedirs(folder)
    for name in ("b", "a"):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
            f.write(name)
    for _twice in range(2):
        run("k8s/deploy/image/release.py", "sums", folder, cwd=TOP)
    assert run("sha256sum", "--strict", "-c", "SHA256SUMS", cwd=folder) == b"a: OK\nb: OK\n"


@check
def every_place_names_the_same_version():
    assert release.wrong_places(release.makefile_version()) == []
    copy = WORK.name + "/tree"
    for path in ["Makefile"] + [place[0] for place in release.PLACES]:
        os.makedirs(os.path.dirname(f"{copy}/{path}"), exist_ok=True)
        shutil.copy(f"{TOP}/{path}", f"{copy}/{path}")
    release.set_version("7.8.9", copy)
    # Entries of changelogs are not changed by the script.
    assert [wrong.split(":")[0] for wrong in release.wrong_places("7.8.9", copy)] == ["daemon/debian/changelog", "docs/changelog.md"]
    with open(copy + "/Makefile", encoding="utf-8") as f:
        assert "\nVERSION := 7.8.9\n" in f.read()
    # Only the newest entry of a changelog counts.
    for path, entry in (("daemon/debian/changelog", "rocelet (7.8.9) unstable; urgency=low\n\n"), ("docs/changelog.md", "# Changelog\n\n## 7.8.9\n\n")):
        with open(f"{copy}/{path}", encoding="utf-8") as f:
            text = f.read()
        with open(f"{copy}/{path}", "w", encoding="utf-8") as f:
            f.write(entry + text)
    assert release.wrong_places("7.8.9", copy) == []
    # A place that no longer names a version is wrong, too.
    with open(copy + "/k8s/deploy/base/daemonset.yaml", "w", encoding="utf-8") as f:
        f.write("image: localhost/rocelet@sha256:0\n")
    assert release.wrong_places("7.8.9", copy) == ["k8s/deploy/base/daemonset.yaml: no version, not 7.8.9"]
    with open(copy + "/k8s/deploy/overlays/native-versioned/version.yaml", encoding="utf-8") as f:
        assert "value: rocelet-7.8.9" in f.read()


@check
def no_manifest_or_page_is_forgotten():
    """Every file that names the version of an image, a chart or a package is a place; before-1.30 is generated from the overlays."""
    version = release.makefile_version()
    named = re.compile(r"(?:rocelet|perftest)[:_-]%s\b|newTag: %s\b" % ((re.escape(version),) * 2))
    listed = run("git", "ls-files", "k8s/deploy", "docs/start", "docs/tasks", "README.md", cwd=TOP).decode().split()
    places = {place for place, _ in release.PLACES}
    copy = WORK.name + "/all"
    for path in set(listed) | places | {"Makefile"}:
        os.makedirs(os.path.dirname(f"{copy}/{path}"), exist_ok=True)
        shutil.copy(f"{TOP}/{path}", f"{copy}/{path}")
    release.set_version("7.8.9", copy)
    left = []
    for path in listed:
        with open(f"{copy}/{path}", encoding="utf-8", errors="replace") as f:
            left += [f"{path}: {line.strip()}" for line in f if named.search(line) and "/before-1.30/" not in path]
    # The DaemonSet of the previous version, which an upgrade replaces.
    assert [line for line in left if not re.search(r"delete daemonset|starts beside", line)] == [], left


if __name__ == "__main__":
    sys.exit(run_checks(checks, sys.argv[1:]))
