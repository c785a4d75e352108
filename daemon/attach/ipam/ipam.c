// SPDX-License-Identifier: Apache-2.0
/* ipam.c - runs an IPAM plugin. See ipam.h.
 *
 * Success: the configuration is written into a pipe that has room for it, the plugin is found and
 * started in a sandbox, and its output is collected until all its processes have ended and both
 * outputs are closed. Failures: no plugin; no sandbox; the plugin fails, hangs (killed), writes too
 * much (killed), or does not end when killed (not waited for). */
#include "ipam.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "cleanup.h"
#include "plugin_sandbox.h"
#include "timer.h"

/* A killed plugin has ended after this time, unless the kernel blocks it in a system call. */
#define LEFTOVER_MS  200
/* Bytes of standard error that are kept for the message. */
#define STDERR_MAX   256
#define CNI_PATH     "CNI_PATH="
#define PROGRAM_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* One output of the plugin. */
struct output {
	uv_pipe_t pipe;
	char *text; /* room for max bytes */
	size_t n, max;
	bool ended;
};

enum { ENV_PATH = 2, N_ENV = 8 };

struct ipam_call {
	uv_poll_t end;	    /* end of the sandbox */
	struct timer timer; /* deadline of the answer; after a kill, deadline of the plugin's end */
	struct output out, err;
	struct uv_loop_s *loop;
	struct ipam_needs needs;
	const char *const *hidden;
	struct plugin_process process;
	bool started, exited; /* whether the sandbox was started, and whether it has ended */
	int exit_status;      /* as for ipam_parse_error() */
	struct err failure;   /* why it was killed; code 0 = it was not */
	uint32_t timeout_ms;
	ipam_fn *fn; /* NULL: already called, or cancelled */
	void *arg;
	unsigned open_handles;
	char *env[N_ENV]; /* NULL-terminated */
	char err_text[STDERR_MAX], answer[IPAM_ANSWER_MAX];
};

/* --- end of the call -------------------------------------------------------------------------- */

static void release(struct ipam_call *c)
{
	if (--c->open_handles > 0)
		return;
	for (size_t i = 0; i < N_ENV; i++)
		free(c->env[i]);
	if (c->started) {
		close(c->process.life_fd);
		close(c->process.pid_fd);
	}
	free(c);
}

static void ipam_on_timer_closed(void *arg)
{
	release(arg);
}

static void ipam_on_closed(uv_handle_t *handle)
{
	release(handle->data);
}

static void close_handle(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, ipam_on_closed);
}

/* Closes all handles. Call it only when no sandbox is running: a process that is not reaped stays a
 * zombie. */
static void ipam_close_all(struct ipam_call *c)
{
	if (!uv_is_closing((uv_handle_t *)&c->timer.handle))
		timer_close(&c->timer, ipam_on_timer_closed);
	close_handle((uv_handle_t *)&c->out.pipe);
	close_handle((uv_handle_t *)&c->err.pipe);
	if (c->started)
		close_handle((uv_handle_t *)&c->end);
}

static void ipam_judge(struct ipam_call *c, struct err *e)
{
	*e = c->failure;
	if (e->code == 0 && c->exit_status == PLUGIN_SANDBOX_MISSING) {
		err_set(e, -ENOENT, "no IPAM plugin \"%s\" in %s", c->needs.type,
			c->env[ENV_PATH] + strlen(CNI_PATH));
		return;
	}
	if (e->code == 0 && c->exit_status != 0) {
		bool silent = c->out.n == 0;

		ipam_parse_error(silent ? c->err_text : c->out.text, silent ? c->err.n : c->out.n,
				 c->exit_status, e);
	}
	if (e->code != 0)
		err_wrap(e, "%s", c->needs.type);
}

static void ipam_report(struct ipam_call *c)
{
	ipam_fn *fn = c->fn;
	struct err e = {0};

	c->fn = NULL;
	if (!fn)
		return;
	ipam_judge(c, &e);
	fn(c->out.text, c->out.n, &e, c->arg);
}

static void finish_if_done(struct ipam_call *c)
{
	if (!c->exited || (c->fn && !(c->out.ended && c->err.ended)))
		return;
	ipam_report(c);
	ipam_close_all(c);
}

static void ipam_abort(struct ipam_call *c, int code, const char *why)
{
	if (c->failure.code != 0)
		return;
	err_set(&c->failure, code, "%s", why);
	plugin_sandbox_kill(&c->process);
	timer_in(&c->timer, LEFTOVER_MS);
}

static void ipam_on_timer(void *arg)
{
	struct ipam_call *c = arg;
	char why[64];

	if (c->failure.code != 0) { /* killed, but not dead yet */
		ipam_report(c);
		finish_if_done(c);
		return;
	}
	snprintf(why, sizeof(why), "no answer within %u ms", c->timeout_ms);
	ipam_abort(c, -ETIMEDOUT, why);
}

static void on_ended(uv_poll_t *end, int status, int events)
{
	struct ipam_call *c = end->data;

	(void)status, (void)events;
	if (plugin_sandbox_status(&c->process, &c->exit_status) == -EAGAIN)
		return;
	c->exited = true;
	uv_poll_stop(end);
	finish_if_done(c);
}

/* --- the plugin's output ---------------------------------------------------------------------- */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	static char waste[4096];
	struct ipam_call *c = handle->data;
	struct output *o = handle == (uv_handle_t *)&c->out.pipe ? &c->out : &c->err;

	(void)suggested;
	*buf = o->n < o->max ? uv_buf_init(o->text + o->n, (unsigned)(o->max - o->n))
			     : uv_buf_init(waste, sizeof(waste));
}

static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct ipam_call *c = stream->data;
	struct output *o = stream == (uv_stream_t *)&c->out.pipe ? &c->out : &c->err;

	(void)buf;
	if (n < 0) {
		o->ended = true;
		uv_read_stop(stream);
		finish_if_done(c);
	} else if (o->n + (size_t)n <= o->max) {
		o->n += (size_t)n;
	} else if (o == &c->out) {
		ipam_abort(c, -EMSGSIZE, "its answer is longer than 64 KiB");
	}
}

/* --- start of the plugin ---------------------------------------------------------------------- */

/* Makes the variable CNI_CONTAINERID. An attachment of an admin request has no pod sandbox and gets
 * the function's name, which is unique: a device has only one attachment at a time. */
static int container_id(char **ret, const struct attach_record *r)
{
	int n = r->owner.sandbox[0] ? asprintf(ret, "CNI_CONTAINERID=%s", r->owner.sandbox)
				    : asprintf(ret, "CNI_CONTAINERID=rocelet-%s", r->function);

	for (char *c = n < 0 ? NULL : strchr(*ret, ':'); c; c = strchr(c, ':'))
		*c = '-';
	return n;
}

static int env_make(char *env[N_ENV], enum ipam_verb verb, const struct attach_record *r,
		    const char *path)
{
	static const char *const commands[] = {
		[IPAM_ADD] = "CNI_COMMAND=ADD",	      [IPAM_DEL] = "CNI_COMMAND=DEL",
		[IPAM_CHECK] = "CNI_COMMAND=CHECK",   [IPAM_GC] = "CNI_COMMAND=GC",
		[IPAM_STATUS] = "CNI_COMMAND=STATUS",
	};

	env[0] = strdup(commands[verb]);
	env[1] = strdup(PROGRAM_PATH);
	if (!env[0] || !env[1] || asprintf(&env[ENV_PATH], CNI_PATH "%s", path) < 0)
		return -ENOMEM;
	if (verb == IPAM_GC || verb == IPAM_STATUS)
		return 0;
	env[3] = ipam_args(r);
	if (!env[3] || container_id(&env[4], r) < 0 ||
	    asprintf(&env[5], "CNI_NETNS=%s", r->owner.netns.path) < 0 ||
	    asprintf(&env[6], "CNI_IFNAME=%s", r->plan.ifname) < 0)
		return -ENOMEM;
	return 0;
}

/* Returns the plugin's standard input: the read end of a pipe that holds the whole
 * configuration. */
static int config_fd(const struct attach_record *r, enum ipam_verb verb, const json_t *more,
		     struct err *e)
{
	AUTO_FREE char *text = ipam_config(r, verb, more);
	int fds[2];
	size_t len;
	ssize_t n;

	if (!text)
		return err_set(e, -ENOMEM, "out of memory");
	len = strlen(text);
	if (len > IPAM_CONFIG_MAX)
		return err_set(e, -E2BIG, "the configuration is longer than %d bytes",
			       IPAM_CONFIG_MAX);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(e, -errno, "pipe: %s", strerror(errno));
	/* A pipe holds 64 KiB, unless root's pipes exceed their limit. The write must not block. */
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	n = write(fds[1], text, len);
	close(fds[1]);
	if (n == (ssize_t)len)
		return fds[0];
	close(fds[0]);
	return err_set(e, -EIO, "the configuration could not be passed on");
}

/* Creates a pipe for an output. The output owns our end; *ret is the plugin's end. */
static int output_open(struct output *o, int *ret, struct err *e)
{
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(e, -errno, "pipe: %s", strerror(errno));
	r = uv_pipe_open(&o->pipe, fds[0]); /* makes it non-blocking */
	*ret = fds[1];
	if (r == 0)
		return 0;
	close(fds[0]);
	return err_set(e, r, "pipe: %s", uv_strerror(r));
}

static int start(struct ipam_call *c, const char *folders, const int fds[3], struct err *e)
{
	const char *writable[IPAM_WRITE_MAX + 2] = {NULL};
	const struct plugin_sandbox sandbox = {
		.name = c->needs.type,
		.folders = folders,
		.env = c->env,
		.fds = fds,
		.host_network = c->needs.host_network,
		.unix_sockets = c->needs.unix_sockets,
		.capabilities = c->needs.capabilities,
		.writable = writable,
		.hidden = c->hidden,
	};
	int error;

	for (unsigned i = 0; i < c->needs.n_write; i++)
		writable[i] = c->needs.write[i];
	error = plugin_sandbox_start(&c->process, &sandbox, e);
	if (error < 0)
		return error;
	c->started = true;
	c->open_handles++;
	uv_poll_init(c->loop, &c->end, c->process.pid_fd);
	return uv_poll_start(&c->end, UV_READABLE, on_ended);
}

/* Starts the plugin, and the reading of its outputs. in_fd: the plugin's standard input. */
static int run(struct ipam_call *c, const char *folders, int in_fd, struct err *e)
{
	AUTO_FD out_fd = -1;
	AUTO_FD err_fd = -1;
	int error = output_open(&c->out, &out_fd, e);

	if (error == 0)
		error = output_open(&c->err, &err_fd, e);
	if (error < 0)
		return error;
	error = start(c, folders, (const int[]){in_fd, out_fd, err_fd}, e);
	if (error < 0)
		return err_wrap(e, "%s", c->needs.type);
	uv_read_start((uv_stream_t *)&c->out.pipe, on_room, on_output);
	uv_read_start((uv_stream_t *)&c->err.pipe, on_room, on_output);
	timer_in(&c->timer, c->timeout_ms);
	return 0;
}

static struct ipam_call *call_new(struct uv_loop_s *loop)
{
	struct ipam_call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->out.text = c->answer;
	c->out.max = sizeof(c->answer);
	c->err.text = c->err_text;
	c->err.max = sizeof(c->err_text);
	timer_init(&c->timer, loop, ipam_on_timer, c);
	uv_pipe_init(loop, &c->out.pipe, 0);
	uv_pipe_init(loop, &c->err.pipe, 0);
	c->loop = loop;
	c->out.pipe.data = c->err.pipe.data = c->end.data = c;
	c->open_handles = 3;
	return c;
}

int ipam_start(struct ipam_call **ret, struct uv_loop_s *loop, enum ipam_verb verb,
	       const struct attach_record *r, const struct json_t *more,
	       const struct ipam_host *host, uint32_t timeout_ms, ipam_fn *fn, void *arg,
	       struct err *e)
{
	struct ipam_needs needs;
	struct ipam_call *c;
	AUTO_FD in_fd = -1;
	int error = ipam_needs_of(r, &needs, e);

	if (error == 0)
		error = in_fd = config_fd(r, verb, more, e);
	if (error < 0)
		return error;
	c = call_new(loop);
	if (!c)
		return err_set(e, -ENOMEM, "out of memory");
	c->needs = needs;
	c->hidden = host->hidden;
	c->timeout_ms = timeout_ms;
	error = env_make(c->env, verb, r, host->path);
	if (error < 0)
		err_set(e, error, "out of memory");
	else
		error = run(c, host->path, in_fd, e);
	if (error < 0) {
		ipam_close_all(c);
		return error;
	}
	c->fn = fn;
	c->arg = arg;
	*ret = c;
	return 0;
}

void ipam_cancel(struct ipam_call *c)
{
	if (!c || !c->fn)
		return;
	c->fn = NULL;
	plugin_sandbox_kill(&c->process);
	if (c->exited)
		ipam_close_all(c);
}
