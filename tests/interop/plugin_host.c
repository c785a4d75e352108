// SPDX-License-Identifier: Apache-2.0
/* plugin_host.c - k8s/kubelet/kubelet.h with devices that stdin decides on, for kubelet_python.py.
 *
 *   plugin_host DIR auto|registry|legacy [zero]
 *
 * Serves example.com/dev. Commands, one a line: `devices N` (healthy, dev0 on NUMA node 0, dev1 on
 * 1, ...), `unhealthy I`, `big N` (N devices with IDs of 63 bytes), `flap N` (N changes of the big
 * list, one per turn of the loop), `later` (answers wait for `answer`), `status`, `quit`. Prints
 * what happens, one line each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "cleanup.h"
#include "kubelet.h"
#include "log.h"

#define RESOURCE "example.com/dev"

struct host {
	uv_loop_t loop;
	uv_pipe_t input;
	uv_idle_t flapping;
	struct kubelet *kubelet;
	struct kubelet_plugin *plugin;
	struct plugin_device *devices;
	size_t n_devices, used, flaps;
	bool later;
	struct plugin_answer *waiting;
	size_t waiting_n;
	char line[65536];
};

__attribute__((format(printf, 1, 2))) static void print_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* --- answers --------------------------------------------------------------------------------- */

static int fill(struct container_grant *g, const struct id_list *ids)
{
	int r = container_grant_env(g, "DEVICES", ids->n ? ids->ids[0] : "");

	if (r == 0)
		r = container_grant_annotation(g, "example.com/\xc3\xa4", "annotated");
	if (r == 0)
		r = container_grant_mount(g, "/run/host", "/run/container", true);
	if (r == 0)
		r = container_grant_cdi(g, "example.com/dev=one");
	for (size_t i = 0; i < ids->n && r == 0; i++) {
		AUTO_FREE char *path = NULL;

		if (asprintf(&path, "/dev/example/%s", ids->ids[i]) < 0)
			return -ENOMEM;
		r = container_grant_node(g, path, path, "rw");
	}
	return r;
}

static void grant(struct plugin_answer *a, const struct id_list *containers, size_t n)
{
	struct container_grant *grants = calloc(n + 1, sizeof(*grants));

	for (size_t i = 0; grants && i < n; i++)
		fill(&grants[i], &containers[i]);
	plugin_answer_allocate(a, grants, n);
	for (size_t i = 0; grants && i < n; i++)
		container_grant_done(&grants[i]);
	free(grants);
}

static bool is_known(const struct host *h, const char *id)
{
	for (size_t i = 0; i < h->n_devices; i++)
		if (strcmp(h->devices[i].id, id) == 0)
			return true;
	return false;
}

/* NULL: all are known. */
static const char *unknown_of(const struct host *h, const struct id_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!is_known(h, l->ids[i]))
			return l->ids[i];
	return NULL;
}

static void refuse(struct plugin_answer *a, const char *id)
{
	struct err e = {0};

	err_set(&e, -ENODEV, "\"%s\" is no device of %s \xe2\x80\x93 100 %%", id, RESOURCE);
	plugin_answer_error(a, &e);
}

static void on_allocate(struct plugin_answer *a, const struct id_list *containers, size_t n,
			void *arg)
{
	struct host *h = arg;
	const char *unknown = NULL;

	for (size_t i = 0; i < n && !unknown; i++)
		unknown = unknown_of(h, &containers[i]);
	if (unknown) {
		refuse(a, unknown);
		return;
	}
	if (!h->later) {
		grant(a, containers, n);
		return;
	}
	h->waiting = a;
	h->waiting_n = n;
	print_line("waiting");
}

static void on_preferred(struct plugin_answer *a, const struct preference_request *containers,
			 size_t n, void *arg)
{
	struct id_list *chosen = calloc(n + 1, sizeof(*chosen));

	(void)arg;
	for (size_t i = 0; chosen && i < n; i++) /* the last ones */
		chosen[i] = (struct id_list){containers[i].available.ids +
						     containers[i].available.n - containers[i].size,
					     containers[i].size};
	plugin_answer_preferred(a, chosen, n);
	free(chosen);
}

static void on_pre_start(struct plugin_answer *a, const struct id_list *ids, void *arg)
{
	const char *unknown = unknown_of(arg, ids);

	if (unknown)
		refuse(a, unknown);
	else
		plugin_answer_started(a);
}

static void on_gone(struct plugin_answer *a, void *arg)
{
	struct host *h = arg;

	if (h->waiting == a)
		h->waiting = NULL;
	print_line("gone");
}

static void on_swept(void *arg)
{
	(void)arg;
	print_line("swept");
}

static void on_allocations(void *arg)
{
	(void)arg;
	print_line("allocations");
}

/* --- commands -------------------------------------------------------------------------------- */

static void set_devices(struct host *h)
{
	if (plugin_set_devices(h->plugin, h->devices, h->n_devices) < 0)
		print_line("out of memory");
}

static void make_devices(struct host *h, size_t n, const char *fmt)
{
	free(h->devices);
	h->devices = calloc(n + 1, sizeof(*h->devices));
	h->n_devices = h->devices ? n : 0;
	for (size_t i = 0; i < h->n_devices; i++) {
		snprintf(h->devices[i].id, sizeof(h->devices[i].id), fmt, (int)i);
		h->devices[i].healthy = true;
		h->devices[i].numa = n < 100 ? (int)i % 2 : -1;
	}
	set_devices(h);
}

static void on_flap(uv_idle_t *idle)
{
	struct host *h = idle->data;

	if (h->flaps == 0 || h->n_devices == 0) {
		uv_idle_stop(idle);
		print_line("flapped");
		return;
	}
	h->flaps--;
	h->devices[h->flaps % h->n_devices].healthy ^= true;
	set_devices(h);
}

static void print_status(const struct host *h)
{
	struct plugin_status s;

	plugin_status(h->plugin, &s);
	print_line("status %d registrations %d failures %d lists %d watchers %u error %s",
		   (int)s.state, (int)s.registrations, (int)s.failures, (int)s.lists, s.watchers,
		   s.error);
}

static void quit(struct host *h)
{
	kubelet_close(take_ptr(h->kubelet));
	uv_close((uv_handle_t *)&h->input, NULL);
	uv_close((uv_handle_t *)&h->flapping, NULL);
}

static void answer(struct host *h)
{
	static const char *const ids[] = {"dev0"};
	struct id_list containers[8];

	for (size_t i = 0; i < ARRAY_SIZE(containers); i++)
		containers[i] = (struct id_list){ids, 1};
	if (h->waiting && h->waiting_n <= ARRAY_SIZE(containers))
		grant(take_ptr(h->waiting), containers, h->waiting_n);
}

static void obey(struct host *h, const char *line)
{
	size_t n = 0;
	const char *space = strchr(line, ' ');

	if (space)
		n = strtoul(space + 1, NULL, 10);
	if (strncmp(line, "devices ", 8) == 0) {
		make_devices(h, n, "dev%d");
	} else if (strncmp(line, "big ", 4) == 0) {
		make_devices(h, n, "%063d");
	} else if (strncmp(line, "unhealthy ", 10) == 0 && n < h->n_devices) {
		h->devices[n].healthy = false;
		set_devices(h);
	} else if (strncmp(line, "flap ", 5) == 0) {
		h->flaps = n;
		uv_idle_start(&h->flapping, on_flap);
	} else if (strcmp(line, "later") == 0) {
		h->later = true;
	} else if (strcmp(line, "answer") == 0) {
		answer(h);
	} else if (strcmp(line, "status") == 0) {
		print_status(h);
	} else if (strcmp(line, "quit") == 0) {
		quit(h);
	} else {
		print_line("what is \"%s\"?", line);
	}
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
	struct host *h = handle->data;

	(void)size;
	*buf = uv_buf_init(h->line + h->used, (unsigned)(sizeof(h->line) - 1 - h->used));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct host *h = stream->data;
	char *line = h->line, *end;

	(void)buf;
	if (n < 0) {
		if (h->kubelet)
			quit(h);
		return;
	}
	h->used += (size_t)n;
	h->line[h->used] = '\0';
	while (h->kubelet && (end = strchr(line, '\n'))) {
		*end = '\0';
		obey(h, line);
		line = end + 1;
	}
	h->used = strlen(line);
	memmove(h->line, line, h->used + 1);
}

static int start(struct host *h, const char *dir, const char *mode, bool zero, struct err *e)
{
	struct kubelet_opts opts = {
		.dir = dir,
		.registration = strcmp(mode, "registry") == 0 ? REGISTRATION_REGISTRY
				: strcmp(mode, "legacy") == 0 ? REGISTRATION_LEGACY
							      : REGISTRATION_AUTO,
		.zero_on_close = zero,
	};
	struct kubelet_hooks hooks = {
		.sockets_swept = on_swept, .allocations_changed = on_allocations, .arg = h};
	struct plugin_hooks plugin = {.allocate = on_allocate,
				      .preferred = on_preferred,
				      .pre_start = on_pre_start,
				      .gone = on_gone,
				      .arg = h};
	int r = kubelet_open(&h->kubelet, &h->loop, &opts, &hooks, e);

	return r < 0 ? r : kubelet_serve(&h->plugin, h->kubelet, RESOURCE, &plugin, e);
}

int main(int argc, char **argv)
{
	static struct host h;
	struct err e = {0};

	if (argc < 3) {
		fprintf(stderr, "usage: plugin_host DIR auto|registry|legacy [zero]\n");
		return 2;
	}
	log_init(LOG_LVL_DEBUG, LOG_FORMAT_TEXT);
	uv_loop_init(&h.loop);
	uv_pipe_init(&h.loop, &h.input, 0);
	uv_idle_init(&h.loop, &h.flapping);
	h.input.data = h.flapping.data = &h;
	if (start(&h, argv[1], argv[2], argc > 3, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	uv_pipe_open(&h.input, 0);
	uv_read_start((uv_stream_t *)&h.input, on_alloc, on_read);
	print_line("ready");
	uv_run(&h.loop, UV_RUN_DEFAULT);
	free(h.devices);
	return uv_loop_close(&h.loop) == 0 ? 0 : 3;
}
