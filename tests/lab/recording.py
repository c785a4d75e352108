#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes an animated SVG from the contents of a terminal, one frame per second.

  recording.py FRAMES OUT    FRAMES: a folder of tmux's captures, named by their second (scenario congestion, fault top)
"""
import html
import os
import re
import sys

CELL, LINE, MARGIN = 7.2, 16, 12  # pixels
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, monospace"
NO_BREAK = "\u00a0"  # several spaces are one in most viewers
STILL_S = 4  # duration of the last frame
FOREGROUND, BACKGROUND = "#d8dee4", "#14181c"
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341"}
SGR = re.compile(r"\x1b\[([0-9;]*)m")


class Style:
    def __init__(self):
        self.colour, self.bold, self.reverse = FOREGROUND, False, False

    def change(self, codes):
        for code in codes.split(";"):
            if code in ("", "0"):
                self.__init__()
            elif code in COLOURS:
                self.colour = COLOURS[code]
            elif code == "39":
                self.colour = FOREGROUND
            elif code in ("1", "22"):
                self.bold = code == "1"
            elif code in ("7", "27"):
                self.reverse = code == "7"


def runs(line):
    """(column, text, style attributes, reversed) of each piece of one style."""
    style, column = Style(), 0
    for i, part in enumerate(SGR.split(line)):
        if i % 2:
            style.change(part)
        elif part:
            yield column, part, style
            column += len(part)


def svg_line(row, line):
    y = MARGIN + row * LINE
    for column, text, style in runs(line):
        x, width = MARGIN + column * CELL, len(text) * CELL
        if style.reverse:
            yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{LINE}" fill="{style.colour}"/>'
        if text.strip():
            bold = ' font-weight="bold"' if style.bold else ""
            yield (f'<text x="{x:.1f}" y="{y + 12}" textLength="{width:.1f}" fill="{BACKGROUND if style.reverse else style.colour}"{bold}>'
                   f"{html.escape(text).replace(' ', NO_BREAK)}</text>")


def frames_of(folder):
    """(second, lines) of the frames that differ from the previous one."""
    last = None
    for name in sorted(os.listdir(folder), key=int):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            lines = file.read().rstrip("\n").split("\n")
        if lines != last and any(lines):
            yield int(name), lines
        last = lines


def styles(starts, whole):
    """A frame is visible from its start to the next one's."""
    for i, (start, end) in enumerate(zip(starts, starts[1:] + [whole])):
        a, b = 100 * start / whole, 100 * end / whole
        yield f"@keyframes k{i}{{0%{{opacity:0}}{a:.3f}%{{opacity:1}}{b:.3f}%{{opacity:0}}100%{{opacity:0}}}}" \
              f"#f{i}{{opacity:0;animation:k{i} {whole}s step-end infinite}}"


def main():
    folder, out = sys.argv[1:]
    frames = list(frames_of(folder))
    first = frames[0][0]
    starts = [second - first for second, _ in frames]
    columns = max(len(SGR.sub("", line)) for _, lines in frames for line in lines)
    rows = max(len(lines) for _, lines in frames)
    width, height = 2 * MARGIN + columns * CELL, 2 * MARGIN + rows * LINE
    with open(out, "w", encoding="utf-8") as file:
        print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" font-family="{FONT}" font-size="12">',
              f"<title>rocectl top</title><style>{''.join(styles(starts, starts[-1] + STILL_S))}</style>",
              f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>', sep="\n", file=file)
        for i, (_, lines) in enumerate(frames):
            print(f'<g id="f{i}">', *(piece for row, line in enumerate(lines) for piece in svg_line(row, line)), "</g>", sep="\n", file=file)
        print("</svg>", file=file)


main()
