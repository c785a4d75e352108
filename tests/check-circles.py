#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-circles.py - no circle of calls over more than three files.

    check-circles.py OBJECTS

OBJECTS: the folder of the object files, run where their sources are. A file needs the files whose symbols it uses, as for the linker. Prints each circle that is too
long, with the symbols that cause it, and fails.
"""
import os
import subprocess
import sys
from collections import defaultdict

LONGEST = 3


def symbols(folder):
    """Yields (file, letter, name) of every external symbol of the objects whose source still exists."""
    for at, _, names in os.walk(folder):
        for path in (os.path.join(at, n) for n in names if n.endswith(".o")):
            file = os.path.relpath(path, sys.argv[1])[:-2] + ".c"
            if not os.path.exists(file):
                continue
            for line in subprocess.run(["nm", "-g", path], check=True, capture_output=True, text=True).stdout.splitlines():
                yield file, *line.split()[-2:]


def arrows_between(found):
    """{file: {file whose symbols it needs: their names}}"""
    definer = {symbol: file for file, letter, symbol in found if letter not in "UWw"}
    arrows = defaultdict(lambda: defaultdict(list))
    for file, letter, symbol in found:
        if letter == "U" and definer.get(symbol, file) != file:
            arrows[file][definer[symbol]].append(symbol)
    return arrows


def reachable(arrows, start):
    seen, todo = set(), [start]
    while todo:
        for file in arrows.get(todo.pop(), ()):
            if file not in seen:
                seen.add(file)
                todo.append(file)
    return seen


def circles(arrows):
    """Files that reach each other belong to one circle."""
    reach = {file: reachable(arrows, file) for file in list(arrows)}
    found = {frozenset(other for other in reach[file] if file in reach.get(other, ())) for file in reach if file in reach[file]}
    return sorted(found, key=sorted)


def main():
    folders = ("daemon", "hw", "k8s", "include")
    found = [symbol for folder in folders for symbol in symbols(os.path.join(sys.argv[1], folder))]
    if not found:
        sys.exit(f"{sys.argv[1]}: no object files")
    arrows = arrows_between(found)
    too_long = [c for c in circles(arrows) if len(c) > LONGEST]
    for circle in too_long:
        print(f"a circle of {len(circle)} files, {LONGEST} at most:")
        for file in sorted(circle):
            for other in sorted(circle & arrows[file].keys()):
                print(f"    {file} -> {other}: {', '.join(arrows[file][other])}")
    sys.exit(bool(too_long))


main()
