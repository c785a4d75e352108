#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the runbook's paragraphs "Impact" and "Confirm" of each cause as a list for runbook_text.c: RUNBOOK_TEXTS(X), rows of X(NAME, "impact", "confirm").

  runbook_text.py RUNBOOK OUT
"""
import json
import os
import re
import sys

SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.M | re.S)
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")


def paragraph(section, label):
    """The paragraph with this label as one line without markup; blocks of code, which are queries, are not part of it."""
    found = re.search(rf"^\*\*{label}\.\*\* (.+?)(?=\n\n|\Z)", section, re.M | re.S)
    return " ".join(LINK.sub(r"\1", found[1]).replace("**", "").split()) if found else ""


def main():
    path, out = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        sections = [(name, section) for name, section in SECTION.findall(f.read()) if "**Impact.**" in section]
    rows = "".join(f" \\\n\tX({name}, {json.dumps(paragraph(section, 'Impact'))}, {json.dumps(paragraph(section, 'Confirm'))})" for name, section in sections)
    with open(out + ".new", "w", encoding="utf-8") as f:
        f.write(f"/* Paragraphs of the runbook, made by runbook_text.py. */\n#define RUNBOOK_TEXTS(X){rows}\n")
    os.replace(out + ".new", out)


main()
