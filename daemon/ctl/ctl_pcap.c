/* ctl_pcap.c - a capture file, or stdin, through the readers into a summary: a window of the file
 * is in memory, never more.
 *
 * Happy path: fill the window, take packets out of it until it has no whole one, move what is left
 * to its start, and so on until the file ends.
 * Can fail by: files that cannot be opened or read, or whose bytes make no sense from some place
 * on; what came before that place is told. */
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "cleanup.h"
#include "ctl_capture.h"
#include "ctl_table.h"
#include "json_text.h"

/* Far larger than what a step needs, so that little is moved. */
#define WINDOW (4 * CAPTURE_WINDOW)

struct reading {
	int fd;
	size_t start, end; /* of what is not done with, in window */
	struct capture capture;
	struct capture_summary summary;
	uint8_t window[WINDOW];
};

/* 1: there is more; 0: the end. */
static int fill(struct reading *r, struct err *e)
{
	ssize_t n;

	memmove(r->window, r->window + r->start, r->end - r->start);
	r->end -= r->start;
	r->start = 0;
	do
		n = read(r->fd, r->window + r->end, sizeof(r->window) - r->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_set(e, -errno, "at byte %" PRIu64 ": %s", r->capture.offset + r->end,
			       strerror(errno));
	r->end += (size_t)n;
	return n > 0;
}

static int read_all(struct reading *r, struct err *e)
{
	struct capture_packet p;
	size_t used;
	int more = 1, got;

	while (more == 1) {
		got = capture_next(&r->capture, r->window + r->start, r->end - r->start, &used, &p,
				   e);
		r->start += used;
		if (got < 0)
			return got;
		if (got == 1)
			summary_add(&r->summary, &p);
		else
			more = fill(r, e);
	}
	return more < 0 ? more : capture_end(&r->capture, r->end - r->start, e);
}

static int open_file(const char *name, struct err *e)
{
	int fd = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_set(e, -errno, "%s", strerror(errno)) : fd;
}

static const char *format_of(const struct capture *c)
{
	switch (c->format) {
	case CAPTURE_UNKNOWN:
		break;
	case CAPTURE_PCAP:
		return "pcap";
	case CAPTURE_PCAPNG:
		return "pcapng";
	}
	return NULL;
}

static enum ctl_exit read_and_tell(const struct ctl_args *a, struct reading *r, FILE *out,
				   FILE *err)
{
	struct err e = {0};
	json_t *source;

	if (read_all(r, &e) < 0)
		err_wrap(&e, "%.120s", a->file);
	source = json_pack("{so ss?}", "file", json_text(a->file), "format",
			   format_of(&r->capture));
	return ctl_capture_tell(a, source, &r->summary, e.code ? e.msg : NULL, out, err);
}

static enum ctl_exit summarise(const struct ctl_args *a, int fd, FILE *out, FILE *err)
{
	struct reading *r = calloc(1, sizeof(*r));
	enum ctl_exit exit_code = CTL_NO;

	if (!r || summary_init(&r->summary) < 0) {
		fputs("rocectl: out of memory\n", err);
	} else {
		r->fd = fd;
		exit_code = read_and_tell(a, r, out, err);
		summary_done(&r->summary);
	}
	free(r);
	return exit_code;
}

enum ctl_exit ctl_pcap(const struct ctl_args *a, FILE *out, FILE *err)
{
	struct err e = {0};
	AUTO_FD fd = open_file(a->file, &e);

	if (fd >= 0)
		return summarise(a, fd, out, err);
	fputs("rocectl: ", err);
	table_put(a->file, err);
	fprintf(err, ": %s\n", e.msg);
	return CTL_NO;
}
