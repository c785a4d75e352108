#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a static analyzer on the sources that it has not yet found clean.

  lint.py TOOL SOURCE.. -- OPTION..

TOOL is a row of TOOLS, OPTION what the analyzer needs to parse the sources. LINT_ALL=1 analyzes every source again and refreshes the cache.

A cache entry is an empty file. Its name is a hash of everything that a result depends on: the tool's version, its configuration, the options, the
source and every file that an include line of it can name, directly or not, system headers included. Comments are part of that, because
they can suppress findings. Paths are relative to the current folder, so checkouts in different folders share entries. Only clean results
are cached: a finding is reported every time. Entries are removed after 30 days without a hit.

LINT_CACHE is the cache's folder; default: /var/cache/rocelet-check/lint if that is writable, otherwise build/lint.
"""
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time

FILE, OPTIONS = object(), object()

# TOOL: (Debian package, command, name of the configuration files in the source's folder and above)
TOOLS = {
    "clang-tidy": ("clang-tidy", ["clang-tidy", "--quiet", FILE, "--", OPTIONS], ".clang-tidy"),
    "cppcheck": ("cppcheck", ["cppcheck", "--quiet", "--error-exitcode=1", OPTIONS, FILE], None),
}
# clang counts the warnings in system headers, which it does not show.
NOISE = re.compile(r"^\d+ warnings? generated\.\n", re.M)
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*[<"]([^>"\n]+)[>"]', re.M)
SYSTEM = ["/usr/local/include", f"/usr/include/{sysconfig.get_config_var('MULTIARCH')}", "/usr/include"]
KEEP_S = 30 * 24 * 3600


class Sources:
    """Files and what they include, each read once. An include line means every file in the search path with that name: conditions
    and the order of the search path need no evaluation, and a new file that hides another one changes the result."""

    def __init__(self, options):
        self.search_path = SYSTEM + [os.path.normpath(folder) for folder in re.findall(r"\0(?:-I|-isystem)\0?([^\0]+)", "\0".join(["", *options]))]
        self.files = {}  # path: (stat, hash, [path that it includes])
        self.named = {}  # name in an include line: [path]

    def read(self, path):
        if path not in self.files:
            state = stamp(path)
            with open(path, "rb") as f:
                text = f.read()
            names = {os.fsdecode(name) for name in INCLUDE.findall(text)}
            included = [p for name in names for p in self.find(name) + existing([os.path.join(os.path.dirname(path), name)])]
            self.files[path] = state, hashlib.sha256(text).hexdigest(), included
        return self.files[path]

    def find(self, name):
        if name not in self.named:
            self.named[name] = existing(os.path.join(folder, name) for folder in self.search_path)
        return self.named[name]

    def closure(self, path):
        """The paths of a source and of all that it can include, sorted."""
        seen, todo = {path}, [path]
        while todo:
            for included in self.read(todo.pop())[2]:
                if included not in seen:
                    seen.add(included)
                    todo.append(included)
        return sorted(seen)

    def unchanged(self, paths):
        """No file was edited since it was read."""
        return all(os.path.exists(path) and stamp(path) == self.files[path][0] for path in paths)


def existing(paths):
    return [path for path in map(os.path.normpath, paths) if os.path.isfile(path)]


def stamp(path):
    state = os.stat(path)
    return state.st_ino, state.st_size, state.st_mtime_ns


def configuration(name, source):
    """The contents of the configuration files that can apply to a source."""
    folder, texts = os.path.dirname(source), []
    while name:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as f:
                texts.append(f"{path}\n{f.read()}")
        if not folder:
            break
        folder = os.path.dirname(folder)
    return texts


def key(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def cache_folder():
    folder = os.environ.get("LINT_CACHE")
    if not folder:
        shared = "/var/cache/rocelet-check"
        folder = os.path.join(shared if os.access(shared, os.W_OK) else "build", "lint")
    os.makedirs(folder, exist_ok=True)
    return folder


def forget_unused(folder):
    oldest = time.time() - KEEP_S
    for entry in os.scandir(folder):
        try:
            if entry.stat().st_mtime < oldest:
                os.unlink(entry.path)
        except FileNotFoundError:
            pass  # another run has removed it


def analyze(command, source, options):
    """The output of the tool, None if it is clean."""
    argv = [word for part in command for word in ([source] if part is FILE else options if part is OPTIONS else [part])]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
    if done.returncode == 0 and not done.stdout:
        return None
    return done.stdout + NOISE.sub("", done.stderr) or f"{argv[0]} {source}: exit status {done.returncode}\n"


def main(tool, *arguments):
    package, command, config_name = TOOLS[tool]
    if not shutil.which(command[0]):
        print(f"{command[0]} is not installed; it is in the package {package}, which `sudo make deps` installs", file=sys.stderr)
        return 1
    end = arguments.index("--")
    paths, options = [os.path.normpath(path) for path in arguments[:end]], list(arguments[end + 1:])
    version = subprocess.run([command[0], "--version"], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    sources, cache, todo = Sources(options), cache_folder(), []
    for path in paths:
        closure = sources.closure(path)
        entry = os.path.join(cache, key(version, *(word for word in command if isinstance(word, str)), *options, *configuration(config_name, path),
                                        *(f"{p} {sources.files[p][1]}" for p in closure)))
        try:
            if os.environ.get("LINT_ALL") == "1":
                os.unlink(entry)
            os.utime(entry)
        except FileNotFoundError:
            todo.append((path, closure, entry))

    n_bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {pool.submit(analyze, command, path, options): (closure, entry) for path, closure, entry in todo}
        for run in concurrent.futures.as_completed(runs):
            closure, entry = runs[run]
            if run.result():
                n_bad += 1
                print(run.result(), end="", flush=True)
            elif sources.unchanged(closure):
                with open(entry, "w", encoding="utf-8"):
                    pass
    forget_unused(cache)
    print(f"{tool}: {len(paths)} sources, {len(todo)} analyzed, {n_bad} with findings")
    return n_bad > 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in TOOLS or "--" not in sys.argv:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
