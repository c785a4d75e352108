// SPDX-License-Identifier: Apache-2.0
/* ctl_sniff.c - captures a device's traffic for some seconds into a summary and, with --write, a
 * file.
 *
 * Steps: enter the namespace, resolve the device, open a sniffer flow or a packet socket, capture
 * until a limit of time, packets or bytes is reached or SIGINT arrives, print. After an error
 * (missing privilege, unknown device or pod, removed netdev, full disk), packets captured so far
 * are reported. */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "capture_file.h"
#include "cleanup.h"
#include "client.h"
#include "ctl_capture.h"
#include "ctl_table.h"
#include "json_text.h"
#include "netns.h"
#include "packet_socket.h"
#include "search.h"
#include "verbs_sniffer.h"

/* --- the pcap file that is written --------------------------------------------------------------
 */

/* Heads of the file and of its packets: nanoseconds, Ethernet, this machine's byte order. */
struct pcap_file_head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t reserved[2], snaplen, link;
};

struct pcap_packet_head {
	uint32_t s, ns, captured, length;
};

static struct pcap_file_head pcap_file_head(void)
{
	return (struct pcap_file_head){.magic = 0xa1b23c4d,
				       .major = 2,
				       .minor = 4,
				       .snaplen = CAPTURE_PACKET_MAX,
				       .link = LINKTYPE_ETHERNET};
}

static struct pcap_packet_head pcap_packet_head(const struct capture_packet *p)
{
	return (struct pcap_packet_head){(uint32_t)(p->time_ns / 1000000000),
					 (uint32_t)(p->time_ns % 1000000000), p->captured,
					 p->length};
}

#define WAIT_MS 100

struct sniffing {
	const struct ctl_args *args;
	struct sniff_target target;
	char netns[PATH_MAX];	    /* "" = ours */
	struct verbs_sniffer *flow; /* NULL: use the socket */
	struct packet_socket socket;
	struct err no_flow; /* why the hardware has no sniffer flow, if one was expected */
	FILE *file;	    /* NULL: no file */
	uint64_t written;
	struct capture_summary summary;
};

static volatile sig_atomic_t interrupted;

static void ctl_on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
}

static uint64_t ctl_sniff_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- the device and its namespace ------------------------------------------------------------- */

static bool has_text(const json_t *object, const char *key, const char *want)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value && strcmp(value, want) == 0;
}

static bool is_of_pod(const json_t *attachment, const char *pod)
{
	const char *slash = strchr(pod, '/');
	char namespace[256];

	if (!slash)
		return has_text(attachment, "pod", pod);
	snprintf(namespace, sizeof(namespace), "%.*s", (int)(slash - pod), pod);
	return has_text(attachment, "pod", slash + 1) &&
	       has_text(attachment, "namespace", namespace);
}

static bool ctl_is_device(const json_t *attachment, const char *name)
{
	static const char *const keys[] = {"id", "function", "name", "rdma", "interface"};

	return any_of(ARRAY_SIZE(keys), i, has_text(attachment, keys[i], name));
}

static void ctl_copy_text(char *ret, size_t size, const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	snprintf(ret, size, "%s", value ? value : "");
}

static int find_attachment(struct sniffing *s, const json_t *document, struct err *e)
{
	json_t *a;
	size_t i;

	json_array_foreach (json_object_get(document, "attachments"), i, a) {
		if (!is_of_pod(a, s->args->pod) || !ctl_is_device(a, s->args->device) ||
		    !has_text(a, "state", "in_pod"))
			continue;
		ctl_copy_text(s->netns, sizeof(s->netns), a, "netns");
		ctl_copy_text(s->target.netdev, sizeof(s->target.netdev), a, "interface");
		ctl_copy_text(s->target.rdma, sizeof(s->target.rdma), a, "rdma");
		return 0;
	}
	return err_set(e, -ENODEV, "pod %.100s does not have %.60s; see rocectl pods", s->args->pod,
		       s->args->device);
}

static int find_in_pod(struct sniffing *s, struct err *e)
{
	struct client_answer answer = {0};
	json_t *document;
	int r = client_ask(&answer, s->args->socket, "/api/v1/attachments", NULL,
			   ctl_args_wait_ms(s->args), e);

	if (r < 0)
		return e->code = -ENOTCONN;
	document = json_text_load(answer.body, answer.len, 0, NULL);
	r = find_attachment(s, document, e);
	json_decref(document);
	free(answer.body);
	return r;
}

/* Finds the device in sysfs. A name that is not there may be an alternative name of a netdev, or a
 * netdev in another namespace. */
static void find_target(struct sniffing *s, const struct hw *hw)
{
	const char *name = s->args->device;

	if (!s->netns[0] && sniff_target_find(hw, name, &s->target) == 0)
		return;
	snprintf(s->target.netdev, sizeof(s->target.netdev), "%s",
		 strlen(name) < IFNAMSIZ ? name : "");
}

static int enter(const struct sniffing *s, const struct hw *hw, struct err *e)
{
	AUTO_FD fd = s->netns[0] ? netns_open_path(hw, s->netns, e) : -1;

	if (!s->netns[0])
		return 0;
	if (fd < 0)
		return fd;
	return setns(fd, CLONE_NEWNET) < 0
		       ? err_set(e, -errno, "%.120s: %s", s->netns, strerror(errno))
		       : 0;
}

static int target_locate(struct sniffing *s, struct err *e)
{
	struct hw hw;
	int r = hw_open(&hw, "/sys", "/dev", "/proc", e);

	if (r < 0)
		return r;
	if (s->args->netns)
		snprintf(s->netns, sizeof(s->netns), "%s", s->args->netns);
	if (s->args->pod)
		r = find_in_pod(s, e);
	else
		find_target(s, &hw);
	if (s->args->pod)
		s->target.soft = sniff_target_is_soft(&hw, s->target.rdma);
	if (r == 0)
		r = enter(s, &hw, e);
	hw_close(&hw);
	return r;
}

/* --- packets ---------------------------------------------------------------------------------- */

static bool write_packet(struct sniffing *s, const struct capture_packet *p)
{
	struct pcap_packet_head head = pcap_packet_head(p);

	if (!s->file)
		return true;
	s->written += sizeof(head) + p->captured;
	return fwrite(&head, sizeof(head), 1, s->file) == 1 &&
	       fwrite(p->bytes, 1, p->captured, s->file) == p->captured;
}

/* The kernel's filter passes all packets with IPv6 extension headers, such as multicast reports:
 * check them here. */
static bool is_roce(const struct capture_packet *p)
{
	struct roce_packet roce = {0};
	struct roce_frame frame;
	uint32_t bytes;

	return !frame_of(&frame, &bytes, p) || roce_decode(&frame, &roce) != ROCE_OTHER;
}

static bool on_packet(const struct sniffed *sniffed, void *arg)
{
	struct sniffing *s = arg;
	struct capture_packet p = {.bytes = sniffed->bytes,
				   .captured = sniffed->captured,
				   .length = sniffed->length,
				   .link = LINKTYPE_ETHERNET,
				   .time_ns = sniffed->time_ns,
				   .offset = s->written,
				   .number = s->summary.packets + 1};

	if (!is_roce(&p))
		return true;
	summary_add(&s->summary, &p);
	return write_packet(s, &p) && s->summary.packets < (uint64_t)s->args->packets &&
	       s->summary.bytes < (uint64_t)s->args->bytes;
}

/* Opens a sniffer flow, or else a packet socket. Packets of hardware RoCE bypass the kernel, so
 * only a sniffer flow can capture them. */
static int open_source(struct sniffing *s, struct err *e)
{
	const struct sniff_target *t = &s->target;

	if (t->rdma[0] && !t->soft && verbs_sniffer_open(&s->flow, t->rdma, &s->no_flow) == 0)
		return 0;
	if (!t->netdev[0])
		return s->no_flow.code ? err_set(e, s->no_flow.code, "%s", s->no_flow.msg)
				       : err_set(e, -ENODEV, "%.60s: no such device on this node",
						 s->args->device);
	return packet_socket_open(&s->socket, t->netdev, e);
}

static int open_written(struct sniffing *s, struct err *e)
{
	struct pcap_file_head head = pcap_file_head();
	int fd;

	if (!s->args->write)
		return 0;
	fd = open(s->args->write, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	s->file = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!s->file)
		return err_set(e, -errno, "%.120s: %s", s->args->write, strerror(errno));
	s->written = sizeof(head);
	fwrite(&head, sizeof(head), 1, s->file);
	return 0;
}

static int close_written(struct sniffing *s, struct err *e)
{
	bool failed = s->file && ferror(s->file);

	if (!s->file || (fclose(s->file) == 0 && !failed))
		return 0;
	return err_set(e, -EIO, "%.120s: could not be written completely", s->args->write);
}

static int take_packets(struct sniffing *s, struct err *e)
{
	uint64_t end = ctl_sniff_now_ms() + (uint64_t)s->args->seconds * 1000, now;
	int r = 1;

	while (r == 1 && !interrupted && (now = ctl_sniff_now_ms()) < end) {
		int wait_ms = end - now < WAIT_MS ? (int)(end - now) : WAIT_MS;

		r = s->flow ? verbs_sniffer_next(s->flow, wait_ms, on_packet, s, e)
			    : packet_socket_next(&s->socket, wait_ms, on_packet, s, e);
	}
	return r < 0 ? r : 0;
}

/* SIGINT and SIGTERM end the capture; the summary is still printed. */
static int packets_sniff(struct sniffing *s, struct err *e)
{
	struct sigaction stop = {.sa_handler = ctl_on_signal}, old_int, old_term;
	int r;

	interrupted = 0;
	sigaction(SIGINT, &stop, &old_int);
	sigaction(SIGTERM, &stop, &old_term);
	r = take_packets(s, e);
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGTERM, &old_term, NULL);
	return r;
}

/* --- output ----------------------------------------------------------------------------------- */

/* Describes the source of the packets. "dropped" is null for a sniffer flow, which does not count
 * dropped packets. */
static json_t *ctl_source_of(const struct sniffing *s)
{
	json_t *dropped = s->flow ? json_null()
				  : json_integer((json_int_t)packet_socket_drops(&s->socket));

	return json_pack("{so so so ss so so}", "device", json_text(s->args->device), "netdev",
			 json_text(s->target.netdev), "rdma", json_text(s->target.rdma), "method",
			 s->flow ? "sniffer flow" : "packet socket", "noFlow",
			 json_text(s->no_flow.msg), "dropped", dropped);
}

static enum ctl_exit sniff_refuse(const struct err *e, FILE *err)
{
	fputs("rocectl: ", err);
	if (e->code == -EPERM || e->code == -EACCES)
		fputs("sniff needs root: ", err);
	table_put(e->msg, err);
	fputc('\n', err);
	return e->code == -ENOTCONN ? CTL_NO_DAEMON : CTL_NO;
}

static enum ctl_exit sniff_and_print(struct sniffing *s, FILE *out, FILE *err)
{
	struct err e = {0};
	json_t *source;

	if (open_written(s, &e) < 0)
		return sniff_refuse(&e, err);
	if (packets_sniff(s, &e) == 0)
		close_written(s, &e);
	else
		close_written(s, NULL);
	source = ctl_source_of(s);
	return ctl_capture_print(s->args, source, &s->summary, e.code ? e.msg : NULL, out, err);
}

enum ctl_exit ctl_sniff(const struct ctl_args *a, FILE *out, FILE *err)
{
	struct sniffing s = {.args = a, .socket = {.fd = -1}};
	struct err e = {0};
	enum ctl_exit exit_code;

	if (summary_init(&s.summary) < 0)
		err_set(&e, -ENOMEM, "out of memory");
	if (e.code || target_locate(&s, &e) < 0 || open_source(&s, &e) < 0)
		exit_code = sniff_refuse(&e, err);
	else
		exit_code = sniff_and_print(&s, out, err);
	verbs_sniffer_close(s.flow);
	packet_socket_close(&s.socket);
	summary_done(&s.summary);
	return exit_code;
}
