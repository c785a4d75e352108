#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the JSON Schema of the configuration with an independent validator: every example is valid, and what the daemon rejects is invalid if a
schema can express that.

  schema_python.py DAEMON ROCECTL MK_SYSFS

One line per check, "N passed, N failed" last.

run: {san}/rocelet {san}/rocectl {san}/bench/mk_sysfs
proves: daemon/config docs
when: turns
"""
import glob
import json
import os
import re
import subprocess
import sys

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
import config_python  # noqa: E402
from run_checks import run_checks  # noqa: E402

# Rows that the daemon rejects but a schema cannot: they relate several values, or need arithmetic on an address.
BEYOND = {
    "an address out of range", "a prefix of Kubernetes'", "a certificate without its key", "a key without its certificate, in a group",
    "a key without its certificate, in another group", "a window in a group", "a level with a line break",
    "a user-space driver", "a user-space driver among others", "a user-space driver in one of several selectors", "vhost", "soft-RoCE where there is RDMA", "soft-RoCE on an RDMA device by name", "an accelerator", "a slot",
    "network address", "broadcast address", "loopback", "multicast", "ips and ipam", "IPv6 with a small MTU", "priority without VLAN",
    "more least than most", "additionalInfo of no device",
}
checks = []


def check(function):
    checks.append(function)
    return function


def rocelet(*flags):
    return subprocess.run([config_python.programs["daemon"], *flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True).stdout


class Schema:
    validator = None

    @classmethod
    def errors(cls, document):
        if not cls.validator:
            schema = json.loads(rocelet("--print-schema"))
            jsonschema.Draft202012Validator.check_schema(schema)
            cls.validator = jsonschema.Draft202012Validator(schema)
        return [f"{'.'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in cls.validator.iter_errors(document)]


@check
def it_is_the_one_in_the_docs():
    with open(TOP + "/docs/reference/config.schema.json", encoding="utf-8") as f:
        assert f.read() == rocelet("--print-schema"), "make golden"


@check
def examples_are_valid():
    paths = glob.glob(TOP + "/docs/examples/*.json") + glob.glob(TOP + "/tests/fixtures/pool_config/*.json")
    assert len(paths) > 8
    for path in paths:
        with open(path, encoding="utf-8") as f:
            assert Schema.errors(json.load(f)) == [], (path, Schema.errors(json.load(open(path, encoding="utf-8"))))


@check
def configurations_in_the_docs_are_valid():
    n = 0
    for path in glob.glob(TOP + "/docs/**/*.md", recursive=True) + [TOP + "/README.md"]:
        with open(path, encoding="utf-8") as f:
            blocks = re.findall(r"^```json\n(.*?)^```", f.read(), re.M | re.S)
        for block in blocks:
            try:
                document = json.loads(block)
            except ValueError:
                continue  # a part of a configuration
            if isinstance(document, dict) and set(document) & {"pools", "resourceList", "configList", "groups", "mode"}:
                n += 1
                assert Schema.errors(document) == [], (path, block, Schema.errors(document))
    assert n > 3, n


@check
def output_of_rocelet_is_valid():
    for flags in (("--print-config", "--config", TOP + "/docs/examples/network.json"), ("--print-config", "--config", TOP + "/docs/examples/groups.json"),
                  ("--suggest-config", "--sysfs-root", config_python.TREE.name + "/node/sys")):
        assert Schema.errors(json.loads(rocelet(*flags))) == [], flags


def parse(text):
    """Parses JSON as editors do before they validate it."""
    def pairs(items):
        if len(dict(items)) != len(items):
            raise ValueError("a key twice")
        return dict(items)
    if isinstance(text, bytes):
        raise ValueError("bytes")
    return json.loads(text, object_pairs_hook=pairs)


@check
def rejected_configurations_are_invalid():
    """Each row of config_python's tables."""
    good = bad = 0
    wrong, unused = [], set(BEYOND)
    for theme, rows in config_python.ROWS.items():
        for name, text, status, _start, words, flags in rows:
            try:
                document = parse(text)
            except ValueError:
                continue
            if flags:
                continue
            unused.discard(name)
            errors = Schema.errors(document)
            if status == 2 and not errors and name not in BEYOND:
                wrong.append(f"{theme}: {name}: rejected, and valid: {text[:200]}")
            if status == 0 and not words and errors:
                wrong.append(f"{theme}: {name}: accepted without a word, and invalid: {errors} {text[:200]}")
            good += not errors
            bad += bool(errors)
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)
    assert not unused, unused
    assert good > 20 and bad > 20, (good, bad)


def main():
    for name, path in zip(("daemon", "rocectl", "mk_sysfs"), sys.argv[1:]):
        config_python.programs[name] = os.path.abspath(path)
    config_python.make_node(config_python.TREE.name + "/node")
    return run_checks(checks, sys.argv[4:])


if __name__ == "__main__":
    sys.exit(main())
