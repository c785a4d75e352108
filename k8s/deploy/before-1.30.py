#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Renders the overlays to plain files for `kubectl apply -f`, for API servers before 1.30 and for a kubectl older than 1.21.

  before-1.30.py KUBECTL [FOLDER]

KUBECTL is 1.21 or newer. FOLDER is before-1.30 beside this file unless given.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OVERLAYS = ["observe", "device-plugin", "native", "native-surge", "native-versioned", "multus", "multus-uninstall"]


def render(kubectl, overlay):
    with tempfile.TemporaryDirectory() as folder:
        here = os.path.relpath(HERE, os.path.realpath(folder))
        with open(folder + "/kustomization.yaml", "w", encoding="utf-8") as f:
            f.write(f"resources: [{here}/overlays/{overlay}]\ncomponents: [{here}/components/before-1.30]\n")
        done = subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{overlay}: {done.stderr}")
    return done.stdout


def main():
    kubectl, folder = sys.argv[1], (sys.argv[2:] or [os.path.join(HERE, "before-1.30")])[0]
    os.makedirs(folder, exist_ok=True)
    # All are rendered before the first file is opened: a kubectl that fails must not leave an empty file.
    texts = {overlay: render(kubectl, overlay) for overlay in OVERLAYS}
    for overlay, text in texts.items():
        with open(f"{folder}/{overlay}.yaml", "w", encoding="utf-8") as f:
            f.write(f"# Generated from overlays/{overlay} by make golden; the comments are there.\n{text}")


if __name__ == "__main__":
    main()
