// SPDX-License-Identifier: Apache-2.0
/* plugin_service.c - a table of methods, and the open requests. */
#include "plugin_service.h"

#include <stdlib.h>

#include "cleanup.h"
#include "kubelet.h"
#include "list_watch.h"
#include "plugin_wire.h"

enum question { ASKED_ALLOCATE, ASKED_PREFERRED, ASKED_PRE_START };

struct plugin_answer {
	struct plugin_answer *next;
	struct plugin_service *service;
	struct grpc_call *call;
	enum question question;
	size_t containers;
};

struct plugin_service {
	char resource[RESOURCE_NAME_SIZE];
	bool registry, retired;
	struct plugin_hooks hooks;
	struct plugin_service_events events;
	struct list_watch lists;
	struct plugin_answer *answers;
	struct plugin_answer *asking; /* the unanswered request whose hook is running */
};

/* --- replies --------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void
refuse(struct grpc_call *call, enum grpc_status status, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	grpc_finish(call, status, text);
}

static void finish_failed(struct grpc_call *call, int code)
{
	grpc_finish(call, grpc_status_of_errno(code), strerror(-code));
}

/* Ends a call with one message, of which it takes ownership; code < 0: with an error. */
static void reply(struct grpc_call *call, int code, uint8_t *bytes, size_t len)
{
	AUTO_FREE uint8_t *owned = code < 0 ? NULL : bytes;

	if (code == 0)
		code = grpc_send(call, owned ? owned : (const uint8_t *)"", len);
	if (code < 0)
		finish_failed(call, code);
	else
		grpc_finish(call, GRPC_OK, NULL);
}

/* --- requests -------------------------------------------------------------------------------- */

static void unlink_answer(const struct plugin_answer *a)
{
	struct plugin_answer **at = &a->service->answers;

	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
}

/* Frees the request; returns its call, which the caller ends. */
static struct grpc_call *end_answer(struct plugin_answer *a)
{
	struct grpc_call *call = a->call;

	unlink_answer(a);
	free(a);
	return call;
}

/* Drops a request that was withdrawn; returns its call. Unlinked first, because the hook may retire
 * the service. */
static struct grpc_call *drop_answer(struct plugin_answer *a)
{
	const struct plugin_hooks *hooks = &a->service->hooks;
	struct grpc_call *call = a->call;

	unlink_answer(a);
	if (a->service->asking == a)
		a->service->asking = NULL;
	if (hooks->gone)
		hooks->gone(a, hooks->arg);
	free(a);
	return call;
}

/* Called when a request is answered. If that happens within the request's own hook, the answer is
 * sent after the hook; otherwise notifies the owner, which sends it. */
static void plugin_answer_ready(struct plugin_service *s, const struct plugin_answer *a)
{
	if (s->asking == a)
		s->asking = NULL;
	else
		s->events.answered(s->events.arg);
}

/* True if the answer is of the right kind, for the right number of containers. */
static bool plugin_service_fits(const struct plugin_answer *a, enum question question, size_t n)
{
	return a->question == question && (question == ASKED_PRE_START || a->containers == n);
}

static void answer_call(struct plugin_answer *a, bool is_fit, int code, uint8_t *bytes, size_t len)
{
	plugin_answer_ready(a->service, a);
	if (is_fit)
		reply(end_answer(a), code, bytes, len);
	else
		refuse(end_answer(a), GRPC_INTERNAL, "the answer does not fit the request");
}

void plugin_answer_allocate(struct plugin_answer *a, const struct container_grant *grants, size_t n)
{
	bool is_fit = plugin_service_fits(a, ASKED_ALLOCATE, n);
	uint8_t *bytes = NULL;
	size_t len = 0;
	int r = is_fit ? wire_allocate_response(&bytes, &len, grants, n) : 0;

	answer_call(a, is_fit, r, bytes, len);
}

void plugin_answer_preferred(struct plugin_answer *a, const struct id_list *chosen, size_t n)
{
	bool is_fit = plugin_service_fits(a, ASKED_PREFERRED, n);
	uint8_t *bytes = NULL;
	size_t len = 0;
	int r = is_fit ? wire_preferred_response(&bytes, &len, chosen, n) : 0;

	answer_call(a, is_fit, r, bytes, len);
}

void plugin_answer_started(struct plugin_answer *a)
{
	answer_call(a, plugin_service_fits(a, ASKED_PRE_START, 0), 0, NULL, 0);
}

void plugin_answer_error(struct plugin_answer *a, const struct err *e)
{
	enum grpc_status status = grpc_status_of_errno(e->code);

	plugin_answer_ready(a->service, a);
	grpc_finish(end_answer(a), status == GRPC_OK ? GRPC_UNKNOWN : status, e->msg);
}

static struct plugin_answer *new_answer(struct plugin_service *s, struct grpc_call *call,
					enum question question, size_t containers)
{
	struct plugin_answer *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->service = s;
	a->call = call;
	a->question = question;
	a->containers = containers;
	a->next = s->answers;
	s->answers = a;
	return a;
}

/* --- methods --------------------------------------------------------------------------------- */

/* Begins a request. NULL: it was answered with an error. */
static struct plugin_answer *begin_question(struct plugin_service *s, struct grpc_call *call,
					    enum question question, size_t containers)
{
	struct plugin_answer *a;

	if (s->retired) {
		refuse(call, GRPC_UNAVAILABLE, "%s is being withdrawn", s->resource);
		return NULL;
	}
	a = new_answer(s, call, question, containers);
	if (!a)
		finish_failed(call, -ENOMEM);
	s->asking = a;
	return a;
}

/* Call after the hook has returned: keeps an unanswered request for a successor. */
static void leave_hook(struct plugin_service *s)
{
	if (s->asking)
		grpc_keep_request(s->asking->call);
	s->asking = NULL;
}

static void allocate(struct plugin_service *s, struct grpc_call *call, const uint8_t *message,
		     size_t len)
{
	struct plugin_request q;
	struct plugin_answer *a;
	struct err e = {0};

	if (plugin_request_allocate(&q, message, len, &e) < 0) {
		refuse(call, grpc_status_of_errno(e.code), "Allocate: %s", e.msg);
		return;
	}
	a = begin_question(s, call, ASKED_ALLOCATE, q.n);
	if (a)
		s->hooks.allocate(a, q.ids, q.n, s->hooks.arg);
	leave_hook(s);
	plugin_request_done(&q);
}

static void preferred(struct plugin_service *s, struct grpc_call *call, const uint8_t *message,
		      size_t len)
{
	struct plugin_request q;
	struct plugin_answer *a;
	struct err e = {0};

	if (plugin_request_preferred(&q, message, len, &e) < 0) {
		refuse(call, grpc_status_of_errno(e.code), "GetPreferredAllocation: %s", e.msg);
		return;
	}
	a = begin_question(s, call, ASKED_PREFERRED, q.n);
	if (a)
		s->hooks.preferred(a, q.preferences, q.n, s->hooks.arg);
	leave_hook(s);
	plugin_request_done(&q);
}

static void pre_start(struct plugin_service *s, struct grpc_call *call, const uint8_t *message,
		      size_t len)
{
	struct plugin_request q;
	struct plugin_answer *a;
	struct err e = {0};

	if (plugin_request_pre_start(&q, message, len, &e) < 0) {
		refuse(call, grpc_status_of_errno(e.code), "PreStartContainer: %s", e.msg);
		return;
	}
	a = begin_question(s, call, ASKED_PRE_START, q.n);
	if (a)
		s->hooks.pre_start(a, q.ids, s->hooks.arg);
	leave_hook(s);
	plugin_request_done(&q);
}

static void list_and_watch(struct plugin_service *s, struct grpc_call *call, const uint8_t *message,
			   size_t len)
{
	int r = list_watch_add(&s->lists, call);

	(void)message, (void)len;
	if (r == 0) {
		grpc_keep_request(call);
		s->events.watchers(s->lists.n_watchers, s->events.arg);
		return;
	}
	/* Report the stream as opened and closed, because the kubelet does not retry by itself: we
	 * must register again. */
	s->events.watchers(s->lists.n_watchers + 1, s->events.arg);
	s->events.watchers(s->lists.n_watchers, s->events.arg);
	finish_failed(call, r);
}

static void options(struct plugin_service *s, struct grpc_call *call, const uint8_t *message,
		    size_t message_len)
{
	uint8_t *bytes = NULL;
	size_t len = 0;
	int r = wire_plugin_options(&bytes, &len, s->hooks.pre_start != NULL,
				    s->hooks.preferred != NULL);

	(void)message, (void)message_len;
	reply(call, r, bytes, len);
}

/* Returns no endpoint, so the kubelet uses the path at which it found the socket, which may differ
 * from ours. */
static void get_info(struct plugin_service *s, struct grpc_call *call, const uint8_t *message,
		     size_t message_len)
{
	uint8_t *bytes = NULL;
	size_t len = 0;
	int r = wire_plugin_info(&bytes, &len, s->resource, "");

	(void)message, (void)message_len;
	s->events.asked(s->events.arg);
	reply(call, r, bytes, len);
}

static void notify_status(struct plugin_service *s, struct grpc_call *call, const uint8_t *message,
			  size_t len)
{
	char why[256] = "";
	bool registered = false;
	int r = wire_decode_registration_status(&registered, why, sizeof(why), message, len);

	if (r == 0)
		s->events.notified(registered, why, s->events.arg);
	reply(call, r, NULL, 0);
}

static const struct method {
	const char *path;
	bool registry_only;
	void (*serve)(struct plugin_service *, struct grpc_call *, const uint8_t *message,
		      size_t len);
} methods[] = {
	{"/v1beta1.DevicePlugin/GetDevicePluginOptions", false, options},
	{"/v1beta1.DevicePlugin/ListAndWatch", false, list_and_watch},
	{"/v1beta1.DevicePlugin/GetPreferredAllocation", false, preferred},
	{"/v1beta1.DevicePlugin/Allocate", false, allocate},
	{"/v1beta1.DevicePlugin/PreStartContainer", false, pre_start},
	{"/pluginregistration.Registration/GetInfo", true, get_info},
	{"/pluginregistration.Registration/NotifyRegistrationStatus", true, notify_status},
};

static bool plugin_service_is_served(const struct plugin_service *s, const struct method *m)
{
	if (m->serve == allocate)
		return s->hooks.allocate != NULL;
	if (m->serve == preferred)
		return s->hooks.preferred != NULL;
	if (m->serve == pre_start)
		return s->hooks.pre_start != NULL;
	return s->registry || !m->registry_only;
}

static void plugin_service_on_request(struct grpc_call *call, const char *path,
				      const uint8_t *message, size_t len, void *arg)
{
	struct plugin_service *s = arg;

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (strcmp(path, methods[i].path) == 0 &&
		    plugin_service_is_served(s, &methods[i])) {
			methods[i].serve(s, call, message, len);
			return;
		}
	refuse(call, GRPC_UNIMPLEMENTED, "%s has no method %s", s->resource, path);
}

static void plugin_service_on_cancel(struct grpc_call *call, void *arg)
{
	struct plugin_service *s = arg;

	if (list_watch_remove(&s->lists, call)) {
		s->events.watchers(s->lists.n_watchers, s->events.arg);
		return;
	}
	for (struct plugin_answer *a = s->answers; a; a = a->next)
		if (a->call == call) {
			drop_answer(a);
			return;
		}
}

struct list_watch *plugin_service_lists(struct plugin_service *s)
{
	return &s->lists;
}

struct grpc_service plugin_service_grpc(struct plugin_service *s)
{
	return (struct grpc_service){
		.request = plugin_service_on_request, .cancel = plugin_service_on_cancel, .arg = s};
}

void plugin_service_retire(struct plugin_service *s)
{
	s->retired = true;
	while (s->answers)
		refuse(drop_answer(s->answers), GRPC_UNAVAILABLE, "%s is being withdrawn",
		       s->resource);
}

void plugin_service_join_registry(struct plugin_service *s)
{
	s->registry = true;
}

void plugin_service_leave_registry(struct plugin_service *s)
{
	s->registry = false;
}

int plugin_service_new(struct plugin_service **ret, const char *resource,
		       const struct plugin_hooks *hooks, const struct plugin_service_events *events)
{
	struct plugin_service *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (list_watch_init(&s->lists) < 0) {
		free(s);
		return -ENOMEM;
	}
	snprintf(s->resource, sizeof(s->resource), "%s", resource);
	s->hooks = *hooks;
	s->events = *events;
	*ret = s;
	return 0;
}

void plugin_service_free(struct plugin_service *s)
{
	if (!s)
		return;
	list_watch_done(&s->lists);
	free(s);
}
