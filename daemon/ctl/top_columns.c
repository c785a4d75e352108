// SPDX-License-Identifier: Apache-2.0
#include "top_columns.h"

#include <math.h>
#include <string.h>

#include "age_text.h"
#include "cleanup.h"
#include "ctl_cut.h"

#define SPARK_MIN 10
#define SPARK_MAX 60
/* Below this width, the gap between columns is one blank. */
#define NARROW	  58

/* --- texts ------------------------------------------------------------------------------------ */

void top_rate_text(double bytes, char *ret, size_t size)
{
	static const char units[] = " kMGTP";
	double bits = bytes * 8;
	size_t unit = 0;

	if (isnan(bytes)) {
		snprintf(ret, size, "-");
		return;
	}
	for (; bits >= 999.5 && units[unit + 1]; unit++)
		bits /= 1000;
	snprintf(ret, size, unit ? bits < 99.5 ? "%.1f%c" : "%.0f%c" : "%.0f", bits, units[unit]);
}

void top_percent_text(double share, char *ret, size_t size)
{
	if (isnan(share))
		snprintf(ret, size, "-");
	else
		snprintf(ret, size, share > 0 && share < 0.0995 ? "%.1f" : "%.0f", share * 100);
}

void top_count_text(double n, char *ret, size_t size)
{
	if (isnan(n))
		snprintf(ret, size, "-");
	else if (n >= 9999.5)
		snprintf(ret, size, "%.0fk", n / 1000);
	else
		snprintf(ret, size, n > 0 && n < 9.95 ? "%.1f" : "%.0f", n);
}

/* A sum of signals, with ">=" if only some of them are known. */
static void sum_text(const struct top_port *p, enum top_figure figure, char *ret, size_t size)
{
	char count[16];

	top_count_text(p->now[figure], count, sizeof(count));
	snprintf(ret, size, "%s%s", p->least[figure] ? ">=" : "", count);
}

/* The maximum of the seconds [from, end), counted back from the newest; NAN: all unknown. */
static double most_of(const struct top_port *p, size_t from, size_t end)
{
	double most = (double)NAN;

	for (size_t i = from; i < end; i++)
		most = fmax(most, top_second(p, i)); /* fmax(3) ignores NAN */
	return most;
}

/* A sparkline of the last minutes. Each mark is the maximum of its seconds, relative to the highest
 * of all; blank = unknown. */
static void spark_text(const struct top_port *p, size_t marks, bool ascii, char *ret, size_t size)
{
	static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
					     "\u2585", "\u2586", "\u2587", "\u2588"};
	static const char *const signs[] = {".", ":", "-", "=", "+", "*", "%", "#"};
	double highest = most_of(p, 0, TOP_HISTORY);
	size_t len = 0;

	ret[0] = '\0';
	for (size_t mark = marks; mark-- > 0;) {
		double most = most_of(p, mark * TOP_HISTORY / marks,
				      (mark + 1) * TOP_HISTORY / marks);
		int height = highest > 0 && !isnan(most) ? (int)(most / highest * 7.999) : 0;

		len += (size_t)snprintf(ret + len, size - len, "%s",
					isnan(most) ? " " : (ascii ? signs : blocks)[height]);
	}
}

/* --- columns ---------------------------------------------------------------------------------- */

static const struct {
	const char *head;
	int width;	 /* minimum */
	int narrow;	 /* minimum if the text can be cut; 0 = it cannot */
	bool right;	 /* right-aligned, for numbers */
	unsigned needed; /* on narrow screens, columns with the largest number are dropped first; 0:
			    never */
} columns[N_COLUMNS] = {
	[COL_PORT] = {"PORT", 10, 9, false, 0},
	[COL_NETDEV] = {"NETDEV", 8, 8, false, 9},
	[COL_LINK] = {"LINK", 5, 0, true, 7},
	[COL_RECEIVED] = {"RX b/s", 6, 0, true, 3},
	[COL_SENT] = {"TX b/s", 6, 0, true, 3},
	[COL_USE] = {"USE%", 4, 0, true, 4},
	[COL_PAUSE] = {"PAUSE% RX/TX", 12, 0, true, 5},
	[COL_PAUSED] = {"PAUSE%", 6, 0, true, 0},
	[COL_CE] = {"CE%", 5, 0, true, 0},
	[COL_CNP] = {"CNP/s", 6, 0, true, 8},
	[COL_LOSS] = {"LOSS/s", 6, 0, true, 0},
	[COL_RETR] = {"RETR/s", 6, 0, true, 10},
	[COL_VERDICT] = {"VERDICT", 15, 9, false, 0},
	[COL_FOR] = {"FOR", 4, 0, true, 6},
	[COL_POD] = {"POD", 12, 12, false, 2},
	[COL_SPARK] = {"", SPARK_MIN, 0, false, 11},
};

/* Steps until the row fits: drop the columns with `needed` from FIRST_DROPPED down to
 * LAST_YIELDING; cut verdicts and pods to their minimum; drop the columns down to LAST_DROPPED + 1;
 * cut verdicts and ports to their narrow minimum; drop those of LAST_DROPPED. */
#define FIRST_DROPPED 11
#define LAST_YIELDING 8
#define LAST_DROPPED  2
/* Longer names of pods are cut to this width before any column is dropped. */
#define POD_USEFUL    24

/* Writes the cell of the verdict. If the data is old, a port without a verdict is "stale", not
 * "ok". */
static void top_columns_verdict_text(const struct top_view *v, const struct top_port *p, char *ret,
				     size_t size)
{
	static const char *const levels[] = {"", "info", "warn", "crit"};

	if (p->level > 0)
		snprintf(ret, size, "%s%s: %s", levels[p->level < 3 ? p->level : 3],
			 p->of_pf ? " PF" : "", p->cause);
	else
		snprintf(ret, size, "%s",
			 strcmp(p->watch, "judged") == 0 ? v->old ? "stale" : "ok"
			 : p->watch[0]			 ? p->watch
							 : "-");
}

static void pause_text(const struct top_port *p, char *ret, size_t size)
{
	char received[16], sent[16];

	top_percent_text(p->now[TOP_PAUSE_RECEIVED], received, sizeof(received));
	top_percent_text(p->now[TOP_PAUSE_SENT], sent, sizeof(sent));
	snprintf(ret, size, "%s/%s", received, sent);
}

static void paused_text(const struct top_port *p, char *ret, size_t size)
{
	double received = p->now[TOP_PAUSE_RECEIVED], sent = p->now[TOP_PAUSE_SENT];

	top_percent_text(isnan(sent) || received > sent ? received : sent, ret, size);
}

/* The pod that has the device, else the first one that its verdict concerns: "train/llm-0 +3".
 * width 0: whole */
static void pod_text(const struct top_view *v, const struct top_port *p, int width, char *ret,
		     size_t size)
{
	const bool is_held = p->pod[0], is_more = !is_held && p->first_pod[0] && p->more_pods > 0;
	const char *pod = is_held ? p->pod : p->level > 0 ? p->first_pod : "";
	char more[24] = "";

	if (is_more && pod[0])
		snprintf(more, sizeof(more), " +%" JSON_INTEGER_FORMAT, p->more_pods);
	snprintf(ret, size, "%s", pod[0] ? pod : "-");
	if (width > (int)strlen(more))
		ctl_cut_pod(ret, size, (size_t)width - strlen(more), v->ascii);
	snprintf(ret + strlen(ret), size - strlen(ret), "%s", more);
}

/* "3m20s"; ">3m20s" if the fault already existed when the port was first judged. */
static void for_text(const struct top_model *m, const struct top_port *p, char *ret, size_t size)
{
	int64_t age = top_trouble_age(m, p);
	char text[AGE_TEXT_SIZE] = "-";

	if (age >= 0)
		age_text(age, text);
	snprintf(ret, size, "%s%s", age >= 0 && p->before_start ? ">" : "", text);
}

static void cell_text(const struct top_view *v, const struct top_model *m, const struct top_port *p,
		      enum top_column column, int width, char *ret, size_t size)
{
	const char *text = column == COL_PORT ? p->name : column == COL_NETDEV ? p->netdev : p->pod;
	const bool is_down = strcmp(p->state, "down") == 0 || strcmp(p->watch, "down") == 0;

	switch (column) {
	case COL_PORT:
	case COL_NETDEV:
		snprintf(ret, size, "%s", text[0] ? text : "-");
		break;
	case COL_POD:
		pod_text(v, p, width, ret, size);
		break;
	case COL_LINK:
		if (is_down)
			snprintf(ret, size, "down");
		else
			top_rate_text(p->line, ret, size);
		break;
	case COL_RECEIVED:
		top_rate_text(p->wire[0], ret, size);
		break;
	case COL_SENT:
		top_rate_text(p->wire[1], ret, size);
		break;
	case COL_USE:
		top_percent_text(top_use(p), ret, size);
		break;
	case COL_PAUSE:
		pause_text(p, ret, size);
		break;
	case COL_PAUSED:
		paused_text(p, ret, size);
		break;
	case COL_CE:
		top_percent_text(p->now[TOP_CE], ret, size);
		break;
	case COL_CNP:
		sum_text(p, TOP_CNP, ret, size);
		break;
	case COL_LOSS:
		sum_text(p, TOP_LOSS, ret, size);
		break;
	case COL_RETR:
		sum_text(p, TOP_RETR, ret, size);
		break;
	case COL_VERDICT:
		top_columns_verdict_text(v, p, ret, size);
		break;
	case COL_FOR:
		for_text(m, p, ret, size);
		break;
	case COL_SPARK:
		spark_text(p, (size_t)width, v->ascii, ret, size);
		break;
	case N_COLUMNS:
		break;
	}
}

static int whole_width(const struct top_layout *l)
{
	int width = -l->gap;

	for (int i = 0; i < N_COLUMNS; i++)
		width += l->widths[i] ? l->widths[i] + l->gap : 0;
	return width;
}

/* True for "-" and "-/-". */
static bool top_columns_is_unknown(const char *cell)
{
	return cell[strspn(cell, "-/")] == '\0';
}

/* Hides columns without a value for any port. */
static void hide_unknown(struct top_layout *l, const struct top_view *v, const struct top_model *m)
{
	char text[TOP_LINE_SIZE];

	for (int i = COL_NETDEV; i < COL_SPARK; i++) {
		bool known = m->n_ports == 0 || i == COL_VERDICT;

		for (size_t port = 0; port < m->n_ports && !known; port++) {
			cell_text(v, m, &m->ports[port], (enum top_column)i, 0, text, sizeof(text));
			known = !top_columns_is_unknown(text);
		}
		if (!known)
			l->widths[i] = 0;
	}
}

/* Sets each width to that of the widest cell shown. */
static void measure_columns(struct top_layout *l, const struct top_view *v,
			    const struct top_model *m, const size_t *order, size_t n)
{
	char text[TOP_LINE_SIZE];

	for (int i = 0; i < N_COLUMNS; i++)
		l->widths[i] = columns[i].narrow ? (int)strlen(columns[i].head) : columns[i].width;
	for (size_t row = 0; row < n; row++)
		for (int i = 0; i < COL_SPARK; i++) {
			int width;

			cell_text(v, m, &m->ports[order[row]], (enum top_column)i, 0, text,
				  sizeof(text));
			width = (int)strlen(text);
			l->widths[i] = width > l->widths[i] ? width : l->widths[i];
		}
}

/* Limits a column's width to `to`. */
static void top_columns_shrink(struct top_layout *l, int i, int to)
{
	if (l->widths[i] > to)
		l->widths[i] = to;
}

/* Drops the columns with this value of `needed`. PAUSE% replaces the wide column of pauses. */
static void top_columns_drop(struct top_layout *l, const struct top_layout *natural,
			     unsigned needed)
{
	for (int i = 0; i < N_COLUMNS; i++)
		if (columns[i].needed == needed)
			l->widths[i] = 0;
	if (l->widths[COL_PAUSE] == 0)
		l->widths[COL_PAUSED] = natural->widths[COL_PAUSED];
}

/* Shrinks verdict and port to their minimum. If the row is still too wide, shrinks first the
 * verdict and then the port to the narrow minimum. */
static void shrink_names(struct top_layout *l, const struct top_layout *natural, size_t width)
{
	static const enum top_column names[] = {COL_VERDICT, COL_PORT};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		l->widths[names[i]] = natural->widths[names[i]];
		top_columns_shrink(l, names[i], columns[names[i]].width);
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (whole_width(l) > (int)width)
			top_columns_shrink(l, names[i], columns[names[i]].narrow);
}

/* Shrinks columns with names and drops columns until the row fits, then widens the names up to
 * their widest cell while there is room. */
static void fit_columns(struct top_layout *l, size_t width)
{
	static const enum top_column growing[] = {COL_VERDICT, COL_PORT, COL_POD, COL_NETDEV};
	struct top_layout natural = *l;
	int left;

	l->widths[COL_PAUSED] = 0;
	for (int i = 0; i < N_COLUMNS; i++)
		if (columns[i].narrow && i != COL_VERDICT)
			top_columns_shrink(l, i, i == COL_POD ? POD_USEFUL : columns[i].width);
	for (unsigned i = FIRST_DROPPED; i >= LAST_YIELDING && whole_width(l) > (int)width; i--)
		top_columns_drop(l, &natural, i);
	top_columns_shrink(l, COL_POD, columns[COL_POD].width);
	top_columns_shrink(l, COL_VERDICT, columns[COL_VERDICT].width);
	for (unsigned i = LAST_YIELDING; --i > LAST_DROPPED && whole_width(l) > (int)width;)
		top_columns_drop(l, &natural, i);
	shrink_names(l, &natural, width);
	if (whole_width(l) > (int)width) {
		top_columns_drop(l, &natural, LAST_DROPPED);
		shrink_names(l, &natural, width);
	}
	left = (int)width - whole_width(l);
	for (size_t i = 0; i < ARRAY_SIZE(growing) && left > 0; i++) {
		int *w = &l->widths[growing[i]], more = natural.widths[growing[i]] - *w;

		if (*w == 0)
			continue;
		more = more < left ? more : left;
		*w += more;
		left -= more;
	}
	if (l->widths[COL_SPARK] == 0)
		return;
	l->widths[COL_SPARK] += left > 0 ? left : 0;
	if (l->widths[COL_SPARK] > SPARK_MAX)
		l->widths[COL_SPARK] = SPARK_MAX;
}

void top_columns_fit(struct top_layout *l, const struct top_view *v, const struct top_model *m,
		     const size_t *order, size_t n, size_t width)
{
	l->gap = width < NARROW ? 1 : 2;
	measure_columns(l, v, m, order, n);
	hide_unknown(l, v, m);
	fit_columns(l, width);
}

/* Cuts a text of ASCII in the middle to `width` characters. */
static void top_columns_cut(char *text, size_t size, size_t width, bool ascii)
{
	ctl_cut_middle(text, size, width, width - 1 - width / 2, ascii);
}

/* Number of UTF-8 continuation bytes in a text. */
static int top_columns_more_bytes(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) == 0x80;
	return n;
}

static void top_columns_add_cell(struct top_line *line, const struct top_layout *l,
				 const char *text, int width, bool right)
{
	int room = (int)(sizeof(line->text) - line->len);

	int n;

	width += top_columns_more_bytes(text);
	n = snprintf(line->text + line->len, (size_t)room, right ? "%*s%*s" : "%*s%-*s",
		     line->len ? l->gap : 0, "", width, text);

	line->len += (size_t)(n < room ? n : room - 1);
}

static void trim(struct top_line *line)
{
	while (line->len > 0 && line->text[line->len - 1] == ' ')
		line->text[--line->len] = '\0';
}

void top_columns_head(struct top_line *line, const struct top_layout *l)
{
	*line = (struct top_line){.len = 0};
	for (int i = 0; i < N_COLUMNS; i++)
		if (l->widths[i])
			top_columns_add_cell(line, l,
					     i == COL_SPARK ? "LAST 5 MINUTES" : columns[i].head,
					     l->widths[i], columns[i].right);
	trim(line);
}

void top_columns_port(struct top_line *line, const struct top_layout *l, const struct top_view *v,
		      const struct top_model *m, const struct top_port *p)
{
	char text[TOP_LINE_SIZE];

	*line = (struct top_line){.len = 0};
	for (int i = 0; i < N_COLUMNS; i++) {
		if (!l->widths[i])
			continue;
		cell_text(v, m, p, (enum top_column)i, l->widths[i], text, sizeof(text));
		if (i != COL_POD && columns[i].narrow)
			top_columns_cut(text, sizeof(text), (size_t)l->widths[i], v->ascii);
		top_columns_add_cell(line, l, text, l->widths[i], columns[i].right);
	}
	trim(line);
}
