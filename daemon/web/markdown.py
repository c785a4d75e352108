# SPDX-License-Identifier: Apache-2.0
"""HTML of the Markdown that our documents are written in: headings, paragraphs, lists of one level, quotes, blocks of code, code, bold and stressed text, and links."""
import html
import re

INLINE = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)")


def anchor(heading):
    """The anchor of a heading, as on GitHub and GitLab."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def inline(text):
    """Converts inline markup. A link to another file becomes plain text, because that file is not served."""
    done, at = "", 0
    for found in INLINE.finditer(text):
        code, bold, stressed, label, target = found.groups()
        done += html.escape(text[at:found.start()])
        if code:
            done += f"<code>{html.escape(code)}</code>"
        elif bold:
            done += f"<strong>{inline(bold)}</strong>"
        elif stressed:
            done += f"<em>{inline(stressed)}</em>"
        else:
            done += f'<a href="{html.escape(target)}">{inline(label)}</a>' if target.startswith("#") else inline(label)
        at = found.end()
    return done + html.escape(text[at:])


def items(lines):
    """Lines that go on belong to the item before."""
    found = []
    for line in lines:
        if line.startswith("* "):
            found.append(line[2:])
        else:
            found[-1] += " " + line.strip()
    return found


def block(text):
    lines = text.splitlines()
    heading = re.fullmatch(r"(#+) (.*)", lines[0])
    if heading:
        level = len(heading[1])
        return f'<h{level} id="{anchor(heading[2])}">{inline(heading[2])}</h{level}>\n'
    if lines[0].startswith("> "):
        return f"<blockquote><p>{inline(' '.join(line[2:] for line in lines))}</p></blockquote>\n"
    if lines[0].startswith("* "):
        return "<ul>\n" + "".join(f"<li>{inline(item)}</li>\n" for item in items(lines)) + "</ul>\n"
    return f"<p>{inline(' '.join(lines))}</p>\n"


def to_html(text):
    done = ""
    for i, part in enumerate(re.split(r"^```.*\n", text, flags=re.M)):
        if i % 2:
            done += f'<pre tabindex="0">{html.escape(part)}</pre>\n'
        else:
            done += "".join(block(each) for each in re.split(r"\n\s*\n", part.strip()) if each)
    return done
