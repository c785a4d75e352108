#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a file of the journal, or changes it and updates its checksum: a record of another boot, another device, an older version.

  record.py FILE                        its JSON
  record.py FILE KEY[.KEY]..=[JSON]..   without JSON the key is removed
"""
import json
import sys
import zlib

BLOCK = 16384
MAGIC = b"rocelet-journal 1 "


def read(block):
    """Serial and record of a complete block."""
    line, _, rest = block.partition(b"\n")
    if not line.startswith(MAGIC):
        return 0, None
    serial, length, crc = (int(word) for word in line[len(MAGIC):].split())
    body = rest[:length]
    assert zlib.crc32(line.rpartition(b" ")[0] + body) == crc, "not whole"
    return serial, json.loads(body)


def write(serial, record):
    body = json.dumps(record, separators=(",", ":")).encode()
    head = MAGIC + b"%d %d" % (serial, len(body))
    return (head + b" %d\n" % zlib.crc32(head + body) + body).ljust(BLOCK, b"\n")


def change(record, path, value):
    *folders, key = path.split(".")
    for folder in folders:
        record = record[folder]
    if not value:
        del record[key]
        return
    record[key] = json.loads(value)


def main():
    with open(sys.argv[1], "rb") as f:
        text = f.read()
    blocks = [text[i:i + BLOCK] for i in range(0, len(text), BLOCK)]
    serial, at = max((read(block)[0], i) for i, block in enumerate(blocks))
    record = read(blocks[at])[1]
    if not sys.argv[2:]:
        print(json.dumps(record))
        return
    for edit in sys.argv[2:]:
        path, _, value = edit.partition("=")
        change(record, path, value)
    blocks[at] = write(serial, record)
    with open(sys.argv[1], "wb") as f:
        f.write(b"".join(blocks))


main()
