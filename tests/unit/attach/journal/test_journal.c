// SPDX-License-Identifier: Apache-2.0
/* The journal: record blocks as bytes, and its files on full, read-only and corrupted file
 * systems. */
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "attach_records.h"
#include "faults.h"
#include "journal.h"
#include "member.h"
#include "record_json.h"
#include "test_group.h"
#include "tmptree.h"
#include "vf_fields.h"

#define FILE_SIZE (2 * JOURNAL_BLOCK)

static struct attach_record record, got;
static uint8_t file[FILE_SIZE + 1];

static int fill(void **state)
{
	(void)state;
	attach_record_fill(&record);
	memset(&got, 0, sizeof(got));
	memset(file, 0, sizeof(file));
	return 0;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static void every_member_is_read_back(void **state)
{
	struct err e = {0};
	uint64_t serial;

	(void)state;
	assert_int_equal(journal_encode(file, 7, &record, NULL), 0);
	assert_int_equal(journal_decode(file, JOURNAL_BLOCK, &got, &serial, &e), 0);
	assert_int_equal(serial, 7);
	assert_memory_equal(&got, &record, sizeof(record));

	memset(&record, 0, sizeof(record));
	snprintf(record.function, sizeof(record.function), "0000:01:00.0");
	assert_int_equal(journal_encode(file, 8, &record, NULL), 0);
	assert_int_equal(journal_decode(file, JOURNAL_BLOCK, &got, &serial, &e), 0);
	assert_memory_equal(&got, &record, sizeof(record));
}

static void is_read_back_and_distinguishes_plans(const struct attach_record *r)
{
	struct attach_record other;
	struct err e = {0};
	uint64_t serial;

	memset(&got, 0, sizeof(got));
	assert_int_equal(journal_encode(file, 7, r, &e), 0);
	assert_int_equal(journal_decode(file, JOURNAL_BLOCK, &got, &serial, &e), 0);
	assert_memory_equal(&got, r, sizeof(*r));
	attach_record_fill(&other);
	assert_true(plan_equal(&r->plan, &got.plan));
	assert_false(plan_equal(&r->plan, &other.plan));
}

/* Each row of link_fields.h and vf_fields.h. */
static void every_setting_is_read_back_and_distinguishes_plans(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LINK_FIELDS; i++) {
		attach_record_fill(&record);
		record.plan.link[i] += 1;
		is_read_back_and_distinguishes_plans(&record);
		record.origin.link[i] += 2;
		is_read_back_and_distinguishes_plans(&record);
	}
	for (size_t i = 0; i < N_VF_KEYS; i++) {
		char *member = (char *)&record.plan.vf + vf_keys[i].at;

		attach_record_fill(&record);
		member_store(member, vf_keys[i].size, !member_load(member, vf_keys[i].size));
		is_read_back_and_distinguishes_plans(&record);
	}
}

/* A change of these causes no new attach. */
static void in_host_and_clean_do_not_distinguish_plans(void **state)
{
	struct net_plan other = record.plan;
	(void)state;

	other.in_host = !other.in_host;
	other.clean = other.clean == CLEAN_AUTO ? CLEAN_RESTORE : CLEAN_AUTO;
	assert_true(plan_equal(&record.plan, &other));
	other.ips[0].addr[3] ^= 1;
	assert_false(plan_equal(&record.plan, &other));
}

/* A record that could not be read is rejected before it is written. */
static void every_written_record_can_be_read(void **state)
{
	unsigned n_written = 0;
	struct err e = {0};
	uint64_t serial;

	(void)state;
	for (unsigned seed = 0; seed < 20000; seed++) {
		int r;

		attach_record_random(&record, seed);
		e = (struct err){0};
		r = journal_encode(file, 7, &record, &e);
		if (r < 0 && r != -EINVAL && r != -EMSGSIZE)
			fail_msg("seed %u: %d, %s", seed, r, e.msg);
		if (r < 0) {
			assert_string_not_equal(e.msg, "");
			continue;
		}
		n_written++;
		if (journal_decode(file, JOURNAL_BLOCK, &got, &serial, &e) < 0)
			fail_msg("seed %u: %s", seed, e.msg);
		if (memcmp(&got, &record, sizeof(record)) != 0)
			fail_msg("seed %u: differs from what was written", seed);
	}
	assert_in_range(n_written, 2000, 18000);
}

/* Written by the first rocelet with a journal, whose records had fewer or more members: upgrades
 * and downgrades lose nothing. */
static void records_of_the_first_version_can_be_read(void **state)
{
	FILE *f = fopen("tests/fixtures/journal/two_blocks", "r");
	struct err e = {0};
	uint64_t serial;

	(void)state;
	assert_non_null(f);
	assert_int_equal(fread(file, 1, FILE_SIZE, f), FILE_SIZE);
	fclose(f);
	if (journal_decode(file, FILE_SIZE, &got, &serial, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(got.function, "0000:03:10.7");
	assert_string_equal(got.resource, "rocelet.dev/roce");
	assert_string_equal(got.owner.namespace, "team-a");
	assert_string_equal(got.owner.pod, "trainer-0");
	assert_string_equal(got.owner.uid, "5b3e1f7a-0c43-4c5e-9f0a-3f5d6a0d8a11");
	assert_string_not_equal(got.plan.ifname, "");
	assert_string_not_equal(got.origin.name, "");
	assert_string_not_equal(got.origin.pf, "");
}

/* The record of a device whose original settings are unknown: an orphan, or an adopted one. */
static void a_record_without_a_pf_is_read_back(void **state)
{
	struct err e = {0};
	uint64_t serial;

	(void)state;
	memset(record.origin.pf, 0, sizeof(record.origin.pf));
	record.origin.vf_index = -1;
	memset(record.origin.name, 0, sizeof(record.origin.name));
	snprintf(record.origin.name, sizeof(record.origin.name), "n\x01\xffx");
	assert_int_equal(journal_encode(file, 7, &record, &e), 0);
	assert_int_equal(journal_decode(file, JOURNAL_BLOCK, &got, &serial, &e), 0);
	assert_memory_equal(&got, &record, sizeof(record));
}

/* Wherever the newer block was cut, and whatever bytes follow, the older block is used. */
static void a_torn_write_leaves_the_older_block(void **state)
{
	uint8_t newer[JOURNAL_BLOCK];
	uint64_t serial;
	size_t len;

	(void)state;
	assert_int_equal(journal_encode(file, 1, &record, NULL), 0);
	record.state = ATTACH_IN_POD;
	assert_int_equal(journal_encode(newer, 2, &record, NULL), 0);
	for (len = JOURNAL_BLOCK; newer[len - 1] == '\n'; len--)
		;
	for (size_t n = 0; n < len; n++) {
		memset(file + JOURNAL_BLOCK, n % 2 ? 0 : '\n', JOURNAL_BLOCK);
		memcpy(file + JOURNAL_BLOCK, newer, n);
		assert_int_equal(journal_decode(file, FILE_SIZE, &got, &serial, NULL), 0);
		assert_int_equal(serial, 1);
		assert_int_equal(got.state, ATTACH_RETURNING);
		assert_int_equal(journal_decode(file, JOURNAL_BLOCK + n, &got, &serial, NULL), 0);
		assert_int_equal(serial, 1);
	}
	memcpy(file + JOURNAL_BLOCK, newer, len);
	assert_int_equal(journal_decode(file, JOURNAL_BLOCK + len, &got, &serial, NULL), 0);
	assert_int_equal(serial, 2);
	assert_int_equal(got.state, ATTACH_IN_POD);
}

static void a_record_with_a_flipped_bit_is_rejected(void **state)
{
	struct err e = {0};
	uint64_t serial;
	size_t len;

	(void)state;
	assert_int_equal(journal_encode(file, 9, &record, NULL), 0);
	for (len = JOURNAL_BLOCK; file[len - 1] == '\n'; len--)
		;
	for (size_t i = 0; i < 8 * len; i++) {
		int r;

		file[i / 8] ^= (uint8_t)(1 << i % 8);
		r = journal_decode(file, JOURNAL_BLOCK, &got, &serial, &e);
		/* A line that begins like a newer version's is not parsed. */
		assert_true(r == -EBADMSG || r == -EPROTONOSUPPORT);
		assert_true(r == -EBADMSG || i / 8 - strlen("rocelet-journal ") < 2);
		file[i / 8] ^= (uint8_t)(1 << i % 8);
	}
}

static void is_refused(size_t len, int code, const char *why)
{
	struct err e = {0};
	uint64_t serial = 77;

	assert_int_equal(journal_decode(file, len, &got, &serial, &e), code);
	assert_int_equal(e.code, code);
	if (!strstr(e.msg, why))
		fail_msg("\"%s\" does not contain \"%s\"", e.msg, why);
	assert_int_equal(serial, 77);
}

static void invalid_files_are_rejected(void **state)
{
	(void)state;
	is_refused(0, -ENODATA, "empty");
	is_refused(FILE_SIZE, -EBADMSG, "neither");
	memset(file, 'x', FILE_SIZE);
	is_refused(FILE_SIZE, -EBADMSG, "neither");
	assert_int_equal(journal_encode(file, 9, &record, NULL), 0);
	memcpy(file + JOURNAL_BLOCK, "rocelet-journal 2 1 0 0x0\n", 26);
	is_refused(FILE_SIZE, -EPROTONOSUPPORT, "newer");
	memcpy(file + JOURNAL_BLOCK, "rocelet-journal 2\n", 18);
	is_refused(FILE_SIZE, -EPROTONOSUPPORT, "newer");
}

/* Rejected before it is written. */
static void record_is_refused(struct attach_record *r, const char *why)
{
	struct err e = {0};

	assert_int_equal(journal_encode(file, 1, r, &e), -EINVAL);
	if (!strstr(e.msg, why))
		fail_msg("\"%s\" does not contain \"%s\"", e.msg, why);
	attach_record_fill(r);
}

static void an_invalid_record_is_not_written(void **state)
{
	(void)state;
	snprintf(record.function, sizeof(record.function), "../x");
	record_is_refused(&record, "bus name");
	record.function[0] = '\0';
	record_is_refused(&record, "bus name");
	snprintf(record.origin.pf, sizeof(record.origin.pf), "..");
	record_is_refused(&record, "bus name");
	snprintf(record.origin.name, sizeof(record.origin.name), "a/b");
	record_is_refused(&record, "interface");
	snprintf(record.plan.ifname, sizeof(record.plan.ifname), "a b");
	record_is_refused(&record, "interface");
	record.origin.vf_index = -1;
	record_is_refused(&record, "vf_index");
	record.ips[1].len = 129;
	record_is_refused(&record, "ips");
	record.n_routes = PLAN_ROUTES_MAX + 1;
	record_is_refused(&record, "routes");
	record.owner.door = (enum attach_door)7;
	record_is_refused(&record, "door");
	memset(record.plan.ipam, 'x', sizeof(record.plan.ipam));
	record_is_refused(&record, "ipam");
}

/* The record as if it had been written despite its invalid value, which is JSON. */
static void reading_is_refused(const char *object, const char *key, const char *value,
			       const char *why)
{
	json_t *o = NULL, *inner;
	struct err e = {0};

	assert_int_equal(record_encode(&o, &record, &e), 0);
	inner = object ? json_object_get(o, object) : o;
	json_object_set_new(inner, key, json_loads(value, JSON_DECODE_ANY, NULL));
	assert_int_equal(record_decode(&got, o, &e), -EBADMSG);
	if (!strstr(e.msg, why))
		fail_msg("\"%s\" does not contain \"%s\"", e.msg, why);
	json_decref(o);
}

static void a_file_with_an_invalid_record_is_rejected(void **state)
{
	(void)state;
	reading_is_refused(NULL, "function", "\"../x\"", "bus name");
	reading_is_refused("origin", "pf", "\"..\"", "bus name");
	reading_is_refused("origin", "name", "\"a/b\"", "interface");
	reading_is_refused("origin", "vf_index", "-1", "vf_index");
	reading_is_refused("origin", "vf_index", "4294967295", "vf_index"); /* an old format */
	reading_is_refused("origin", "vf_index", "-2147483649", "vf_index");
	reading_is_refused("origin", "alias", "{\"hex\": \"6\"}", "alias");
	reading_is_refused("origin", "alias", "{\"hex\": \"6x\"}", "alias");
	reading_is_refused("origin", "alias", "{\"hex\": \"6e00\"}", "alias");
	reading_is_refused("origin", "alias", "{\"hex\": 6}", "alias");
	reading_is_refused("origin", "alias", "[]", "alias");
	reading_is_refused("origin", "name", "{\"hex\": \"30313233343536373839303132333435\"}",
			   "name");
	reading_is_refused("plan", "kind", "\"bridge\"", "kind");
	reading_is_refused(NULL, "ips", "[\"2001:db8::1/129\"]", "ips[0]");
}

static void a_record_that_is_too_long_is_not_written(void **state)
{
	(void)state;
	memset(record.plan.ipam, '\1', sizeof(record.plan.ipam) - 1);
	assert_int_equal(journal_encode(file, 1, &record, NULL), 0);
	memset(record.resource, '\1', sizeof(record.resource) - 1);
	memset(record.owner.pod, '\1', sizeof(record.owner.pod) - 1);
	assert_int_equal(journal_encode(file, 1, &record, NULL), -EMSGSIZE);
}

static void keys_are_file_names(void **state)
{
	char key[JOURNAL_KEY_SIZE], other[JOURNAL_KEY_SIZE];

	(void)state;
	journal_key(&record, key);
	assert_string_equal(key, "0000:03:10.7");
	record.plan.kind = PLAN_IPVLAN;
	snprintf(record.resource, sizeof(record.resource), "../a");
	snprintf(record.id, sizeof(record.id), "hca/3");
	journal_key(&record, key);
	assert_string_equal(key, "_._a hca_3");
	memset(record.resource, 'r', sizeof(record.resource) - 1);
	journal_key(&record, key);
	assert_int_equal(strlen(key), JOURNAL_KEY_SIZE - 1);
	record.id[0] = 'H';
	journal_key(&record, other);
	assert_string_not_equal(key, other);
}

/* --- files ------------------------------------------------------------------------------------ */

struct listing {
	int n, n_bad, answer;
	struct attach_record last;
	char bad_key[JOURNAL_KEY_SIZE];
	struct err err;
};

static int on_record(const struct attach_record *r, void *arg)
{
	struct listing *t = arg;

	t->n++;
	t->last = *r;
	return t->answer;
}

static void on_bad(const char *key, const struct err *e, void *arg)
{
	struct listing *t = arg;

	t->n_bad++;
	t->err = *e;
	snprintf(t->bad_key, sizeof(t->bad_key), "%s", key);
}

static struct listing list_records(struct journal *j, int answer)
{
	struct listing t = {.answer = answer};

	assert_int_equal(journal_each(j, on_record, on_bad, &t, NULL), 0);
	return t;
}

static struct journal *open_in(const char *dir)
{
	struct err e = {0};
	struct journal *j;

	if (journal_open(&j, dir, &e) < 0)
		fail_msg("%s", e.msg);
	return j;
}

static void write_ok(struct journal *j, bool durable)
{
	struct err e = {0};

	if (journal_write(j, &record, durable, &e) < 0)
		fail_msg("%s", e.msg);
}

static bool exists(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static void written_records_are_listed(void **state)
{
	char *dir = tmptree_new();
	struct journal *j = open_in(dir);
	struct listing t = list_records(j, 0);

	(void)state;
	assert_int_equal(t.n, 0);
	write_ok(j, true);
	record.state = ATTACH_IN_POD;
	write_ok(j, false);
	snprintf(record.function, sizeof(record.function), "0000:03:10.5");
	write_ok(j, true);
	journal_close(j);
	j = open_in(dir);
	t = list_records(j, 0);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.n_bad, 0);
	assert_int_equal(t.last.state, ATTACH_IN_POD);
	assert_int_equal(list_records(j, 1).n, 2);
	assert_int_equal(list_records(j, 1).n, 0);
	assert_false(exists(dir, "devices/0000:03:10.7"));
	journal_close(j);
	tmptree_free(dir);
}

/* Even if a record is too long to be written. */
static void a_free_record_can_always_be_written(void **state)
{
	char *dir = tmptree_new();
	struct journal *j = open_in(dir);
	struct err e = {0};

	(void)state;
	memset(record.plan.ipam, '\1', sizeof(record.plan.ipam) - 1);
	memset(record.owner.pod, '\1', sizeof(record.owner.pod) - 1);
	memset(record.owner.netns.path, '\1', sizeof(record.owner.netns.path) - 1);
	memset(record.origin.alias, '\1', sizeof(record.origin.alias) - 1);
	assert_int_equal(journal_write(j, &record, true, &e), -EMSGSIZE);
	assert_non_null(strstr(e.msg, "devices/0000:03:10.7"));
	assert_false(exists(dir, "devices/0000:03:10.7"));
	record.state = ATTACH_FREE;
	write_ok(j, true);
	assert_int_equal(list_records(j, 0).last.serial, record.serial);
	journal_close(j);
	tmptree_free(dir);
}

/* Records of attached devices, unreadable files and foreign files stay. */
static void the_sweep_removes_free_records(void **state)
{
	char *dir = tmptree_new();
	struct journal *j = open_in(dir);

	(void)state;
	record.state = ATTACH_IN_POD;
	write_ok(j, true);
	snprintf(record.function, sizeof(record.function), "0000:03:10.5");
	record.state = ATTACH_FREE;
	write_ok(j, true);
	tmptree_write(dir, "devices/0000:03:10.6", "garbage");
	journal_sweep(j);
	assert_true(exists(dir, "devices/0000:03:10.7"));
	assert_false(exists(dir, "devices/0000:03:10.5"));
	assert_true(exists(dir, "devices/0000:03:10.6"));
	journal_close(j);
	tmptree_remove(dir, "devices/0000:03:10.6");
	tmptree_free(dir);
}

static void writes_do_not_grow_the_file(void **state)
{
	char *dir = tmptree_new(), path[512];
	struct journal *j = open_in(dir);
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/devices/0000:03:10.7", dir);
	for (int i = 0; i < 10000; i++) {
		record.serial = (uint64_t)i;
		write_ok(j, false);
	}
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, FILE_SIZE);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(list_records(j, 0).last.serial, 9999);
	journal_close(j);
	tmptree_free(dir);
}

static void unreadable_files_are_renamed(void **state)
{
	char *dir = tmptree_new();
	struct journal *j = open_in(dir);
	struct listing t;

	(void)state;
	tmptree_write(dir, "devices/0000:03:10.7", "once upon a time");
	t = list_records(j, 0);
	assert_int_equal(t.n_bad, 1);
	assert_string_equal(t.bad_key, "0000:03:10.7");
	assert_non_null(strstr(t.err.msg, "devices/0000:03:10.7: neither"));
	assert_true(exists(dir, "devices/0000:03:10.7.bad"));
	assert_int_equal(list_records(j, 0).n_bad, 0);
	write_ok(j, true);
	assert_int_equal(list_records(j, 0).n, 1);

	tmptree_write(dir, "devices/0000:03:10.7", "rocelet-journal 9 future\n");
	t = list_records(j, 0);
	assert_int_equal(t.n_bad, 1);
	assert_int_equal(t.err.code, -EPROTONOSUPPORT);
	assert_true(exists(dir, "devices/0000:03:10.7"));
	assert_int_equal(journal_write(j, &record, true, &t.err), -EPROTONOSUPPORT);
	journal_close(j);
	tmptree_free(dir);
}

static void a_record_copied_to_another_name_is_rejected(void **state)
{
	char *dir = tmptree_new(), from[512], to[512];
	struct journal *j = open_in(dir);
	struct listing t;

	(void)state;
	write_ok(j, true);
	snprintf(from, sizeof(from), "%s/devices/0000:03:10.7", dir);
	snprintf(to, sizeof(to), "%s/devices/0000:03:10.6", dir);
	assert_int_equal(link(from, to), 0);
	t = list_records(j, 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.n_bad, 1);
	assert_non_null(strstr(t.err.msg, "another device"));
	journal_close(j);
	tmptree_free(dir);
}

static void links_folders_and_incomplete_files_are_skipped(void **state)
{
	char *dir = tmptree_new();
	struct journal *j = open_in(dir);
	struct listing t;

	(void)state;
	tmptree_link(dir, "devices/0000:03:10.7", "/etc/passwd");
	tmptree_write(dir, "devices/folder/file", "x");
	tmptree_write(dir, "devices/0000:03:10.6.new", "half");
	t = list_records(j, 0);
	assert_int_equal(t.n + t.n_bad, 0);
	assert_false(exists(dir, "devices/0000:03:10.6.new"));
	assert_true(journal_write(j, &record, true, &t.err) < 0);
	assert_true(exists("/etc", "passwd"));
	journal_close(j);
	tmptree_free(dir);
}

/* Runs fn in a child with mounts of its own, over a small tmpfs at dir. */
static void with_tmpfs(const char *dir, void (*fn)(const char *dir))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("none", dir, "tmpfs", 0, "size=128k") < 0)
			_exit(77);
		fn(dir);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void must(bool ok, int line)
{
	if (!ok) {
		fprintf(stderr, "line %d\n", line);
		_exit(1);
	}
}

#define MUST(cond) must(cond, __LINE__)

static void fill_up(const char *dir)
{
	char path[512], block[4096] = {0};
	int fd;

	snprintf(path, sizeof(path), "%s/ballast", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	MUST(fd >= 0);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
}

static void on_a_full_disk(const char *dir)
{
	struct err e = {0};
	struct journal *j;

	MUST(journal_open(&j, dir, &e) == 0);
	MUST(journal_write(j, &record, true, &e) == 0);
	fill_up(dir);
	record.state = ATTACH_IN_POD;
	MUST(journal_write(j, &record, true, &e) == 0); /* it has room already */
	snprintf(record.function, sizeof(record.function), "0000:03:10.5");
	MUST(journal_write(j, &record, true, &e) == -ENOSPC);
	MUST(strstr(e.msg, "No space left") && strstr(e.msg, "0000:03:10.5"));
	MUST(!exists(dir, "devices/0000:03:10.5") && !exists(dir, "devices/0000:03:10.5.new"));
	MUST(list_records(j, 0).n == 1);
	journal_close(j);
}

static void a_started_record_can_be_rewritten_on_a_full_disk(void **state)
{
	char *dir = tmptree_new();

	(void)state;
	with_tmpfs(dir, on_a_full_disk);
	tmptree_free(dir);
}

static void on_a_read_only_disk(const char *dir)
{
	struct err e = {0};
	struct journal *j;

	MUST(journal_open(&j, dir, &e) == 0);
	MUST(journal_write(j, &record, true, &e) == 0);
	journal_close(j);
	MUST(mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
	MUST(journal_open(&j, dir, &e) == 1 && strstr(e.msg, "Read-only"));
	MUST(journal_write(j, &record, true, &e) == -EROFS);
	MUST(strstr(e.msg, "Read-only") != NULL);
	MUST(list_records(j, 0).n == 1);
	journal_close(j);
	MUST(umount(dir) == 0 && mount("none", dir, "tmpfs", MS_RDONLY, NULL) == 0);
	MUST(journal_open(&j, dir, &e) == -EROFS && strstr(e.msg, dir));
}

/* The link's target belongs to another program. */
static void a_link_to_another_folder_is_not_followed(void **state)
{
	char *dir = tmptree_new(), link[512];
	struct err e = {0};
	struct journal *j;

	(void)state;
	tmptree_write(dir, "theirs/report.new", "%s", "x");
	snprintf(link, sizeof(link), "%s/devices", dir);
	assert_int_equal(symlink("theirs", link), 0);
	assert_int_equal(journal_open(&j, dir, &e), -ENOTDIR);
	assert_int_equal(journal_open_existing(&j, dir, &e), -ENOTDIR);
	assert_true(exists(dir, "theirs/report.new"));
	tmptree_free(dir);
}

/* Renamed or removed: what is written to the old folder would be lost. */
static void a_removed_folder_is_detected(void **state)
{
	char *dir = tmptree_new(), from[512], to[512];
	struct journal *j;

	(void)state;
	j = open_in(dir);
	assert_false(journal_is_removed(j));
	snprintf(from, sizeof(from), "%s/devices", dir);
	snprintf(to, sizeof(to), "%s/old", dir);
	assert_int_equal(rename(from, to), 0);
	assert_true(journal_is_removed(j));
	assert_int_equal(mkdir(from, 0700), 0);
	assert_true(journal_is_removed(j));
	journal_close(j);
	j = open_in(dir);
	assert_false(journal_is_removed(j));
	assert_int_equal(rmdir(from), 0);
	assert_true(journal_is_removed(j));
	journal_close(j);
	tmptree_free(dir);
}

/* A stuck step continues with the journal that it began with: a record that it wrote into a renamed
 * folder would be missing at the next start. */
static void a_renamed_folder_is_not_written_to(void **state)
{
	char *dir = tmptree_new(), from[512], to[512];
	struct attach_record r = record;
	struct journal *old, *new;
	struct err e = {0};

	(void)state;
	old = open_in(dir);
	assert_int_equal(journal_write(old, &r, true, &e), 0);
	snprintf(from, sizeof(from), "%s/devices", dir);
	snprintf(to, sizeof(to), "%s/copy", dir);
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(journal_write(old, &r, true, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "renamed"));
	new = open_in(dir);
	assert_int_equal(journal_write(new, &r, true, &e), 0);
	r.state = ATTACH_FREE;
	assert_int_equal(journal_write(old, &r, false, &e), -ENOENT);
	assert_int_equal(list_records(new, 0).n, 1);
	journal_close(old);
	journal_close(new);
	tmptree_free(dir);
}

/* Opening without write access leaves even unreadable files unchanged. */
static void opening_an_existing_journal_changes_nothing(void **state)
{
	char *dir = tmptree_new();
	struct attach_record r = record;
	struct journal *j;
	struct err e = {0};
	(void)state;

	r.state = ATTACH_ATTACHING;
	assert_int_equal(journal_open_existing(&j, dir, &e), -ENOENT);
	tmptree_write(dir, "devices/0000:03:00.2", "%s", "rubbish");
	tmptree_write(dir, "devices/0000:03:00.3.new", "%s", "half");
	assert_int_equal(journal_open_existing(&j, dir, &e), 0);
	assert_int_equal(list_records(j, 0).n_bad, 1);
	assert_int_equal(list_records(j, 0).n_bad, 1);
	assert_int_equal(journal_write(j, &r, true, &e), -EROFS);
	assert_int_equal(journal_write(NULL, &r, true, &e), -EROFS);
	r.state = ATTACH_FREE;
	assert_int_equal(journal_write(NULL, &r, true, &e), 0);
	journal_close(j);
	snprintf(r.function, sizeof(r.function), "0000:03:00.2");
	assert_true(journal_has(dir, &r));
	j = open_in(dir);
	assert_int_equal(list_records(j, 0).n_bad, 1);
	assert_int_equal(list_records(j, 0).n_bad, 0);
	journal_close(j);
	assert_true(journal_has(dir, &r)); /* unreadable, so renamed */
	tmptree_free(dir);
}

/* Opening a pipe must not block the worker that writes the record. */
static void a_pipe_in_place_of_a_file_does_not_block(void **state)
{
	static const char *const names[] = {"0000:03:00.2", "0000:03:00.2.new"};
	char *dir = tmptree_new(), path[512];
	struct attach_record r = record;
	struct journal *j = open_in(dir);
	struct err e = {0};

	(void)state;
	snprintf(r.function, sizeof(r.function), "0000:03:00.2");
	alarm(60);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/devices/%s", dir, names[i]);
		assert_int_equal(mkfifo(path, 0600), 0);
		assert_true(journal_write(j, &r, true, &e) < 0);
		assert_non_null(strstr(e.msg, names[i]));
		unlink(path);
	}
	alarm(0);
	assert_int_equal(journal_write(j, &r, true, &e), 0);
	journal_close(j);
	tmptree_free(dir);
}

static void a_read_only_disk_can_be_read(void **state)
{
	char *dir = tmptree_new();

	(void)state;
	with_tmpfs(dir, on_a_read_only_disk);
	tmptree_free(dir);
}

/* Every write and flush fails once: the previous record stays readable, and the next write
 * works. */
static void any_failed_write_is_recovered(void **state)
{
	char *dir = tmptree_new();
	struct journal *j = open_in(dir);
	struct err e = {0};
	long n;

	(void)state;
	record.serial = 0;
	write_ok(j, true);
	for (n = 0;; n++) {
		struct listing t;
		int r;

		record.serial++;
		faults_write(n, EIO);
		r = journal_write(j, &record, true, &e);
		if (!faults_end())
			break;
		assert_int_equal(r, -EIO);
		t = list_records(j, 0);
		assert_int_equal(t.n, 1);
		assert_int_equal(t.last.serial, record.serial - 1);
		write_ok(j, true);
	}
	assert_true(n >= 2);
	journal_close(j);
	tmptree_free(dir);
}

static void any_failed_allocation_is_recovered(void **state)
{
	char *dir = tmptree_new();
	struct journal *j = open_in(dir);
	struct err e = {0};
	long n;

	(void)state;
	for (n = 0;; n++) {
		int r;

		faults_alloc(n);
		r = journal_write(j, &record, false, &e);
		if (!faults_end())
			break;
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(list_records(j, 0).n, 0);
	}
	assert_true(n > 100);
	for (n = 0;; n++) {
		struct listing t = {0};
		int r;

		faults_alloc(n);
		r = journal_each(j, on_record, on_bad, &t, &e);
		if (!faults_end())
			break;
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(t.n + t.n_bad, 0);
	}
	assert_true(n > 100);
	journal_close(j);
	tmptree_free(dir);
}

TEST_GROUP(journal)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_member_is_read_back, fill),
		cmocka_unit_test_setup(every_setting_is_read_back_and_distinguishes_plans, fill),
		cmocka_unit_test_setup(in_host_and_clean_do_not_distinguish_plans, fill),
		cmocka_unit_test_setup(every_written_record_can_be_read, fill),
		cmocka_unit_test_setup(a_record_without_a_pf_is_read_back, fill),
		cmocka_unit_test_setup(records_of_the_first_version_can_be_read, fill),
		cmocka_unit_test_setup(a_torn_write_leaves_the_older_block, fill),
		cmocka_unit_test_setup(a_record_with_a_flipped_bit_is_rejected, fill),
		cmocka_unit_test_setup(invalid_files_are_rejected, fill),
		cmocka_unit_test_setup(an_invalid_record_is_not_written, fill),
		cmocka_unit_test_setup(a_file_with_an_invalid_record_is_rejected, fill),
		cmocka_unit_test_setup(a_record_that_is_too_long_is_not_written, fill),
		cmocka_unit_test_setup(keys_are_file_names, fill),
		cmocka_unit_test_setup(written_records_are_listed, fill),
		cmocka_unit_test_setup(a_free_record_can_always_be_written, fill),
		cmocka_unit_test_setup(the_sweep_removes_free_records, fill),
		cmocka_unit_test_setup(writes_do_not_grow_the_file, fill),
		cmocka_unit_test_setup(unreadable_files_are_renamed, fill),
		cmocka_unit_test_setup(a_record_copied_to_another_name_is_rejected, fill),
		cmocka_unit_test_setup(links_folders_and_incomplete_files_are_skipped, fill),
		cmocka_unit_test_setup(a_started_record_can_be_rewritten_on_a_full_disk, fill),
		cmocka_unit_test_setup(a_pipe_in_place_of_a_file_does_not_block, fill),
		cmocka_unit_test_setup(a_read_only_disk_can_be_read, fill),
		cmocka_unit_test_setup(a_link_to_another_folder_is_not_followed, fill),
		cmocka_unit_test(a_removed_folder_is_detected),
		cmocka_unit_test_setup(a_renamed_folder_is_not_written_to, fill),
		cmocka_unit_test_setup(opening_an_existing_journal_changes_nothing, fill),
		cmocka_unit_test_setup(any_failed_write_is_recovered, fill),
		cmocka_unit_test_setup(any_failed_allocation_is_recovered, fill),
	};

	return test_group_run(tests, NULL, NULL);
}
