#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-names.py - a function's name is in one file only, so that grep finds it; only programs' main() is exempt.

    check-names.py FOLDER...

The group of tests/unit/**/test_X.c is X: its runner selects it by the file's name.

Expects sources formatted by clang-format: the brace that opens a function is alone at the start of a line. Prints each name that several files
have, with the files, and fails.
"""
import glob
import re
import sys
from collections import defaultdict


def functions(lines):
    """Yields the name of each function that is defined."""
    for at, line in enumerate(lines):
        if line != "{":
            continue
        start = at - 1
        while start > 0 and (lines[start][:1] in ("\t", " ", "") or lines[start].startswith("}")):
            start -= 1
        if name := re.search(r"(\w+)\((?!\()", re.sub(r"__attribute__\(\(.*?\)\)", "", " ".join(lines[start:at]))):
            yield name.group(1)


def misnamed_groups():
    """Yields test files whose group has another name."""
    paths = glob.glob("tests/unit/**/test_*.c", recursive=True)
    for path in paths:
        with open(path, encoding="utf-8") as f:
            groups = re.findall(r"^TEST_GROUP\((\w+)\)", f.read(), re.M)
        if groups != [re.search(r"test_(\w+)\.c$", path).group(1)]:
            yield f"{path}: its group is {', '.join(groups) or 'missing'}"
    if len(paths) < 100:
        yield f"only {len(paths)} files of unit tests were found: is this the project's folder?"


def main():
    where = defaultdict(set)
    for folder in sys.argv[1:]:
        for path in glob.glob(f"{folder}/**/*.[ch]", recursive=True):
            with open(path, encoding="utf-8") as f:
                for name in functions(f.read().split("\n")):
                    where[name].add(path)
    if len(where) < 1000:
        sys.exit(f"only {len(where)} functions were found: is this the project's folder?")
    several = {name: paths for name, paths in where.items() if len(paths) > 1 and name != "main"}
    for name, paths in sorted(several.items()):
        print(f"{name}() is in {', '.join(sorted(paths))}: a static function begins with its module's word, too", file=sys.stderr)
    misnamed = sorted(misnamed_groups())
    for what in misnamed:
        print(what, file=sys.stderr)
    return 1 if several or misnamed else 0


if __name__ == "__main__":
    sys.exit(main())
