// SPDX-License-Identifier: Apache-2.0
/* http_wiring.c - see http_wiring.h.
 *
 * A guarded port is not opened until its guards are valid: it never falls back to plain text, or to
 * access without a password. Later, the last valid guards stay in use. */
#include "http_wiring.h"

#include "access.h"
#include "cni_limits.h"
#include "config_file.h"
#include "config_watch.h"
#include "daemon.h"
#include "http.h"
#include "listen.h"
#include "log.h"
#include "memory.h"
#include "tls.h"
#include "unix_time.h"

#define PORT_RETRY_MS 1000

/* These paths are open, because the kubelet has no token and no password. */
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

static const char *guard_name(int i)
{
	static const char *const names[N_GUARD_FILES] = {
		[GUARD_CERT] = "tls-cert",
		[GUARD_KEY] = "tls-key",
		[GUARD_TOKENS] = "auth-token-file",
		[GUARD_USERS] = "basic-auth-file",
	};

	return names[i];
}

const char *http_guard_option(const struct options *o, const char *sentence)
{
	for (int i = 0; i < N_GUARD_FILES; i++)
		if (guard_path(o, i)[0] && strstr(sentence, guard_path(o, i)))
			return guard_name(i);
	return NULL;
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
			    guard_name(o->tls_cert[0] ? GUARD_CERT : GUARD_KEY),
			    guard_name(o->tls_cert[0] ? GUARD_KEY : GUARD_CERT));
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
	bool authenticates = o->auth_token_file[0] || o->basic_auth_file[0];

	return o->tls_cert[0]  ? authenticates ? ", TLS, authenticated clients only" : ", TLS"
	       : authenticates ? ", authenticated clients only"
			       : "";
}

/* Opens the listener, and retries later if that fails: another process may be using the port. */
static void serve_tcp(void *arg)
{
	struct daemon *d = arg;
	struct http_wiring *w = &d->http_wiring;
	struct err e = {0};
	unsigned port = 0;
	int r = http_listen_tcp(d->http, d->options->listen, &port, &e);
	bool logged = strcmp(e.msg, w->port_err.msg) == 0;

	w->port_err = e;
	w->serves = r == 0;
	if (r == 0)
		log_info("http", 0, "serving on %s, port %u%s", d->options->listen, port,
			 guards_text(d->options));
	else
		timer_in(&w->again, PORT_RETRY_MS);
	if (r < 0 && !logged)
		log_error("http", 0, "%s; retrying every second", e.msg);
}

/* Loads the guards, and opens the port if they are valid. A failure is logged once for each state
 * of the files. */
static void load_guards(struct daemon *d)
{
	struct http_wiring *w = &d->http_wiring;
	struct err e = {0};
	uint64_t digest;
	int r = http_guard_load(d->options, d->http, &digest, &e);
	const char *option = http_guard_option(d->options, e.msg);
	bool logged;

	if (r < 0 && option)
		err_wrap(&e, "%s", option);
	logged = digest == w->digest && strcmp(e.msg, w->err.msg) == 0;
	w->digest = digest;
	w->err = e;
	if (r == 0 && d->options->tls_cert[0] && tls_expires_s() * 1000 <= unix_ms())
		log_warn("http", 0, "%s: the certificate has expired, but is still in use",
			 d->options->tls_cert);
	if (r == 0 && !w->serves)
		serve_tcp(d);
	else if (r == 0 && !logged)
		log_info("http", 0, "certificate, tokens and passwords were reloaded");
	if (r < 0 && !logged)
		log_error("http", 0, "%s, %s", w->err.msg,
			  w->serves || w->port_err.code
				  ? "keeping the previous ones"
				  : "serving nothing over TCP until it is corrected");
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
			r = config_watch_open(&d->http_wiring.watches[i], &d->loop,
					      guard_path(d->options, i), on_guard_changed, d, e);
	return r;
}

/* True if the port would be open to all clients, because its guards are defined in a configuration
 * file that was rejected. Guards given as flags are known. */
static bool is_unguarded(const struct daemon *d)
{
	const struct launch *l = d->launch;

	return l->observes && !(options_has_flag("listen", l->argc, l->argv) &&
				(d->options->auth_token_file[0] || d->options->basic_auth_file[0]));
}

/* Watches and loads the guards, in this order, so that a change after the read is detected. */
static int serve_guarded(struct daemon *d, struct err *e)
{
	int r = watch_guards(d, e);

	if (r == 0)
		load_guards(d);
	return r;
}

/* Restores the socket file if it was deleted. If the folder was deleted, another process could lock
 * the new one, so it is locked again. */
static void http_serve_socket(void *arg)
{
	struct daemon *d = arg;
	struct http_wiring *w = &d->http_wiring;
	const char *folder = d->options->run_dir;
	struct err e = {0};
	int r = loop_lock_run_folder(d, &e);

	if (d->options->rescan_interval_ms > 0)
		timer_in(&w->check_socket, d->options->rescan_interval_ms);
	if (r != -EALREADY)
		r = sockets_serve(d->http, folder, &e);
	if (r == 0 && w->had_socket)
		log_warn("http", 0, "%s/rocelet.sock was deleted, creating it again", folder);
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
		.kept_ms = CNI_ADD_KEEP_MS,
		.large_path = ROUTES_CNI_PATH,
	};
	int r;

	timer_init(&d->http_wiring.again, &d->loop, serve_tcp, d);
	timer_init(&d->http_wiring.check_socket, &d->loop, http_serve_socket, d);
	r = http_open(&d->http, &d->loop, &opts, &d->self, routes_answer, &d->routes, e);

	if (r < 0)
		return r;
	d->routes.guard_error = &d->http_wiring.err;
	d->routes.tls_expires_s = tls_expires_s;
	d->routes.port_error = &d->http_wiring.port_err;
	d->routes.socket_error = &d->http_wiring.socket_err;
	d->routes.serves_tcp = *d->options->listen ? &d->http_wiring.serves : NULL;
	if (is_unguarded(d))
		http_close_paths(
			d->http,
			"the configuration file was rejected, and with it the access rules of "
			"this port; /readyz has the reason\n",
			open_paths);
	if (*d->options->listen != '\0' && has_guards(d->options))
		r = serve_guarded(d, e);
	else if (*d->options->listen != '\0')
		serve_tcp(d);
	if (r < 0)
		return r;
	http_serve_socket(d);
	sockets_serve_metrics(d->http, d->options->kubelet_dir, &d->http_wiring.metrics_err);
	return 0;
}

void http_stop(struct daemon *d)
{
	timer_close(&d->http_wiring.again, NULL);
	timer_close(&d->http_wiring.check_socket, NULL);
	for (int i = 0; i < N_GUARD_FILES; i++)
		config_watch_close(d->http_wiring.watches[i]);
	if (d->http)
		http_close(d->http, NULL, NULL);
}
