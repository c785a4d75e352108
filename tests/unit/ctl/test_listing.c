// SPDX-License-Identifier: Apache-2.0
/* rocectl's lists: rows, selecting and sorting them, and output formats. */
#include "listings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "ctl_age.h"
#include "ctl_document.h"
#include "ctl_merge.h"
#include "ctl_table.h"
#include "golden.h"
#include "test_group.h"

#define NOW_S 1790000000 /* 2026-09-21T14:13:20Z */

static const struct {
	const struct listing *listing;
	const char *file; /* a document from the daemon */
} all[] = {
	{&listing_pods, "tests/golden/api_pods_attached.json"},
	{&listing_devices, "tests/golden/api_devices_attached.json"},
	{&listing_events, "tests/golden/api_events.json"},
	{&listing_qps, "tests/golden/api_qps.json"},
	{&listing_resources, "tests/golden/api_devices_attached.json"},
	{&listing_ports, "tests/golden/rocectl_ports.json"},
};

static json_t *load_file(size_t i)
{
	json_t *document = json_load_file(all[i].file, 0, NULL);

	assert_non_null(document);
	return document;
}

static void show_file(FILE *f, size_t i, const struct listing_choice *choice)
{
	json_t *document = load_file(i);

	assert_int_equal(listing_show(all[i].listing, choice, document, f, f), 0);
	fputc('\n', f);
	json_decref(document);
}

static void print_tables(FILE *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		show_file(f, i, &(struct listing_choice){.limit = -1, .now_s = NOW_S});
}

static void print_wide(FILE *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		show_file(f, i,
			  &(struct listing_choice){.format = "wide", .limit = -1, .now_s = NOW_S});
}

static void print_names(FILE *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].listing->name)
			show_file(f, i, &(struct listing_choice){.format = "name", .limit = -1});
}

static void print_yaml(FILE *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		show_file(f, i, &(struct listing_choice){.format = "yaml", .limit = 1});
}

static void test_formats(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_tables.txt", print_tables);
	assert_golden("tests/golden/rocectl_wide.txt", print_wide);
	assert_golden("tests/golden/rocectl_names.txt", print_names);
	assert_golden("tests/golden/rocectl_yaml.txt", print_yaml);
}

/* Without a selection, -o json prints the whole document of the daemon. */
static void test_json_is_the_document(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		json_t *document = load_file(i), *shown;
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		show_file(f, i, &(struct listing_choice){.format = "json", .limit = -1});
		fclose(f);
		shown = json_loads(text, 0, NULL);
		if (all[i].listing->other)
			json_object_del(document, all[i].listing->other);
		assert_true(json_equal(document, shown));
		json_decref(document);
		json_decref(shown);
		free(text);
	}
}

/* --- the schema ------------------------------------------------------------------------------- */

static void assert_documented(const char *page, const json_t *value)
{
	const char *key;
	json_t *member;
	char word[64];
	size_t i;

	json_array_foreach ((json_t *)value, i, member) {
		assert_documented(page, member);
	}
	json_object_foreach ((json_t *)value, key, member) {
		snprintf(word, sizeof(word), "`%s`", key);
		if (!strstr(page, word))
			fail_msg("docs/reference/rocectl.md does not have %s", word);
		assert_documented(page, member);
	}
}

/* Every key of the documents is described in docs/reference/rocectl.md. */
static void test_keys_are_documented(void **state)
{
	static char page[1 << 18];
	FILE *f = fopen("docs/reference/rocectl.md", "r");

	(void)state;
	assert_non_null(f);
	assert_true(fread(page, 1, sizeof(page) - 1, f) > 0);
	fclose(f);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		json_t *document = load_file(i);

		assert_documented(page, document);
		json_decref(document);
	}
}

/* --- selection and order ---------------------------------------------------------------------- */

static const char some_qps[] =
	"{\"total\":4,\"qps\":["
	"{\"device\":\"mlx5_10\",\"qpn\":9,\"namespace\":\"a\",\"pod\":\"x\",\"state\":\"RTS\","
	"\"sent\":{\"ce\":3}},"
	"{\"device\":\"mlx5_2\",\"qpn\":10,\"namespace\":\"a\",\"pod\":\"y\",\"state\":\"RTS\","
	"\"sent\":{\"ce\":20}},"
	"{\"device\":\"mlx5_2\",\"qpn\":11,\"namespace\":\"b\",\"pod\":\"x\",\"state\":\"ERR\"},"
	"{\"device\":\"mlx5_1\",\"qpn\":12,\"namespace\":null,\"pod\":null,\"sent\":{\"ce\":0}}]}";

/* Compares the output of -o name, with blanks instead of line ends. */
static void assert_chosen(const struct listing_choice *choice, const char *want)
{
	json_t *document = json_loads(some_qps, 0, NULL);
	struct listing_choice named = *choice;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	named.format = "name";
	assert_int_equal(listing_check(&listing_qps, choice->sort_by, choice->selector, NULL, NULL),
			 0);
	assert_int_equal(listing_show(&listing_qps, &named, document, f, f), 0);
	fclose(f);
	for (char *c = text; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	assert_string_equal(text, want);
	free(text);
	json_decref(document);
}

#define LIMITED(n, ...) (&(struct listing_choice){.limit = (n), __VA_ARGS__})
#define CHOICE(...)	LIMITED(-1, __VA_ARGS__)

static void test_choice(void **state)
{
	(void)state;
	assert_chosen(CHOICE(.namespace = "a"), "mlx5_10/9 mlx5_2/10 ");
	assert_chosen(LIMITED(1, .namespace = "a"), "mlx5_10/9 ");
	assert_chosen(CHOICE(.selector = "state=RTS"), "mlx5_10/9 mlx5_2/10 ");
	assert_chosen(CHOICE(.selector = "STATE!=RTS,device==mlx5_2"), "mlx5_2/11 ");
	assert_chosen(CHOICE(.selector = "pod="), "mlx5_1/12 ");
	assert_chosen(CHOICE(.selector = "pod=x"), "mlx5_10/9 mlx5_2/11 ");
	assert_chosen(CHOICE(.selector = "pod=a/x"), "mlx5_10/9 ");
	assert_chosen(CHOICE(.selector = "pod!=a/x,pod!=y"), "mlx5_2/11 mlx5_1/12 ");
	assert_chosen(CHOICE(.selector = "pod!="), "mlx5_10/9 mlx5_2/10 mlx5_2/11 ");
	assert_chosen(CHOICE(.selector = ""), "mlx5_10/9 mlx5_2/10 mlx5_2/11 mlx5_1/12 ");
}

/* mlx5_10 comes after mlx5_2, 20 after 3, and unknown values come last in either direction. */
/* Cells of one column, sorted. */
static void assert_sorted(const char *cells, const char *want)
{
	struct table t = {.heads = {"HEALTH"}, .n_columns = 1};
	char *copy = strdup(cells), text[256] = "";

	for (char *cell = strtok(copy, ","); cell; cell = strtok(NULL, ","))
		table_add(&t, cell);
	table_sort(&t, 0, false);
	for (size_t i = 0; i < t.n_rows; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
			 t.rows[i].cells[0]);
	assert_string_equal(text, want);
	table_done(&t);
	free(copy);
}

static void test_sort_order(void **state)
{
	(void)state;
	assert_chosen(CHOICE(.sort_by = "device"), "mlx5_1/12 mlx5_2/10 mlx5_2/11 mlx5_10/9 ");
	assert_chosen(CHOICE(.sort_by = "-device"), "mlx5_10/9 mlx5_2/10 mlx5_2/11 mlx5_1/12 ");
	assert_chosen(CHOICE(.sort_by = "ce"), "mlx5_1/12 mlx5_10/9 mlx5_2/10 mlx5_2/11 ");
	assert_chosen(CHOICE(.sort_by = "-CE"), "mlx5_2/10 mlx5_10/9 mlx5_1/12 mlx5_2/11 ");
	assert_chosen(LIMITED(2, .sort_by = "-qpn"), "mlx5_2/10 mlx5_10/9 ");
	assert_sorted("critical,-,ok,warning (PF),info,unseen,critical (PF)",
		      "critical critical (PF) warning (PF) info ok unseen - ");
}

static void assert_table(const struct listing_choice *choice, const char *want)
{
	static const char pods[] =
		"{\"pods\":[{\"name\":\"a\",\"containers\":[{\"name\":\"c\",\"devices\":[{\"id\":\"1\","
		"\"attachment\":{\"since\":\"2026-01-02T03:04:05.678Z\",\"gone\":[7,8]}},"
		"{\"id\":\"2\",\"attachment\":{\"since\":\"2026-01-02T05:00:00Z\"}},"
		"{\"id\":\"3\",\"attachment\":{\"since\":\"soon\"}}]}]}]}";
	json_t *document = json_loads(pods, 0, NULL);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(listing_check(&listing_pods, choice->sort_by, choice->selector,
				       choice->columns, NULL),
			 0);
	assert_int_equal(listing_show(&listing_pods, choice, document, f, f), 0);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
	json_decref(document);
}

/* --columns: in the given order, including wide ones and any value of the document. Ages are sorted
 * as times. */
static void test_columns_and_ages(void **state)
{
	const int64_t now = 1767331845; /* 2026-01-02T05:30:45Z */

	(void)state;
	assert_table(CHOICE(.columns = "age,DEVICE", .now_s = now),
		     "AGE    DEVICE\n2h26m  1\n30m    2\n-      3\n");
	assert_table(CHOICE(.columns = "device,age", .sort_by = "age", .now_s = now),
		     "DEVICE  AGE\n2       30m\n1       2h26m\n3       -\n");
	assert_table(CHOICE(.columns = "Left:device.attachment.gone,device,x:container",
			    .no_headers = true),
		     "7,8  1  c\n-    2  c\n-    3  c\n");
	assert_table(LIMITED(1, .columns = "Left:device.attachment.gone"), "Left\n7,8\n");
}

static void test_age_texts(void **state)
{
	static const struct {
		int64_t s;
		const char *text;
	} rows[] = {
		{-5, "0s"},	  {0, "0s"},	  {119, "119s"},       {120, "2m"},
		{200, "3m20s"},	  {600, "10m"},	  {7199, "119m"},      {7200, "2h"},
		{7260, "2h1m"},	  {28800, "8h"},  {172799, "47h"},     {172800, "2d"},
		{180000, "2d2h"}, {700000, "8d"}, {90000000, "1041d"},
	};
	char text[AGE_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		age_text(rows[i].s, text);
		assert_string_equal(text, rows[i].text);
		assert_true(age_seconds(text) <= (rows[i].s > 0 ? rows[i].s : 0));
	}
	assert_int_equal(age_seconds("2h5m"), 7500);
	assert_int_equal(age_seconds("5m2h"), -1);
	assert_int_equal(age_seconds("5"), -1);
	assert_int_equal(age_seconds(""), -1);
	assert_int_equal(age_seconds("m"), -1);
	assert_int_equal(ctl_age_parse("1970-01-02T00:00:00.5Z"), 86400);
	assert_int_equal(ctl_age_parse("1970-01-02"), -1);
	assert_int_equal(ctl_age_parse(NULL), -1);
}

/* JSON has the same selection in the same order, and a pod of several rows once. */
static void test_json_is_selected_and_sorted(void **state)
{
	static const char pods[] =
		"{\"generation\":7,\"pods\":[{\"name\":\"b\",\"containers\":[{\"devices\":"
		"[{\"id\":\"1\"},{\"id\":\"2\"}]}]},{\"name\":\"a\",\"containers\":[{"
		"\"devices\":[{\"id\":\"3\"}]}]},{\"name\":\"c\",\"containers\":[]}]}";
	json_t *document = json_loads(pods, 0, NULL), *shown;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	listing_show(&listing_pods, CHOICE(.sort_by = "pod", .format = "json"), document, f, f);
	fclose(f);
	shown = json_loads(text, 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(shown, "generation")), 7);
	assert_int_equal(json_array_size(json_object_get(shown, "pods")), 2);
	assert_true(json_equal(json_array_get(json_object_get(shown, "pods"), 1),
			       json_array_get(json_object_get(document, "pods"), 0)));
	free(text);
	json_decref(shown);
	json_decref(document);
}

/* A table lists the worst pod first, with its rows together; the unknown is before the ok. Names
 * and documents keep the daemon's order. */
static void test_the_worst_first(void **state)
{
	static const char pods[] =
		"{\"pods\":[{\"name\":\"ok\",\"containers\":[{\"devices\":[{\"id\":\"1\",\"health\":"
		"\"ok\"}]}]},{\"name\":\"new\",\"containers\":[{\"devices\":[{\"id\":\"2\",\"health\":"
		"null}]}]},{\"name\":\"bad\",\"containers\":[{\"devices\":[{\"id\":\"3\",\"health\":"
		"\"ok\"},{\"id\":\"4\",\"health\":\"critical\"}]}]},{\"name\":\"so\",\"containers\":"
		"[{\"devices\":[{\"id\":\"5\",\"health\":\"warning\"}]}]}]}";
	const struct listing_choice by_default = {.columns = "device",
						  .no_headers = true,
						  .limit = -1},
				    by_device = {.columns = "device",
						 .no_headers = true,
						 .sort_by = "device",
						 .limit = -1},
				    names = {.format = "name", .limit = -1};
	const struct {
		const struct listing_choice *choice;
		const char *want;
	} rows[] = {{&by_default, "4\n3\n5\n2\n1\n"},
		    {&by_device, "1\n2\n3\n4\n5\n"},
		    {&names, "ok\nnew\nbad\nso\n"}};
	json_t *document = json_loads(pods, 0, NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		assert_int_equal(listing_show(&listing_pods, rows[i].choice, document, f, f), 0);
		fclose(f);
		assert_string_equal(text, rows[i].want);
		free(text);
	}
	json_decref(document);
}

/* An unhealthy device is worse if a container has it. */
static void test_the_worst_device_first(void **state)
{
	static const char devices[] =
		"{\"devices\":[{\"id\":\"1\",\"resources\":[{\"healthy\":true}]},{\"id\":\"2\","
		"\"resources\":[{\"healthy\":false}]},{\"id\":\"3\",\"resources\":[{\"healthy\":"
		"false,\"holder\":{\"pod\":\"a\"}}]},{\"id\":\"4\",\"attachment\":{\"state\":"
		"\"bad\"}}]}";
	const struct listing_choice choice = {.columns = "device", .no_headers = true, .limit = -1};
	json_t *document = json_loads(devices, 0, NULL);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(listing_show(&listing_devices, &choice, document, f, f), 0);
	fclose(f);
	assert_string_equal(text, "3\n2\n4\n1\n");
	free(text);
	json_decref(document);
}

static void test_pods_by_any_name_of_their_devices(void **state)
{
	static const char *const names[] = {"0000:03:00.2", "ens1f0v1", "mlx5_4", "net1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		show_file(f, 0, CHOICE(.device = names[i], .pod = "train/job-7", .format = "name"));
		fclose(f);
		assert_string_equal(text, "train/job-7\n\n");
		free(text);
	}
}

/* --- watching --------------------------------------------------------------------------------- */

/* Compares the output for a sequence of documents. */
static void assert_watched(const struct listing_choice *choice, const char *const *documents,
			   size_t n, const char *want)
{
	struct listing_choice watched = *choice;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	watched.seen = listing_seen_new();
	for (size_t i = 0; i < n; i++) {
		json_t *document = json_loads(documents[i], 0, NULL);

		assert_non_null(document);
		listing_show(&listing_resources, &watched, document, f, f);
		fputs("--\n", f);
		json_decref(document);
	}
	fclose(f);
	assert_string_equal(text, want);
	listing_seen_free(watched.seen);
	free(text);
}

/* A count of 0 free devices is coloured. */
static void test_no_free_device(void **state)
{
	json_t *document = json_loads(
		"{\"resources\":[{\"name\":\"a\",\"allocated\":0,\"free\":0}]}", 0, NULL);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	listing_show(&listing_resources,
		     CHOICE(.columns = "allocated,free", .no_headers = true, .colours = true),
		     document, f, f);
	fclose(f);
	assert_string_equal(text, "0  \033[33m0\033[m\n");
	free(text);
	json_decref(document);
}

/* A pod's name with or without its namespace selects, and so does the namespace alone. */
static void test_pods_of_devices(void **state)
{
	static const char *const selectors[] = {"pod=job-7", "pod=train/job-7", "namespace=train"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(selectors); i++) {
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		show_file(f, 1,
			  CHOICE(.selector = selectors[i], .columns = "device,pod",
				 .no_headers = true));
		fclose(f);
		assert_string_equal(text, "0000:03:00.2  train/job-7\n\n");
		free(text);
	}
}

/* Only new and changed rows are printed; a row that returns is new again. */
static void test_changes(void **state)
{
	static const char *const documents[] = {
		"{\"resources\":[]}",
		"{\"resources\":[{\"name\":\"resource_a\",\"devices\":2},{\"name\":\"b\"}]}",
		"{\"resources\":[{\"name\":\"resource_a\",\"devices\":2},{\"name\":\"b\"}]}",
		"{\"resources\":[{\"name\":\"resource_a\",\"devices\":2},{\"name\":\"b\",\"devices\":3}]}",
		"{\"resources\":[{\"name\":\"b\",\"devices\":3}]}",
		"{\"resources\":[{\"name\":\"resource_a\",\"devices\":2},{\"name\":\"b\",\"devices\":3}]}",
	};

	(void)state;
	assert_watched(CHOICE(.format = "table"), documents, ARRAY_SIZE(documents),
		       "no resources are offered\n--\n"
		       "RESOURCE    TOTAL  HEALTHY  ALLOCATED  FREE  REGISTERED\n"
		       "resource_a  2      -        -          -     -\n"
		       "b           -      -        -          -     -\n--\n--\n"
		       "b           3      -        -          -     -\n--\n--\n"
		       "resource_a  2      -        -          -     -\n--\n");
	assert_watched(CHOICE(.format = "json"), documents + 1, 3,
		       "{\"name\":\"resource_a\",\"devices\":2}\n{\"name\":\"b\"}\n--\n--\n"
		       "{\"name\":\"b\",\"devices\":3}\n--\n");
	assert_watched(CHOICE(.format = "name", .sort_by = "-resource"), documents + 1, 3,
		       "resource_a\nb\n--\n--\nb\n--\n");
}

/* --- cells and values ------------------------------------------------------------------------- */

static void test_cells_cannot_control_a_terminal(void **state)
{
	struct table t = {.heads = {"A", "B"}, .n_columns = 2};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	table_add(&t, "a\x1b[31m\n");
	table_add(&t, "\xc2\x9b"
		      "31m\xff");
	table_add(&t, NULL);
	table_add(&t, "\xc3\xa4");
	table_print(&t, NULL, f);
	fclose(f);
	assert_string_equal(text, "A        B\na?[31m?  ?31m?\n-        \xc3\xa4\n");
	free(text);
	table_done(&t);
}

static void test_colours_and_columns(void **state)
{
	static const struct {
		struct table_style style;
		const char *text;
	} rows[] = {
		{{.colours = true},
		 "A         B     C\n\033[31mcritical\033[m  word  \033[32mactive\033[m\n"},
		{{.no_heads = true}, "critical  word  active\n"},
		{{.hidden = 1u << 2}, "A         B\ncritical  word\n"},
		{{.hidden = 1u << 1 | 1u << 2, .no_heads = true}, "critical\n"},
	};
	struct table t = {.heads = {"A", "B", "C"}, .n_columns = 3};

	(void)state;
	table_add(&t, "critical");
	table_add(&t, "word");
	table_add(&t, "active");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		table_print(&t, &rows[i].style, f);
		fclose(f);
		assert_string_equal(text, rows[i].text);
		free(text);
	}
	table_done(&t);
}

static void test_paths(void **state)
{
	static const struct {
		const char *path, *text; /* NULL: no text */
	} rows[] = {
		{"a", "1"},	   {"b.c", "x,y"},	{"b.d", "yes,no"}, {"e", "2.5"},
		{"none|a", "1"},   {"a|e", "1"},	{"b.none", NULL},  {"b", "7"},
		{"f", NULL},	   {"", NULL},		{"a.b", NULL},	   {"g", NULL},
		{"none|h", "p,q"}, {"none|f|e", "2.5"},
	};
	json_t *value = json_loads(
		"{\"a\":1,\"b\":[{\"c\":\"x\",\"d\":true},{\"c\":\"y\",\"d\":false},7],"
		"\"e\":2.5,\"f\":null,\"g\":[],\"h\":[\"p\",\"q\"]}",
		0, NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = listing_text(value, rows[i].path);

		if (rows[i].text)
			assert_string_equal(text, rows[i].text);
		else
			assert_null(text);
		free(text);
	}
	assert_true(listing_has(value, "b.c", "y"));
	assert_true(listing_has(value, "a|b.c", "y"));
	assert_false(listing_has(value, "b.c", "x,y"));
	assert_false(listing_has(value, "none|a", "2"));
	json_decref(value);
}

static void test_yaml(void **state)
{
	static const struct {
		const char *json, *yaml;
	} rows[] = {
		{"{}", " {}\n"},
		{"{\"a\":1,\"b\":\"x\",\"c\":null,\"d\":true}", "a: 1\nb: x\nc: null\nd: true\n"},
		{"{\"a\":\"yes\",\"b\":\"1\",\"c\":\"\",\"d\":\"x: y\",\"no\":\"m\\u001b\"}",
		 "a: \"yes\"\nb: \"1\"\nc: \"\"\nd: \"x: y\"\n\"no\": \"m\\u001B\"\n"},
		{"{\"a\":[],\"b\":{},\"c\":[1,[2,3],{\"d\":4,\"e\":{\"f\":[5]}}]}",
		 "a: []\nb: {}\nc:\n- 1\n-\n  - 2\n  - 3\n- d: 4\n  e:\n    f:\n    - 5\n"},
		{"[\"0000:03:00.2\",\"a/b-c.d_0\"]", "- \"0000:03:00.2\"\n- a/b-c.d_0\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *value = json_loads(rows[i].json, 0, NULL);
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		assert_int_equal(ctl_document_put(value, "yaml", f), 0);
		fclose(f);
		assert_string_equal(text, rows[i].yaml);
		free(text);
		json_decref(value);
	}
}

/* Documents of unexpected types must not crash the output. */
static void test_documents_of_unexpected_types(void **state)
{
	static const char *const texts[] = {
		"{}", "[]", "{\"pods\":7,\"devices\":{},\"events\":[7],\"qps\":[3]}",
		"{\"qps\":[{\"qpn\":\"x\",\"sent\":[],\"received\":{\"rtt\":7}}],\"total\":1e9}",
		"{\"pods\":[{\"containers\":[{\"devices\":[1]}]}],\"devices\":[null]}"};
	static const char *const formats[] = {"table", "wide", "json", "yaml", "name"};
	FILE *f = fopen("/dev/null", "w");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		json_t *document = json_loads(texts[i], 0, NULL);

		for (size_t k = 0; k < ARRAY_SIZE(all) * ARRAY_SIZE(formats); k++)
			assert_int_equal(
				listing_show(all[k % ARRAY_SIZE(all)].listing,
					     CHOICE(.format = formats[k / ARRAY_SIZE(all)]),
					     document, f, f),
				0);
		listing_show_event(document, f);
		json_decref(document);
	}
	fclose(f);
}

TEST_GROUP(listing)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_json_is_the_document),
		cmocka_unit_test(test_keys_are_documented),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_sort_order),
		cmocka_unit_test(test_columns_and_ages),
		cmocka_unit_test(test_age_texts),
		cmocka_unit_test(test_json_is_selected_and_sorted),
		cmocka_unit_test(test_the_worst_first),
		cmocka_unit_test(test_the_worst_device_first),
		cmocka_unit_test(test_pods_by_any_name_of_their_devices),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_no_free_device),
		cmocka_unit_test(test_pods_of_devices),
		cmocka_unit_test(test_cells_cannot_control_a_terminal),
		cmocka_unit_test(test_colours_and_columns),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_yaml),
		cmocka_unit_test(test_documents_of_unexpected_types),
	};

	return test_group_run(tests, NULL, NULL);
}
