#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the page as a C header: index.html with its style sheets and scripts in it, compressed. Writes the runbook in the same way, as a whole and as a
document for each cause, each reason of an unhealthy device, and each alert, which are sections of fleet.md beside the runbook.

  document.py FOLDER NPM_DIR RUNBOOK SCHEMA VERSION OUT

Local style sheets (<link rel="stylesheet" href="X">) and scripts (<script src="X"></script>) become one <style> and one <script>, in their order; scripts
marked data-early become a separate one at their place, which runs before the browser has read the rest. Files below "npm/"
are from a package of FOLDER/packages, and get its licence as a comment. The Content-Security-Policy allows only the digests of these elements.
"""
import base64
import gzip
import hashlib
import json
import os
import re
import sys

import markdown
import npm

STYLE = re.compile(r'[ \t]*<link rel="stylesheet" href="([^"]+)">\n')
EARLY = re.compile(r'[ \t]*<script src="([^"]+)" data-early></script>\n')
URGENCIES = {"Now": ("Act now", "now"), "Today; now if it is critical": ("Act now if critical", "today"), "Now for the job": ("Act now for the job", "today"), "Today": ("Act today", "today"), "At the next maintenance": ("At the next maintenance", "later"),
             "No hurry": ("No hurry", "later"), "None": ("Nothing to do", "none")}  # first words of an impact: (heading, data-urgency)
SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.M | re.S)
LABEL = re.compile(r"<p><strong>([^<]+?)\.?</strong> (.)")  # the label of a paragraph, which becomes its heading
SCRIPT = re.compile(r'[ \t]*<script src="([^"]+)"></script>\n')
COMMENT = re.compile(r"^\t*(?:// .*|/\* [^*]*\*/)\n", re.M)  # on lines of its own


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def part(folder, npm_dir, name):
    """A file's text without its comments; a file of a package has its licence before it."""
    if not name.startswith("npm/"):
        return COMMENT.sub("", read(f"{folder}/{name}"))
    _, package, path = name.split("/", 2)
    there = npm.package(f"{folder}/packages", npm_dir, package)
    return f"/*! {package}\n{read(there + '/LICENSE').strip()} */\n{read(f'{there}/{path}')}\n"


def gather(text, pattern, tag, read_part):
    """Joins all files that the pattern finds to one element, at the place of the first. Returns the text, and the digest of the element's content."""
    inside = "\n" + "".join(read_part(name) for name in pattern.findall(text))
    if re.search(f"</{tag}|<!--", inside, re.I):
        sys.exit(f"a <{tag}> of the page contains its own end tag or an HTML comment")
    digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
    first = True

    def put(_):
        nonlocal first
        found, first = f"<{tag}>{inside}</{tag}>\n" if first else "", False
        return found
    return pattern.sub(put, text), digest


def check_names(texts):
    """Exits if two functions have the same name: all scripts share one scope, so the later one would silently replace the other."""
    names = [name for text in texts for name in re.findall(r"^(?:async )?function\*? (\w+)|^(?:const|let|class) (\w+)", text, re.M)]
    names = [one or other for one, other in names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        sys.exit(f"names that two scripts of the page have: {', '.join(twice)}")


def policy(scripts, style, asks=""):
    allowed = " ".join(f"'sha256-{script}'" for script in scripts)
    return f"default-src 'none'; script-src {allowed}; {asks}style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def c_bytes(name, data):
    packed = gzip.compress(data, 9, mtime=0)
    rows = (", ".join(map(str, packed[i:i + 24])) for i in range(0, len(packed), 24))
    return f"static const unsigned char {name}_packed[] = {{\n" + ",\n".join(rows) + "\n};\n"


def c_rows(name, text, allowed):
    """The definitions that web_page.c uses: NAME_LEN, NAME_POLICY and name_packed."""
    data = text.encode()
    return f"#define {name.upper()}_LEN {len(data)}\n#define {name.upper()}_POLICY \"{allowed}\"\n" + c_bytes(name, data)


def settings(path):
    """Defaults and descriptions of the configuration's keys, from its JSON Schema, for settings.js."""
    def facts(properties):
        return {key: [row.get("default"), row["description"]] if "default" in row else facts(row.get("properties", {})) if key == "diagnosis" else [None, row.get("description", "")]
                for key, row in properties.items() if isinstance(row, dict) and key != "$schema"}
    with open(path, encoding="utf-8") as f:
        return json.dumps(facts(json.load(f)["properties"]), separators=(",", ":"))


def page(folder, npm_dir, schema, version):
    text = read(folder + "/index.html").replace("@VERSION@", version)
    text, style = gather(text, STYLE, "style", lambda name: part(folder, npm_dir, name))
    check_names(read(f"{folder}/{name}") for name in EARLY.findall(text) + SCRIPT.findall(text) if not name.startswith("npm/"))
    digests, facts = [], settings(schema)
    for pattern in (EARLY, SCRIPT):
        text, digest = gather(text, pattern, "script", lambda name: part(folder, npm_dir, name).replace("/*@SETTINGS@*/ {}", facts))
        digests.append(digest)
    return c_rows("web", text, policy(digests, style, "connect-src 'self'; "))


def runbook_frame(folder, version):
    """A document around @RUNBOOK@, with @TITLE@ and a link back, and its Content-Security-Policy, which allows requests to this daemon only."""
    text = read(folder + "/runbook.html").replace("@VERSION@", version)
    text, style = gather(text, STYLE, "style", lambda name: part(folder, None, name))
    text, script = gather(text, SCRIPT, "script", lambda name: part(folder, None, name))
    return text, policy([script], style, "connect-src 'self'; ")


def links(title, rows, current=None):
    """A list of links for the contents: rows of (href, text)."""
    marks = {current: ' aria-current="page"'}
    items = "".join(f'<li><a href="{href}"{marks.get(href, "")}>{text}</a></li>\n' for href, text in rows)
    return f"<p>{title}</p>\n<ul>\n{items}</ul>\n"


def titles(folder):
    """A function that returns a cause in words, as causeTitle() of text.js; but link_flap is not "Link down", which is the heading of link_down."""
    acronyms = dict(re.findall(r"(\w+): '(\w+)'", re.search(r"ACRONYMS = \{(.*?)\}", read(folder + "/text.js"))[1]))

    def title(cause):
        words = " ".join(acronyms.get(word, word) for word in cause.split("_"))
        return words[0].upper() + words[1:]
    return title


def urgency(section):
    """The key of URGENCIES that a cause's impact begins with, and a line that says how soon to act."""
    words = " ".join(re.search(r"^\*\*Impact\.\*\* (.+?)[.:](?=\s)", section, re.M | re.S)[1].split())
    key = max((key for key in URGENCIES if words.startswith(key)), key=len, default=None)
    if key is None:
        raise SystemExit(f"docs/runbook.md: an impact begins with none of {', '.join(URGENCIES)}: {words}")
    line = {"None": "Nothing to do", "No hurry": key}.get(key, "Act " + key[0].lower() + key[1:]) + words[len(key):]
    return key, f'<p class="urgency" data-urgency="{URGENCIES[key][1]}">{markdown.inline(line)}</p>\n'


def without_urgency(section):
    """The section's text without the beginning of its impact, or all of it, that urgency() shows above it."""
    return re.sub(r"^(\*\*Impact\.\*\* ).+?[.:](?:\n\n|\s(.))", lambda found: found[1] + found[2].upper() if found[2] else "", section, count=1, flags=re.M | re.S)


def by_urgency(sections, title, prefix="", current=None):
    """Contents: the causes in words, by how soon to act."""
    return "".join(links(heading, [(prefix + name, title(name)) for name, section in sections if urgency(section)[0] == key], current) for key, (heading, _) in URGENCIES.items())


def runbook(frame, allowed, text, title, of_alerts):
    sections = [found for found in SECTION.findall(text) if "**Impact.**" in found[1]]
    whole = frame.replace("@TITLE@", "Runbook").replace("@SELF@", "#").replace("@BACK@", "").replace("@TURN@", "")
    others = [heading for heading in re.findall(r"^## (.*)$", text, re.M) if heading not in dict(sections)]
    contents = links("Runbook", [("#" + markdown.anchor(heading), markdown.inline(heading)) for heading in others]) + by_urgency(sections, title, "#")
    contents += links("Alerts", [(name, name) for name in of_alerts])
    body = markdown.to_html(SECTION.sub(lambda found: without_urgency(found[0]) if "**Impact.**" in found[2] else found[0], text))
    for name, section in sections:
        body = body.replace(f'<h2 id="{name}">{name}</h2>\n', f'<h2 id="{name}">{title(name)} <code>{name}</code></h2>\n{urgency(section)[1]}')
    return c_rows("runbook", whole.replace("@CONTENTS@", contents).replace("@RUNBOOK@", by_name(body, of_alerts)), allowed)


def label(found):
    """The label of a paragraph, with an anchor."""
    name = markdown.anchor(found[1])
    return f'<p id="{name}"><strong><a href="#{name}">{found[1]}</a></strong> {found[2].upper()}'


def turn(names, i, title):
    """Links to the causes before and after the one at i."""
    return "".join(f'<a class="button" rel="{rel}" href="{names[k]}">{before}{title(names[k])}{after}</a>\n' for rel, k, before, after in (("prev", i - 1, "‹ ", ""), ("next", i + 1, "", " ›"))
                   if 0 <= k < len(names))


def causes(frame, text, title):
    """Each section as a document of its own, for web_page.c: cause_NAME_packed, and WEB_CAUSES(X), a list of X(NAME, length). Its heading is the section's
    quote, which is the cause in words, and the cause's name. Its links lead to the documents of the other causes."""
    made, listed, sections = "", "", [found for found in SECTION.findall(text) if "**Impact.**" in found[1]]
    sections.sort(key=lambda found: list(URGENCIES).index(urgency(found[1])[0]))  # as in the contents
    names = [name for name, _ in sections]
    for i, (name, section) in enumerate(sections):
        quote, rest = re.fullmatch(r"\s*((?:> [^\n]*\n)+)(.*)", without_urgency(section), re.S).groups()
        quote = " ".join(line[2:] for line in quote.splitlines())
        heading = f'<h1 id="{name}">{markdown.inline(quote[0].upper() + quote[1:])} <code>{name}</code></h1>\n'
        here = "".join(f'<a class="button" href="../#{place}={name}">{word}</a> ' for place, word in (("overview?problem", "Open problems"), ("ports?q", "Ports with it"), ("events?q", "Its events")))
        body = LABEL.sub(label, markdown.to_html(rest.replace("](#", "](#/")))
        contents = links("This cause", re.findall(r'<p id="([^"]+)"><strong><a href="#[^"]+">([^<]+)', body)).replace('href="', 'href="#') + by_urgency(sections, title, current=name)
        inside = f'{heading}{urgency(section)[1]}<p id="open" data-cause="{name}" hidden></p>\n<p class="actions">{here}</p>\n{body}'
        document = frame.replace("@TITLE@", f"{title(name)} · Runbook").replace("@SELF@", "./").replace("@TURN@", f'<nav class="turn" aria-label="neighbours">\n{turn(names, i, title)}</nav>\n')
        document = document.replace("@BACK@", f'<p class="crumbs"><a href="./">Runbook</a> / {title(name)} <a class="to-contents" href="#contents">Contents</a></p>\n').replace("@CONTENTS@", contents)
        data = document.replace("@RUNBOOK@", inside.replace('href="#/', 'href="')).encode()
        made += c_bytes(f"cause_{name}", data)
        listed += f" \\\n\tX({name}, {len(data)})"
    return f"{made}#define WEB_CAUSES(X){listed}\n"


def no_cause(frame, allowed, text, title):
    """The document for a cause that the runbook does not have: links to all that it has."""
    sections = [found for found in SECTION.findall(text) if "**Impact.**" in found[1]]
    inside = ('<h1>No such cause</h1>\n<p>The runbook has no cause of this name. Another version of rocelet may have it.</p>\n'
              '<p class="actions"><a class="button" href="./">Runbook</a> <a class="button" href="../#">Overview</a></p>\n')
    back = '<p class="crumbs"><a href="./">Runbook</a> / No such cause <a class="to-contents" href="#contents">Contents</a></p>\n'
    document = frame.replace("@TITLE@", "No such cause · Runbook").replace("@SELF@", "./").replace("@TURN@", "").replace("@BACK@", back)
    return c_rows("no_cause", document.replace("@CONTENTS@", by_urgency(sections, title)).replace("@RUNBOOK@", inside), allowed)


def reasons(text):
    """{word: text} of the reasons why a device is unhealthy: sections, and items of a list that begin with the words."""
    part = re.search(r"^## Why a device is unhealthy\n.*?(?=^## )", text, re.M | re.S)[0]
    found = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", part, re.M | re.S))
    for words, line in re.findall(r"^\* ((?:`\w+`(?:, )?)+): (.*?)(?=^\* |\n\n|\Z)", part, re.M | re.S):
        found.update((word, line[0].upper() + line[1:]) for word in re.findall(r"\w+", words))
    return found


def alerts(fleet):
    return dict(re.findall(r"^### (Rocelet\w+)\n(.*?)(?=^##|\Z)", fleet, re.M | re.S))


def by_name(body, names):
    """Makes each name of an alert in a text a link to its document."""
    return re.sub(r"(?<![\w/#\"])(Rocelet[A-Z]\w+)\b(?![^<]*</(?:a|h\d|code|pre)>)", lambda found: f'<a href="{found[1]}">{found[1]}</a>' if found[1] in names else found[1], body)


def others(frame, text, fleet):
    """Documents of the reasons and alerts, as those of causes, which their links lead to. Other parts of the two files are not served, except the runbook as a
    whole."""
    served = {name.lower(): name for name in [*reasons(text), *alerts(fleet), *dict(SECTION.findall(text))]}

    def led(found):
        name = served.get(found[2].lower())
        return f"](#/{name})" if name else f"](#/./#{found[2]})" if found[1] else "](fleet.md)"
    made, listed = "", ""
    for kind, sections, link in (("Why a device is unhealthy", reasons(text), r"\]\(()#([\w-]+)\)"), ("Alerts", alerts(fleet), r"\]\((runbook\.md)?#([\w-]+)\)")):
        for name, section in sections.items():
            rows = links(kind, [(each, each) for each in sections], current=name)
            body = markdown.to_html(re.sub(link, led, section).replace("](fleet.md)", "](#/./)") if kind == "Alerts" else section.replace("](#", "](#/"))
            inside = by_name(f'<h1 id="{name}"><code>{name}</code></h1>\n{body}'.replace('href="#/', 'href="'), alerts(fleet))
            document = frame.replace("@TITLE@", f"{name} · Runbook").replace("@SELF@", "./").replace("@TURN@", "").replace("@CONTENTS@", rows)
            document = document.replace("@BACK@", f'<p class="crumbs"><a href="./">Runbook</a> / {name} <a class="to-contents" href="#contents">Contents</a></p>\n')
            data = document.replace("@RUNBOOK@", inside).encode()
            made += c_bytes(f"cause_{name}", data)
            listed += f" \\\n\tX({name}, {len(data)})"
    return f"{made}#define WEB_OTHERS(X){listed}\n#define WEB_SECTIONS(X) WEB_CAUSES(X) WEB_OTHERS(X)\n"


def main():
    folder, npm_dir, path, schema, version, out = sys.argv[1:]
    (frame, allowed), text, fleet = runbook_frame(folder, version), read(path), read(os.path.join(os.path.dirname(path), "fleet.md"))
    with open(out + ".new", "w", encoding="utf-8") as f:
        f.write("/* The page and the runbook, made by document.py. */\n" + page(folder, npm_dir, schema, version)
                + runbook(frame, allowed, text, titles(folder), alerts(fleet)) + causes(frame, text, titles(folder)) + no_cause(frame, allowed, text, titles(folder)) + others(frame, text, fleet))
    os.replace(out + ".new", out)


main()
