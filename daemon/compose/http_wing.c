/* http_wing.c - see http_wing.h.
 *
 * A port that is to be guarded is not opened before its guards are right: plain text, or without a
 * password, is never what happens instead. Later what was right last stays in use. */
#include "http_wing.h"

#include "access.h"
#include "config_file.h"
#include "config_watch.h"
#include "daemon.h"
#include "http.h"
#include "listen.h"
#include "log.h"
#include "memory.h"
#include "sockets.h"
#include "tls.h"
#include "unix_time.h"

#define PORT_RETRY_MS 1000

/* The kubelet has neither token nor password. */
static const char *const open_paths[] = {"/healthz", "/readyz", NULL};

static const char *guard_path(const struct options *o, int i)
{
	switch (i) {
	case GUARD_CERT:
		return o->tls_cert;
	case GUARD_KEY:
		return o->tls_key;
	case GUARD_TOKENS:
		return o->auth_token_file;
	}
	return o->basic_auth_file;
}

static bool has_guards(const struct options *o)
{
	for (int i = 0; i < N_GUARD_FILES; i++)
		if (guard_path(o, i)[0])
			return true;
	return false;
}

/* --- the files -------------------------------------------------------------------------------- */

static int read_guards(const struct options *o, struct config_file files[N_GUARD_FILES],
		       uint64_t *ret_digest, struct err *e)
{
	int r = 0;

	*ret_digest = 0;
	for (int i = 0; i < N_GUARD_FILES && r == 0; i++) {
		if (!guard_path(o, i)[0])
			continue;
		r = config_file_read(&files[i], guard_path(o, i), e);
		*ret_digest = *ret_digest * 31 + config_file_digest(&files[i]);
	}
	if (r == 0 && !o->tls_cert[0] != !o->tls_key[0])
		r = err_set(e, -EINVAL, "%s is given without %s",
			    o->tls_cert[0] ? "tls-cert" : "tls-key",
			    o->tls_cert[0] ? "tls-key" : "tls-cert");
	return r;
}

static struct tls_pem pem_of(const struct options *o, const struct config_file *files, int i)
{
	return (struct tls_pem){files[i].text, files[i].len, guard_path(o, i)};
}

static struct access_source http_source_of(const struct options *o, const struct config_file *files,
					   int i)
{
	return (struct access_source){files[i].text, files[i].len, guard_path(o, i)};
}

static int use_certificate(const struct options *o, const struct config_file *files,
			   struct http *http, struct err *e)
{
	const struct tls_pem cert = pem_of(o, files, GUARD_CERT), key = pem_of(o, files, GUARD_KEY);
	int r;

	if (!cert.text)
		return 0;
	r = memory_start_tls();
	if (r < 0)
		return err_set(e, r, "TLS: %s", strerror(-r));
	return http ? http_use_tls(http, &cert, &key, e) : tls_check(&cert, &key, e);
}

static int use_guards(const struct options *o, const struct config_file *files, struct http *http,
		      struct err *e)
{
	const struct access_source tokens = http_source_of(o, files, GUARD_TOKENS);
	const struct access_source users = http_source_of(o, files, GUARD_USERS);
	struct access *access = NULL;
	int r = 0;

	if (tokens.text || users.text)
		r = access_new(&access, &tokens, &users, e);
	if (r == 0)
		r = use_certificate(o, files, http, e);
	if (r < 0 || !http)
		access_free(access);
	else
		http_use_access(http, access, open_paths);
	return r;
}

int http_guard_load(const struct options *o, struct http *http, uint64_t *ret_digest, struct err *e)
{
	struct config_file files[N_GUARD_FILES] = {{0}};
	int r = read_guards(o, files, ret_digest, e);

	if (r == 0)
		r = use_guards(o, files, http, e);
	for (int i = 0; i < N_GUARD_FILES; i++) {
		if (files[i].text)
			explicit_bzero(files[i].text, files[i].len);
		config_file_done(&files[i]);
	}
	return r;
}

/* --- the listener ----------------------------------------------------------------------------- */

static const char *guards_text(const struct options *o)
{
	bool asks = o->auth_token_file[0] || o->basic_auth_file[0];

	return o->tls_cert[0] ? asks ? ", TLS, to who is known" : ", TLS"
	       : asks	      ? ", to who is known"
			      : "";
}

/* Another process may have the port for now. */
static void serve_tcp(void *arg)
{
	struct daemon *d = arg;
	struct http_wing *w = &d->http_wing;
	struct err e = {0};
	unsigned port = 0;
	int r = http_listen_tcp(d->http, d->options->listen, &port, &e);
	bool told = strcmp(e.msg, w->port_err.msg) == 0;

	w->port_err = e;
	w->serves = r == 0;
	if (r == 0)
		log_info("http", 0, "serving on %s, port %u%s", d->options->listen, port,
			 guards_text(d->options));
	else
		due_in(&w->again, PORT_RETRY_MS);
	if (r < 0 && !told)
		log_error("http", 0, "%s, trying again each second", e.msg);
}

/* Told once for each state of the files. */
static void load_guards(struct daemon *d)
{
	struct http_wing *w = &d->http_wing;
	struct err e = {0};
	uint64_t digest;
	int r = http_guard_load(d->options, d->http, &digest, &e);
	bool told = digest == w->digest && strcmp(e.msg, w->err.msg) == 0;

	w->digest = digest;
	w->err = e;
	if (r == 0 && d->options->tls_cert[0] && tls_expires_s() * 1000 <= unix_ms())
		log_warn("http", 0, "%s: the certificate has expired, showing it all the same",
			 d->options->tls_cert);
	if (r == 0 && !w->serves)
		serve_tcp(d);
	else if (r == 0 && !told)
		log_info("http", 0, "certificate, tokens and passwords are read anew");
	if (r < 0 && !told)
		log_error("http", 0, "%s, %s", w->err.msg,
			  w->serves || w->port_err.code
				  ? "keeping what was right"
				  : "serving nothing over TCP until it is right");
}

static void on_guard_changed(void *arg)
{
	load_guards(arg);
}

static int watch_guards(struct daemon *d, struct err *e)
{
	int r = 0;

	for (int i = 0; i < N_GUARD_FILES && r == 0; i++)
		if (guard_path(d->options, i)[0])
			r = config_watch_open(&d->http_wing.watches[i], &d->loop,
					      guard_path(d->options, i), on_guard_changed, d, e);
	return r;
}

/* Who is let in stands in a file that cannot be read. A port whose guards are flags has them. */
static bool is_anybodys(const struct daemon *d)
{
	const struct launch *l = d->launch;

	return l->observes && !(options_has_flag("listen", l->argc, l->argv) &&
				(d->options->auth_token_file[0] || d->options->basic_auth_file[0]));
}

/* Watched first: what changes after it was read is a hint. */
static int serve_guarded(struct daemon *d, struct err *e)
{
	int r = watch_guards(d, e);

	if (r == 0)
		load_guards(d);
	return r;
}

static int serve_open(struct daemon *d, struct err *e)
{
	int r = listen_check(d->options->listen, e);

	if (r == 0)
		serve_tcp(d);
	return r;
}

/* Somebody may have deleted it, or the folder, which then is anybody's to lock. */
static void http_serve_socket(void *arg)
{
	struct daemon *d = arg;
	struct http_wing *w = &d->http_wing;
	const char *folder = d->options->run_dir;
	struct err e = {0};
	int r = loop_lock_run_folder(d, &e);

	if (d->options->rescan_interval_ms > 0)
		due_in(&w->look, d->options->rescan_interval_ms);
	if (r != -EALREADY)
		r = sockets_serve(d->http, folder, &e);
	if (r == 0 && w->had_socket)
		log_warn("http", 0, "%s/rocelet.sock was deleted, serving it anew", folder);
	else if (r == 0)
		log_info("http", 0, "serving on %s/rocelet.sock", folder);
	else if (r < 0 && strcmp(e.msg, w->socket_err.msg) != 0)
		log_warn("http", 0, "%s, serving without rocelet.sock", e.msg);
	w->had_socket |= r >= 0;
	w->socket_err = r < 0 ? e : (struct err){0};
}

int http_start(struct daemon *d, struct err *e)
{
	const struct http_opts opts = {
		.max_connections = d->options->max_connections,
		.request_ms = d->options->request_timeout_ms,
	};
	int r;

	due_init(&d->http_wing.again, &d->loop, serve_tcp, d);
	due_init(&d->http_wing.look, &d->loop, http_serve_socket, d);
	r = http_open(&d->http, &d->loop, &opts, &d->self, routes_answer, &d->routes, e);

	if (r < 0)
		return r;
	d->routes.guard_error = &d->http_wing.err;
	d->routes.tls_expires_s = tls_expires_s;
	d->routes.port_error = &d->http_wing.port_err;
	if (is_anybodys(d))
		http_close_paths(
			d->http,
			"the configuration file is refused, and with it who may read this; "
			"/readyz says why\n",
			open_paths);
	if (*d->options->listen != '\0')
		r = has_guards(d->options) ? serve_guarded(d, e) : serve_open(d, e);
	if (r < 0)
		return r;
	http_serve_socket(d);
	sockets_serve_metrics(d->http, d->options->kubelet_dir);
	return 0;
}

void http_stop(struct daemon *d)
{
	due_close(&d->http_wing.again, NULL);
	due_close(&d->http_wing.look, NULL);
	for (int i = 0; i < N_GUARD_FILES; i++)
		config_watch_close(d->http_wing.watches[i]);
	if (d->http)
		http_close(d->http, NULL, NULL);
}
