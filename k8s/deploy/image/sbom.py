#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the bill of materials of the image's file system into it, as JSON of SPDX 2.3.

  sbom.py ROOTFS ARCH VERSION

It lists rocelet, and each Debian package with a file in the image (var/lib/dpkg/status.d), with its source, licences and a purl; and the libraries of the
page, from daemon/web/packages. The licences of a package are those of all files of its source, from its copyright file. The same file system gives the same bytes; the time is SOURCE_DATE_EPOCH (default: 1970).
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
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}], **more}


# Debian's short names (copyright-format 1.0) and SPDX's, where they differ in more than the version.
SPDX_NAMES = {"Expat": "MIT", "MIT": "MIT", "ISC": "ISC", "Zlib": "Zlib", "zlib": "Zlib", "FSFAP": "FSFAP",
              "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause", "BSD-4-clause": "BSD-4-Clause", "Artistic": "Artistic-1.0-Perl",
              "Apache-2": "Apache-2.0", "Apache-2.0": "Apache-2.0", "CC0": "CC0-1.0", "CC0-1.0": "CC0-1.0", "X11": "X11",
              "BSD-2-Clause": "BSD-2-Clause", "BSD-3-Clause": "BSD-3-Clause", "CC-BY-4.0": "CC-BY-4.0", "CPL-1.0": "CPL-1.0"}
VERSIONED = re.compile(r"((?:A|L)?GPL|GFDL)-?v?([0-9](?:\.[0-9])?)(\+|-only|-or-later)?(?:[- ]with[- ].*)?$")


def spdx_name(word, refs):
    """The SPDX name of one of Debian's short names. A name that SPDX does not have, or that has an exception, becomes a LicenseRef, noted in refs."""
    m = VERSIONED.match(word)
    if m and "with" not in word.lower():
        version = m[2] if "." in m[2] else m[2] + ".0"
        return f"{m[1]}-{version}-{'or-later' if m[3] in ('+', '-or-later') else 'only'}"
    if word in SPDX_NAMES:
        return SPDX_NAMES[word]
    ref = "LicenseRef-Debian-" + re.sub(r"[^A-Za-z0-9.-]+", "-", word).strip("-")
    refs[ref] = word
    return ref


def licence_expression(text, refs):
    """The licences of a License field: names joined by "and", "or" and commas; "and" of a list binds less tightly than "or", as a comma does."""
    parts = [p for p in re.split(r",? and |, (?!or )", text.strip()) if p]
    terms = []
    for part in parts:
        choices = list(dict.fromkeys(spdx_name(word.strip(), refs) for word in re.split(r",? or ", part) if word.strip()))
        terms.append("(" + " OR ".join(choices) + ")" if len(choices) > 1 else choices[0])
    return terms


def debian_licence(rootfs, name, refs):
    """The licences of all files of the package's source, from its copyright file. NOASSERTION: the file has no machine-readable form."""
    place = os.path.join(rootfs, "usr/share/doc", name, "copyright")
    try:
        with open(place, encoding="utf-8", errors="replace") as f:
            text = f.read()
    except OSError:
        return "NOASSERTION"
    if not re.match(r"Format(-Specification)?: \S*(copyright-format|dep5)", text, re.I):
        return "NOASSERTION"
    terms = set()
    for paragraph in re.split(r"\n[ \t]*\n", text):
        found = re.search(r"^License:[ \t]*(\S[^\n]*)$", paragraph, re.M | re.I)
        if found and re.search(r"^Files:", paragraph, re.M | re.I):
            terms.update(licence_expression(found[1], refs))
    return " AND ".join(sorted(terms)) or "NOASSERTION"


def debian_packages(rootfs, refs):
    distro, release = distribution(rootfs)
    folder = os.path.join(rootfs, "var/lib/dpkg/status.d")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            fields = fields_of(f.read())
        version = fields["Version"]
        purl = f"pkg:deb/{distro}/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={fields['Architecture']}&distro={distro}-{release}"
        source = fields.get("Source", name)
        yield package(name, version, purl, debian_licence(rootfs, name, refs), supplier="Organization: Debian", sourceInfo=f"built from {source}; licences: /usr/share/doc/{name}/copyright")


def web_packages():
    """The npm packages of the page. The file has lines NAME VERSION DIGEST."""
    with open(WEB_PACKAGES, encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if len(words) >= 2:
                yield package(words[0], words[1], f"pkg:npm/{words[0].replace('@', '%40')}@{words[1]}", supplier="NOASSERTION")


def sbom(rootfs, arch, version):
    ours = package("rocelet", version, f"pkg:generic/rocelet@{version}?arch={arch}", LICENCE, supplier="NOASSERTION", primaryPackagePurpose="APPLICATION")
    refs = {}
    parts = [*debian_packages(rootfs, refs), *web_packages()]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or 0)))
    identity = hashlib.sha256(json.dumps([ours, parts], sort_keys=True).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"rocelet-{version}-{arch}",
        "documentNamespace": f"https://rocelet.dev/spdx/rocelet-{version}-{arch}-{identity[:32]}",
        "creationInfo": {"created": created, "creators": ["Tool: rocelet-sbom"]},
        "packages": [ours, *parts],
        "hasExtractedLicensingInfos": [{"licenseId": ref, "name": refs[ref], "extractedText": f"{refs[ref]}: see the packages' /usr/share/doc/*/copyright"}
                                       for ref in sorted(refs)],
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
