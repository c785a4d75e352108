#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches the npm packages that a file pins, each once, and prints the folder into which each is unpacked.

  npm.py PACKAGES DIR [NAME..]      PACKAGES: lines NAME VERSION INTEGRITY; without names all of them

npm's configuration selects the registry; an archive is used only if it has the pinned digest. Archives are kept in /var/cache/rocelet-npm if that
is writable, otherwise in DIR; they are unpacked below DIR.
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

CACHE = "/var/cache/rocelet-npm"


def pinned(path):
    with open(path, encoding="utf-8") as f:
        lines = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {name: (version, integrity) for name, version, integrity in lines}


def is_right(path, integrity):
    kind, _, digest = integrity.partition("-")
    with open(path, "rb") as f:
        return base64.b64encode(hashlib.new(kind, f.read()).digest()).decode() == digest


def cache_folder(dir):
    try:
        os.makedirs(CACHE, exist_ok=True)
    except OSError:
        pass
    return CACHE if os.access(CACHE, os.W_OK) else dir


def fetch(name, version, folder):
    """Runs npm; exits with one sentence if it fails."""
    what = f"{name}@{version}"
    try:
        done = subprocess.run(["npm", "pack", what, "--silent", "--pack-destination", folder, "--cache", folder + "/npm-cache", "--fetch-retries", "2"],
                              cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    except FileNotFoundError:
        sys.exit(f"{what} cannot be fetched: there is no npm here, `sudo make deps` installs it")
    except subprocess.TimeoutExpired:
        sys.exit(f"{what} cannot be fetched: npm did not finish within 5 min; check its registry with npm ping")
    if done.returncode != 0:
        why = (done.stderr or done.stdout).strip().split("\n")[0]
        sys.exit(f"{what} cannot be fetched, and {CACHE} does not have it: npm printed '{why or 'nothing'}' (check its registry with npm ping)")
    return os.path.join(folder, done.stdout.split()[-1])


def archive(name, version, integrity, dir):
    """Returns the path of the archive, which has the pinned digest."""
    scoped, name = name, name.replace("/", "+")
    cache = cache_folder(dir)
    for folder in (CACHE, dir):
        path = f"{folder}/{name}-{version}.tgz"
        if os.path.exists(path) and is_right(path, integrity):
            return path
    path = f"{cache}/{name}-{version}.tgz"
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        fetched = fetch(scoped, version, folder)
        if not is_right(fetched, integrity):
            sys.exit(f"{scoped}@{version} does not have the pinned digest")
        os.replace(fetched, path)
    return path


def unpack(path, target):
    """Unpacks atomically."""
    if os.path.isdir(target):
        return
    with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as folder:
        with tarfile.open(path) as tar:
            for member in tar.getmembers():
                inside = os.path.normpath(member.name)
                if member.isfile() and not inside.startswith(("/", "..")):
                    os.makedirs(os.path.dirname(f"{folder}/{inside}"), exist_ok=True)
                    with open(f"{folder}/{inside}", "wb") as f:
                        shutil.copyfileobj(tar.extractfile(member), f)
        try:
            os.rename(folder + "/package", target)
        except OSError:
            if not os.path.isdir(target):  # another build was quicker
                raise


def package(packages, dir, name):
    """Returns the folder of the unpacked package."""
    version, integrity = pinned(packages)[name]
    os.makedirs(dir, exist_ok=True)
    target = f"{dir}/{name.replace('/', '+')}-{version}"
    unpack(archive(name, version, integrity, dir), target)
    return target


if __name__ == "__main__":
    for wanted in sys.argv[3:] or pinned(sys.argv[1]):
        print(package(sys.argv[1], sys.argv[2], wanted))
