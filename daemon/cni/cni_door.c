// SPDX-License-Identifier: Apache-2.0
/* cni_door.c - handles requests of CNI plugins.
 *
 * An ADD is parsed, its device is found and attached by the engine, and the record is sent as a CNI
 * result. If the client has disconnected meanwhile, the device is returned. Errors: an invalid
 * request fails at once; an error of the engine is sent with a CNI code; if memory runs out, there
 * is no reply, and the client's connection is closed. */
#include "cni_door.h"

#include <jansson.h>
#include <stdlib.h>

#include "allocation.h"
#include "array.h"
#include "cni_decide.h"
#include "cni_ipam.h"
#include "cni_result.h"
#include "engine.h"
#include "ipam_grants.h"
#include "json_text.h"
#include "kill_point.h"
#include "log.h"
#include "plugin_search.h"

struct cni_door {
	struct attach_engine *engine;
	const struct inventory *inventory;
	const struct option_list *ipam_needs;
	struct cni_ipam_cache *ipam;
	struct plugin_search *search;
	cni_before_add_fn *before_add; /* NULL: none */
	void *before_add_arg;
};

struct cni_call {
	struct cni_door *door;
	struct cni_request request;
	json_t *device_info; /* ADD: for the reply, NULL = none */
	cni_answer_fn *fn;
	cni_is_wanted_fn *is_wanted; /* NULL: the request is always wanted */
	void *arg;
	unsigned n_left;	/* GC: number of returns in progress */
	struct cni_error error; /* GC: error of the first failed return */
};

/* --- replies ---------------------------------------------------------------------------------- */

static void cni_call_free(struct cni_call *c)
{
	cni_request_done(&c->request);
	json_decref(c->device_info);
	free(c);
}

static void cni_finish(struct cni_call *c, char *text)
{
	c->fn(text, c->arg);
	cni_call_free(c);
}

static char *error_text(const struct cni_call *c, const struct cni_error *e)
{
	log_info("cni", 0, "container %s, %s: %s (code %d)", c->request.owner.sandbox,
		 c->request.ifname, e->err.msg, (int)e->code);
	return cni_answer_error(c->request.command, e);
}

static char *text_of_err(const struct cni_call *c, const struct err *err)
{
	struct cni_error e;

	if (err->code == 0)
		return cni_answer_empty();
	cni_error_from(&e, err);
	return error_text(c, &e);
}

static bool call_is_wanted(void *arg)
{
	const struct cni_call *c = arg;

	return !c->is_wanted || c->is_wanted(c->arg);
}

static const struct attach_status *cni_found(const struct cni_call *c)
{
	return attach_engine_cni_find(c->door->engine, c->request.owner.sandbox, c->request.ifname);
}

/* --- ADD -------------------------------------------------------------------------------------- */

/* Returns a device whose client has disconnected: the runtime will not use the interface, and may
 * never send a DEL. */
static char *return_unwanted(const struct cni_call *c)
{
	const struct cni_request *r = &c->request;
	struct err err = {0};

	if (attach_engine_cni_del(c->door->engine, r->owner.sandbox, r->ifname, NULL, NULL, &err) <
	    0)
		log_warn("cni", 0, "%s of container %s cannot be returned: %s", r->ifname,
			 r->owner.sandbox, err.msg);
	err_set(&err, -ECANCELED, "the client disconnected");
	return text_of_err(c, &err);
}

static char *added_text(const struct cni_call *c, const struct attach_record *record)
{
	const struct cni_request *r = &c->request;
	const char *text = attach_engine_cni_ipam_answer(c->door->engine, r->owner.sandbox,
							 r->ifname);
	json_auto_t *ipam = text ? json_text_load(text, strlen(text), 0, NULL) : NULL;

	return cni_answer_result(cni_result(record, ipam, r), c->device_info);
}

static void on_added(const struct err *err, void *arg)
{
	struct cni_call *c = arg;
	const struct attach_status *a = err->code == 0 ? cni_found(c) : NULL;

	if (err->code < 0)
		cni_finish(c, text_of_err(c, err));
	else if (!call_is_wanted(c))
		cni_finish(c, return_unwanted(c));
	else if (!a)
		cni_finish(c, text_of_err(c, &(struct err){-ECANCELED, "it was returned"}));
	else {
		kill_point("cni-add", "after");
		cni_finish(c, added_text(c, a->record));
	}
}

/* Collects deviceInfo for the reply. Call it before the device is moved: in exclusive mode, its
 * RDMA device is not visible afterwards. */
static void add_device_info(struct cni_call *c, const char *function)
{
	const json_t *wanted = json_object_get(json_object_get(c->request.config, "runtimeConfig"),
					       "CNIDeviceInfoFile");
	char *text = NULL;

	if (!json_is_string(wanted) ||
	    allocation_info_of_function(&text, attach_engine_pools(c->door->engine),
					&c->door->inventory->host, function) < 0 ||
	    !text)
		return;
	c->device_info = json_text_load(text, strlen(text), 0, NULL);
	free(text);
}

static int cni_run_before_add(const struct cni_call *c, struct cni_error *e)
{
	const struct cni_door *door = c->door;
	const struct cni_request *r = &c->request;
	struct err err = {0};

	if (!door->before_add ||
	    door->before_add(r->owner.sandbox, r->ifname, door->before_add_arg, &err) == 0)
		return 0;
	cni_error_from(e, &err);
	return -EINVAL;
}

static int begin_add(struct cni_call *c, char **ret_text, struct cni_error *e)
{
	struct attach_engine *engine = c->door->engine;
	const struct cni_request *r = &c->request;
	struct attach_list list = {0};
	struct cni_wanted wanted = {.pass_on = false};
	struct netconf netconf;
	struct err err = {0};
	int error = netconf_read(&netconf, r, e);

	list.n = attach_engine_list(engine, &list.items);
	if (error == 0)
		error = cni_decide_add(&wanted, &netconf, r, &c->door->inventory->host, list, e);
	if (error < 0)
		return error;
	if (wanted.pass_on) {
		*ret_text = cni_answer_result(cni_result_passed_on(r), NULL);
		return 0;
	}
	if (cni_run_before_add(c, e) < 0)
		return -EINVAL;
	add_device_info(c, wanted.function);
	netconf.plan.no_netdev = wanted.no_netdev;
	kill_point("cni-add", "before");
	if (attach_engine_cni_add(engine, wanted.function, &r->owner, &netconf.plan, call_is_wanted,
				  on_added, c, &err) == 0)
		return 1;
	cni_error_from(e, &err);
	return -EINVAL;
}

/* --- DEL and CHECK ---------------------------------------------------------------------------- */

static bool is_rdma_alone(const struct cni_request *r)
{
	const char *type = json_string_value(json_object_get(r->config, "type"));

	return type && strcmp(type, "rdma") == 0;
}

static void on_deleted(const struct err *err, void *arg)
{
	struct cni_call *c = arg;

	kill_point("cni-del", "after");
	cni_finish(c, text_of_err(c, err));
}

static bool is_kept_by_check(enum cni_code code)
{
	return code == CNI_TRY_LATER || code == CNI_BAD_NETNS || code == CNI_NO_DEVICE ||
	       code == CNI_UNAVAILABLE;
}

static void cni_checked_all(struct cni_call *c, const struct cni_error *e)
{
	cni_finish(c, e->code ? error_text(c, e) : cni_answer_empty());
}

static void on_ipam_checked(const struct err *err, void *arg)
{
	struct cni_error e = {.code = CNI_OK};

	if (err->code < 0 && err->code != -EOPNOTSUPP) {
		cni_error_from(&e, err);
		if (e.code != CNI_TRY_LATER)
			e.code = CNI_DIFFERS;
		err_wrap(&e.err, "IPAM");
	}
	cni_checked_all(arg, &e);
}

/* Runs the IPAM plugin's CHECK, after the check of the device has passed. */
static void check_ipam(struct cni_call *c, const struct attach_status *a, struct cni_error *e)
{
	struct err err = {0};
	int r = cni_ipam_run(c->door->engine, IPAM_CHECK, a->record, &c->request, on_ipam_checked,
			     c, &err);

	if (r < 0)
		on_ipam_checked(&err, c);
	else if (r == 0)
		cni_checked_all(c, e);
}

static void on_checked(const struct err *err, void *arg)
{
	struct cni_call *c = arg;
	const struct attach_status *a = cni_found(c);
	struct cni_error e = {.code = CNI_OK};

	if (err->code < 0) {
		cni_error_from(&e, err);
		if (err->code == -ENOENT)
			e.code = CNI_UNKNOWN_CONTAINER;
		else if (!is_kept_by_check(e.code))
			e.code = CNI_DIFFERS;
	} else if (a && cni_decide_check(a, &c->request, &e) == 0) {
		check_ipam(c, a, &e);
		return;
	}
	cni_checked_all(c, &e);
}

/* Begins a DEL. If it is that of the "rdma" plugin of a chain, nothing is done: the DEL of the
 * plugin that attached the device follows later in the chain, and returns the device. */
static int begin_del(struct cni_call *c, char **ret_text, struct cni_error *e)
{
	const struct cni_request *r = &c->request;
	struct err err = {0};

	if (is_rdma_alone(r)) {
		*ret_text = cni_answer_empty();
		return 0;
	}
	kill_point("cni-del", "before");
	if (attach_engine_cni_del(c->door->engine, r->owner.sandbox, r->ifname, on_deleted, c,
				  &err) == 0)
		return 1;
	cni_error_from(e, &err);
	return -EINVAL;
}

static int begin_check(struct cni_call *c, struct cni_error *e)
{
	const struct cni_request *r = &c->request;
	struct netconf netconf;
	struct err err = {0};

	if (netconf_read(&netconf, r, e) < 0)
		return -EINVAL;
	if (attach_engine_cni_check(c->door->engine, r->owner.sandbox, r->ifname, on_checked, c,
				    &err) == 0)
		return 1;
	cni_error_from(e, &err);
	return -EINVAL;
}

/* --- GC --------------------------------------------------------------------------------------- */

struct gc_keys {
	struct gc_key {
		char container[SANDBOX_ID_SIZE], ifname[IFNAMSIZ];
	} * list;
	size_t n;
};

static void on_collected(const struct err *err, void *arg)
{
	struct cni_call *c = arg;

	if (err->code < 0 && err->code != -EOPNOTSUPP && !c->error.code)
		cni_error_from(&c->error, err);
	if (--c->n_left == 0)
		cni_finish(c, c->error.code ? error_text(c, &c->error) : cni_answer_empty());
}

/* Runs the IPAM plugin's GC, even if a return failed. It runs in parallel to the returns, which
 * release addresses, too: plugins serialise their commands themselves. */
static void gc_ipam(struct cni_call *c)
{
	struct attach_record network;
	struct err err = {0};
	int r;

	if (!cni_ipam_network(&network, &c->request))
		return;
	r = cni_ipam_run(c->door->engine, IPAM_GC, &network, &c->request, on_collected, c, &err);
	if (r > 0)
		c->n_left++;
	else if (r < 0 && !c->error.code)
		cni_error_from(&c->error, &err);
}

/* Collects the attachments that are not in the list of valid ones. Skips ADDs in progress, which
 * are newer than the list. */
static int gc_collect(const struct cni_call *c, struct gc_keys *ret)
{
	const struct attach_record *r;
	size_t at = 0;

	while ((r = attach_engine_cni_next(c->door->engine, c->request.owner.network, &at))) {
		struct gc_key *key;

		if (r->state != ATTACH_IN_POD || cni_is_valid(&c->request, r))
			continue;
		key = array_push(ret->list, ret->n);
		if (!key)
			return -ENOMEM;
		memcpy(key->container, r->owner.sandbox, sizeof(key->container));
		memcpy(key->ifname, r->plan.ifname, sizeof(key->ifname));
	}
	return 0;
}

static void gc_return(struct cni_call *c, const struct gc_keys *keys)
{
	struct err err = {0};

	for (size_t i = 0; i < keys->n; i++) {
		const struct gc_key *key = &keys->list[i];

		if (attach_engine_cni_del(c->door->engine, key->container, key->ifname,
					  on_collected, c, &err) == 0)
			c->n_left++;
		else if (!c->error.code)
			cni_error_from(&c->error, &err);
	}
}

static int begin_gc(struct cni_call *c, char **ret_text, struct cni_error *e)
{
	int known = cni_decide_gc(&c->request, e);
	struct gc_keys keys = {0};
	int error = known > 0 ? gc_collect(c, &keys) : known;

	if (known == 0)
		log_info("cni", 0,
			 "GC of network %s without a list of attachments: no device is "
			 "returned",
			 c->request.owner.network);
	if (error == 0 && known > 0) {
		gc_return(c, &keys);
		gc_ipam(c);
	}
	free(keys.list);
	if (error == -ENOMEM)
		return cni_fail(e, CNI_TRY_LATER, "out of memory");
	if (error < 0 || c->n_left > 0)
		return error < 0 ? error : 1;
	if (c->error.code) {
		*e = c->error;
		return -EINVAL;
	}
	*ret_text = cni_answer_empty();
	return 0;
}

/* --- STATUS ----------------------------------------------------------------------------------- */

/* Replies to STATUS, once the IPAM plugin was found or the network has none. Other errors of the
 * network are reported by its ADD: an error of STATUS would make the whole node NotReady. */
static int status_of_network(const struct cni_call *c, char **ret_text, struct cni_error *e)
{
	struct attach_record network;
	struct err err = {0};

	if (cni_ipam_network(&network, &c->request) &&
	    cni_ipam_status(c->door->ipam, &network, &err) < 0)
		return cni_fail(e, err.code == -ENETUNREACH ? CNI_LIMITED : CNI_UNAVAILABLE,
				"IPAM: %s", err.msg);
	*ret_text = cni_answer_empty();
	return 0;
}

static void on_plugin_searched(const struct err *err, void *arg)
{
	struct cni_call *c = arg;
	struct cni_error e = {.code = CNI_OK};
	char *text = NULL;
	int r = err->code < 0 ? cni_fail(&e, CNI_UNAVAILABLE, "%s", err->msg)
			      : status_of_network(c, &text, &e);

	cni_finish(c, r < 0 ? error_text(c, &e) : text);
}

static int begin_status(struct cni_call *c, char **ret_text, struct cni_error *e)
{
	const char *ipam = netconf_ipam_type(&c->request);
	struct err err = {0};

	if (attach_engine_cni_status(c->door->engine, &err) < 0)
		return cni_fail(e, CNI_UNAVAILABLE, "%s", err.msg);
	if (!ipam[0])
		return status_of_network(c, ret_text, e);
	if (plugin_search_begin(c->door->search, ipam, on_plugin_searched, c) < 0)
		return cni_fail(e, CNI_UNAVAILABLE, "out of memory");
	return 1;
}

/* --- the door --------------------------------------------------------------------------------- */

/* Begins a request. 1: the reply follows later; 0: *ret_text is the reply; -EINVAL: *e is the
 * error. */
static int call_begin(struct cni_call *c, char **ret_text, struct cni_error *e)
{
	switch (c->request.command) {
	case CNI_ADD:
		return begin_add(c, ret_text, e);
	case CNI_DEL:
		return begin_del(c, ret_text, e);
	case CNI_CHECK:
		return begin_check(c, e);
	case CNI_GC:
		return begin_gc(c, ret_text, e);
	case CNI_STATUS:
		return begin_status(c, ret_text, e);
	}
	return cni_fail(e, CNI_FAILED, "unknown command");
}

int cni_door_request(struct cni_door *door, const char *text, size_t len, cni_answer_fn *fn,
		     cni_is_wanted_fn *is_wanted, void *arg, char **ret_text)
{
	struct cni_error e = {.code = CNI_OK};
	struct cni_call *c = calloc(1, sizeof(*c));
	int r;

	*ret_text = NULL;
	if (!c)
		return 0;
	*c = (struct cni_call){.door = door, .fn = fn, .is_wanted = is_wanted, .arg = arg};
	r = cni_request_parse(&c->request, text, len, &e);
	if (r == 0 && ipam_grants_of(&c->request.ipam_needs, door->ipam_needs,
				     netconf_ipam_type(&c->request)) < 0)
		r = cni_fail(&e, CNI_TRY_LATER, "out of memory");
	if (r == 0)
		r = call_begin(c, ret_text, &e);
	if (r < 0)
		*ret_text = error_text(c, &e);
	if (r <= 0)
		cni_call_free(c);
	return r > 0;
}

struct cni_door *cni_door_new(struct attach_engine *engine, struct uv_loop_s *loop,
			      const struct inventory *inventory, const char *cni_path,
			      const struct option_list *ipam_needs)
{
	struct cni_door *door = calloc(1, sizeof(*door));

	if (!door)
		return NULL;
	*door = (struct cni_door){engine,
				  inventory,
				  ipam_needs,
				  cni_ipam_cache_new(engine),
				  plugin_search_new(loop, cni_path),
				  NULL,
				  NULL};
	if (door->ipam && door->search)
		return door;
	cni_door_free(door);
	return NULL;
}

void cni_door_before_add(struct cni_door *door, cni_before_add_fn *fn, void *arg)
{
	door->before_add = fn;
	door->before_add_arg = arg;
}

void cni_door_free(struct cni_door *door)
{
	if (!door)
		return;
	plugin_search_close(door->search);
	cni_ipam_cache_free(door->ipam);
	free(door);
}
