// SPDX-License-Identifier: Apache-2.0
/* cri_watch.c - prints the pods' sandboxes as they come and go, for tests with a real runtime.
 *
 *   cri_watch [SOCKET]
 *
 * One line per change, with the unix time in milliseconds first:
 *   TIME sandbox ID NAMESPACE POD UID ready|ended NETNS|host|- NETWORKS|-     known with its
 * details TIME gone ID TIME known|unknown RUNTIME EVENTS Ends with SIGTERM; then a line with its
 * resource usage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <uv.h>

#include "cleanup.h"
#include "cri.h"
#include "log.h"

struct watch {
	uv_loop_t loop;
	uv_signal_t signal;
	struct cri *cri;
	struct sandbox_list seen; /* networks are not kept */
	bool was_known;
};

static unsigned long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (unsigned long long)t.tv_sec * 1000 + (unsigned long long)t.tv_nsec / 1000000;
}

static void print(const struct sandbox *s)
{
	printf("%llu sandbox %s %s %s %s %s %s %s\n", now_ms(), s->id, s->namespace, s->pod, s->uid,
	       s->ready ? "ready" : "ended",
	       s->host_network ? "host"
	       : s->netns[0]   ? s->netns
			       : "-",
	       s->networks ? s->networks : "-");
}

static bool is_news(const struct watch *w, const struct sandbox *s)
{
	const struct sandbox *before = sandbox_find(&w->seen, s->id);

	return s->detailed && (!before || !before->detailed || before->ready != s->ready ||
			       strcmp(before->netns, s->netns) != 0);
}

static void keep(struct watch *w, const struct sandbox_list *l)
{
	sandbox_list_done(&w->seen);
	w->seen.items = calloc(l->n + 1, sizeof(*l->items));
	if (!w->seen.items)
		exit(1);
	if (l->n)
		memcpy(w->seen.items, l->items, l->n * sizeof(*l->items));
	w->seen.n = l->n;
	for (size_t i = 0; i < l->n; i++)
		w->seen.items[i].networks = NULL;
}

static void on_sandboxes(const struct sandbox_list *l, uint64_t asked_ms, void *arg)
{
	static const char *const hints[] = {"none", "containerd", "cri"};
	struct watch *w = arg;
	struct cri_status st;

	(void)asked_ms;
	cri_status(w->cri, &st);
	if (l->known != w->was_known)
		printf("%llu %s %s, events: %s\n", now_ms(), l->known ? "known" : "unknown",
		       st.runtime, hints[st.hints]);
	w->was_known = l->known;
	for (size_t i = 0; i < l->n; i++)
		if (is_news(w, &l->items[i]))
			print(&l->items[i]);
	for (size_t i = 0; i < w->seen.n; i++)
		if (!sandbox_find(l, w->seen.items[i].id))
			printf("%llu gone %s\n", now_ms(), w->seen.items[i].id);
	fflush(stdout);
	keep(w, l);
}

static void on_signal(uv_signal_t *signal, int number)
{
	struct watch *w = signal->data;
	struct cri_status st;
	struct rusage use;

	(void)number;
	cri_status(w->cri, &st);
	getrusage(RUSAGE_SELF, &use);
	printf("%llu end: %llu questions, %llu failed, %llu events, %ld ms of processor time, %ld "
	       "KB\n",
	       now_ms(), (unsigned long long)st.asked, (unsigned long long)st.failed,
	       (unsigned long long)st.events,
	       (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000 +
		       (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000,
	       use.ru_maxrss);
	cri_close(w->cri);
	uv_close((uv_handle_t *)signal, NULL);
}

int main(int argc, char **argv)
{
	struct watch w = {0};
	struct err e = {0};

	log_init(LOG_LVL_DEBUG, LOG_FORMAT_TEXT);
	uv_loop_init(&w.loop);
	w.signal.data = &w;
	uv_signal_init(&w.loop, &w.signal);
	uv_signal_start(&w.signal, on_signal, SIGTERM);
	if (cri_open(&w.cri, &w.loop, argc > 1 ? argv[1] : NULL, on_sandboxes, &w, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	uv_run(&w.loop, UV_RUN_DEFAULT);
	sandbox_list_done(&w.seen);
	return uv_loop_close(&w.loop) == 0 ? 0 : 1;
}
