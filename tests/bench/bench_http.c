// SPDX-License-Identifier: Apache-2.0
/* bench_http.c - CPU time and memory of the server for a scrape; the client is another process.
 *
 *   bench_http [SCRAPES [KILOBYTES]]
 *
 * Scrapes over a kept connection: plain, compressed, and compressed with a new page for each
 * scrape, which includes the compression. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "accept.h"
#include "http.h"
#include "page.h"
#include "self_counters.h"

struct server {
	uv_loop_t loop;
	struct http *http;
	struct self_counters self;
	struct page *page;
	size_t page_size;
	bool renew;
	unsigned scrapes, left;
	double cpu_start;
};

static double cpu_ms(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1e3 +
	       (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e3;
}

static long rss_kb(void)
{
	long pages = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%ld %ld", &pages, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * sysconf(_SC_PAGESIZE) / 1024;
}

/* Series with realistic names, labels and values. */
static struct page *make_page(size_t size, unsigned seed)
{
	struct page *p = page_new();
	unsigned family = 0, port;
	char name[64];

	while (p->text.len < size) {
		snprintf(name, sizeof(name), "roce_congestion_counter_%u_total", family++);
		page_begin(p, name, "counter", "A counter of the port");
		for (port = 0; port < 136; port++)
			text_addf(&p->text,
				  "%s{device=\"mlx5_%u\",port=\"1\",netdev=\"ens%unp0\"} %u\n",
				  name, port, port, (seed + port) * family * 2654435761u);
		page_end(p);
	}
	return p;
}

static void on_request(const struct http_request *request, struct http_reply *reply, void *arg)
{
	struct server *s = arg;

	if (s->renew && s->page->gzip[0].len > 0) {
		text_done(&s->page->gzip[0]);
		text_done(&s->page->gzip[1]);
	}
	reply->status = 200;
	reply->page = page_ref(s->page);
	reply->page_format = (int)accept_metrics(request->accept);
	reply->content_type = accept_content_type(accept_metrics(request->accept));
	if (s->left == s->scrapes)
		s->cpu_start = cpu_ms();
	s->left--;
}

static void serve(int port_pipe, const char *what, unsigned scrapes, size_t size, bool renew)
{
	static const struct http_opts opts;
	struct server s = {.scrapes = scrapes, .left = scrapes, .renew = renew};
	struct err e = {0};
	unsigned port;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	uv_loop_init(&s.loop);
	s.page = make_page(size, 1);
	s.page_size = s.page->text.len;
	if (http_open(&s.http, &s.loop, &opts, &s.self, on_request, &s, &e) < 0 ||
	    http_listen_tcp(s.http, "127.0.0.1:0", &port, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		_exit(1);
	}
	if (write(port_pipe, &port, sizeof(port)) != sizeof(port))
		_exit(1);
	while (s.left > 0)
		uv_run(&s.loop, UV_RUN_ONCE);
	uv_run(&s.loop, UV_RUN_NOWAIT);
	printf("%-24s %zu kB page, gzip %zu kB: %.3f ms CPU per scrape, RSS %ld kB\n", what,
	       s.page_size / 1000, s.page->gzip[0].len / 1000, (cpu_ms() - s.cpu_start) / scrapes,
	       rss_kb());
	fflush(stdout);
	http_close(s.http, NULL, NULL);
	uv_run(&s.loop, UV_RUN_DEFAULT);
	page_unref(s.page);
	_exit(uv_loop_close(&s.loop) == 0 ? 0 : 1);
}

/* Reads one answer and discards it. */
static void take_answer(int fd)
{
	static char buf[1 << 20];
	size_t have = 0, want = 0;
	char *end, *length;
	ssize_t n;

	while (want == 0 || have < want) {
		n = recv(fd, buf, want ? sizeof(buf) : sizeof(buf) - 1, 0);
		if (n <= 0)
			exit(1);
		have += (size_t)n;
		if (want)
			continue;
		buf[n] = '\0';
		end = strstr(buf, "\r\n\r\n");
		length = strstr(buf, "Content-Length: ");
		if (!end || !length)
			exit(1);
		want = (size_t)(end + 4 - buf) + strtoul(length + 16, NULL, 10);
	}
}

static void scrape(unsigned port, unsigned scrapes, bool gzip)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons((unsigned short)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char request[256];
	int len = snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\nHost: x\r\n%s\r\n",
			   gzip ? "Accept-Encoding: gzip\r\n" : "");

	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		exit(1);
	while (scrapes-- > 0) {
		if (send(fd, request, (size_t)len, 0) != len)
			exit(1);
		take_answer(fd);
	}
	close(fd);
}

static int run(const char *what, unsigned scrapes, size_t size, bool gzip, bool renew)
{
	int ports[2], status = 1;
	unsigned port;
	pid_t pid;

	if (pipe(ports) < 0)
		return 1;
	pid = fork();
	if (pid == 0)
		serve(ports[1], what, scrapes, size, renew);
	if (read(ports[0], &port, sizeof(port)) != sizeof(port))
		return 1;
	scrape(port, scrapes, gzip);
	waitpid(pid, &status, 0);
	close(ports[0]);
	close(ports[1]);
	return status;
}

int main(int argc, char **argv)
{
	unsigned scrapes = argc > 1 ? (unsigned)atoi(argv[1]) : 10000;
	size_t size = (argc > 2 ? (size_t)atoi(argv[2]) : 500) * 1000;

	return run("plain", scrapes, size, false, false) ||
	       run("compressed", scrapes, size, true, false) ||
	       run("compressed, new pages", scrapes / 10, size, true, true);
}
