#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents without running anything: every block of commands or output has a test, every document and source file that a document or
a comment names exists, lines of prose have at most 100 columns, and words that name no actor are not used.

  docs.py           checks
  docs.py --list    prints each block with what runs or compares it

A block whose kind tests/interop/docs_python.py knows is run by that (see runner()). Every other one is listed in tests/lint/docs_blocks.txt.
"""
import collections
import glob
import os
import re
import subprocess
import sys

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BLOCKS = "tests/lint/docs_blocks.txt"
COLUMNS = 100
CHANGES = "docs/changelog.md"  # an entry is one line there, so that the entries of several branches merge
PROOFS = ("quotes", "headings", "test", "reason")
WORDS = re.compile(r"\b(nobody|somebody|whoever|anew|misplaced)\b", re.I)
PROGRAMS = ("rocelet", "rocectl", "kubectl", "make")
# Files of the kernel and of libraries that comments name without a folder, and one that a build generates.
FOREIGN = {"af_netlink.c", "bnxt_dcb.c", "cache.c", "dcbnl.h", "en_stats.c", "features.h", "ib_cm.h", "ib_mad.h", "libbpf.c", "mad.c", "net_namespace.h",
           "netlink.h", "nexthop.h", "proc_sysctl.c", "rdma_cm.h", "roce_gid_mgmt.c", "rtnetlink.h", "rxe_resp.c", "user_mad.c", "uverbs_main.c",
           "web_document.h", "zlib.h"}
# They write small trees of sources, whose names they contain.
INVENTS = ("tests/check/test_choice.py", "tests/lint/lint_judge.py")

Block = collections.namedtuple("Block", "path line info text")


def documents():
    return ["README.md", "SECURITY.md", "CONTRIBUTING.md", *sorted(glob.glob("docs/**/*.md", root_dir=TOP, recursive=True))]


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


def blocks():
    for path in documents():
        text = read(path)
        for match in re.finditer(r"^( *)```([^\n]*)\n(.*?)^ *```$", text, re.M | re.S):
            body = re.sub(rf"^{match[1]}", "", match[3], flags=re.M)
            yield Block(path, text.count("\n", 0, match.start()) + 1, match[2], body)


def first_line(block):
    return next((line.strip() for line in block.text.splitlines() if line.strip()), "")


def commands(text):
    """The command lines of a block, without comments and prompts; output below a prompt does not count."""
    lines = text.replace("\\\n", " ").splitlines()
    prompts = any(line.startswith("$ ") for line in lines)
    for line in lines:
        line = re.sub(r"(^|\s)#\s.*$", "", line).strip()
        if line and (not prompts or line.startswith("$ ")):
            yield line.removeprefix("$ ")


def simple_commands(line):
    """The programs' calls of a command line: a pipe's, a list's and a substitution's parts."""
    for part in re.split(r"\s\|\s|&&|;|\$\(", line):
        part = re.sub(r"\s*([<>]\s*\S+|&|\))\s*$", "", part.strip())
        part = re.sub(r"^(sudo|\w+=)\s*", "", part)
        if part:
            yield part


def is_shell(block):
    found = [call.split()[0] for line in commands(block.text) for call in simple_commands(line)]
    return block.info in ("", "sh") and bool(found) and set(found) <= set(PROGRAMS)


def runner(block):
    """Which part of tests/interop/docs_python.py runs a block; None: no part does."""
    if block.info == "json" and re.search(r'"(pools|resourceList|configList|mode|resourceName)"\s*:', block.text):
        return "configuration"
    if block.info == "json" and block.text.startswith('{"scenario"'):
        return "scenario"
    if block.info in ("promql", "python"):
        return block.info
    if block.info == "yaml" and re.search(r"^(metadata|resources|scrape_configs):", block.text, re.M):
        return "manifest"
    return "shell" if is_shell(block) else None


def listed():
    """{(document, first line): [(proof, text)]}"""
    found = {}
    for line in read(BLOCKS).splitlines():
        if line.startswith("\t"):
            last.append(tuple(line.strip().partition(" ")[::2]))
        elif line.strip() and not line.startswith("#"):
            path, _, first = line.partition(": ")
            last = found.setdefault((path, first.strip()), [])
    return found


def tests():
    sys.path.insert(0, os.path.join(TOP, "tests/check"))
    import jobs
    return {job.label for job in jobs.all_jobs()}


def plain(text):
    """For comparing an example with a test's text: numbers, names of pods, quotation marks of C and the width of columns differ."""
    text = re.sub(r'"\s*\n\s*"', "", text).replace('\\"', '"')
    text = re.sub(r"\bpod [\w-]+/[\w-]+", "pod POD", text)
    return re.sub(r"[ \t]+", " ", re.sub(r"[0-9a-f]*[0-9][0-9a-f:.]*", "#", text))


def uncovered():
    known, have, seen = listed(), tests(), set()
    for block in blocks():
        where, key = f"{block.path}:{block.line}", (block.path, first_line(block))
        proofs = known.get(key, [])
        seen.add(key)
        if not proofs and not runner(block):
            yield f"{where}: no test runs or compares this block: {first_line(block)}"
        output = [line for line in block.text.splitlines() if line.strip() and not line.startswith("$ ")]
        for proof, text in proofs:
            if proof not in PROOFS:
                yield f"{BLOCKS}: {proof} is none of {', '.join(PROOFS)}"
            elif proof == "test" and text not in have:
                yield f"{where}: there is no test {text}"
            elif proof in ("quotes", "headings"):
                source = plain(read(text))
                missing = [line for line in (output if proof == "quotes" else output[:1]) if plain(line).strip() not in source]
                yield from (f"{where}: {text} does not have: {line.strip()}" for line in missing)
    yield from (f"{BLOCKS}: {path} has no block that begins with: {first}" for path, first in known if (path, first) not in seen)


def prose(path):
    """(number, line) outside code and tables."""
    inside = False
    for number, line in enumerate(read(path).splitlines(), 1):
        fence = line.lstrip().startswith("```")
        if not fence and not inside and not line.startswith(("|", "!")):
            yield number, line
        inside ^= fence


def pages():
    return [path for path in documents() if path != CHANGES]


def wide_lines():
    for path in pages():
        for number, line in prose(path):
            if len(line) > COLUMNS and " " in line.strip()[:COLUMNS].lstrip("*-> "):
                yield f"{path}:{number}: {len(line)} columns"


def odd_words():
    for path in pages():
        for number, line in enumerate(read(path).splitlines(), 1):
            for word in WORDS.findall(line):
                yield f"{path}:{number}: '{word}': name the process, the pod or the person"


def anchors(path):
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", read(path), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def lost_paths():
    """Paths of documents that any source names. Links between documents: tests/ship/runbook.py."""
    out = subprocess.run(["git", "grep", "-InoE", r"\bdocs/[a-z/-]+\.(md|png|svg)(#[a-z_-]+)?", "--", ":!tests/fixtures"], cwd=TOP, capture_output=True, text=True, check=True)
    for hit in out.stdout.splitlines():
        file, number, path = hit.split(":", 2)
        path, _, anchor = path.partition("#")
        if not os.path.exists(os.path.join(TOP, path)):
            yield f"{file}:{number}: there is no {path}"
        elif anchor and anchor not in anchors(path):
            yield f"{file}:{number}: {path} has no heading {anchor}"


def git(*command):
    return subprocess.run(["git", *command], cwd=TOP, capture_output=True, text=True, check=True).stdout.splitlines()


def lost_files():
    """Source files that any line except an #include names. A name with a folder counts if the tree has the folder: others are the kernel's or a
    library's. Capital letters stand for a part of the name (test_X.c)."""
    known, folders = set(), set()
    for file in git("ls-files"):
        parts = file.split("/")
        known |= {"/".join(parts[i:]) for i in range(len(parts))}
        folders |= {"/".join(parts[i:n]) for n in range(1, len(parts)) for i in range(n)}
    lines = git("grep", "-InP", r"\w{3}\.(c|h|py|sh)\b", "--", ":!tests/fixtures", ":!vmlinux.h", f":!{CHANGES}", *(f":!{path}" for path in INVENTS))
    for file, number, text in (line.split(":", 2) for line in lines):
        for name in re.findall(r"(?<![\w./<>{}$*%-])(?:\.\./)*((?:[\w-]+/)*[a-z0-9_-]{3,}(?:\.bpf)?\.(?:c|h|py|sh))(?![\w(/*-])(?!\.\w)", text):
            folder = os.path.dirname(name)
            ours = folder in folders if folder else name not in FOREIGN
            if ours and name not in known and not re.match(r"\s*# *include", text):
                yield f"{file}:{number}: there is no {name}"


def main():
    if sys.argv[1:] == ["--list"]:
        for block in blocks():
            proofs = [" ".join(proof) for proof in listed().get((block.path, first_line(block)), [])]
            print(f"{block.path}:{block.line}: {runner(block) or '; '.join(proofs) or 'NONE'}")
        return 0
    problems = [*uncovered(), *wide_lines(), *odd_words(), *lost_paths(), *lost_files()]
    print("\n".join(problems), file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
