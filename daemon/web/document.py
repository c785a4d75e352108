#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the page: index.html with its style sheets and scripts in it, compressed, as a C header. And the runbook in the same way, as a whole and with a
document for each cause.

  document.py FOLDER NPM_DIR RUNBOOK VERSION OUT

Local style sheets (<link rel="stylesheet" href="X">) and scripts (<script src="X"></script>) become one <style> and one <script>, in their order. What
stands below "npm/" is of a package of FOLDER/packages, whose licence goes with it. The digests of both are what the Content-Security-Policy allows.
"""
import base64
import gzip
import hashlib
import os
import re
import sys

import markdown
import npm

STYLE = re.compile(r'[ \t]*<link rel="stylesheet" href="([^"]+)">\n')
SCRIPT = re.compile(r'[ \t]*<script src="([^"]+)"></script>\n')


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def part(folder, npm_dir, name):
    """A file's text; of a package with its licence before it."""
    if not name.startswith("npm/"):
        return read(f"{folder}/{name}")
    _, package, path = name.split("/", 2)
    there = npm.package(f"{folder}/packages", npm_dir, package)
    return f"/*! {package}\n{read(there + '/LICENSE').strip()} */\n{read(f'{there}/{path}')}\n"


def gather(text, pattern, tag, read_part):
    """All that the pattern finds as one element, where the first one was; also the digest of what is in it."""
    inside = "\n" + "".join(read_part(name) for name in pattern.findall(text))
    if re.search(f"</{tag}|<!--", inside, re.I):
        sys.exit(f"a <{tag}> of the page has its own end, or a comment of HTML, in it")
    digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
    first = True

    def put(_):
        nonlocal first
        found, first = f"<{tag}>{inside}</{tag}>\n" if first else "", False
        return found
    return pattern.sub(put, text), digest


def policy(script, style):
    """script: None where there is none."""
    asks = f"script-src 'sha256-{script}'; connect-src 'self'; " if script else ""
    return f"default-src 'none'; {asks}style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def c_bytes(name, data):
    packed = gzip.compress(data, 9, mtime=0)
    rows = (", ".join(map(str, packed[i:i + 24])) for i in range(0, len(packed), 24))
    return f"static const unsigned char {name}_packed[] = {{\n" + ",\n".join(rows) + "\n};\n"


def c_rows(name, text, allowed):
    """What web_page.c takes: PREFIX_LEN, PREFIX_POLICY and prefix_packed."""
    data = text.encode()
    return f"#define {name.upper()}_LEN {len(data)}\n#define {name.upper()}_POLICY \"{allowed}\"\n" + c_bytes(name, data)


def page(folder, npm_dir, version):
    text = read(folder + "/index.html").replace("@VERSION@", version)
    text, style = gather(text, STYLE, "style", lambda name: part(folder, npm_dir, name))
    text, script = gather(text, SCRIPT, "script", lambda name: part(folder, npm_dir, name))
    return c_rows("web", text, policy(script, style))


def runbook_frame(folder, version):
    """A document around @RUNBOOK@, with @TITLE@ and the way back, and what its policy allows."""
    text = read(folder + "/runbook.html").replace("@VERSION@", version)
    text, style = gather(text, STYLE, "style", lambda name: part(folder, None, name))
    return text, policy(None, style)


def runbook(frame, allowed, text):
    whole = frame.replace("@TITLE@", "Runbook").replace("@BACK@", "")
    return c_rows("runbook", whole.replace("@RUNBOOK@", markdown.to_html(text)), allowed)


def causes(frame, text):
    """Each section as a document of its own, for web_page.c: cause_NAME_packed, and WEB_CAUSES(X), a list of X(NAME, length). Its links lead to the
    documents of the other causes."""
    made, listed = "", ""
    for name, section in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.M | re.S):
        inside = markdown.to_html(f"# {name}\n" + section.replace("](#", "](#/"))
        document = frame.replace("@TITLE@", f"{name} · Runbook").replace("@BACK@", ' · <a href="./">all causes</a>')
        data = document.replace("@RUNBOOK@", inside.replace('href="#/', 'href="')).encode()
        made += c_bytes(f"cause_{name}", data)
        listed += f" \\\n\tX({name}, {len(data)})"
    return f"{made}#define WEB_CAUSES(X){listed}\n"


def main():
    folder, npm_dir, path, version, out = sys.argv[1:]
    (frame, allowed), text = runbook_frame(folder, version), read(path)
    with open(out + ".new", "w", encoding="utf-8") as f:
        f.write("/* The page and the runbook, made by document.py. */\n" + page(folder, npm_dir, version)
                + runbook(frame, allowed, text) + causes(frame, text))
    os.replace(out + ".new", out)


main()
