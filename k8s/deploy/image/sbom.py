#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the bill of materials of the image's file system into it, as JSON of SPDX 2.3.

  sbom.py ROOTFS ARCH VERSION

It lists rocelet, and each Debian package with a file in the image (var/lib/dpkg/status.d), with its source and a purl; and the libraries of the page,
from daemon/web/packages. The same file system gives the same bytes; the time is SOURCE_DATE_EPOCH (default: 1970).
"""
import hashlib
import json
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WEB_PACKAGES = os.path.join(HERE, "../../../daemon/web/packages")
PLACE = "usr/share/doc/rocelet/sbom.spdx.json"
LICENCE = "Apache-2.0 AND (GPL-2.0-only OR BSD-2-Clause)"


def fields_of(paragraph):
    """The fields of a dpkg status paragraph, without continuation lines."""
    return dict(line.split(": ", 1) for line in paragraph.splitlines() if re.match(r"[A-Z][A-Za-z-]*: ", line))


def distribution(rootfs):
    with open(os.path.join(rootfs, "usr/lib/os-release"), encoding="utf-8") as f:
        release = dict(line.rstrip("\n").split("=", 1) for line in f if "=" in line)
    return release["ID"].strip('"'), release["VERSION_ID"].strip('"')


def package(name, version, purl, licence="NOASSERTION", **more):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}], **more}


def debian_packages(rootfs):
    distro, release = distribution(rootfs)
    folder = os.path.join(rootfs, "var/lib/dpkg/status.d")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            fields = fields_of(f.read())
        version = fields["Version"]
        purl = f"pkg:deb/{distro}/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={fields['Architecture']}&distro={distro}-{release}"
        source = fields.get("Source", name)
        yield package(name, version, purl, supplier="Organization: Debian", sourceInfo=f"built from {source}; licences: /usr/share/doc/{name}/copyright")


def web_packages():
    """The npm packages of the page. The file has lines NAME VERSION DIGEST."""
    with open(WEB_PACKAGES, encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if len(words) >= 2:
                yield package(words[0], words[1], f"pkg:npm/{words[0].replace('@', '%40')}@{words[1]}", supplier="NOASSERTION")


def sbom(rootfs, arch, version):
    ours = package("rocelet", version, f"pkg:generic/rocelet@{version}?arch={arch}", LICENCE, supplier="NOASSERTION", primaryPackagePurpose="APPLICATION")
    parts = [*debian_packages(rootfs), *web_packages()]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or 0)))
    identity = hashlib.sha256(json.dumps([ours, parts], sort_keys=True).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"rocelet-{version}-{arch}",
        "documentNamespace": f"https://rocelet.dev/spdx/rocelet-{version}-{arch}-{identity[:32]}",
        "creationInfo": {"created": created, "creators": ["Tool: rocelet-sbom.py"]},
        "packages": [ours, *parts],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": ours["SPDXID"]}] +
                         [{"spdxElementId": ours["SPDXID"], "relationshipType": "DEPENDS_ON", "relatedSpdxElement": p["SPDXID"]} for p in parts],
    }


def main():
    rootfs, arch, version = sys.argv[1:]
    place = os.path.join(rootfs, PLACE)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as f:
        json.dump(sbom(rootfs, arch, version), f, indent=1, sort_keys=True)
        f.write("\n")
    os.chmod(place, 0o644)


if __name__ == "__main__":
    main()
