// SPDX-License-Identifier: Apache-2.0
/* ctl_top.c - requests data once per second, draws it and handles keys.
 *
 * Reads ports, diagnosis and each port's history, then updates the screen until the user quits or
 * the terminal hangs up. Fails if the daemon does not answer at the start; if it stops answering
 * later, the screen keeps the last data and shows the error. */
#include "ctl_top.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_lists.h"
#include "ctl_show_diagnosis.h"
#include "json_text.h"
#include "listings.h"
#include "top_screen.h"

#define TOP_POLL_MS 1000
/* Timeout of a request, and so the maximum delay of a key. */
#define REQUEST_MS  2000
/* Maximum number of ports whose history is requested: more would delay the start. */
#define PAST_MAX    64
/* How often to request the daemon's version, which a restart may change. */
#define IDENTITY_MS 10000
/* Longest line of the details, in bytes; longer ones are cut. */
#define DRILL_LINE  1024
/* Width of the output if it is not a terminal. */
#define PLAIN_WIDTH 200

/* The details of one port: verdicts with evidence, and queue pairs. */
struct drill {
	char device[80]; /* "" = the list of ports is shown */
	char port[96], function[80];
	bool has_verdict; /* or another trouble */
	char *text;	  /* owned */
	size_t first;	  /* line on top */
};

struct top {
	const struct ctl *ctl;
	struct top_model model;
	struct top_view view;
	struct drill drill;
	json_t *diagnosis;    /* the newest; NULL = none */
	uint64_t wait_ms;     /* for an answer */
	uint64_t identity_ms; /* when the daemon's version was requested; 0 = never */
	size_t width;	      /* of the screen */
};

static uint64_t ctl_top_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- requests --------------------------------------------------------------------------------- */

/* Requests a document. NULL with the reason in e: -EPROTO if the reply has no document, else there
 * was no reply. */
static json_t *ctl_top_request(const struct top *t, const char *path, struct err *e)
{
	struct client_answer a = {0};
	json_t *document = NULL;

	if (client_ask(&a, t->ctl->args->socket, path, NULL, t->wait_ms, e) < 0)
		return NULL;
	if (a.status == 200)
		document = json_text_load(a.body, a.len, 0, NULL);
	if (!document)
		err_set(e, -EPROTO, "%.*s", (int)strcspn(a.body, "\r\n"), a.body);
	free(a.body);
	return document;
}

/* Requests the node's name and the daemon's version at intervals. Older daemons lack the path; then
 * both stay unknown. */
static void request_identity(struct top *t)
{
	uint64_t now = ctl_top_now_ms();
	struct err e = {0};
	json_auto_t *index = NULL;

	if (t->identity_ms && now - t->identity_ms < IDENTITY_MS)
		return;
	t->identity_ms = now;
	index = ctl_top_request(t, "/api/v1", &e);
	top_model_identity(&t->model, index, now);
}

static void update_ports(struct top *t, struct err *e)
{
	json_t *ports, *diagnosis;

	t->view.requested_ms = ctl_top_now_ms();
	ports = ctl_top_request(t, "/api/v1/ports", e);
	if (ports)
		t->view.answered_ms = t->view.requested_ms;
	diagnosis = ports ? ctl_top_request(t, "/api/v1/diagnosis", e) : NULL;
	if (top_model_update(&t->model, ports, diagnosis) < 0)
		err_set(e, -ENOMEM, "out of memory");
	json_decref(ports);
	if (diagnosis) {
		json_decref(t->diagnosis);
		t->diagnosis = diagnosis;
	}
	if (e->code == 0)
		request_identity(t);
}

/* Requests the history of each port. Skips ports without history. Stops if the daemon does not
 * answer, because each further request would time out, too. */
static void request_past(struct top *t)
{
	for (size_t i = 0; i < t->model.n_ports && i < PAST_MAX; i++) {
		struct err e = {0};
		char path[128];
		json_t *history;

		snprintf(path, sizeof(path), "/api/v1/history?port=%s", t->model.ports[i].name);
		history = ctl_top_request(t, path, &e);
		if (!history && e.code != -EPROTO)
			return;
		top_model_past(&t->model, history);
		json_decref(history);
	}
}

/* Troubles of the function other than verdicts; new reference. */
static json_t *troubles_of(const json_t *diagnosis, const char *function)
{
	json_t *chosen = json_array(), *trouble;
	size_t i;

	json_array_foreach (json_object_get(diagnosis, "troubles"), i, trouble) {
		const char *device = json_string_value(json_object_get(trouble, "device"));

		if (device && strcmp(device, function) == 0)
			json_array_append(chosen, trouble);
	}
	return chosen;
}

/* A document with only the port's verdicts and the troubles of its function; new reference. */
static json_t *verdicts_of_port(const json_t *diagnosis, const char *port, const char *function)
{
	json_t *chosen = json_array(), *verdict;
	size_t i;

	json_array_foreach (json_object_get(diagnosis, "verdicts"), i, verdict) {
		const char *device = json_string_value(json_object_get(verdict, "device"));
		char name[96];

		snprintf(name, sizeof(name), "%.80s/%lld", device ? device : "",
			 (long long)json_integer_value(json_object_get(verdict, "port")));
		if (strcmp(name, port) == 0)
			json_array_append(chosen, verdict);
	}
	return json_pack("{sO* so so}", "time", json_object_get(diagnosis, "time"), "verdicts",
			 chosen, "troubles", troubles_of(diagnosis, function));
}

/* Prints the verdicts as `rocectl diagnose` does, wrapped. */
static void ctl_top_put_details(struct top *t, FILE *f)
{
	json_auto_t *document = verdicts_of_port(t->diagnosis, t->drill.port, t->drill.function);
	char *text = NULL;
	size_t len;
	FILE *lines = open_memstream(&text, &len);

	t->drill.has_verdict = json_array_size(json_object_get(document, "verdicts")) > 0 ||
			       json_array_size(json_object_get(document, "troubles")) > 0;
	if (lines && t->drill.has_verdict)
		ctl_show_diagnosis(document, false, lines);
	if (lines)
		fclose(lines);
	if (text)
		top_wrap(text, t->width, f);
	free(text);
}

/* Returns the verdicts and the table of `rocectl qps` as a text; heap. */
static char *details_text(struct top *t, const json_t *document)
{
	static const struct listing_choice choice = {.limit = -1};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f) {
		ctl_top_put_details(t, f);
		listing_show(&listing_qps, &choice, document, f, f);
		fclose(f);
	}
	return text;
}

static void update_details(struct top *t, struct err *e)
{
	const struct ctl_args args = {.device = t->drill.device, .limit = -1};
	AUTO_FREE char *path = question_path(&args, "/api/v1/qps");
	json_auto_t *document = path ? ctl_top_request(t, path, e) : NULL;

	if (!document)
		return;
	free(t->drill.text);
	t->drill.text = details_text(t, document);
}

/* Moves the path of "PATH: message" to the end, where it may be cut. */
static void top_show_problem(struct top *t, const char *msg)
{
	const char *path = t->ctl->args->socket;
	size_t len = strlen(path);
	bool has_path = strncmp(msg, path, len) == 0 && strncmp(msg + len, ": ", 2) == 0;

	snprintf(t->view.problem, sizeof(t->view.problem), "%.100s%s%.50s%s",
		 has_path ? msg + len + 2 : msg, has_path ? " (" : "", has_path ? path : "",
		 has_path ? ")" : "");
}

/* Updates the ports even while details are shown; otherwise their history would have a gap. */
static void ctl_top_update(struct top *t)
{
	struct err e = {0};

	if (!t->view.frozen)
		update_ports(t, &e);
	if (t->drill.device[0] && !e.code)
		update_details(t, &e);
	top_show_problem(t, e.msg);
	for (char *c = t->view.problem; *c; c++)
		*c = *c >= ' ' && *c <= '~' ? *c : '?';
}

/* --- details of a port ------------------------------------------------------------------------ */

static void drill_into(struct top *t)
{
	const struct top_port *p = top_selected(&t->view, &t->model);

	if (p) {
		snprintf(t->drill.device, sizeof(t->drill.device), "%s", p->device);
		snprintf(t->drill.port, sizeof(t->drill.port), "%s", p->name);
		snprintf(t->drill.function, sizeof(t->drill.function), "%s", p->function);
	}
	ctl_top_update(t);
}

static void drill_out(struct top *t)
{
	free(t->drill.text);
	t->drill = (struct drill){.text = NULL};
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

/* Cuts the text, because a longer one would wrap into the next row. */
static void put_cut(size_t row, const char *text, size_t len, enum top_style style, size_t width)
{
	char cut[DRILL_LINE];

	snprintf(cut, sizeof(cut), "%.*s", (int)len, text);
	top_cut(cut, width);
	top_screen_put(row, cut, style, NULL);
}

/* Draws a line of the details; without verdicts the first line is the table's head. */
static void put_drill_line(const struct drill *d, size_t i, const char *line, size_t len,
			   size_t width)
{
	if (i == 0 && !d->has_verdict)
		put_cut(1, line, len, TOP_HEAD, width);
	else if (i > d->first || (i == d->first && d->has_verdict))
		put_cut(i - d->first + 1, line, len, TOP_PLAIN, width);
}

static void draw_drill(const struct top *t, size_t width, size_t height)
{
	const char *line = t->drill.text ? t->drill.text : "";
	char title[160];
	const char *first = t->view.problem[0] ? t->view.problem : title;

	if (t->drill.has_verdict)
		snprintf(title, sizeof(title),
			 "%.90s: verdicts, queue pairs  arrows scroll  Esc back", t->drill.port);
	else
		snprintf(title, sizeof(title), "queue pairs of %.80s    arrows scroll  Esc back",
			 t->drill.device);
	put_cut(0, first, strlen(first), TOP_HEAD, width);
	for (size_t i = 0; *line && i < t->drill.first + height; i++) {
		size_t len = strcspn(line, "\n");

		put_drill_line(&t->drill, i, line, len, width);
		line += len + (line[len] == '\n');
	}
}

static void drill_key(struct top *t, int key, size_t height)
{
	size_t lines = count_lines(t->drill.text), first = t->drill.first;

	if (key == 'q' || key == '\033' || key == '\n' || key == '\r')
		drill_out(t);
	else if (key == TOP_KEY_UP || key == 'k')
		t->drill.first = first ? first - 1 : 0;
	else if (key == TOP_KEY_PAGE_UP)
		t->drill.first = first > height ? first - height : 0;
	else if (key == TOP_KEY_DOWN || key == 'j')
		t->drill.first = first + 2 < lines ? first + 1 : first;
	else if (key == TOP_KEY_PAGE_DOWN)
		t->drill.first = first + height + 1 < lines ? first + height : first;
}

/* --- the screen ------------------------------------------------------------------------------- */

static size_t draw(struct top *t)
{
	size_t width, height;

	top_screen_size(&width, &height);
	t->width = width;
	top_screen_clear();
	if (t->drill.device[0])
		draw_drill(t, width, height);
	else
		top_draw(&t->view, &t->model, width, height, top_screen_put, NULL);
	top_screen_show();
	return height;
}

/* Handles a key. False: quit. */
static bool on_key(struct top *t, int key, size_t height)
{
	enum top_action action = TOP_STAYS;

	if (t->drill.device[0])
		drill_key(t, key, height);
	else
		action = top_key(&t->view, &t->model, key, height);
	if (action == TOP_OPENS)
		drill_into(t);
	return action != TOP_QUITS;
}

static void run_screen(struct top *t)
{
	uint64_t next = ctl_top_now_ms() + TOP_POLL_MS;
	bool goes_on = true;

	t->view.ascii = !top_screen_has_blocks();
	while (goes_on) {
		size_t height = draw(t);
		uint64_t now = ctl_top_now_ms();
		int key = top_screen_key(now < next ? (int)(next - now) : 0);

		if (key >= 0)
			goes_on = on_key(t, key, height);
		else
			goes_on = !top_screen_has_hung_up();
		if (ctl_top_now_ms() < next)
			continue;
		if (!t->view.frozen)
			ctl_top_update(t);
		next = ctl_top_now_ms() + TOP_POLL_MS;
	}
}

/* --- without a terminal ----------------------------------------------------------------------- */

static void put_plain(size_t row, const char *text, enum top_style style, void *out)
{
	(void)row, (void)style;
	fprintf(out, "%s\n", text);
}

static void run_plain(struct top *t)
{
	t->view.ascii = true;
	top_draw(&t->view, &t->model, PLAIN_WIDTH, 0, put_plain, t->ctl->out);
}

static bool is_terminal(const struct ctl *c)
{
	return fileno(c->out) == STDOUT_FILENO && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
}

enum ctl_exit ctl_top(const struct ctl *c)
{
	struct top t = {.ctl = c, .wait_ms = ctl_args_wait_ms(c->args)};
	struct err e = {0};

	update_ports(&t, &e);
	if (e.code) {
		question_no_answer(c, &e);
		json_decref(t.diagnosis);
		top_model_done(&t.model);
		return e.code == -EPROTO || e.code == -ENOMEM ? CTL_NO : CTL_NO_DAEMON;
	}
	t.wait_ms = REQUEST_MS;
	request_past(&t);
	if (c->args->top_sort)
		top_sort_by(&t.view, c->args->top_sort);
	if (is_terminal(c) && top_screen_open(ctl_wants_colours(c->out)) == 0) {
		run_screen(&t);
		top_screen_close();
	} else {
		run_plain(&t);
	}
	drill_out(&t);
	json_decref(t.diagnosis);
	top_model_done(&t.model);
	return CTL_OK;
}
