#include "top_columns.h"

#include <math.h>
#include <string.h>

#define SPARK_MIN 10
#define SPARK_MAX 60

/* --- texts ------------------------------------------------------------------------------------ */

/* "196.0G" bits a second, as links are named; "-" = unknown. */
static void rate_text(double bytes, char *ret, size_t size)
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

static void percent_text(double share, char *ret, size_t size)
{
	if (isnan(share))
		snprintf(ret, size, "-");
	else
		snprintf(ret, size, share > 0 && share < 0.0995 ? "%.1f" : "%.0f", share * 100);
}

static void count_text(double n, char *ret, size_t size)
{
	if (isnan(n))
		snprintf(ret, size, "-");
	else if (n >= 9999.5)
		snprintf(ret, size, "%.0fk", n / 1000);
	else
		snprintf(ret, size, n > 0 && n < 9.95 ? "%.1f" : "%.0f", n);
}

/* Of seconds as far back as from one to before the other; NAN: none is known. */
static double most_of(const struct top_port *p, size_t from, size_t end)
{
	double most = (double)NAN;

	for (size_t i = from; i < end; i++)
		most = fmax(most, top_second(p, i)); /* fmax(3) passes over NAN */
	return most;
}

/* What it carried in the last minutes, each mark as high as the most of its seconds is against the
 * highest of all; a blank for what is not known. */
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
	int width;	 /* at least */
	bool right;	 /* numbers */
	unsigned needed; /* the columns with the largest number go first where the screen is narrow
			  */
} columns[N_COLUMNS] = {
	[COL_PORT] = {"PORT", 10, false, 0},	     [COL_NETDEV] = {"NETDEV", 8, false, 8},
	[COL_LINK] = {"LINK", 5, true, 6},	     [COL_RECEIVED] = {"RX bit/s", 8, true, 1},
	[COL_SENT] = {"TX bit/s", 8, true, 1},	     [COL_USE] = {"USE%", 4, true, 3},
	[COL_PAUSE] = {"PAUSE% RX/TX", 12, true, 4}, [COL_CE] = {"CE%", 5, true, 4},
	[COL_CNP] = {"CNP/s", 6, true, 5},	     [COL_LOSS] = {"LOSS/s", 6, true, 4},
	[COL_VERDICT] = {"VERDICT", 9, false, 2},    [COL_POD] = {"POD", 8, false, 7},
	[COL_SPARK] = {"", SPARK_MIN, false, 9},
};

static void top_columns_verdict_text(const struct top_port *p, char *ret, size_t size)
{
	static const char *const levels[] = {"", "info", "warning", "critical"};

	if (p->level > 0)
		snprintf(ret, size, "%s: %s", levels[p->level < 3 ? p->level : 3], p->cause);
	else
		snprintf(ret, size, "%s",
			 strcmp(p->watch, "judged") == 0 ? "ok"
			 : p->watch[0]			 ? p->watch
							 : "-");
}

static void pause_text(const struct top_port *p, char *ret, size_t size)
{
	char received[16], sent[16];

	percent_text(p->now[TOP_PAUSE_RECEIVED], received, sizeof(received));
	percent_text(p->now[TOP_PAUSE_SENT], sent, sizeof(sent));
	snprintf(ret, size, "%s/%s", received, sent);
}

static void cell_text(const struct top_view *v, const struct top_port *p, enum top_column column,
		      int width, char *ret, size_t size)
{
	const char *text = column == COL_PORT ? p->name : column == COL_NETDEV ? p->netdev : p->pod;

	switch (column) {
	case COL_PORT:
	case COL_NETDEV:
	case COL_POD:
		snprintf(ret, size, "%s", text[0] ? text : "-");
		break;
	case COL_LINK:
		rate_text(p->line, ret, size);
		break;
	case COL_RECEIVED:
		rate_text(p->now[TOP_RECEIVED], ret, size);
		break;
	case COL_SENT:
		rate_text(p->now[TOP_SENT], ret, size);
		break;
	case COL_USE:
		percent_text(top_use(p), ret, size);
		break;
	case COL_PAUSE:
		pause_text(p, ret, size);
		break;
	case COL_CE:
		percent_text(p->now[TOP_CE], ret, size);
		break;
	case COL_CNP:
		count_text(p->now[TOP_CNP], ret, size);
		break;
	case COL_LOSS:
		count_text(p->now[TOP_LOSS], ret, size);
		break;
	case COL_VERDICT:
		top_columns_verdict_text(p, ret, size);
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
	int width = -2;

	for (int i = 0; i < N_COLUMNS; i++)
		width += l->widths[i] ? l->widths[i] + 2 : 0;
	return width;
}

/* As wide as the widest cell that is shown. */
static void measure_columns(struct top_layout *l, const struct top_view *v,
			    const struct top_model *m, const size_t *order, size_t n)
{
	char text[TOP_LINE_SIZE];

	for (int i = 0; i < N_COLUMNS; i++)
		l->widths[i] = columns[i].width;
	for (size_t row = 0; row < n; row++)
		for (int i = 0; i < COL_SPARK; i++) {
			int width;

			cell_text(v, &m->ports[order[row]], (enum top_column)i, 0, text,
				  sizeof(text));
			width = (int)strlen(text);
			l->widths[i] = width > l->widths[i] ? width : l->widths[i];
		}
}

/* What does not fit goes, the least needed first; what is left over is for the last minutes. */
static void fit_columns(struct top_layout *l, size_t width)
{
	for (unsigned least = 9; least > 0 && whole_width(l) > (int)width; least--)
		for (int i = 0; i < N_COLUMNS; i++)
			if (columns[i].needed == least)
				l->widths[i] = 0;
	if (l->widths[COL_SPARK] == 0)
		return;
	l->widths[COL_SPARK] += (int)width - whole_width(l);
	if (l->widths[COL_SPARK] > SPARK_MAX)
		l->widths[COL_SPARK] = SPARK_MAX;
}

void top_columns_fit(struct top_layout *l, const struct top_view *v, const struct top_model *m,
		     const size_t *order, size_t n, size_t width)
{
	measure_columns(l, v, m, order, n);
	fit_columns(l, width);
}

/* The last column has its own length. */
static void top_columns_add_cell(struct top_line *line, const char *text, int width, bool right)
{
	int room = (int)(sizeof(line->text) - line->len);
	int n = snprintf(line->text + line->len, (size_t)room, right ? "%s%*s" : "%s%-*s",
			 line->len ? "  " : "", width, text);

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
			top_columns_add_cell(line,
					     i == COL_SPARK ? "LAST 5 MINUTES" : columns[i].head,
					     l->widths[i], columns[i].right);
	trim(line);
}

void top_columns_port(struct top_line *line, const struct top_layout *l, const struct top_view *v,
		      const struct top_port *p)
{
	char text[TOP_LINE_SIZE];

	*line = (struct top_line){.len = 0};
	for (int i = 0; i < N_COLUMNS; i++) {
		if (!l->widths[i])
			continue;
		cell_text(v, p, (enum top_column)i, l->widths[i], text, sizeof(text));
		top_columns_add_cell(line, text, l->widths[i], columns[i].right);
	}
	trim(line);
}
