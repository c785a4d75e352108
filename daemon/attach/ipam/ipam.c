/* ipam.c - runs an IPAM plugin. See ipam.h.
 *
 * Happy path: the configuration is written into a pipe that has room for it, the plugin is started
 * in a cage, its output is gathered; everything in the cage has ended, and with it both outputs.
 * Can fail by: no plugin, no cage; the plugin failing, hanging, saying too much (killed), or not
 * dying when it is killed (not waited for). */
#include "ipam.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "cage.h"
#include "cleanup.h"
#include "due.h"

/* What is killed is dead by then, unless the kernel holds it in a call. */
#define LEFTOVER_MS  200
/* Of standard error, for the message. */
#define SAID_MAX     256
#define PROGRAM_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* One output of the plugin. */
struct output {
	uv_pipe_t pipe;
	char *text; /* room for max bytes */
	size_t n, max;
	bool ended;
};

enum { N_ENV = 8 };

struct ipam_call {
	uv_poll_t end;	/* of the cage */
	struct due due; /* its answer; once it is killed, its end */
	struct output out, err;
	struct uv_loop_s *loop;
	struct ipam_needs needs;
	const char *const *hidden;
	struct caged caged;
	bool started, exited; /* the cage is there; it has ended */
	int exit_status;      /* as for ipam_parse_error() */
	struct err failure;   /* why it was killed; code 0 = it was not */
	uint32_t timeout_ms;
	ipam_fn *fn; /* NULL: told, or cancelled */
	void *arg;
	unsigned open_handles;
	char *env[N_ENV]; /* NULL ends it */
	char said[SAID_MAX], answer[IPAM_ANSWER_MAX];
};

/* --- its end ---------------------------------------------------------------------------------- */

static void release(struct ipam_call *c)
{
	if (--c->open_handles > 0)
		return;
	for (size_t i = 0; i < N_ENV; i++)
		free(c->env[i]);
	if (c->started) {
		close(c->caged.life_fd);
		close(c->caged.pid_fd);
	}
	free(c);
}

static void ipam_on_due_closed(void *arg)
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

/* Once the cage has ended: one that is not waited for would stay a zombie. */
static void ipam_close_all(struct ipam_call *c)
{
	if (!uv_is_closing((uv_handle_t *)&c->due.timer))
		due_close(&c->due, ipam_on_due_closed);
	close_handle((uv_handle_t *)&c->out.pipe);
	close_handle((uv_handle_t *)&c->err.pipe);
	if (c->started)
		close_handle((uv_handle_t *)&c->end);
}

static void ipam_judge(struct ipam_call *c, struct err *e)
{
	*e = c->failure;
	if (e->code == 0 && c->exit_status != 0) {
		bool silent = c->out.n == 0;

		ipam_parse_error(silent ? c->said : c->out.text, silent ? c->err.n : c->out.n,
				 c->exit_status, e);
	}
	if (e->code != 0)
		err_wrap(e, "%s", c->needs.type);
}

static void ipam_tell(struct ipam_call *c)
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
	ipam_tell(c);
	ipam_close_all(c);
}

static void ipam_give_up(struct ipam_call *c, int code, const char *why)
{
	if (c->failure.code != 0)
		return;
	err_set(&c->failure, code, "%s", why);
	cage_kill(&c->caged);
	due_in(&c->due, LEFTOVER_MS);
}

static void ipam_on_due(void *arg)
{
	struct ipam_call *c = arg;
	char why[64];

	if (c->failure.code != 0) { /* it cannot be killed (yet) */
		ipam_tell(c);
		finish_if_done(c);
		return;
	}
	snprintf(why, sizeof(why), "no answer within %u ms", c->timeout_ms);
	ipam_give_up(c, -ETIMEDOUT, why);
}

static void on_ended(uv_poll_t *end, int status, int events)
{
	struct ipam_call *c = end->data;

	(void)status, (void)events;
	if (cage_status(&c->caged, &c->exit_status) == -EAGAIN)
		return;
	c->exited = true;
	uv_poll_stop(end);
	finish_if_done(c);
}

/* --- its output ------------------------------------------------------------------------------- */

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
		ipam_give_up(c, -EMSGSIZE, "its answer is longer than 64 KiB");
	}
}

/* --- its start -------------------------------------------------------------------------------- */

static int find_plugin(const char *type, const char *path, char *ret, size_t size, struct err *e)
{
	for (const char *at = path; *at;) {
		size_t n = strcspn(at, ":");
		struct stat st;

		snprintf(ret, size, "%.*s/%s", (int)n, at, type);
		if (*ret == '/' && n > 0 && stat(ret, &st) == 0 && S_ISREG(st.st_mode) &&
		    access(ret, X_OK) == 0)
			return 0;
		at += n + (at[n] == ':');
	}
	return err_set(e, -ENOENT, "no IPAM plugin \"%s\" in %s", type, path);
}

/* An attachment by hand has no sandbox; its device has one attachment at a time. */
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
	const struct attach_owner *o = &r->owner;

	env[0] = strdup(verb == IPAM_ADD ? "CNI_COMMAND=ADD" : "CNI_COMMAND=DEL");
	env[1] = strdup(PROGRAM_PATH);
	if (!env[0] || !env[1] || container_id(&env[2], r) < 0 ||
	    asprintf(&env[3], "CNI_NETNS=%s", o->netns.path) < 0 ||
	    asprintf(&env[4], "CNI_IFNAME=%s", r->plan.ifname) < 0 ||
	    asprintf(&env[5], "CNI_PATH=%s", path) < 0 ||
	    asprintf(&env[6],
		     "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=%s;K8S_POD_NAME=%s;"
		     "K8S_POD_INFRA_CONTAINER_ID=%s;K8S_POD_UID=%s",
		     o->namespace, o->pod, o->sandbox, o->uid) < 0)
		return -ENOMEM;
	return 0;
}

/* The plugin's standard input, to read all of the configuration from. */
static int config_fd(const struct attach_record *r, struct err *e)
{
	AUTO_FREE char *text = ipam_config(r);
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
	n = write(fds[1], text, len); /* at most PIPE_BUF into an empty pipe: all or nothing */
	close(fds[1]);
	if (n == (ssize_t)len)
		return fds[0];
	close(fds[0]);
	return err_set(e, -EIO, "the configuration could not be passed on");
}

/* Our end becomes the output's; *ret is the plugin's. */
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

static int start(struct ipam_call *c, const char *program, const int fds[3], struct err *e)
{
	const char *writable[IPAM_WRITE_MAX + 2] = {NULL};
	const struct cage cage = {
		.program = program,
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
	error = cage_start(&c->caged, &cage, e);
	if (error < 0)
		return error;
	c->started = true;
	c->open_handles++;
	uv_poll_init(c->loop, &c->end, c->caged.pid_fd);
	return uv_poll_start(&c->end, UV_READABLE, on_ended);
}

static int run(struct ipam_call *c, const char *program, const struct attach_record *r,
	       struct err *e)
{
	AUTO_FD in_fd = config_fd(r, e);
	AUTO_FD out_fd = -1;
	AUTO_FD err_fd = -1;
	int error = in_fd < 0 ? in_fd : output_open(&c->out, &out_fd, e);

	if (error == 0)
		error = output_open(&c->err, &err_fd, e);
	if (error < 0)
		return error;
	error = start(c, program, (const int[]){in_fd, out_fd, err_fd}, e);
	if (error < 0)
		return err_wrap(e, "%s", program);
	uv_read_start((uv_stream_t *)&c->out.pipe, on_room, on_output);
	uv_read_start((uv_stream_t *)&c->err.pipe, on_room, on_output);
	due_in(&c->due, c->timeout_ms);
	return 0;
}

static struct ipam_call *call_new(struct uv_loop_s *loop)
{
	struct ipam_call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->out.text = c->answer;
	c->out.max = sizeof(c->answer);
	c->err.text = c->said;
	c->err.max = sizeof(c->said);
	due_init(&c->due, loop, ipam_on_due, c);
	uv_pipe_init(loop, &c->out.pipe, 0);
	uv_pipe_init(loop, &c->err.pipe, 0);
	c->loop = loop;
	c->out.pipe.data = c->err.pipe.data = c->end.data = c;
	c->open_handles = 3;
	return c;
}

int ipam_start(struct ipam_call **ret, struct uv_loop_s *loop, enum ipam_verb verb,
	       const struct attach_record *r, const struct ipam_host *host, uint32_t timeout_ms,
	       ipam_fn *fn, void *arg, struct err *e)
{
	struct ipam_needs needs;
	char program[4096];
	struct ipam_call *c;
	int error = ipam_needs_of(r, &needs, e);

	if (error == 0)
		error = find_plugin(needs.type, host->path, program, sizeof(program), e);
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
		error = run(c, program, r, e);
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
	cage_kill(&c->caged);
	if (c->exited)
		ipam_close_all(c);
}
