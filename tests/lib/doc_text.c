// SPDX-License-Identifier: Apache-2.0
#include "doc_text.h"

#include <stdbool.h>
#include <string.h>

/* The paragraph or item that is being filled. */
struct filler {
	FILE *f;
	bool open, code;
	size_t column, indent;
	const char *lead; /* prefix of each line after the first; NULL: blanks */
};

static size_t columns(const char *s, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)s[i] & 0xc0) != 0x80;
	return count;
}

/* Up to the next blank outside a code span and a link's text. */
static size_t word_length(const char *s, size_t n)
{
	bool code = false, link = false;
	size_t i;

	for (i = 0; i < n && (code || link || s[i] != ' '); i++) {
		if (s[i] == '`')
			code = !code;
		else if (!code && s[i] == '[')
			link = memchr(s + i, ']', n - i) != NULL;
		else if (!code && s[i] == ']')
			link = false;
	}
	return i;
}

static void close_block(struct filler *p)
{
	if (p->open)
		fputc('\n', p->f);
	p->open = false;
}

static void put_words(struct filler *p, const char *s, size_t n)
{
	while (n > 0) {
		size_t len = word_length(s, n), wide = columns(s, len);

		if (len > 0 && p->column > p->indent && p->column + 1 + wide > DOC_COLUMNS) {
			fprintf(p->f, "\n%s%*s", p->lead, (int)(p->indent - strlen(p->lead)), "");
			p->column = p->indent;
		} else if (len > 0 && p->column > p->indent) {
			fputc(' ', p->f);
			p->column++;
		}
		fwrite(s, 1, len, p->f);
		p->column += wide;
		len += len < n;
		s += len;
		n -= len;
	}
}

/* Length of the mark of a list item or a quotation at the start of the line; 0: none. */
static size_t mark_length(const char *s, size_t n)
{
	return n >= 2 && (s[0] == '*' || s[0] == '>') && s[1] == ' ' ? 2 : 0;
}

static void put_prose(struct filler *p, const char *s, size_t n)
{
	size_t blanks = strspn(s, " "), mark = mark_length(s + blanks, n - blanks);
	bool quotation = mark && s[blanks] == '>';

	if (mark && !(quotation && p->open && *p->lead))
		close_block(p);
	if (p->open) {
		put_words(p, s + blanks + mark, n - blanks - mark);
		return;
	}
	p->open = true;
	p->lead = quotation ? "> " : "";
	p->indent = p->column = blanks + mark;
	fwrite(s, 1, blanks + mark, p->f);
	put_words(p, s + blanks + mark, n - blanks - mark);
}

void doc_put(FILE *f, const char *s)
{
	struct filler p = {.f = f, .lead = ""};

	for (size_t n; *s; s += n + (s[n] == '\n')) {
		bool fence;

		n = strcspn(s, "\n");
		fence = strncmp(s, "```", 3) == 0;
		if (p.code || fence || n == 0 || *s == '#' || *s == '|') {
			close_block(&p);
			fprintf(f, "%.*s\n", (int)n, s);
			p.code ^= fence;
		} else {
			put_prose(&p, s, n);
		}
	}
	close_block(&p);
}
