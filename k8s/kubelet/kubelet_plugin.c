/* kubelet_plugin.c - does what the registration says, and sends the lists.
 *
 * Happy path: a list is there -> our socket -> Register -> the kubelet opens its watch. Can fail
 * by: a folder that is missing, a socket that somebody else serves, a kubelet that is away, silent
 * or of another opinion. Every such failure is a pause in the registration. */
#include "kubelet_plugin.h"

#include <inttypes.h>
#include <stdlib.h>
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
#include "uds.h"

#define REGISTER_TIMEOUT_MS 10000
#define LEAVE_MS	    1000
#define NO_MEMORY_MS	    1000
#define NEWS_MS		    2000
/* A watcher that does not read is looked at after 10 ms, 20 ms, ... 1 s. */
#define NAG_MIN_MS	    10
#define NAG_MAX_MS	    1000
#define SOCKET_MODE	    0600
#define CONNECTIONS_MAX	    16
/* What a name that is too long ends with. */
#define HASHED		    "-0123456789abcdef.sock"

static uint64_t now_of(const struct kubelet_plugin *p)
{
	return uv_now(p->place->loop);
}

static void kubelet_plugin_on_due(void *arg)
{
	plugin_run(arg);
}

/* From within anything: plugin_run() soon, from the loop. */
static void kick(struct kubelet_plugin *p)
{
	p->kicked = true;
	due_in(&p->due, 0);
}

/* --- what the service tells ------------------------------------------------------------------ */

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

/* --- what the log hears ---------------------------------------------------------------------- */

/* Every change once, and each trouble once until it is over. */
static void tell_nobody(struct kubelet_plugin *p, const char *why)
{
	if (!p->place->told_nobody)
		log_info("kubelet", 0, "no kubelet answers (%s), waiting for it", why);
	p->place->told_nobody = true;
}

/* A starting kubelet does so, and has ended its watch before. */
static void tell_deleted(struct kubelet_plugin *p)
{
	if (p->told_works)
		log_info("kubelet", 0, "%s: somebody has deleted %s, registering again",
			 p->resource, p->path);
	p->told_works = false;
}

/* Each reason once, however often they take turns. What heals within a moment is none: a kubelet
 * that restarts drops a call. */
static void tell_error(struct kubelet_plugin *p)
{
	uint64_t hash = fnv1a(FNV1A_START, p->registration.error, strlen(p->registration.error));

	if (!p->registration.refused && now_of(p) - p->registration.trouble_ms < NEWS_MS)
		return;
	for (size_t i = 0; i < p->n_told_errors && i < ARRAY_SIZE(p->told_errors); i++)
		if (p->told_errors[i] == hash)
			return;
	p->told_errors[p->n_told_errors++ % ARRAY_SIZE(p->told_errors)] = hash;
	log_warn("kubelet", 0, "%s: %s, trying again", p->resource, p->registration.error);
}

static void tell_change(struct kubelet_plugin *p, bool works)
{
	if (works)
		log_info("kubelet", 0, "%s: registered%s, the kubelet watches its list",
			 p->resource, p->told_worked ? " again" : "");
	else
		log_info("kubelet", 0, "%s: the kubelet has stopped watching its list, %s",
			 p->resource, p->place->registry ? "waiting for it" : "registering again");
	p->told_works = works;
	p->told_worked |= works;
}

static void tell_situation(struct kubelet_plugin *p)
{
	bool works = registration_works(&p->registration);

	if (p->registration.error[0] != '\0')
		tell_error(p);
	if (works != p->told_works)
		tell_change(p, works);
	if (works) {
		p->n_told_errors = 0;
		p->place->told_nobody = false;
	}
}

/* --- our socket ------------------------------------------------------------------------------ */

static void close_server(struct kubelet_plugin *p)
{
	uds_server_close(p->server);
	p->server = NULL;
}

/* 0: somebody serves it. -ECONNREFUSED: whoever did has ended. */
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

/* Another process serves our path: after an update, our successor. */
static bool kubelet_plugin_is_taken(const struct kubelet_plugin *p)
{
	return p->has_served && !(p->server && uds_server_is_there(p->server)) &&
	       try_socket(p->path) == 0;
}

/* Of a predecessor that was registered in the other way, and was killed or handed over. Only when
 * we leave, too: the kubelet forgets the resource with the socket in plugins_registry/, whoever
 * serves it by then (pkg/kubelet/pluginmanager/reconciler, devicemanager's DeRegisterPlugin). */
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

static void drop_bequest(struct kubelet_estate *estate, struct kubelet_bequest *b)
{
	*b = estate->items[--estate->n];
}

void kubelet_bequest_close(struct kubelet_estate *estate, struct kubelet_bequest *b)
{
	uds_estate_close(&b->sockets, b->path);
	drop_bequest(estate, b);
}

static struct kubelet_bequest *bequest_of(struct kubelet_plugin *p)
{
	struct kubelet_estate *estate = &p->place->estate;

	for (size_t i = 0; i < estate->n; i++)
		if (strcmp(estate->items[i].resource, p->resource) == 0)
			return &estate->items[i];
	return NULL;
}

/* The kubelet has asked for the options once, and goes on with those. */
static bool is_fit(const struct kubelet_plugin *p, const struct kubelet_bequest *b)
{
	return strcmp(b->path, p->path) == 0 && b->has_pre_start == p->has_pre_start &&
	       b->has_preferred == p->has_preferred;
}

/* Goes on with a predecessor's socket: the kubelet watches the list already. */
static bool adopt_server(struct kubelet_plugin *p)
{
	struct grpc_service service = plugin_service_grpc(p->service);
	struct kubelet_bequest *b = bequest_of(p);
	struct err e = {0};
	int r;

	if (!b)
		return false;
	if (!is_fit(p, b)) {
		log_info("kubelet", 0, "%s: its predecessor was another one, registering again",
			 p->resource);
		/* A file of the other folder stays: see remove_left_over(). */
		if (strcmp(b->path, p->path) == 0)
			uds_estate_close(&b->sockets, b->path);
		else
			uds_estate_done(&b->sockets);
		drop_bequest(&p->place->estate, b);
		return false;
	}
	r = uds_server_adopt(&p->server, p->place->loop, p->path, &server_opts, &service,
			     &b->sockets, &e);
	drop_bequest(&p->place->estate, b);
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

/* Finds its place, once the kubelet has one. */
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

/* The socket in the registry goes first: a kubelet that looks there later finds nothing. */
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

/* A kubelet that listens looks at new sockets in the registry every second, if it ever does
 * (pkg/kubelet/pluginmanager). One that is away is waited for. */
static void on_unseen(struct kubelet_plugin *p)
{
	struct kubelet_place *place = p->place;

	if (place->registry && place->may_leave_registry && !place->asked &&
	    try_socket(place->kubelet_sock) == 0) {
		log_warn("kubelet", 0,
			 "the kubelet does not look for resources in %s, registering them in %s",
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
		return REGISTRATION_NOBODY;
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
	if (a == REGISTRATION_NOBODY)
		tell_nobody(p, text ? text : p->place->kubelet_sock);
	registration_answered(&p->registration, p->client_attempt, a, why, now_of(p));
	kick(p);
}

static void close_client(struct kubelet_plugin *p)
{
	uds_client_close(p->client);
	p->client = NULL;
}

/* A connection of its own for each try: an older one may lead to the kubelet before. */
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

/* Whoever shows it elsewhere. */
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

/* --- what is due ----------------------------------------------------------------------------- */

/* Whatever the folder's events have told by now: a kubelet that is called looks for it. */
static void look_at_own_socket(struct kubelet_plugin *p)
{
	if (!p->registration.serving || !p->server || uds_server_is_there(p->server))
		return;
	tell_deleted(p);
	p->place->swept = true;
	registration_serving(&p->registration, false, now_of(p));
}

/* Until when nothing is due. */
static uint64_t take_steps(struct kubelet_plugin *p)
{
	uint64_t wake_ms = DUE_NEVER;
	enum registration_step step;
	int r;

	follow_place(p);
	r = find_place(p);
	if (r < 0)
		return r == -ENOENT ? DUE_NEVER : now_of(p) + NO_MEMORY_MS;
	look_at_own_socket(p);
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

/* Gives out the list; when to look again after those who did not take it. */
static uint64_t send_lists(struct kubelet_plugin *p)
{
	unsigned behind = list_watch_send(plugin_service_lists(p->service));

	if (p->server)
		uds_server_flush(p->server);
	if (behind == 0) {
		p->nag_ms = 0;
		return DUE_NEVER;
	}
	return now_of(p) + back_off(&p->nag_ms, NAG_MIN_MS, NAG_MAX_MS);
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
	due_close(&p->due, plugin_free);
}

static void sleep_until(struct kubelet_plugin *p, uint64_t wake_ms)
{
	if (!p->kicked) /* by what was just done */
		due_at(&p->due, wake_ms);
}

static void run_leaving(struct kubelet_plugin *p)
{
	uint64_t wake_ms = send_lists(p);

	if (wake_ms == DUE_NEVER || now_of(p) >= p->leave_ms) {
		remove_left_over(p);
		end_plugin(p);
	} else {
		sleep_until(p, wake_ms < p->leave_ms ? wake_ms : p->leave_ms);
	}
}

void plugin_run(struct kubelet_plugin *p)
{
	uint64_t wake_ms, nag_ms;

	p->kicked = false;
	if (p->leaving) {
		run_leaving(p);
		return;
	}
	wake_ms = take_steps(p);
	nag_ms = send_lists(p);
	tell_situation(p);
	show_status(p);
	sleep_until(p, nag_ms < wake_ms ? nag_ms : wake_ms);
}

/* We may have called it before we were told that it is there. */
static bool was_called(const struct kubelet_plugin *p)
{
	return (p->registration.calling || p->registration.registered) &&
	       file_id_equal(&p->called, &p->place->kubelet_id);
}

void plugin_look(struct kubelet_plugin *p, bool is_new)
{
	struct registration_plan *r = &p->registration;

	look_at_own_socket(p);
	registration_folder(r, now_of(p));
	registration_kubelet(r, p->place->kubelet_there, is_new && !was_called(p), now_of(p));
}

int plugin_set_devices(struct kubelet_plugin *p, const struct plugin_device *devices, size_t n)
{
	size_t left_out = 0;
	int r = list_watch_set(plugin_service_lists(p->service), devices, n, &left_out);

	if (r < 0)
		return r;
	if (left_out > 0 && left_out != p->told_left_out)
		log_warn("kubelet", 0,
			 "%s: %zu of %zu devices do not fit the list, going on without them",
			 p->resource, left_out, n);
	p->told_left_out = left_out;
	registration_want(&p->registration, now_of(p));
	kick(p);
	return 0;
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
}

void plugin_leave(struct kubelet_plugin *p, bool zero)
{
	size_t none;

	p->leaving = true;
	p->leave_ms = now_of(p) + LEAVE_MS;
	plugin_service_retire(p->service);
	if (zero) /* without memory for it the kubelet notices when the socket goes */
		list_watch_set(plugin_service_lists(p->service), NULL, 0, &none);
	kick(p);
}

void plugin_hand_over(struct kubelet_plugin *p, struct kubelet_estate *ret)
{
	struct kubelet_bequest *b;
	struct uds_estate sockets;

	p->leaving = p->handed_over = true;
	p->leave_ms = now_of(p);
	if (uds_server_hand_over(p->server, &sockets) == 0) {
		b = array_push(ret->items, ret->n);
		if (b) {
			*b = (struct kubelet_bequest){.has_pre_start = p->has_pre_start,
						      .has_preferred = p->has_preferred,
						      .sockets = sockets};
			snprintf(b->resource, sizeof(b->resource), "%s", p->resource);
			snprintf(b->path, sizeof(b->path), "%s", p->path);
		} else {
			uds_estate_close(&sockets, p->path);
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
	due_init(&p->due, place->loop, kubelet_plugin_on_due, p);
	kick(p);
	*ret = p;
	return 0;
}
