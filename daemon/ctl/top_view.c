// SPDX-License-Identifier: Apache-2.0
#include "top_view.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "age_text.h"
#include "cleanup.h"
#include "ctl_commands.h"
#include "ctl_show_diagnosis.h"
#include "top_columns.h"
#include "utf8.h"

/* On narrower screens, problems are not counted by severity, so that loss fits, too. */
#define NARROW_SUMMARY 100
/* Rows above and below the list. */
#define ROWS_ABOVE     4
#define ROWS_BELOW     2

enum {
	SORT_VERDICT,
	SORT_USE,
	SORT_RECEIVED,
	SORT_SENT,
	SORT_PAUSE,
	SORT_CE,
	SORT_CNP,
	SORT_LOSS,
	SORT_RETR,
	SORT_PORT,
	SORT_POD,
	N_SORTS
};

/* The key of each enumerator above. */
static const char sort_letters[] = "VURTPCNLEOD";

/* --- sorting ---------------------------------------------------------------------------------- */

static double pause_of(const struct top_port *p)
{
	double received = p->now[TOP_PAUSE_RECEIVED], sent = p->now[TOP_PAUSE_SENT];

	return isnan(sent) || received > sent ? received : sent;
}

static double top_key_of(const struct top_port *p, unsigned sort)
{
	switch (sort) {
	case SORT_VERDICT:
		return p->level;
	case SORT_USE:
		return top_use(p);
	case SORT_RECEIVED:
		return p->wire[0];
	case SORT_SENT:
		return p->wire[1];
	case SORT_PAUSE:
		return pause_of(p);
	case SORT_CE:
		return p->now[TOP_CE];
	case SORT_CNP:
		return p->now[TOP_CNP];
	case SORT_LOSS:
		return p->now[TOP_LOSS];
	case SORT_RETR:
		return p->now[TOP_RETR];
	}
	return 0;
}

/* Larger values first, unknown ones last. */
static int compare_numbers(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int compare_pods(const struct top_port *a, const struct top_port *b)
{
	if (!a->pod[0] || !b->pod[0])
		return !a->pod[0] - !b->pod[0];
	return strverscmp(a->pod, b->pod);
}

struct port_order {
	const struct top_view *view;
	const struct top_model *model;
};

static int top_compare(const void *x, const void *y, void *arg)
{
	const struct port_order *o = arg;
	const struct top_port *a = &o->model->ports[*(const size_t *)x];
	const struct top_port *b = &o->model->ports[*(const size_t *)y];
	unsigned sort = o->view->sort;
	int r = sort == SORT_POD ? compare_pods(a, b)
				 : compare_numbers(top_key_of(a, sort), top_key_of(b, sort));

	if (r == 0 && sort == SORT_VERDICT)
		r = compare_numbers(top_use(a), top_use(b));
	if (r == 0)
		r = strverscmp(a->name, b->name);
	return o->view->backwards ? -r : r;
}

/* True if the port is listed; the filter may match any of its texts. */
static bool is_shown(const struct top_view *v, const struct top_port *p)
{
	const char *const texts[] = {p->name, p->netdev, p->pod, p->state, p->cause};

	if (v->only_verdicts && p->level == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		bool is_cause = texts[i] == p->cause;

		if ((!is_cause || p->level > 0) && strcasestr(texts[i], v->filter))
			return true;
	}
	return false;
}

size_t top_order(const struct top_view *v, const struct top_model *m, size_t *ret)
{
	struct port_order order = {v, m};
	size_t n = 0;

	for (size_t i = 0; i < m->n_ports; i++)
		if (is_shown(v, &m->ports[i]))
			ret[n++] = i;
	qsort_r(ret, n, sizeof(*ret), top_compare, &order);
	return n;
}

bool top_sort_by(struct top_view *v, const char *name)
{
	const char *choices = TOP_SORTS;
	char choice[16];

	for (unsigned i = 0; ctl_choice_next(&choices, choice, sizeof(choice)); i++)
		if (strcmp(choice, name) == 0) {
			v->sort = i;
			return true;
		}
	return false;
}

static void sort_name(const struct top_view *v, char *ret, size_t size)
{
	const char *choices = TOP_SORTS;

	for (unsigned i = 0; i <= v->sort; i++)
		ctl_choice_next(&choices, ret, size);
}

/* --- selection -------------------------------------------------------------------------------- */

/* Row of the selected port in the list; the first row (0) if it is not listed. */
static size_t selected_row(const struct top_view *v, const struct top_model *m, const size_t *order,
			   size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(m->ports[order[i]].name, v->selected) == 0)
			return i;
	return 0;
}

const struct top_port *top_selected(const struct top_view *v, const struct top_model *m)
{
	AUTO_FREE size_t *order = calloc(m->n_ports + 1, sizeof(*order));
	size_t n = order ? top_order(v, m, order) : 0;

	return n > 0 ? &m->ports[order[selected_row(v, m, order, n)]] : NULL;
}

static void top_select_by(struct top_view *v, const struct top_model *m, long step)
{
	AUTO_FREE size_t *order = calloc(m->n_ports + 1, sizeof(*order));
	size_t n = order ? top_order(v, m, order) : 0;
	long row;

	if (n == 0)
		return;
	row = (long)selected_row(v, m, order, n) + step;
	row = row < 0 ? 0 : row >= (long)n ? (long)n - 1 : row;
	snprintf(v->selected, sizeof(v->selected), "%s", m->ports[order[row]].name);
}

/* --- keys ------------------------------------------------------------------------------------- */

static size_t rows_of_list(size_t height)
{
	return height > ROWS_ABOVE + ROWS_BELOW ? height - ROWS_ABOVE - ROWS_BELOW : 1;
}

/* Edits the filter while it is typed. */
static void type_key(struct top_view *v, int key)
{
	size_t len = strlen(v->filter);

	if (key == '\n' || key == '\r') {
		v->typing = false;
	} else if (key == '\033') {
		v->typing = false;
		v->filter[0] = '\0';
	} else if ((key == TOP_KEY_BACKSPACE || key == '\b' || key == 0x7f) && len > 0) {
		v->filter[len - 1] = '\0';
	} else if (key >= ' ' && key <= '~' && len < sizeof(v->filter) - 1) {
		v->filter[len] = (char)key;
		v->filter[len + 1] = '\0';
	}
}

/* Sorts by the column of this letter; if it is the current one, reverses the order. False: no
 * column has this letter. */
static bool top_sort_key(struct top_view *v, int key)
{
	const char *at = key > 0 && key < 0x80 ? strchr(sort_letters, key) : NULL;
	unsigned sort = at ? (unsigned)(at - sort_letters) : 0;

	if (!at)
		return false;
	v->backwards = v->sort == sort && !v->backwards;
	v->sort = sort;
	return true;
}

enum top_action top_key(struct top_view *v, const struct top_model *m, int key, size_t height)
{
	long page = (long)rows_of_list(height);

	if (v->typing) {
		type_key(v, key);
		return TOP_STAYS;
	}
	v->help = !v->help && (key == '?' || key == 'h');
	if (top_sort_key(v, key))
		return TOP_STAYS;
	switch (key) {
	case 'q':
		return TOP_QUITS;
	case '\n':
	case '\r':
		return top_selected(v, m) ? TOP_OPENS : TOP_STAYS;
	case 's':
		v->sort = (v->sort + 1) % N_SORTS;
		break;
	case 'S':
		v->sort = (v->sort + N_SORTS - 1) % N_SORTS;
		break;
	case 'r':
		v->backwards = !v->backwards;
		break;
	case 'v':
		v->only_verdicts = !v->only_verdicts;
		break;
	case ' ':
		v->frozen = !v->frozen;
		break;
	case '/':
		v->typing = true;
		break;
	case '\033':
		v->filter[0] = '\0';
		v->only_verdicts = false;
		break;
	case 'k':
	case TOP_KEY_UP:
		top_select_by(v, m, -1);
		break;
	case 'j':
	case TOP_KEY_DOWN:
		top_select_by(v, m, 1);
		break;
	case TOP_KEY_PAGE_UP:
		top_select_by(v, m, -page);
		break;
	case TOP_KEY_PAGE_DOWN:
		top_select_by(v, m, page);
		break;
	}
	return TOP_STAYS;
}

/* --- the screen ------------------------------------------------------------------------------- */

struct draw {
	size_t width;
	top_put_fn *put;
	void *arg;
};

void top_cut(char *text, size_t width)
{
	size_t len = 0;

	for (size_t i = 0; i < width && text[len]; i++)
		len += utf8_char(text + len) ? utf8_char(text + len) : 1;
	text[len] = '\0';
}

/* Length in bytes of the longest prefix of a line that fits, cut between words if possible. */
static size_t top_fitting(const char *line, size_t len, size_t width)
{
	size_t n = 0, word = 0;

	for (size_t chars = 0; n < len && chars < width; chars++) {
		if (line[n] == ' ')
			word = n;
		n += utf8_char(line + n) ? utf8_char(line + n) : 1;
	}
	return n >= len ? len : line[n] == ' ' || word == 0 ? n : word;
}

static void top_wrap_line(const char *line, size_t len, size_t width, FILE *f)
{
	size_t indent = strspn(line, " "), room = width > indent + 10 ? width - indent : 10;

	line += indent;
	len -= indent;
	do {
		size_t n = top_fitting(line, len, room);

		fprintf(f, "%*s%.*s\n", n > 0 ? (int)indent : 0, "", (int)n, line);
		line += n;
		len -= n;
		for (; len > 0 && *line == ' '; len--)
			line++;
	} while (len > 0);
}

void top_wrap(const char *text, size_t width, FILE *f)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		top_wrap_line(text, len, width, f);
		text += len + (text[len] == '\n');
	}
}

static void top_put_line(const struct draw *d, size_t row, const char *text, enum top_style style)
{
	char cut[TOP_LINE_SIZE];

	snprintf(cut, sizeof(cut), "%s", text);
	top_cut(cut, d->width);
	d->put(row, cut, style, d->arg);
}

/* Appends a part of a row, after the separator `between`. A part that does not fit is omitted, so
 * that no number is cut. */
__attribute__((format(printf, 4, 5))) static void
top_add_part(const struct draw *d, struct top_line *line, const char *between, const char *fmt, ...)
{
	char part[256];
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	vsnprintf(part, sizeof(part), fmt, ap);
	va_end(ap);
	between = line->len ? between : "";
	len = strlen(between) + strlen(part);
	if (part[0] == '\0' || line->len + len > d->width || line->len + len >= TOP_LINE_SIZE)
		return;
	snprintf(line->text + line->len, TOP_LINE_SIZE - line->len, "%s%s", between, part);
	line->len += len;
}

/* True if the shown data may be outdated: no sample arrives, or the daemon does not answer. */
static bool top_is_old(const struct top_view *v, const struct top_model *m)
{
	return v->problem[0] || top_silence_ms(m, v->requested_ms) > 0;
}

/* The uptime when the daemon last answered; "" = unknown. */
static void uptime_text(const struct top_view *v, const struct top_model *m,
			char ret[AGE_TEXT_SIZE])
{
	uint64_t more_ms = v->answered_ms > m->up_at_ms ? v->answered_ms - m->up_at_ms : 0;

	ret[0] = '\0';
	if (m->up_s >= 0 && m->version[0])
		age_text(m->up_s + (int64_t)(more_ms / 1000), ret);
}

/* "NO NEW SAMPLE FOR 7 s  node-17  rocelet 1.2.3, up 4d3h  2026-01-02T03:04:05" */
static void put_first(const struct draw *d, const struct top_view *v, const struct top_model *m)
{
	uint64_t silence_ms = top_silence_ms(m, v->requested_ms);
	struct top_line line = {.len = 0};
	char up[AGE_TEXT_SIZE];

	if (silence_ms) {
		top_add_part(d, &line, "", "NO NEW SAMPLE");
		if (line.len)
			top_add_part(d, &line, " ", "FOR %llu s",
				     (unsigned long long)silence_ms / 1000);
	}
	top_add_part(d, &line, "  ", "%s", v->frozen ? "FROZEN" : "");
	top_add_part(d, &line, "  ", "%s", m->node);
	uptime_text(v, m, up);
	top_add_part(d, &line, "  ", "rocelet%s%s%s%s", m->version[0] ? " " : "", m->version,
		     up[0] ? ", up " : "", up);
	top_add_part(d, &line, "  ", m->time[0] ? "%.19sZ" : "%s",
		     m->time[0] ? m->time : "no sample yet");
	top_put_line(d, 0, line.text, silence_ms ? TOP_WARNING : TOP_PLAIN);
}

/* "5 problems: 2 critical, 3 warnings"; "no problems" */
static enum top_style add_verdicts(const struct draw *d, struct top_line *line,
				   const struct top_model *m)
{
	size_t problems = m->critical + m->warnings;
	char text[96];

	ctl_problems_text(m->critical, m->warnings, text, sizeof(text));
	if (d->width < NARROW_SUMMARY)
		text[strcspn(text, ":")] = '\0';
	if (problems || !(m->ports_down || m->unhealthy))
		top_add_part(d, line, "", "%s", problems || m->judged ? text : "no verdict yet");
	if (m->ports_down)
		top_add_part(d, line, ", ", "%zu pod port%s down", m->ports_down,
			     m->ports_down == 1 ? "" : "s");
	if (m->unhealthy)
		top_add_part(d, line, ", ", "%zu port%s unhealthy", m->unhealthy,
			     m->unhealthy == 1 ? "" : "s");
	if (m->information && d->width >= NARROW_SUMMARY)
		top_add_part(d, line, ", ", "%zu information", m->information);
	if (m->critical)
		return TOP_CRITICAL;
	return problems || m->ports_down || m->unhealthy ? TOP_WARNING : TOP_GOOD;
}

/* "3 of 136 ports"; of a list that is longer than the screen "1-18 of 136 ports" */
static void add_ports_shown(const struct draw *d, struct top_line *line, const struct top_view *v,
			    const struct top_model *m, size_t n, size_t rows)
{
	char shown[48] = "", chosen[32] = "";

	if (n > rows)
		snprintf(shown, sizeof(shown), "%zu-%zu of ", v->first + 1,
			 v->first + rows < n ? v->first + rows : n);
	if (n != m->n_ports)
		snprintf(chosen, sizeof(chosen), "%zu of ", n);
	top_add_part(d, line, ", ", "%s%s%zu ports", shown, chosen, m->n_ports);
}

/* The highest share among the ports shown; NAN = unknown. */
static double highest_of(const struct top_model *m, const size_t *order, size_t n,
			 enum top_figure figure)
{
	double most = (double)NAN;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, m->ports[order[i]].now[figure]); /* fmax(3) ignores NAN */
	return most;
}

static void add_share(const struct draw *d, struct top_line *line, const char *name, double share)
{
	char percent[16];

	top_percent_text(share, percent, sizeof(percent));
	if (!isnan(share))
		top_add_part(d, line, ", ", "%s %s%%", name, percent);
}

/* The mark of a sum that is a lower bound. */
static const char *top_least(const struct top_sum *sum)
{
	return sum->least ? ">=" : "";
}

/* Adds loss, CE and pause of the ports shown. */
static void add_troubles(const struct draw *d, struct top_line *line, const struct top_model *m,
			 const size_t *order, size_t n)
{
	struct top_sum loss = top_total(m, order, n, TOP_LOSS);
	char text[16];

	top_count_text(loss.value, text, sizeof(text));
	top_add_part(d, line, "; ", "loss %s%s/s", top_least(&loss), text);
	if (loss.unseen > 0 && !isnan(loss.value))
		top_add_part(d, line, " ", "(%zu port%s not seen)", loss.unseen,
			     loss.unseen == 1 ? "" : "s");
	add_share(d, line, "CE", highest_of(m, order, n, TOP_CE));
	add_share(d, line, "pause",
		  fmax(highest_of(m, order, n, TOP_PAUSE_RECEIVED),
		       highest_of(m, order, n, TOP_PAUSE_SENT)));
}

/* Adds the traffic of the ports shown. */
static void add_traffic(const struct draw *d, struct top_line *line, const struct top_model *m,
			const size_t *order, size_t n)
{
	struct top_sum received = top_total(m, order, n, TOP_RECEIVED),
		       sent = top_total(m, order, n, TOP_SENT);
	char received_text[16], sent_text[16];

	top_rate_text(received.value, received_text, sizeof(received_text));
	top_rate_text(sent.value, sent_text, sizeof(sent_text));
	top_add_part(d, line, "; ", "RX %s%s, TX %s%s", top_least(&received), received_text,
		     top_least(&sent), sent_text);
}

/* Prints the summary. The most important values are first, because values that do not fit are
 * omitted. */
static void put_summary(const struct draw *d, const struct top_view *v, const struct top_model *m,
			const size_t *order, size_t n, size_t rows)
{
	struct top_line line = {.len = 0};
	enum top_style style = add_verdicts(d, &line, m);
	char sort[16] = "";

	add_troubles(d, &line, m, order, n);
	add_ports_shown(d, &line, v, m, n, rows);
	sort_name(v, sort, sizeof(sort));
	top_add_part(d, &line, "; ", "sorted by %s%s", sort, v->backwards ? ", reversed" : "");
	top_add_part(d, &line, ", ", "%s", v->only_verdicts ? "in trouble only" : "");
	add_traffic(d, &line, m, order, n);
	top_put_line(d, 1, line.text, top_is_old(v, m) ? TOP_OLD : style);
}

/* Number of ports in `order` from `from` on whose worst trouble has this word. */
static size_t ports_with(const struct top_model *m, const size_t *order, size_t from, size_t n,
			 const char *word)
{
	size_t found = 0;

	for (size_t i = from; i < n; i++)
		found += strcmp(m->ports[order[i]].cause, word) == 0;
	return found;
}

/* Lists the words of the ports shown, in their order: "link_down 4, packet_loss 1". */
static void top_view_add_words(const struct draw *d, struct top_line *line,
			       const struct top_model *m, const size_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *word = m->ports[order[i]].cause;

		if (ports_with(m, order, 0, i, word) == 0)
			top_add_part(d, line, ", ", "%s %zu", word,
				     ports_with(m, order, i, n, word));
	}
}

static void put_keys(const struct draw *d, const struct top_view *v, const struct top_model *m,
		     const size_t *order, size_t n_ports)
{
	static const char *const keys[] = {"? keys", "q quit",	   "Enter details", "/ filter",
					   "s sort", "v troubles", "space freeze"};
	struct top_line line = {.len = 0};

	if (v->problem[0])
		top_put_line(d, 2, v->problem, TOP_CRITICAL);
	else if (v->typing || v->filter[0])
		top_add_part(d, &line, "", "/%s%s", v->filter, v->typing ? "_" : "");
	else if (v->only_verdicts)
		top_view_add_words(d, &line, m, order, n_ports);
	for (size_t i = 0;
	     i < ARRAY_SIZE(keys) && line.len < d->width && !v->typing && !v->filter[0]; i++)
		top_add_part(d, &line, "  ", "%s", keys[i]);
	if (!v->problem[0])
		top_put_line(d, 2, line.text, TOP_PLAIN);
}

/* Lists all keys in place of the ports. Lines fit a screen of 40 columns. */
static void put_help(const struct draw *d, size_t height)
{
	static const char *const lines[] = {
		"Enter    verdict, evidence, queue pairs",
		"V U      sort by verdict, use",
		"R T      by received, sent",
		"P C N    by pause, CE, CNP",
		"L E      by loss, retransmission",
		"O D      by port, pod",
		"         the same key again: reversed",
		"s S      next, previous order",
		"r        reverse",
		"/        filter; Esc: all ports",
		"v        only ports in trouble",
		"space    freeze",
		"arrows   select; also j, k, page keys",
		"q        quit",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines) && ROWS_ABOVE - 1 + i < height; i++)
		top_put_line(d, ROWS_ABOVE - 1 + i, lines[i], TOP_PLAIN);
}

/* Moves the first visible row so that the selected one is visible, and no row is empty without
 * need. */
static void scroll(struct top_view *v, size_t row, size_t rows, size_t n)
{
	if (v->first + rows > n)
		v->first = n > rows ? n - rows : 0;
	if (row < v->first)
		v->first = row;
	if (row >= v->first + rows)
		v->first = row + 1 - rows;
}

static enum top_style style_of(const struct top_port *p)
{
	return p->level >= 3 ? TOP_CRITICAL : p->level == 2 ? TOP_WARNING : TOP_PLAIN;
}

static void top_put_port(const struct draw *d, const struct top_layout *l, const struct top_view *v,
			 const struct top_model *m, const struct top_port *p, size_t at,
			 enum top_style style)
{
	struct top_line line;

	top_columns_port(&line, l, v, m, p);
	top_put_line(d, at, line.text, style);
}

/* The verdict of the selected port: "mlx5_2/1: incast, train/llm-0, for 3m: too many send" */
static void put_sentence(const struct draw *d, const struct top_model *m, const struct top_port *p,
			 size_t row, enum top_style style)
{
	struct top_line line = {.len = 0};
	int64_t seconds = top_trouble_age(m, p);
	char age[AGE_TEXT_SIZE] = "";

	if (p->level == 0)
		return;
	if (seconds >= 0)
		age_text(seconds, age);
	top_add_part(d, &line, "", "%s: %s%s", p->name, p->cause, p->of_pf ? " of its PF" : "");
	top_add_part(d, &line, ", ", "%s", p->pods[0] && !p->of_pf ? p->pods : p->pod);
	top_add_part(d, &line, ", ", "%s%s%s", age[0] ? "for " : "", age,
		     age[0] && p->before_start ? " or longer" : "");
	top_add_part(d, &line, ": ", "%s", p->sentence);
	top_put_line(d, row, line.text, style);
}

/* Prints why there are no rows. */
static void put_nothing(const struct draw *d, const struct top_view *v, const struct top_model *m)
{
	struct top_line line = {.len = 0};

	if (m->n_ports > 0) {
		top_add_part(d, &line, "", "no port%s%s%s", v->only_verdicts ? " in trouble" : "",
			     v->filter[0] ? " matches /" : "", v->filter);
		top_add_part(d, &line, "; ", "Esc: all %zu ports", m->n_ports);
	} else if (m->time[0]) {
		top_add_part(d, &line, "", "this node has no RDMA ports");
	}
	top_put_line(d, ROWS_ABOVE, line.text, TOP_PLAIN);
}

void top_draw(struct top_view *v, const struct top_model *m, size_t width, size_t height,
	      top_put_fn *put, void *arg)
{
	size_t *order = calloc(m->n_ports + 1, sizeof(*order));
	const struct draw d = {width, put, arg};
	size_t n = order ? top_order(v, m, order) : 0;
	size_t rows = height ? rows_of_list(height) : n, row = selected_row(v, m, order, n);
	bool old = v->old = top_is_old(v, m);
	struct top_layout layout;
	struct top_line head;

	scroll(v, row, rows, n);
	top_columns_fit(&layout, v, m, order, n, width);
	top_columns_head(&head, &layout);
	put_first(&d, v, m);
	put_summary(&d, v, m, order, n, rows);
	if (height)
		put_keys(&d, v, m, order, n);
	if (height && v->help) {
		put_help(&d, height);
		free(order);
		return;
	}
	top_put_line(&d, ROWS_ABOVE - 1, head.text, TOP_HEAD);
	for (size_t i = 0; i < rows && v->first + i < n; i++) {
		const struct top_port *p = &m->ports[order[v->first + i]];

		top_put_port(&d, &layout, v, m, p, ROWS_ABOVE + i,
			     height && v->first + i == row ? TOP_SELECTED
			     : old			   ? TOP_OLD
							   : style_of(p));
	}
	if (n == 0)
		put_nothing(&d, v, m);
	if (height && n > 0)
		put_sentence(&d, m, &m->ports[order[row]], height - 1,
			     old ? TOP_OLD : style_of(&m->ports[order[row]]));
	free(order);
}
