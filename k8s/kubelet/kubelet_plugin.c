// SPDX-License-Identifier: Apache-2.0
/* kubelet_plugin.c - executes the steps of the registration, and sends the lists.
 *
 * Steps: first list -> create our socket -> Register -> the kubelet opens its watch. After a
 * failure (missing folder, a socket served by another process, a kubelet that is down, does not
 * answer or returns an error), the registration is retried after a pause. */
#include "kubelet_plugin.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "array.h"
#include "back_off.h"
#include "cleanup.h"
#include "fnv.h"
#include "list_watch.h"
#include "log.h"
#include "plugin_service.h"
#include "plugin_wire.h"
#include "search.h"
#include "uds.h"

#define REGISTER_TIMEOUT_MS 10000
#define LEAVE_MS	    1000
#define NO_MEMORY_MS	    1000
#define NEWS_MS		    2000
/* A watcher that does not read is checked again after 10 ms, 20 ms, ... 1 s. */
#define RECHECK_MIN_MS	    10
#define RECHECK_MAX_MS	    1000
#define SOCKET_MODE	    0600
#define CONNECTIONS_MAX	    16
/* The end of a shortened name. */
#define HASHED		    "-0123456789abcdef.sock"

static uint64_t now_of(const struct kubelet_plugin *p)
{
	return uv_now(p->place->loop);
}

static void kubelet_plugin_on_timer(void *arg)
{
	plugin_run(arg);
}

/* Runs plugin_run() soon, from the loop. May be called anywhere. */
static void kick(struct kubelet_plugin *p)
{
	p->kicked = true;
	timer_in(&p->timer, 0);
}

/* --- events of the service ------------------------------------------------------------------- */

static void on_watchers(unsigned n, void *arg)
{
	struct kubelet_plugin *p = arg;

	registration_watched(&p->registration, n, now_of(p));
	kick(p);
}

static void kubelet_plugin_on_asked(void *arg)
{
	struct kubelet_plugin *p = arg;

	p->place->asked = true;
	registration_asked(&p->registration, now_of(p));
	kick(p);
}

static void on_notified(bool registered, const char *why, void *arg)
{
	struct kubelet_plugin *p = arg;

	registration_notified(&p->registration, registered, why, now_of(p));
	kick(p);
}

static void on_late_answer(void *arg)
{
	kick(arg);
}

/* --- log ------------------------------------------------------------------------------------- */

/* Logs once that no kubelet answers. */
static void log_not_registered(struct kubelet_plugin *p, const char *why)
{
	if (!p->place->absence_logged)
		log_info("kubelet", 0, "no kubelet answers (%s), waiting for it", why);
	p->place->absence_logged = true;
}

/* Logs that our socket was deleted, only if the registration worked until then: a starting kubelet
 * also deletes sockets, but its watch has ended before. */
static void log_deleted(struct kubelet_plugin *p)
{
	if (p->logged_works)
		log_info("kubelet", 0, "%s: %s was deleted, registering again", p->resource,
			 p->path);
	p->logged_works = false;
}

/* Logs each reason of a failure once, even if several reasons alternate. A short failure is
 * ignored, because a restarting kubelet drops calls. */
static void log_plugin_error(struct kubelet_plugin *p)
{
	uint64_t hash = fnv1a(FNV1A_START, p->registration.error, strlen(p->registration.error));

	if (!p->registration.refused && now_of(p) - p->registration.failing_ms < NEWS_MS)
		return;
	for (size_t i = 0; i < p->n_logged_errors && i < ARRAY_SIZE(p->logged_errors); i++)
		if (p->logged_errors[i] == hash)
			return;
	p->logged_errors[p->n_logged_errors++ % ARRAY_SIZE(p->logged_errors)] = hash;
	log_warn("kubelet", 0, "%s: %s, retrying", p->resource, p->registration.error);
}

static void log_change(struct kubelet_plugin *p, bool works)
{
	if (works)
		log_info("kubelet", 0, "%s: registered%s, the kubelet watches its list",
			 p->resource, p->logged_worked ? " again" : "");
	else
		log_info("kubelet", 0, "%s: the kubelet has stopped watching its list, %s",
			 p->resource, p->place->registry ? "waiting for it" : "registering again");
	p->logged_works = works;
	p->logged_worked |= works;
}

static void log_situation(struct kubelet_plugin *p)
{
	bool works = registration_works(&p->registration);

	if (p->registration.error[0] != '\0')
		log_plugin_error(p);
	if (works != p->logged_works)
		log_change(p, works);
	if (works) {
		p->n_logged_errors = 0;
		p->place->absence_logged = false;
	}
}

/* --- our socket ------------------------------------------------------------------------------ */

static void close_server(struct kubelet_plugin *p)
{
	uds_server_close(p->server);
	p->server = NULL;
}

/* Returns 0 if a process serves the socket; -ECONNREFUSED: the process that served it has exited.
 */
static int try_socket(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	memcpy(sa.sun_path, path, strlen(path) + 1);
	return connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 || errno == EAGAIN ? 0 : -errno;
}

/* True if another process serves our path, for example our successor after an update. */
static bool kubelet_plugin_is_taken(const struct kubelet_plugin *p)
{
	return p->has_served && !(p->server && uds_server_owns_path(p->server)) &&
	       try_socket(p->path) == 0;
}

/* Removes the socket of a predecessor that was registered in the other way, and was killed or
 * handed over. Only called when we leave: if the socket in plugins_registry/ is removed earlier,
 * the kubelet drops the resource, even if another process serves it by then
 * (pkg/kubelet/pluginmanager/reconciler, devicemanager's DeRegisterPlugin). */
static void remove_left_over(const struct kubelet_plugin *p)
{
	AUTO_FREE char *path = NULL;
	struct stat st;

	if (p->handed_over || !p->place->other_folder)
		return;
	if (asprintf(&path, "%s/%s", p->place->other_folder, p->name) < 0) {
		path = NULL;
		return;
	}
	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && try_socket(path) == -ECONNREFUSED)
		unlink(path);
}

static const struct uds_server_opts server_opts = {
	.limits = {.max_message = 4u << 20, .max_calls = 100},
	.max_connections = CONNECTIONS_MAX,
	.mode = SOCKET_MODE,
};

static int open_server(struct kubelet_plugin *p, struct err *e)
{
	struct grpc_service service = plugin_service_grpc(p->service);

	if (kubelet_plugin_is_taken(p))
		return err_set(e, -EADDRINUSE, "another process serves %s", p->path);
	close_server(p);
	return uds_server_open(&p->server, p->place->loop, p->path, &server_opts, &service, e);
}

/* --- a predecessor's socket ------------------------------------------------------------------- */

static void drop_socket(struct kubelet_sockets *sockets, struct kubelet_socket *b)
{
	*b = sockets->items[--sockets->n];
}

void kubelet_socket_close(struct kubelet_sockets *sockets, struct kubelet_socket *b)
{
	uds_sockets_close(&b->sockets, b->path);
	drop_socket(sockets, b);
}

static struct kubelet_socket *received_socket_of(struct kubelet_plugin *p)
{
	struct kubelet_sockets *sockets = &p->place->received;

	return find_first(sockets->items, sockets->n, i,
			  strcmp(sockets->items[i].resource, p->resource) == 0);
}

/* True if the socket can be adopted. It must have the same options, because the kubelet reads them
 * only once. */
static bool is_fit(const struct kubelet_plugin *p, const struct kubelet_socket *b)
{
	return strcmp(b->path, p->path) == 0 && b->has_pre_start == p->has_pre_start &&
	       b->has_preferred == p->has_preferred;
}

/* Adopts a predecessor's socket: the kubelet watches the list already. */
static bool adopt_server(struct kubelet_plugin *p)
{
	struct grpc_service service = plugin_service_grpc(p->service);
	struct kubelet_socket *b = received_socket_of(p);
	struct err e = {0};
	int r;

	if (!b)
		return false;
	if (!is_fit(p, b)) {
		log_info("kubelet", 0,
			 "%s: the predecessor served it with other options, registering again",
			 p->resource);
		/* A file in the other folder is kept: see remove_left_over(). */
		if (strcmp(b->path, p->path) == 0)
			uds_sockets_close(&b->sockets, b->path);
		else
			uds_sockets_done(&b->sockets);
		drop_socket(&p->place->received, b);
		return false;
	}
	r = uds_server_adopt(&p->server, p->place->loop, p->path, &server_opts, &service,
			     &b->sockets, &e);
	drop_socket(&p->place->received, b);
	if (r < 0) {
		log_info("kubelet", 0, "%s: %s, registering again", p->resource, e.msg);
		return false;
	}
	p->called = p->place->kubelet_id;
	registration_inherited(&p->registration, now_of(p));
	return true;
}

static void kubelet_plugin_serve_socket(struct kubelet_plugin *p)
{
	struct err e = {0};

	if (adopt_server(p)) {
		p->has_served = true;
		return;
	}
	if (open_server(p, &e) < 0) {
		registration_not_serving(&p->registration, e.msg, now_of(p));
		return;
	}
	p->has_served = true;
	registration_serving(&p->registration, true, now_of(p));
}

/* --- the folder ------------------------------------------------------------------------------- */

/* Sets the socket's path, once the kubelet has a folder. */
static int find_place(struct kubelet_plugin *p)
{
	char *path;

	if (p->path)
		return 0;
	if (!p->place->folder)
		return -ENOENT;
	if (asprintf(&path, "%s/%s", p->place->folder, p->name) < 0)
		return -ENOMEM;
	p->path = path;
	if (p->place->registry) {
		plugin_service_join_registry(p->service);
		registration_join_registry(&p->registration);
	}
	return 0;
}

void kubelet_place_leave_registry(struct kubelet_place *place)
{
	const char *registry = place->folder;

	place->folder = place->other_folder;
	place->other_folder = registry;
	place->registry = false;
	place->left_registry = true;
}

/* Follows a switch to legacy. Closes the socket in the registry first: a kubelet that reads the
 * folder later must not find it. */
static void follow_place(struct kubelet_plugin *p)
{
	if (!p->registration.registry || p->place->registry)
		return;
	close_server(p);
	plugin_service_leave_registry(p->service);
	registration_leave_registry(&p->registration, now_of(p));
	p->has_served = false;
	free(p->path);
	p->path = NULL;
}

/* Handles a kubelet that has not found our socket. A kubelet that uses the registry checks it for
 * new sockets every second (pkg/kubelet/pluginmanager), so one that listens but did not find ours
 * ignores the registry. If no kubelet listens, wait for one. */
static void on_unseen(struct kubelet_plugin *p)
{
	struct kubelet_place *place = p->place;

	if (place->registry && place->may_leave_registry && !place->asked &&
	    try_socket(place->kubelet_sock) == 0) {
		log_warn("kubelet", 0,
			 "the kubelet does not scan %s for resources, registering them in %s",
			 place->folder, place->other_folder);
		kubelet_place_leave_registry(place);
	}
	if (place->registry)
		kubelet_plugin_serve_socket(p);
	else
		follow_place(p);
}

/* --- Register -------------------------------------------------------------------------------- */

static enum registration_answer answer_of(const struct grpc_call *call, enum grpc_status status)
{
	if (status == GRPC_OK)
		return REGISTRATION_OK;
	if (status == GRPC_UNAVAILABLE && !call)
		return REGISTRATION_NO_LISTENER;
	if (status == GRPC_UNAVAILABLE || status == GRPC_DEADLINE_EXCEEDED ||
	    status == GRPC_CANCELLED)
		return REGISTRATION_NO_REPLY;
	return REGISTRATION_REFUSED;
}

static void on_registered(struct grpc_call *call, enum grpc_status status, const char *text,
			  void *arg)
{
	struct kubelet_plugin *p = arg;
	enum registration_answer a = answer_of(call, status);
	char why[sizeof(p->registration.error)];

	if (p->leaving)
		return;
	if (status == GRPC_DEADLINE_EXCEEDED)
		snprintf(why, sizeof(why), "the kubelet has not answered Register for %d s",
			 REGISTER_TIMEOUT_MS / 1000);
	else
		snprintf(why, sizeof(why), "the kubelet answers Register with %s: %s",
			 grpc_status_name(status), text ? text : "");
	if (a == REGISTRATION_NO_LISTENER)
		log_not_registered(p, text ? text : p->place->kubelet_sock);
	registration_answered(&p->registration, p->client_attempt, a, why, now_of(p));
	kick(p);
}

static void close_client(struct kubelet_plugin *p)
{
	uds_client_close(p->client);
	p->client = NULL;
}

/* Calls Register. Each attempt has a new connection, because an older one may be to the previous
 * kubelet. */
static int start_register(struct kubelet_plugin *p, struct err *e)
{
	struct grpc_reply reply = {.end = on_registered, .arg = p};
	AUTO_FREE uint8_t *bytes = NULL;
	size_t len = 0;
	int r;

	close_client(p);
	p->called = file_id_of_socket(p->place->kubelet_sock);
	p->client_attempt = registration_attempt(&p->registration);
	r = wire_register_request(&bytes, &len, p->name, p->resource, p->has_pre_start,
				  p->has_preferred);
	if (r < 0)
		return err_set(e, r, "out of memory");
	r = uds_client_open(&p->client, p->place->loop, p->place->kubelet_sock, NULL, e);
	if (r < 0)
		return r;
	r = uds_client_call(p->client, "/v1beta1.Registration/Register", bytes, len,
			    REGISTER_TIMEOUT_MS, &reply, NULL);
	return r < 0 ? err_set(e, r, "calling the kubelet: %s", strerror(-r)) : 0;
}

static void call_register(struct kubelet_plugin *p)
{
	struct err e = {0};

	if (start_register(p, &e) < 0)
		registration_answered(&p->registration, p->client_attempt, REGISTRATION_NO_REPLY,
				      e.msg, now_of(p));
}

/* Notifies the owner if the status has changed. */
static void show_status(struct kubelet_plugin *p)
{
	struct plugin_status now;

	plugin_status(p, &now);
	if (now.state == p->status.state && now.registrations == p->status.registrations &&
	    now.failures == p->status.failures && now.lists == p->status.lists &&
	    now.watchers == p->status.watchers && now.left_registry == p->status.left_registry &&
	    strcmp(now.error, p->status.error) == 0)
		return;
	p->status = now;
	if (p->place->hooks->status_changed)
		p->place->hooks->status_changed(p->place->hooks->arg);
}

/* --- due work -------------------------------------------------------------------------------- */

/* Checks whether our socket was deleted. The events of the folder may be late, and a kubelet that
 * gets our call connects to this socket. */
static void check_own_socket(struct kubelet_plugin *p)
{
	if (!p->registration.serving || !p->server || uds_server_owns_path(p->server))
		return;
	log_deleted(p);
	p->place->swept = true;
	registration_serving(&p->registration, false, now_of(p));
}

/* Executes all steps that are due. Returns the time of the next one. */
static uint64_t take_steps(struct kubelet_plugin *p)
{
	uint64_t wake_ms = TIMER_NEVER;
	enum registration_step step;
	int r;

	follow_place(p);
	r = find_place(p);
	if (r < 0)
		return r == -ENOENT ? TIMER_NEVER : now_of(p) + NO_MEMORY_MS;
	check_own_socket(p);
	while ((step = registration_next(&p->registration, now_of(p), &wake_ms)) !=
	       REGISTRATION_WAIT) {
		if (step == REGISTRATION_SERVE)
			kubelet_plugin_serve_socket(p);
		else if (step == REGISTRATION_CALL)
			call_register(p);
		else
			on_unseen(p);
		if (!p->path && find_place(p) < 0)
			return now_of(p) + NO_MEMORY_MS;
	}
	if (p->client && !p->registration.calling)
		close_client(p);
	return wake_ms;
}

/* Sends the list; returns when to check again for watchers that have not read their previous list.
 */
static uint64_t send_lists(struct kubelet_plugin *p)
{
	unsigned behind = list_watch_send(plugin_service_lists(p->service));

	if (p->server)
		uds_server_flush(p->server);
	if (behind == 0) {
		p->recheck_ms = 0;
		return TIMER_NEVER;
	}
	return now_of(p) + back_off(&p->recheck_ms, RECHECK_MIN_MS, RECHECK_MAX_MS);
}

static void plugin_free(void *arg)
{
	struct kubelet_plugin *p = arg;
	void (*gone)(void *) = p->gone;
	void *gone_arg = p->gone_arg;

	plugin_service_free(p->service);
	free(p->name);
	free(p->path);
	free(p);
	gone(gone_arg);
}

static void end_plugin(struct kubelet_plugin *p)
{
	close_client(p);
	close_server(p);
	timer_close(&p->timer, plugin_free);
}

static void sleep_until(struct kubelet_plugin *p, uint64_t wake_ms)
{
	if (!p->kicked) /* by the steps just taken */
		timer_at(&p->timer, wake_ms);
}

static void run_leaving(struct kubelet_plugin *p)
{
	uint64_t wake_ms = send_lists(p);

	if (wake_ms == TIMER_NEVER || now_of(p) >= p->leave_ms) {
		remove_left_over(p);
		end_plugin(p);
	} else {
		sleep_until(p, wake_ms < p->leave_ms ? wake_ms : p->leave_ms);
	}
}

void plugin_run(struct kubelet_plugin *p)
{
	uint64_t wake_ms, recheck_ms;

	p->kicked = false;
	if (p->leaving) {
		run_leaving(p);
		return;
	}
	wake_ms = take_steps(p);
	recheck_ms = send_lists(p);
	log_situation(p);
	show_status(p);
	sleep_until(p, recheck_ms < wake_ms ? recheck_ms : wake_ms);
}

/* True if we have called this kubelet already, which may have been before we detected its new
 * socket. */
static bool was_called(const struct kubelet_plugin *p)
{
	return (p->registration.calling || p->registration.registered) &&
	       file_id_equal(&p->called, &p->place->kubelet_id);
}

void kubelet_plugin_check(struct kubelet_plugin *p, bool is_new)
{
	struct registration_plan *r = &p->registration;

	check_own_socket(p);
	registration_folder(r, now_of(p));
	registration_kubelet(r, p->place->kubelet_there, is_new && !was_called(p), now_of(p));
}

int plugin_set_devices(struct kubelet_plugin *p, const struct plugin_device *devices, size_t n)
{
	size_t left_out = 0;
	int r = list_watch_set(plugin_service_lists(p->service), devices, n, &left_out);

	if (r < 0)
		return r;
	if (left_out > 0 && left_out != p->logged_left_out)
		log_warn("kubelet", 0,
			 "%s: %zu of %zu devices do not fit the list, going on without them",
			 p->resource, left_out, n);
	p->logged_left_out = left_out;
	registration_want(&p->registration, now_of(p));
	kick(p);
	return 0;
}

/* Describes the event that a resource without a failure waits for: a folder or socket of the
 * kubelet, or the kubelet's next step. */
static void describe_wait(const struct kubelet_plugin *p, char *ret, size_t size)
{
	const char *sock = p->place->kubelet_sock;
	char folder[128]; /* as sun_path */

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(sock, '/') - sock), sock);
	if (access(folder, F_OK) < 0 && errno == ENOENT)
		snprintf(ret, size, "no folder %s: not mounted, or not the kubelet's folder",
			 folder);
	else if (access(sock, F_OK) < 0)
		snprintf(ret, size, "%s: %s", sock, strerror(errno));
	else if (p->registration.serving)
		snprintf(ret, size, "the kubelet does not watch its list yet");
}

void plugin_status(const struct kubelet_plugin *p, struct plugin_status *ret)
{
	const struct registration_plan *r = &p->registration;

	*ret = (struct plugin_status){
		.state = registration_works(r) ? PLUGIN_REGISTERED
			 : r->refused	       ? PLUGIN_REFUSED
					       : PLUGIN_WAITING,
		.socket = p->path,
		.registrations = r->registrations,
		.failures = r->failures,
		.lists = plugin_service_lists(p->service)->given,
		.watchers = r->watchers,
		.left_registry = p->place->left_registry,
	};
	snprintf(ret->error, sizeof(ret->error), "%s", r->error);
	if (ret->state == PLUGIN_WAITING && !ret->error[0])
		describe_wait(p, ret->error, sizeof(ret->error));
}

void plugin_leave(struct kubelet_plugin *p, bool zero)
{
	size_t none;

	p->leaving = true;
	p->leave_ms = now_of(p) + LEAVE_MS;
	plugin_service_retire(p->service);
	if (zero) /* if out of memory, the removal of the socket notifies the kubelet */
		list_watch_set(plugin_service_lists(p->service), NULL, 0, &none);
	kick(p);
}

void plugin_hand_over(struct kubelet_plugin *p, struct kubelet_sockets *ret)
{
	struct kubelet_socket *b;
	struct uds_sockets sockets;

	p->leaving = p->handed_over = true;
	p->leave_ms = now_of(p);
	if (uds_server_hand_over(p->server, &sockets) == 0) {
		b = array_push(ret->items, ret->n);
		if (b) {
			*b = (struct kubelet_socket){.has_pre_start = p->has_pre_start,
						     .has_preferred = p->has_preferred,
						     .sockets = sockets};
			snprintf(b->resource, sizeof(b->resource), "%s", p->resource);
			snprintf(b->path, sizeof(b->path), "%s", p->path);
		} else {
			uds_sockets_close(&sockets, p->path);
		}
	}
	p->server = NULL;
	plugin_service_retire(p->service);
	kick(p);
}

char *plugin_socket_name(const char *resource, size_t most)
{
	const uint64_t hash = fnv1a(FNV1A_START, resource, strlen(resource));
	char *name;
	int n = asprintf(&name, "%s.sock", resource);

	if (n > 0 && (size_t)n > most) {
		const size_t kept = most >= sizeof(HASHED) ? most - sizeof(HASHED) + 1 : 0;

		free(name);
		n = asprintf(&name, "%.*s-%016" PRIx64 ".sock", (int)kept, resource, hash);
	}
	if (n < 0)
		return NULL;
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '_';
	return name;
}

int plugin_new(struct kubelet_plugin **ret, struct kubelet_place *place, const char *resource,
	       char *name, const struct plugin_hooks *hooks, struct err *e)
{
	struct kubelet_plugin *p = calloc(1, sizeof(*p));
	struct plugin_service_events events = {
		.watchers = on_watchers,
		.asked = kubelet_plugin_on_asked,
		.notified = on_notified,
		.answered = on_late_answer,
		.arg = p,
	};

	if (!p || plugin_service_new(&p->service, resource, hooks, &events) < 0) {
		free(name);
		free(p);
		return err_set(e, -ENOMEM, "out of memory");
	}
	p->name = name;
	p->place = place;
	snprintf(p->resource, sizeof(p->resource), "%s", resource);
	p->has_pre_start = hooks->pre_start != NULL;
	p->has_preferred = hooks->preferred != NULL;
	registration_init(&p->registration, uv_now(place->loop));
	timer_init(&p->timer, place->loop, kubelet_plugin_on_timer, p);
	kick(p);
	*ret = p;
	return 0;
}
