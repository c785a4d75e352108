// SPDX-License-Identifier: Apache-2.0
/* ctl_bundle.c - collects all documents and files, masks secrets in them, then writes the archive.
 *
 * Without a daemon, the bundle has the host's files only. Parts that cannot be read are listed in
 * not-read.txt. If the archive cannot be written, it is removed. */
#include "ctl_bundle.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "client.h"
#include "ctl_bundle_host.h"
#include "ctl_show.h"
#include "ctl_tar.h"
#include "json_text.h"
#include "search.h"
#include "version.h"

#define CONFIG_DEFAULT	  "/etc/rocelet/config.json"
#define STATE_DIR_DEFAULT "/var/lib/rocelet"
#define FOLDER		  "rocelet-support/"

/* --- contents --------------------------------------------------------------------------------- */

void bundle_miss(struct bundle *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(b->missed, fmt, ap);
	va_end(ap);
	fputc('\n', b->missed);
	b->n_missed++;
}

/* Adds a file without content. Out of memory: sets b->error and returns NULL. */
static struct bundle_file *bundle_add(struct bundle *b, const char *name)
{
	struct bundle_file *file = array_push(b->files, b->n_files);

	if (file)
		snprintf(file->name, sizeof(file->name), "%s", name);
	else
		b->error = -ENOMEM;
	return file;
}

void bundle_add_json(struct bundle *b, const char *name, json_t *json)
{
	struct bundle_file *file = json ? bundle_add(b, name) : NULL;

	if (file)
		file->json = json;
	else
		json_decref(json);
	if (!json || secrets_learn(&b->secrets, json) < 0)
		b->error = -ENOMEM;
}

void bundle_add_text(struct bundle *b, const char *name, char *text)
{
	struct bundle_file *file = text ? bundle_add(b, name) : NULL;

	if (file)
		file->text = text;
	else
		free(text);
	if (!text)
		b->error = -ENOMEM;
}

static void bundle_done(struct bundle *b)
{
	for (size_t i = 0; i < b->n_files; i++) {
		json_decref(b->files[i].json);
		free(b->files[i].text);
	}
	free(b->files);
	secrets_done(&b->secrets);
}

/* --- documents of the daemon ------------------------------------------------------------------ */

static const struct {
	const char *path, *name;
	bool is_text_of_any_status; /* /readyz of a daemon that is not ready has status 503 */
} documents[] = {
	{"/api/v1/config", "api/config.json", false},
	{"/api/v1/devices", "api/devices.json", false},
	{"/api/v1/pods", "api/pods.json", false},
	{"/api/v1/attachments", "api/attachments.json", false},
	{"/api/v1/events", "api/events.json", false},
	{"/api/v1/doctor", "api/doctor.json", false},
	{"/api/v1/qps", "api/qps.json", false},
	{"/api/v1/suggest", "api/suggest.json", false},
	{"/api/v1/diagnosis", "api/diagnosis.json", false},
	{"/metrics", "metrics.txt", false},
	{"/readyz", "readyz.txt", true},
};

static bool is_json(const char *name)
{
	return strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".json") == 0;
}

/* Adds a reply. A status other than 200 is also reported in not-read.txt, unless of_any_status. */
static void ctl_bundle_add_answer(struct bundle *b, const char *name, bool of_any_status,
				  struct client_answer *a)
{
	json_t *json = is_json(name) ? json_text_load(a->body, a->len, 0, NULL) : NULL;

	if ((a->status != 200 && !of_any_status) || (is_json(name) && !json))
		bundle_miss(b, "%s: the daemon answers with status %u: %.*s", name, a->status,
			    (int)strcspn(a->body, "\r\n"), a->body);
	if (json)
		bundle_add_json(b, name, json);
	else if (!is_json(name))
		bundle_add_text(b, name, take_ptr(a->body));
}

/* Stops at the first request that the daemon does not answer. */
static void bundle_documents(struct bundle *b, const char *socket, uint64_t wait_ms)
{
	for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
		struct client_answer a = {0};
		struct err e = {0};

		if (client_ask(&a, socket, documents[i].path, NULL, wait_ms, &e) < 0) {
			bundle_miss(b, "%s, and the daemon's documents that follow: %s",
				    documents[i].name, e.msg);
			return;
		}
		ctl_bundle_add_answer(b, documents[i].name, documents[i].is_text_of_any_status, &a);
		free(a.body);
	}
}

static const struct bundle_file *file_named(const struct bundle *b, const char *name)
{
	return find_first(b->files, b->n_files, i, strcmp(b->files[i].name, name) == 0);
}

static void add_doctor(struct bundle *b)
{
	const struct bundle_file *doctor = file_named(b, "api/doctor.json");
	char *text = NULL;
	size_t len;
	FILE *f = doctor && doctor->json ? open_memstream(&text, &len) : NULL;

	if (!f)
		return;
	ctl_show_doctor(doctor->json, NULL, f);
	fclose(f);
	bundle_add_text(b, "doctor.txt", text);
}

static const char *state_dir_of(const struct bundle *b)
{
	const struct bundle_file *config = file_named(b, "api/config.json");
	const char *dir = config ? json_string_value(json_object_get(config->json, "state-dir"))
				 : NULL;

	return dir ? dir : STATE_DIR_DEFAULT;
}

static void add_versions(struct bundle *b)
{
	const struct bundle_file *page = file_named(b, "metrics.txt");
	const char *info = page ? strstr(page->text, "rocelet_build_info{version=\"") : NULL;
	char *text = NULL;

	info = info ? strchr(info, '"') + 1 : NULL;
	if (asprintf(&text, "rocectl " ROCELET_VERSION "\nrocelet %.*s\n",
		     info ? (int)strcspn(info, "\"\n") : 27,
		     info ? info : "unknown: it does not answer") < 0)
		text = NULL;
	bundle_add_text(b, "versions.txt", text);
}

static void ctl_bundle_gather(struct bundle *b, const struct ctl_args *a)
{
	bundle_documents(b, a->socket, ctl_args_long_wait_ms(a));
	add_doctor(b);
	add_versions(b);
	bundle_config_file(b, a->config ? a->config : CONFIG_DEFAULT);
	bundle_journal(b, a->state_dir ? a->state_dir : state_dir_of(b));
	bundle_kernel_log(b);
	bundle_host(b);
}

/* --- the archive ------------------------------------------------------------------------------ */

/* The file's text without secrets; heap, NULL if out of memory. */
static char *file_text(struct bundle *b, struct bundle_file *file)
{
	char *text;

	if (!file->json)
		return secrets_scrub_text(&b->secrets, file->text);
	if (secrets_scrub(&b->secrets, file->json) < 0)
		return NULL;
	text = json_dumps(file->json, JSON_INDENT(1) | JSON_ENCODE_ANY);
	return text;
}

static void pack_file(struct bundle *b, struct tar *t, const char *name, const char *text)
{
	size_t len = strlen(text), room = BUNDLE_MAX - b->bytes;
	char path[128];

	room = room < BUNDLE_FILE_MAX ? room : BUNDLE_FILE_MAX;
	if (len > room)
		bundle_miss(b, "%s: cut from %zu bytes to %zu", name, len, room);
	len = len < room ? len : room;
	b->bytes += len;
	snprintf(path, sizeof(path), FOLDER "%s", name);
	tar_add(t, path, text, len);
}

static int pack(struct bundle *b, struct tar *t)
{
	for (size_t i = 0; i < b->n_files; i++) {
		AUTO_FREE char *text = file_text(b, &b->files[i]);

		if (!text)
			return -ENOMEM;
		pack_file(b, t, b->files[i].name, text);
	}
	return 0;
}

/* Packs not-read.txt. It must be the last file, because packing other files may add lines to it. */
static int pack_missed(struct bundle *b, struct tar *t, char **missed)
{
	AUTO_FREE char *text = NULL;

	if (fflush(b->missed) != 0)
		return -ENOMEM;
	text = secrets_scrub_text(&b->secrets, *missed);
	if (!text)
		return -ENOMEM;
	tar_add(t, FOLDER "not-read.txt", text, strlen(text));
	return 0;
}

/* Writes the archive to fd, and takes ownership of fd. */
static int write_archive(struct bundle *b, int fd, char **missed)
{
	struct tar t;
	int r = tar_open(&t, fd, (int64_t)time(NULL)), closed;

	if (r < 0)
		return r;
	r = pack(b, &t);
	if (r == 0)
		r = pack_missed(b, &t, missed);
	closed = tar_close(&t);
	return r < 0 ? r : closed;
}

/* Creates a new file that only its owner can read. */
static int create_archive(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

static enum ctl_exit cannot_write(const char *path, int code, FILE *err)
{
	fprintf(err, "rocectl: %s: %s, no support bundle is written\n", path, strerror(-code));
	return CTL_NO;
}

static enum ctl_exit write_to_file(struct bundle *b, const char *path, char **missed, FILE *out,
				   FILE *err)
{
	int fd = create_archive(path);
	int r = fd < 0 ? fd : write_archive(b, fd, missed);

	if (r < 0) {
		if (fd >= 0)
			unlink(path);
		return cannot_write(path, r, err);
	}
	fprintf(out, "%s\n", path);
	if (b->n_missed > 0)
		fprintf(out,
			"%zu item%s could not be read; not-read.txt lists them, with the reasons\n",
			b->n_missed, b->n_missed == 1 ? "" : "s");
	return CTL_OK;
}

static enum ctl_exit write_to_stdout(struct bundle *b, char **missed, FILE *out, FILE *err)
{
	int fd, r;

	if (isatty(fileno(out))) {
		fputs("rocectl: -o -: stdout is a terminal\n", err);
		return CTL_USAGE;
	}
	fd = dup(fileno(out));
	r = fd < 0 ? -errno : write_archive(b, fd, missed);

	return r < 0 ? cannot_write("-", r, err) : CTL_OK;
}

static void default_path(char *ret, size_t size)
{
	time_t now = time(NULL);
	char when[32];
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	snprintf(ret, size, "rocelet-support-%s.tar.gz", when);
}

enum ctl_exit ctl_bundle(const struct ctl_args *a, FILE *out, FILE *err)
{
	char path[64], *missed = NULL;
	struct bundle b = {0};
	enum ctl_exit r;
	size_t len;

	b.missed = open_memstream(&missed, &len);
	if (!b.missed)
		return cannot_write("-", -ENOMEM, err);
	default_path(path, sizeof(path));
	ctl_bundle_gather(&b, a);
	if (b.error)
		r = cannot_write(a->output ? a->output : path, b.error, err);
	else if (a->output && strcmp(a->output, "-") == 0)
		r = write_to_stdout(&b, &missed, out, err);
	else
		r = write_to_file(&b, a->output ? a->output : path, &missed, out, err);
	fclose(b.missed);
	free(missed);
	bundle_done(&b);
	return r;
}
