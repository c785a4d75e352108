#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every source names its licence in its head, as in NOTICE: part of `make lint`.

  spdx.py            prints files that do not
  spdx.py --write    adds missing lines, and corrects wrong ones

GPL-2.0-only OR BSD-2-Clause is for bpf/, vmlinux.h, and the headers that the programs in bpf/ include, directly or not. Everything else is Apache-2.0.
Generated files, fixtures and documents have no such line.
"""
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
APACHE, KERNEL = "Apache-2.0", "GPL-2.0-only OR BSD-2-Clause"
MARK = "SPDX-License-Identifier:"

# The form of the line, by the end of the file's name or the whole name.
COMMENTS = {".c": "// %s", ".h": "/* %s */", ".proto": "// %s", ".js": "// %s", ".css": "/* %s */", ".html": "<!-- %s -->",
            ".py": "# %s", ".sh": "# %s", ".awk": "# %s", "Makefile": "# %s", "Dockerfile": "# %s", "Kbuild": "# %s"}
NOT_OURS_TO_MARK = re.compile(r"^(tests/fixtures/.*\.(?!py$)\w+|tests/golden/.*)$")
# After these lines: the kernel, browsers and Docker read the first one.
FIRST = re.compile(r"#!|<!DOCTYPE|# syntax=", re.I)
HEAD = 5


def comment_of(path):
    name = os.path.basename(path)
    if NOT_OURS_TO_MARK.match(path):
        return None
    if name in COMMENTS:
        return COMMENTS[name]
    end = os.path.splitext(name)[1]
    if end in COMMENTS:
        return COMMENTS[end]
    with open(path, "rb") as f:  # scripts without a suffix: .ci/run
        return "# %s" if not end and f.read(3) in (b"#!/",) else None


def included(path, seen):
    """The project's headers that a BPF program or header includes."""
    with open(path, encoding="utf-8") as f:
        for name in re.findall(r'^#include "([^"]+)"', f.read(), re.M):
            for there in (f"bpf/{name}", f"include/{name}", name):
                if os.path.exists(there) and there not in seen:
                    seen.add(there)
                    included(there, seen)


def kernel_files(paths):
    found = {path for path in paths if path.startswith("bpf/")} | {"vmlinux.h"}
    for path in sorted(found):
        if path.endswith((".c", ".h")):
            included(path, found)
    return found


def marked(text, line):
    """The text with this line in its head."""
    lines = text.split("\n")
    lines = [old for i, old in enumerate(lines) if not (i < HEAD and MARK in old)]
    lines.insert(1 if FIRST.match(lines[0]) else 0, line)
    return "\n".join(lines)


def is_marked(text, licence):
    head = [line for line in text.split("\n")[:HEAD] if MARK in line]
    return len(head) == 1 and re.search(rf"{MARK} {re.escape(licence)}(\s|$)", head[0]) is not None


def wrong_in_notice(kernel):
    """NOTICE lists the headers outside of bpf/."""
    with open("NOTICE", encoding="utf-8") as f:
        listed = set(re.findall(r"include/\w+\.h", f.read()))
    return {path for path in kernel if path.startswith("include/")} ^ listed


def main():
    os.chdir(TOP)
    paths = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True,
                           text=True).stdout.strip("\0").split("\0")
    paths = sorted(path for path in paths if os.path.isfile(path) and not os.path.islink(path))
    kernel, wrong = kernel_files(paths), 0
    for path in paths:
        comment, licence = comment_of(path), KERNEL if path in kernel else APACHE
        if not comment:
            continue
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if is_marked(text, licence):
            continue
        wrong += 1
        if "--write" in sys.argv:
            with open(path, "w", encoding="utf-8") as f:
                f.write(marked(text, comment % f"{MARK} {licence}"))
        else:
            print(f"{path}: its head has no line {MARK} {licence}")
    for path in sorted(wrong_in_notice(kernel)):
        print(f"{path}: NOTICE and the includes of bpf/ differ")
        wrong += 1
    return 0 if "--write" in sys.argv else int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
