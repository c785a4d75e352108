// SPDX-License-Identifier: Apache-2.0
/* rocectl top: its model of the documents, the order of rows, the screen and the keys. */
#include "top_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "cleanup.h"
#include "ctl_commands.h"
#include "golden.h"
#include "test_group.h"

/* Four ports: saturated with a verdict, idle, in a pod, and mostly unknown. */
static const char ports_text[] =
	"{\"time\":\"2026-01-02T03:04:05.000Z\",\"timeMs\":7000,\"ports\":["
	"{\"device\":\"mlx5_2\",\"port\":1,\"netdev\":\"ens1np0\",\"rateBitsPerSecond\":400000000000,"
	"\"state\":\"active\",\"watch\":\"judged\",\"namespace\":null,\"pod\":null,\"now\":{"
	"\"bytes_received\":48.5e9,\"bytes_sent\":1e6,\"pause_received\":0,\"pause_sent\":0.12,"
	"\"ce_share\":0.081,\"cnp_sent\":300000,\"cnp_received\":5,\"discards\":2,\"nak\":0.5,"
	"\"out_of_sequence\":null,\"timeouts\":0}},"
	"{\"device\":\"mlx5_10\",\"port\":1,\"netdev\":\"ens2np0\",\"rateBitsPerSecond\":100000000000,"
	"\"state\":\"active\",\"watch\":\"judged\",\"now\":{\"bytes_received\":0,\"bytes_sent\":0,"
	"\"pause_received\":0,\"pause_sent\":0,\"ce_share\":0,\"cnp_sent\":0,\"discards\":0}},"
	"{\"device\":\"mlx5_4\",\"port\":1,\"netdev\":\"net1\",\"rateBitsPerSecond\":200000000000,"
	"\"state\":\"active\",\"watch\":\"warming\",\"namespace\":\"train\",\"pod\":\"job-7\",\"now\":{"
	"\"bytes_received\":12.5e9,\"bytes_sent\":24.5e9,\"pause_received\":0.5,\"ce_share\":0.0004,"
	"\"cnp_received\":15}},"
	"{\"device\":\"rxe\\u001b[31m\",\"port\":1,\"netdev\":null,\"watch\":\"unseen\",\"now\":{}}]}";

static const char diagnosis_text[] =
	"{\"verdicts\":["
	"{\"device\":\"mlx5_2\",\"port\":1,\"level\":2,\"cause\":\"incast\",\"sentence\":\"s1\"},"
	"{\"device\":\"mlx5_2\",\"port\":1,\"level\":3,\"cause\":\"slow_receiver\","
	"\"sentence\":\"this host cannot drain what it is sent\"},"
	"{\"device\":\"mlx5_2\",\"port\":1,\"level\":1,\"cause\":\"other\",\"sentence\":\"s3\"},"
	"{\"device\":\"gone\",\"port\":1,\"level\":3,\"cause\":\"x\",\"sentence\":\"y\"}]}";

static bool test_is_same(const json_t *a, const char *a_key, const json_t *b, const char *b_key)
{
	const json_t *value = json_object_get(a, a_key);

	return value && json_equal(value, json_object_get(b, b_key));
}

/* The troubles that the daemon would list: its own verdicts and those of its PF, the worst first,
 * and a link that is down. */
static void add_troubles(json_t *port, const json_t *diagnosis)
{
	json_t *troubles = json_array(), *v;
	size_t i;

	for (int level = 3; level > 0; level--)
		json_array_foreach (json_object_get(diagnosis, "verdicts"), i, v) {
			bool own = test_is_same(v, "device", port, "device");

			if (json_integer_value(json_object_get(v, "level")) != level ||
			    !(own || test_is_same(v, "function", port, "parent")))
				continue;
			json_array_append_new(
				troubles,
				json_pack("{ss si sO sO* sb}", "kind", "verdict", "level", level,
					  "word", json_object_get(v, "cause"), "what",
					  json_object_get(v, "sentence"), "ofPf", !own));
		}
	json_array_foreach (json_object_get(diagnosis, "ports"), i, v) {
		if (test_is_same(v, "device", port, "device"))
			json_array_append_new(troubles, json_pack("{ss si ss}", "kind", "link",
								  "level", 2, "word", "link_down"));
	}
	json_object_set_new(port, "troubles", troubles);
}

static void add_all_troubles(json_t *ports, const json_t *diagnosis)
{
	json_t *port;
	size_t i;

	json_array_foreach (json_object_get(ports, "ports"), i, port) {
		if (!json_object_get(port, "troubles"))
			add_troubles(port, diagnosis);
	}
}

static void update(struct top_model *m, const char *ports, const char *diagnosis)
{
	json_t *p = json_loads(ports, 0, NULL), *d = json_loads(diagnosis, 0, NULL);

	assert_non_null(p);
	assert_non_null(d);
	add_all_troubles(p, d);
	assert_int_equal(top_model_update(m, p, d), 0);
	json_decref(p);
	json_decref(d);
}

static void assert_about(double is, double want)
{
	assert_true(isnan(want) ? isnan(is) : fabs(is - want) <= 1e-6 * fabs(want));
}

/* --- the model -------------------------------------------------------------------------------- */

static void test_figures(void **state)
{
	struct top_model m = {.n_ports = 0};
	const struct top_port *p;

	(void)state;
	update(&m, ports_text, diagnosis_text);
	assert_int_equal(m.n_ports, 4);
	p = &m.ports[0];
	assert_string_equal(p->name, "mlx5_2/1");
	assert_about(p->line, 50e9);
	assert_about(p->now[TOP_CNP], 300005);
	assert_about(p->now[TOP_LOSS], 2);
	assert_about(p->now[TOP_RETR], 0.5);
	assert_about(top_use(p), 0.97);
	assert_int_equal(p->level, 3);
	assert_string_equal(p->cause, "slow_receiver");
	assert_about(top_second(p, 0), 48.501e9);
	assert_about(top_second(p, 1), (double)NAN);
	assert_about(m.ports[2].now[TOP_PAUSE_SENT], (double)NAN);
	assert_about(m.ports[2].now[TOP_LOSS], (double)NAN);
	assert_about(top_use(&m.ports[2]), 0.98);
	assert_string_equal(m.ports[2].pod, "train/job-7");
	assert_string_equal(m.ports[3].name, "rxe?[31m/1");
	assert_about(top_use(&m.ports[3]), (double)NAN);
	top_model_done(&m);
}

/* Removed ports, ended verdicts and values older than five minutes are dropped. */
static void test_old_data_is_dropped(void **state)
{
	struct top_model m = {.n_ports = 0};

	(void)state;
	update(&m, ports_text, diagnosis_text);
	update(&m, ports_text, "{\"verdicts\":[]}");
	assert_about(top_second(&m.ports[0], 1), (double)NAN);
	assert_int_equal(m.ports[0].level, 0);
	for (int i = 0; i < TOP_HISTORY + 5; i++) {
		char text[256];

		snprintf(text, sizeof(text),
			 "{\"timeMs\":%d,\"ports\":[{\"device\":\"mlx5_4\",\"port\":1,"
			 "\"now\":{\"bytes_received\":%d,\"bytes_sent\":1}}]}",
			 8000 + i * 1000, i);
		update(&m, text, "{}");
	}
	assert_int_equal(m.n_ports, 1);
	assert_string_equal(m.ports[0].name, "mlx5_4/1");
	assert_about(top_second(&m.ports[0], 0), TOP_HISTORY + 5);
	assert_about(top_second(&m.ports[0], TOP_HISTORY - 1), 6);
	assert_about(top_second(&m.ports[0], TOP_HISTORY), (double)NAN);
	assert_int_equal(top_model_update(&m, NULL, NULL), 0);
	assert_int_equal(m.n_ports, 1);
	top_model_done(&m);
}

static void take_past(struct top_model *m, const char *text)
{
	json_t *past = json_loads(text, 0, NULL);

	assert_non_null(past);
	top_model_past(m, past);
	json_decref(past);
}

static void test_history_of_a_port(void **state)
{
	static const char past[] =
		"{\"device\":\"mlx5_10\",\"port\":1,\"atMs\":[3900,5000,5100,6000,7000],\"signals\":{"
		"\"bytes_received\":[1,4,2,null,3],\"bytes_sent\":[10,20,20,20,30]}}";
	struct top_model m = {.n_ports = 0};
	const struct top_port *p;

	(void)state;
	update(&m, ports_text, diagnosis_text);
	top_model_past(&m, NULL);
	for (int i = 0; i < 2; i++) { /* a repeated history changes nothing */
		take_past(&m, past);
		p = &m.ports[1];
		assert_about(top_second(p, 0), 33);
		assert_about(top_second(p, 1), (double)NAN); /* unknown */
		assert_about(top_second(p, 2), 24);	     /* the maximum of that second */
		assert_about(top_second(p, 3), (double)NAN); /* no sample */
		assert_about(top_second(p, 4), 11);
		assert_about(top_second(p, 5), (double)NAN);
	}
	top_model_done(&m);
}

/* The history covers five minutes for any interval of samples and any time in the document. */
static void test_seconds(void **state)
{
	struct top_model m = {.n_ports = 0};

	(void)state;
	update(&m, "{\"timeMs\":3600000,\"ports\":[{\"device\":\"d\",\"port\":1,\"now\":{}}]}",
	       "{}");
	take_past(&m, "{\"device\":\"d\",\"port\":1,\"atMs\":[3300999,3301000,3590000,3600000],"
		      "\"signals\":{\"bytes_received\":[1,2,3,4],\"bytes_sent\":[0,0,0,0]}}");
	assert_about(top_second(&m.ports[0], 0), 4);
	assert_about(top_second(&m.ports[0], 1), (double)NAN);
	assert_about(top_second(&m.ports[0], 10), 3);
	assert_about(top_second(&m.ports[0], TOP_HISTORY - 1), 2);
	assert_about(top_second(&m.ports[0], TOP_HISTORY), (double)NAN);
	take_past(&m, "{\"device\":\"d\",\"port\":1,\"atMs\":[null,-1,9223372036854775807,5],"
		      "\"signals\":{}}");
	for (size_t back = 0; back <= TOP_HISTORY; back++)
		assert_about(top_second(&m.ports[0], back), (double)NAN);
	top_model_done(&m);
}

/* Updates the model with a document that has only a time. */
static void update_time(struct top_model *m, long long time_ms)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"timeMs\":%lld,\"ports\":[]}", time_ms);
	update(m, text, "{}");
}

static void test_a_missing_sample_is_silence(void **state)
{
	struct top_model m = {.n_ports = 0};

	(void)state;
	assert_int_equal(top_silence_ms(&m, 3600000), 0); /* no sample so far */
	update_time(&m, 100000);
	assert_int_equal(top_silence_ms(&m, 99000), 0);
	assert_int_equal(top_silence_ms(&m, 102999), 0);
	assert_int_equal(top_silence_ms(&m, 103000), 3000);
	update_time(&m, 110000); /* a sample every ten seconds */
	update_time(&m, 110000);
	update_time(&m, 120000);
	assert_int_equal(top_silence_ms(&m, 149999), 0);
	assert_int_equal(top_silence_ms(&m, 150000), 30000);
	update_time(&m, 3600000); /* the next pause is not compared with this long one */
	assert_int_equal(top_silence_ms(&m, 3629999), 0);
	assert_int_equal(top_silence_ms(&m, 3630000), 30000);
	update_time(&m, 3601000); /* samples every second again */
	assert_int_equal(top_silence_ms(&m, 3604000), 3000);
	top_model_done(&m);
}

/* The interval of samples is also derived from the history. */
static void test_silence_after_reading_history(void **state)
{
	struct top_model m = {.n_ports = 0};

	(void)state;
	update(&m, "{\"timeMs\":90000,\"ports\":[{\"device\":\"d\",\"port\":1,\"now\":{}}]}", "{}");
	take_past(&m, "{\"device\":\"d\",\"port\":1,\"atMs\":[70000,80000,90000],\"signals\":{}}");
	assert_int_equal(top_silence_ms(&m, 119999), 0);
	assert_int_equal(top_silence_ms(&m, 120000), 30000);
	top_model_done(&m);
}

/* --- order and keys --------------------------------------------------------------------------- */

/* Compares the names in order, each followed by a blank. */
static void assert_order(const struct top_view *v, const struct top_model *m, const char *want)
{
	size_t order[8], n = top_order(v, m, order);
	char text[256] = "";

	for (size_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
			 m->ports[order[i]].name);
	assert_string_equal(text, want);
}

static void test_sort_order(void **state)
{
	static const struct {
		const char *sort, *want;
	} rows[] = {
		{"verdict", "mlx5_2/1 mlx5_4/1 mlx5_10/1 rxe?[31m/1 "},
		{"use", "mlx5_4/1 mlx5_2/1 mlx5_10/1 rxe?[31m/1 "},
		{"received", "mlx5_2/1 mlx5_4/1 mlx5_10/1 rxe?[31m/1 "},
		{"sent", "mlx5_4/1 mlx5_2/1 mlx5_10/1 rxe?[31m/1 "},
		{"pause", "mlx5_4/1 mlx5_2/1 mlx5_10/1 rxe?[31m/1 "},
		{"ce", "mlx5_2/1 mlx5_4/1 mlx5_10/1 rxe?[31m/1 "},
		{"loss", "mlx5_2/1 mlx5_10/1 mlx5_4/1 rxe?[31m/1 "},
		{"retr", "mlx5_2/1 mlx5_4/1 mlx5_10/1 rxe?[31m/1 "},
		{"port", "mlx5_2/1 mlx5_4/1 mlx5_10/1 rxe?[31m/1 "},
		{"pod", "mlx5_4/1 mlx5_2/1 mlx5_10/1 rxe?[31m/1 "},
	};
	struct top_model m = {.n_ports = 0};
	struct top_view v = {.sort = 0};

	(void)state;
	update(&m, ports_text, diagnosis_text);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_true(top_sort_by(&v, rows[i].sort));
		assert_order(&v, &m, rows[i].want);
	}
	assert_false(top_sort_by(&v, "speed"));
	v.backwards = true;
	assert_true(top_sort_by(&v, "port"));
	assert_order(&v, &m, "rxe?[31m/1 mlx5_10/1 mlx5_4/1 mlx5_2/1 ");
	top_model_done(&m);
}

static void press(struct top_view *v, const struct top_model *m, const char *keys)
{
	for (; *keys; keys++)
		assert_int_equal(top_key(v, m, *keys, 24), TOP_STAYS);
}

static void test_filter(void **state)
{
	struct top_model m = {.n_ports = 0};
	struct top_view v = {.sort = 0};

	(void)state;
	update(&m, ports_text, diagnosis_text);
	press(&v, &m, "/JOB");
	assert_true(v.typing);
	assert_order(&v, &m, "mlx5_4/1 ");
	top_key(&v, &m, TOP_KEY_BACKSPACE, 24);
	press(&v, &m, "q"); /* typed into the filter, does not quit */
	assert_order(&v, &m, "");
	assert_null(top_selected(&v, &m));
	press(&v, &m, "\033");
	assert_false(v.typing);
	assert_order(&v, &m, "mlx5_2/1 mlx5_4/1 mlx5_10/1 rxe?[31m/1 ");
	press(&v, &m, "/slow\n");
	assert_false(v.typing);
	assert_order(&v, &m, "mlx5_2/1 ");
	press(&v, &m, "\033v");
	assert_order(&v, &m, "mlx5_2/1 ");
	for (int i = 0; i < 100; i++)
		press(&v, &m, i ? "x" : "/");
	assert_int_equal(strlen(v.filter), sizeof(v.filter) - 1);
	top_model_done(&m);
}

/* The selected row stays selected when the order changes. */
static void test_selection(void **state)
{
	struct top_model m = {.n_ports = 0};
	struct top_view v = {.sort = 0};

	(void)state;
	update(&m, ports_text, diagnosis_text);
	assert_string_equal(top_selected(&v, &m)->name, "mlx5_2/1");
	press(&v, &m, "j");
	top_key(&v, &m, TOP_KEY_DOWN, 24);
	assert_string_equal(top_selected(&v, &m)->name, "mlx5_10/1");
	press(&v, &m, "s");
	assert_string_equal(top_selected(&v, &m)->name, "mlx5_10/1");
	top_key(&v, &m, TOP_KEY_PAGE_UP, 24);
	assert_string_equal(top_selected(&v, &m)->name, "mlx5_4/1");
	top_key(&v, &m, TOP_KEY_PAGE_DOWN, 24);
	assert_string_equal(top_selected(&v, &m)->name, "rxe?[31m/1");
	press(&v, &m, "jjSr ?");
	assert_true(v.backwards && v.frozen && v.help);
	assert_int_equal(v.sort, 0);
	assert_int_equal(top_key(&v, &m, '\n', 24), TOP_OPENS);
	assert_int_equal(top_key(&v, &m, 'q', 24), TOP_QUITS);
	m.n_ports = 0;
	assert_int_equal(top_key(&v, &m, '\n', 24), TOP_STAYS);
	press(&v, &m, "jk");
	top_model_done(&m);
}

/* --- the screen ------------------------------------------------------------------------------- */

struct screen {
	char rows[40][512];
	enum top_style styles[40];
	size_t height;
};

static void put(size_t row, const char *text, enum top_style style, void *arg)
{
	struct screen *s = arg;

	assert_true(row < 40);
	snprintf(s->rows[row], sizeof(s->rows[row]), "%s", text);
	s->styles[row] = style;
	s->height = row >= s->height ? row + 1 : s->height;
}

static void print_screen(FILE *f, struct top_view *v, const struct top_model *m, size_t width,
			 size_t height)
{
	struct screen s = {.height = 0};

	top_draw(v, m, width, height, put, &s);
	fprintf(f, "--- %zu x %zu\n", width, height);
	for (size_t i = 0; i < s.height; i++)
		fprintf(f, "%d %s\n", (int)s.styles[i], s.rows[i]);
}

/* Four minutes of rising and falling values. */
static void add_waves(struct top_model *m)
{
	for (int i = 0; i < 240; i++) {
		char text[512];

		snprintf(
			text, sizeof(text),
			"{\"time\":\"2026-01-02T03:08:05.000Z\",\"timeMs\":%d,\"ports\":[{\"device\":"
			"\"mlx5_2\",\"port\":1,\"rateBitsPerSecond\":400e9,\"watch\":\"judged\",\"netdev\":\"ens1np0\","
			"\"now\":{\"bytes_received\":%d,\"bytes_sent\":0}},{\"device\":\"mlx5_4\",\"port\":1,"
			"\"pod\":\"p\",\"now\":{}}]}",
			10000 + i * 1000, i % 60 * 1000000);
		update(m, text, diagnosis_text);
	}
}

static void print_screens(FILE *f)
{
	struct top_model m = {.n_ports = 0};
	struct top_view v = {.ascii = true};

	print_screen(f, &v, &m, 80, 10);
	update(&m, ports_text, "{}");
	v.requested_ms = 3607000; /* an hour after the sample */
	print_screen(f, &v, &m, 80, 6);
	print_screen(f, &v, &m, 120, 0);
	v.requested_ms = 0;
	update(&m, ports_text, diagnosis_text);
	print_screen(f, &v, &m, 200, 12);
	print_screen(f, &v, &m, 120, 12);
	print_screen(f, &v, &m, 80, 6);
	press(&v, &m, "jjjr/5");
	print_screen(f, &v, &m, 40, 12);
	top_model_done(&m);
	v = (struct top_view){.frozen = true, .problem = "no answer"};
	add_waves(&m);
	print_screen(f, &v, &m, 150, 8);
	v.ascii = true;
	print_screen(f, &v, &m, 150, 0);
	top_model_done(&m);
}

static void test_screens(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_top.txt", print_screens);
}

/* Draws a screen of one port with the longest names. */
static void draw_long(struct screen *s, size_t width, size_t height, const char *keys)
{
	struct top_model m = {.n_ports = 0};
	struct top_view v = {.ascii = true};

	update(&m,
	       "{\"timeMs\":1,\"ports\":[{\"device\":\"rocep3s0f0v117\",\"port\":1,\"netdev\":"
	       "\"enp3s0f0v117np0\",\"namespace\":\"training\",\"pod\":"
	       "\"a-job-with-a-long-name-worker-17\",\"watch\":\"judged\",\"rateBitsPerSecond\":4e11,\"now\":{"
	       "\"bytes_received\":4e10,\"bytes_sent\":3e10,\"pause_received\":0.25,"
	       "\"pause_sent\":0.99,\"ce_share\":0.081,\"cnp_sent\":7,\"discards\":2.5}}]}",
	       "{\"verdicts\":[{\"device\":\"rocep3s0f0v117\",\"port\":1,\"level\":3,\"cause\":"
	       "\"pause_storm_source\"}]}");
	for (; *keys; keys++)
		top_key(&v, &m, *keys, height);
	*s = (struct screen){.height = 0};
	top_draw(&v, &m, width, height, put, s);
	top_model_done(&m);
}

/* Verdict, pause, CE and loss are shown at 40 and at 80 columns; names are shortened in the
 * middle. */
static void test_important_columns_are_never_dropped(void **state)
{
	static const size_t widths[] = {40, 58, 80, 120, 200};
	struct screen s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		draw_long(&s, widths[i], 12, "");
		assert_non_null(strstr(s.rows[3], "VERDICT"));
		assert_non_null(strstr(s.rows[3], "PAUSE%"));
		assert_non_null(strstr(s.rows[3], "CE%"));
		assert_non_null(strstr(s.rows[3], "LOSS/s"));
		assert_non_null(strstr(s.rows[4], "crit"));
		assert_non_null(strstr(s.rows[4], " 8.1 "));
		assert_non_null(strstr(s.rows[4], " >=2.5 "));
		assert_non_null(strstr(s.rows[4], "99"));
	}
	draw_long(&s, 40, 12, "");
	assert_string_equal(s.rows[4], "rocep~17/1     99   8.1  >=2.5 crit~urce");
	draw_long(&s, 80, 12, "");
	assert_non_null(strstr(s.rows[3], "RX b/s"));
	draw_long(&s, 200, 12, "");
	assert_non_null(strstr(s.rows[4], "training/a-job-with-a-long-name-worker-17"));
}

/* The page and top sum the same signals as loss and as retransmissions. */
static void test_figures_match_the_page(void **state)
{
	static const char *const words[] = {[TOP_LOSS] = "\tloss: {", [TOP_RETR] = "\tagain: {"};
	static char page[1 << 18];
	FILE *f = fopen("daemon/web/model.js", "r");

	(void)state;
	assert_non_null(f);
	assert_true(fread(page, 1, sizeof(page) - 1, f) > 0);
	fclose(f);
	for (int i = TOP_LOSS; i <= TOP_RETR; i++) {
		size_t n;
		const char *const *parts = top_parts((enum top_figure)i, &n);
		const char *at = strstr(page, words[i]);
		char want[128];

		assert_int_equal(n, 2);
		snprintf(want, sizeof(want), "parts: ['%s', '%s']", parts[0], parts[1]);
		assert_non_null(at);
		assert_ptr_equal(strstr(at, "parts: "), strstr(at, want));
	}
}

/* Old data is marked first and drawn in the style for old data at any width; the uptime of a daemon
 * that does not answer stops. */
static void test_old_data_looks_old(void **state)
{
	json_t *index = json_loads("{\"node\":\"vm\",\"version\":\"0.1.0\",\"upSeconds\":40}", 0,
				   NULL);
	struct top_view v = {.ascii = true, .requested_ms = 20000, .answered_ms = 10000};
	struct top_model m = {.n_ports = 0};

	(void)state;
	update(&m, ports_text, diagnosis_text);
	m.time_ms = 10000;
	top_model_identity(&m, index, 2000);
	for (size_t width = 22; width < 200; width++) {
		struct screen s = {.height = 0};

		top_draw(&v, &m, width, 12, put, &s);
		assert_int_equal(strncmp(s.rows[0], "NO NEW SAMPLE FOR 10 s", 22), 0);
		if (width >= 80)
			assert_non_null(strstr(s.rows[0], "rocelet 0.1.0, up 48s"));
		for (size_t i = 1; i < s.height; i++)
			assert_true(s.styles[i] != TOP_CRITICAL && s.styles[i] != TOP_WARNING &&
				    s.styles[i] != TOP_GOOD);
		assert_int_equal(s.styles[1], TOP_OLD);
		assert_int_equal(s.styles[5], TOP_OLD);
		assert_int_equal(s.styles[11], TOP_OLD);
	}
	for (size_t width = 1; width < 22; width++) {
		struct screen s = {.height = 0};

		top_draw(&v, &m, width, 12, put, &s);
		assert_null(strpbrk(s.rows[0], "0123456789"));
	}
	v = (struct top_view){
		.ascii = true, .requested_ms = 10000, .problem = "Connection refused"};
	for (size_t width = 40; width < 200; width++) {
		struct screen s = {.height = 0};

		top_draw(&v, &m, width, 12, put, &s);
		assert_int_equal(s.styles[1], TOP_OLD);
		assert_string_equal(s.rows[2], "Connection refused");
	}
	json_decref(index);
	top_model_done(&m);
}

/* 136 ports with loss, one of them in a pod and down. */
static void make_big(struct top_model *m)
{
	json_t *list = json_array(), *ports, *diagnosis;

	for (int i = 0; i < 136; i++) {
		char device[16];

		snprintf(device, sizeof(device), "mlx5_%d", i);
		json_array_append_new(
			list,
			json_pack("{ss si ss ss ss s{sf sf sf sf sf}}", "device", device, "port", 1,
				  "watch", i == 33 ? "down" : "judged", "namespace", "train", "pod",
				  "a-worker-with-a-long-name-33", "now", "bytes_received", 12.2e9,
				  "bytes_sent", 12.2e9, "discards", 4.0, "out_of_sequence", 5.36,
				  "ce_share", 0.0004));
	}
	ports = json_pack("{ss sI so}", "time", "2026-01-02T03:04:05.000Z", "timeMs",
			  (json_int_t)200000, "ports", list);
	diagnosis = json_pack("{s[{ss si si ss ss sI}] s[{ss si ss sb}]}", "verdicts", "device",
			      "mlx5_7", "port", 1, "level", 3, "cause", "packet_loss", "sentence",
			      "packets are lost", "onsetMs", (json_int_t)20000, "ports", "device",
			      "mlx5_33", "port", 1, "watch", "down", "held", 1);
	assert_non_null(ports);
	assert_non_null(diagnosis);
	add_all_troubles(ports, diagnosis);
	assert_int_equal(top_model_update(m, ports, diagnosis), 0);
	json_decref(ports);
	json_decref(diagnosis);
}

/* Every number on this screen is also on the widest screen. */
static void assert_whole_numbers(const char *row, const char *whole)
{
	for (const char *c = row; *c; c++) {
		size_t len = strspn(c, "0123456789.");
		char number[64];

		if (len == 0)
			continue;
		snprintf(number, sizeof(number), "%.*s", (int)len + (c[len] != '\0'), c);
		if (!strstr(whole, number) || (c[len] == '\0' && !strstr(whole, c)))
			fail_msg("%s: not in %s", row, whole);
		c += len - 1;
	}
}

/* Numbers are never cut: less important parts are left out as a whole. */
static void test_numbers_are_never_cut(void **state)
{
	struct top_view v = {.ascii = true};
	struct top_model m = {.n_ports = 0};
	struct screen wide = {.height = 0};

	(void)state;
	make_big(&m);
	top_draw(&v, &m, 300, 24, put, &wide);
	assert_string_equal(wide.rows[1],
			    "1 problem: 1 critical, 1 pod port down; loss 1273/s, CE 0.0%, 1-18 of "
			    "136 ports; sorted by verdict; RX 13.3T, TX 13.3T");
	assert_string_equal(wide.rows[23],
			    "mlx5_7/1: packet_loss, train/a-worker-with-a-long-name-33, for 3m: "
			    "packets are lost");
	for (size_t width = 1; width < 200; width++) {
		struct screen s = {.height = 0};

		top_draw(&v, &m, width, 24, put, &s);
		assert_whole_numbers(s.rows[0], wide.rows[0]);
		assert_whole_numbers(s.rows[1], wide.rows[1]);
		if (width >= 40)
			assert_non_null(strstr(s.rows[1], "loss 1273/s"));
		if (width >= 80) {
			assert_non_null(strstr(s.rows[1], "1-18 of 136 ports"));
			assert_non_null(
				strstr(s.rows[23], "train/a-worker-with-a-long-name-33, for 3m"));
		}
	}
	press(&v, &m, "jjjjjjjjjjjjjjjjjjjj");
	top_draw(&v, &m, 80, 24, put, &wide);
	assert_non_null(strstr(wide.rows[1], "4-21 of 136 ports"));
	top_model_done(&m);
}

/* At 80 columns the pod is shown, and columns without any value are not; a pod's port whose link is
 * down does not count as idle. */
static void test_the_pod_is_shown(void **state)
{
	struct top_view v = {.ascii = true};
	struct top_model m = {.n_ports = 0};
	struct screen s = {.height = 0};

	(void)state;
	make_big(&m);
	top_draw(&v, &m, 80, 24, put, &s);
	assert_non_null(strstr(s.rows[3], "POD"));
	assert_non_null(strstr(s.rows[4], "train"));
	assert_null(strstr(s.rows[3], "PAUSE"));
	assert_null(strstr(s.rows[3], "CNP"));
	assert_null(strstr(s.rows[3], "NETDEV"));
	assert_non_null(strstr(s.rows[5], "warn: link_down"));
	assert_int_equal(s.styles[5], TOP_WARNING);
	press(&v, &m, "v");
	assert_order(&v, &m, "mlx5_7/1 mlx5_33/1 ");
	top_model_done(&m);
	draw_long(&s, 80, 12, "");
	assert_non_null(strstr(s.rows[4], "train"));
	assert_non_null(strstr(s.rows[4], "crit: p"));
	draw_long(&s, 200, 12, "");
	assert_null(strstr(s.rows[3], "RETR/s"));
}

/* At 120 columns cause and pod are not shortened; a port that is down shows no rate; the pods that
 * a PF's verdict affects are shown on the PF and on their VFs. */
static void test_cause_and_pod_come_first(void **state)
{
	struct top_view v = {.ascii = true};
	struct top_model m = {.n_ports = 0};
	struct screen s = {.height = 0};

	(void)state;
	update(&m,
	       "{\"timeMs\":1,\"ports\":[{\"device\":\"mlx5_0\",\"port\":1,\"netdev\":\"ens1np0\","
	       "\"function\":\"pf\",\"watch\":\"judged\",\"rateBitsPerSecond\":4e11,\"state\":\"down\","
	       "\"now\":{\"bytes_received\":4e10,\"bytes_sent\":3e10,\"pause_received\":0.25,"
	       "\"pause_sent\":0.99,\"ce_share\":0.081,\"cnp_sent\":7,\"discards\":2.5,\"nak\":1}},"
	       "{\"device\":\"mlx5_1\",\"port\":1,\"netdev\":\"ens1v0\",\"parent\":\"pf\","
	       "\"namespace\":\"train\",\"pod\":\"llama-worker-0007\",\"watch\":\"judged\","
	       "\"state\":\"active\",\"rateBitsPerSecond\":4e11,\"now\":{}}]}",
	       "{\"verdicts\":[{\"device\":\"mlx5_0\",\"port\":1,\"function\":\"pf\",\"level\":2,"
	       "\"cause\":\"fabric_congestion\",\"role\":\"affected\",\"podCount\":2,\"pods\":["
	       "{\"namespace\":\"train\",\"name\":\"llama-worker-0007\"}]}]}");
	top_draw(&v, &m, 120, 12, put, &s);
	assert_non_null(strstr(s.rows[4], "warn: fabric_congestion"));
	assert_non_null(strstr(s.rows[4], "  down  "));
	assert_non_null(strstr(s.rows[4], "0007 +1"));
	assert_non_null(strstr(s.rows[5], "warn PF: fabric_congestion"));
	assert_non_null(strstr(s.rows[5], "train/llama-worker-0007"));
	assert_non_null(strstr(s.rows[5], "400G"));
	top_model_done(&m);
}

/* An active port without a verdict whose device is unhealthy, as doctor says, too. */
static void test_devices_in_trouble(void **state)
{
	struct top_view v = {.ascii = true};
	struct top_model m = {.n_ports = 0};
	struct screen s = {.height = 0};

	(void)state;
	update(&m,
	       "{\"time\":\"2026-01-02T03:04:05.000Z\",\"timeMs\":900000,\"ports\":[{\"device\":"
	       "\"mlx5_1\",\"port\":1,\"namespace\":\"train\",\"pod\":\"a\",\"watch\":\"judged\","
	       "\"state\":\"active\",\"rateBitsPerSecond\":4e11,\"now\":{},\"troubles\":[{\"kind\":"
	       "\"device\",\"word\":\"link_down\",\"level\":3,\"what\":\"it is unhealthy\",\"since\":"
	       "\"2026-01-02T02:59:05.000Z\",\"orEarlier\":true}]}]}",
	       "{\"verdicts\":[]}");
	top_draw(&v, &m, 120, 8, put, &s);
	assert_non_null(strstr(s.rows[1], "1 port unhealthy"));
	assert_null(strstr(s.rows[1], "no problems"));
	assert_non_null(strstr(s.rows[3], "VERDICT           FOR  POD"));
	assert_non_null(strstr(s.rows[4], "crit: link_down   >5m  train/a"));
	assert_string_equal(s.rows[7], "mlx5_1/1: link_down, train/a, for 5m or longer: it is "
				       "unhealthy");
	top_model_done(&m);
}

/* A port that has a verdict and an unhealthy device counts as both; the key v lists the words. */
static void test_troubles_beside_verdicts(void **state)
{
	struct top_view v = {.ascii = true};
	struct top_model m = {.n_ports = 0};
	struct screen s = {.height = 0};

	(void)state;
	update(&m,
	       "{\"time\":\"2026-01-02T03:04:05.000Z\",\"timeMs\":900000,\"ports\":[{\"device\":"
	       "\"mlx5_1\",\"port\":1,\"watch\":\"judged\",\"now\":{},\"troubles\":[{\"kind\":"
	       "\"verdict\",\"word\":\"packet_loss\",\"level\":3},{\"kind\":\"device\",\"word\":"
	       "\"pci\",\"level\":3}]},{\"device\":\"mlx5_2\",\"port\":1,\"watch\":\"judged\","
	       "\"now\":{},\"troubles\":[{\"kind\":\"verdict\",\"word\":\"packet_loss\",\"level\":"
	       "2}]},{\"device\":\"mlx5_3\",\"port\":1,\"watch\":\"judged\",\"now\":{},"
	       "\"troubles\":[{\"kind\":\"link\",\"word\":\"link_down\",\"level\":2}]},{\"device\":"
	       "\"mlx5_4\",\"port\":1,\"watch\":\"judged\",\"now\":{},\"troubles\":[]}]}",
	       "{\"verdicts\":[{\"device\":\"mlx5_1\",\"port\":1,\"level\":3,\"cause\":"
	       "\"packet_loss\"},{\"device\":\"mlx5_2\",\"port\":1,\"level\":2,\"cause\":"
	       "\"packet_loss\"}]}");
	top_key(&v, &m, 'v', 12);
	top_draw(&v, &m, 160, 12, put, &s);
	assert_non_null(strstr(s.rows[1], "2 problems: 1 critical, 1 warning, 1 pod port down, "
					  "1 port unhealthy"));
	assert_non_null(strstr(s.rows[1], "in trouble only"));
	assert_int_equal(strncmp(s.rows[2], "packet_loss 2, link_down 1  ? keys", 34), 0);
	top_draw(&v, &m, 40, 12, put, &s);
	assert_string_equal(s.rows[2], "packet_loss 2, link_down 1  ? keys");
	top_key(&v, &m, 'v', 12);
	top_draw(&v, &m, 40, 12, put, &s);
	assert_int_equal(strncmp(s.rows[2], "? keys", 6), 0);
	top_model_done(&m);
}

static void test_no_rows_have_a_reason(void **state)
{
	struct screen s;

	(void)state;
	draw_long(&s, 80, 12, "/nosuch");
	assert_string_equal(s.rows[4], "no port matches /nosuch; Esc: all 1 ports");
	draw_long(&s, 80, 12, "/nosuch\nv");
	assert_string_equal(s.rows[4], "no port in trouble matches /nosuch; Esc: all 1 ports");
	draw_long(&s, 80, 12, "v/nosuch\033");
	assert_non_null(strstr(s.rows[4], "crit"));
}

/* Each sort order has a key; the same key again reverses the order. */
static void test_sort_keys(void **state)
{
	struct top_model m = {.n_ports = 0};
	struct top_view v = {.sort = 0};
	char name[16];
	const char *letters = "VURTPCNLEOD", *sorts = TOP_SORTS;

	(void)state;
	for (unsigned i = 0; ctl_choice_next(&sorts, name, sizeof(name)); i++) {
		struct top_view named = {.sort = 0};

		v.sort = 99;
		assert_int_equal(top_key(&v, &m, letters[i], 24), TOP_STAYS);
		assert_true(top_sort_by(&named, name));
		assert_int_equal(v.sort, named.sort);
		assert_false(v.backwards);
		top_key(&v, &m, letters[i], 24);
		assert_true(v.backwards);
	}
}

/* The total of a PF with two VFs and of another NIC's port. include: "true", "false" or "null". */
static double total_with(const char *include, bool *ret_least)
{
	static const size_t order[] = {0, 1, 2, 3};
	struct top_model m = {0};
	char text[1024];
	struct top_sum total;

	snprintf(text, sizeof(text),
		 "{\"timeMs\":7,\"ports\":["
		 "{\"device\":\"pf\",\"port\":1,\"function\":\"0\",\"bytesIncludeVfs\":%s,"
		 "\"now\":{\"bytes_sent\":10}},"
		 "{\"device\":\"v0\",\"port\":1,\"function\":\"1\",\"parent\":\"0\","
		 "\"now\":{\"bytes_sent\":3}},"
		 "{\"device\":\"v1\",\"port\":1,\"function\":\"2\",\"parent\":\"0\","
		 "\"now\":{\"bytes_sent\":4}},"
		 "{\"device\":\"x\",\"port\":1,\"function\":\"9\","
		 "\"now\":{\"bytes_sent\":100}}]}",
		 include);
	update(&m, text, "{}");
	total = top_total(&m, order, 4, TOP_SENT);
	top_model_done(&m);
	*ret_least = total.least;
	return total.value;
}

/* What a PF's row shows is on its link, with its VFs; the share of the link, too. */
static double pf_row_with(const char *include, double *ret_use)
{
	struct top_model m = {0};
	char text[1024];
	double sent;

	snprintf(text, sizeof(text),
		 "{\"timeMs\":7000,\"ports\":["
		 "{\"device\":\"pf\",\"port\":1,\"function\":\"0\",\"bytesIncludeVfs\":%s,"
		 "\"rateBitsPerSecond\":800,\"now\":{\"bytes_sent\":10,\"bytes_received\":0}},"
		 "{\"device\":\"v0\",\"port\":1,\"function\":\"1\",\"parent\":\"0\","
		 "\"now\":{\"bytes_sent\":3}},"
		 "{\"device\":\"v1\",\"port\":1,\"function\":\"2\",\"parent\":\"0\","
		 "\"now\":{\"bytes_sent\":4}},"
		 "{\"device\":\"x\",\"port\":1,\"now\":{\"bytes_sent\":100}}]}",
		 include);
	update(&m, text, "{}");
	sent = m.ports[0].wire[1];
	*ret_use = top_use(&m.ports[0]);
	assert_about(m.ports[1].wire[1], 3);
	assert_about(m.ports[3].wire[1], 100);
	assert_about(top_second(&m.ports[0], 0), sent);
	top_model_done(&m);
	return sent;
}

static void test_a_pf_shows_its_link(void **state)
{
	double use;

	(void)state;
	assert_about(pf_row_with("false", &use), 17);
	assert_about(use, 0.17);
	assert_about(pf_row_with("true", &use), 10);
	assert_about(use, 0.1);
	assert_about(pf_row_with("null", &use), 10);
}

static void test_vfs_count_once(void **state)
{
	bool least;

	(void)state;
	assert_true(total_with("false", &least) == 117 && !least);
	assert_true(total_with("true", &least) == 110 && !least);
	assert_true(total_with("null", &least) == 110 && least);
}

/* A sum that leaves out a port, or a signal of a port, is a lower bound. */
static void test_sums_of_what_is_known(void **state)
{
	static const size_t order[] = {0, 1, 2};
	static const struct {
		const char *ports[3];
		double value;
		bool least;
		size_t unseen;
	} rows[] = {
		{{"\"discards\":1,\"out_of_sequence\":2", "\"discards\":0,\"out_of_sequence\":0",
		  "\"discards\":3,\"out_of_sequence\":0"},
		 6,
		 false,
		 0},
		{{"\"discards\":1,\"out_of_sequence\":2", "\"discards\":0",
		  "\"discards\":3,\"out_of_sequence\":0"},
		 6,
		 true,
		 0},
		{{"\"discards\":1,\"out_of_sequence\":2", "\"discards\":null", "\"ce_share\":0"},
		 3,
		 true,
		 2},
		{{"\"ce_share\":0", "\"ce_share\":0", "\"ce_share\":0"}, (double)NAN, false, 3},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct top_model m = {0};
		struct top_sum sum;
		char text[512];

		snprintf(text, sizeof(text),
			 "{\"timeMs\":7,\"ports\":[{\"device\":\"a\",\"port\":1,\"now\":{%s}},"
			 "{\"device\":\"b\",\"port\":1,\"now\":{%s}},"
			 "{\"device\":\"c\",\"port\":1,\"now\":{%s}}]}",
			 rows[i].ports[0], rows[i].ports[1], rows[i].ports[2]);
		update(&m, text, "{}");
		sum = top_total(&m, order, 3, TOP_LOSS);
		assert_about(sum.value, rows[i].value);
		assert_int_equal(sum.least, rows[i].least);
		assert_int_equal(sum.unseen, rows[i].unseen);
		top_model_done(&m);
	}
}

static void test_totals_and_identity(void **state)
{
	struct top_model m = {.n_ports = 0};
	struct top_view v = {.ascii = true, .requested_ms = 61000, .answered_ms = 61000};
	json_t *index = json_loads(
		"{\"node\":\"node-17\",\"version\":\"1.2.3\",\"upSeconds\":3600}", 0, NULL);
	struct screen s = {.height = 0};

	(void)state;
	update(&m, ports_text, diagnosis_text);
	m.time_ms = 60000;
	top_model_identity(&m, index, 1000);
	top_draw(&v, &m, 120, 12, put, &s);
	assert_string_equal(s.rows[0], "node-17  rocelet 1.2.3, up 61m  2026-01-02T03:04:05Z");
	assert_string_equal(
		s.rows[1],
		"3 problems: 2 critical, 1 warning, 1 information; loss >=2.0/s (2 ports not seen), "
		"CE 8.1%, pause 50%, 4 ports");
	top_model_identity(&m, NULL, 1000);
	top_draw(&v, &m, 120, 12, put, &s);
	assert_string_equal(s.rows[0], "rocelet  2026-01-02T03:04:05Z");
	json_decref(index);
	top_model_done(&m);
}

/* The help fits 40 columns. */
static void test_help_fits(void **state)
{
	struct screen s;

	(void)state;
	draw_long(&s, 80, 24, "?");
	for (size_t i = 3; i < s.height; i++)
		assert_true(strlen(s.rows[i]) <= 40);
	assert_non_null(strstr(s.rows[s.height - 1], "q        quit"));
	draw_long(&s, 80, 24, "??");
	assert_non_null(strstr(s.rows[3], "PORT"));
}

static void assert_wrapped(const char *text, size_t width, const char *want)
{
	char *is = NULL;
	size_t len;
	FILE *f = open_memstream(&is, &len);

	top_wrap(text, width, f);
	fclose(f);
	assert_string_equal(is, want);
	free(is);
}

static void test_wrapping(void **state)
{
	(void)state;
	assert_wrapped("    one two three four\n\nend", 18, "    one two three\n    four\n\nend\n");
	assert_wrapped("0123456789abcdef\n", 12, "0123456789ab\ncdef\n");
	assert_wrapped("", 12, "");
}

/* At any size of the terminal no row is wider than the screen. */
static void test_any_size(void **state)
{
	struct top_model m = {.n_ports = 0};
	struct top_view v = {.ascii = true};

	(void)state;
	update(&m, ports_text, diagnosis_text);
	add_waves(&m);
	for (size_t width = 1; width < 220; width += 7)
		for (size_t height = 1; height < 30; height++) {
			struct screen s = {.height = 0};

			top_key(&v, &m, TOP_KEY_DOWN, height);
			top_draw(&v, &m, width, height, put, &s);
			for (size_t i = 0; i < s.height; i++)
				assert_true(strlen(s.rows[i]) <= width);
		}
	top_model_done(&m);
}

/* At any width the column shows the value of almost five minutes ago. */
static void test_the_sparkline_covers_five_minutes(void **state)
{
	struct top_model m = {.n_ports = 0};
	struct top_view v = {.ascii = true};

	(void)state;
	update(&m, "{\"timeMs\":3600000,\"ports\":[{\"device\":\"d\",\"port\":1,\"now\":{}}]}",
	       "{}");
	take_past(&m, "{\"device\":\"d\",\"port\":1,\"atMs\":[3301000],"
		      "\"signals\":{\"bytes_received\":[7],\"bytes_sent\":[0]}}");
	for (size_t width = 130; width < 190; width++) {
		struct screen s = {.height = 0};

		top_draw(&v, &m, width, 0, put, &s);
		assert_non_null(strstr(s.rows[3], "LAST 5 MINUTES"));
		assert_non_null(strchr(s.rows[4], '#'));
	}
	top_model_done(&m);
}

TEST_GROUP(top)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_old_data_is_dropped),
		cmocka_unit_test(test_history_of_a_port),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_a_missing_sample_is_silence),
		cmocka_unit_test(test_silence_after_reading_history),
		cmocka_unit_test(test_sort_order),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_screens),
		cmocka_unit_test(test_important_columns_are_never_dropped),
		cmocka_unit_test(test_figures_match_the_page),
		cmocka_unit_test(test_old_data_looks_old),
		cmocka_unit_test(test_numbers_are_never_cut),
		cmocka_unit_test(test_the_pod_is_shown),
		cmocka_unit_test(test_devices_in_trouble),
		cmocka_unit_test(test_troubles_beside_verdicts),
		cmocka_unit_test(test_no_rows_have_a_reason),
		cmocka_unit_test(test_cause_and_pod_come_first),
		cmocka_unit_test(test_sort_keys),
		cmocka_unit_test(test_sums_of_what_is_known),
		cmocka_unit_test(test_totals_and_identity),
		cmocka_unit_test(test_vfs_count_once),
		cmocka_unit_test(test_a_pf_shows_its_link),
		cmocka_unit_test(test_help_fits),
		cmocka_unit_test(test_wrapping),
		cmocka_unit_test(test_any_size),
		cmocka_unit_test(test_the_sparkline_covers_five_minutes),
	};

	return test_group_run(tests, NULL, NULL);
}
