// SPDX-License-Identifier: Apache-2.0
#include "readiness.h"

#include <stdio.h>

#include "capabilities.h"
#include "err.h"
#include "inventory.h"
#include "pool_config.h"
#include "resource_table.h"
#include "routes.h"

bool readiness_is_starting(const struct routes *r, char ret[READINESS_TEXT])
{
	const char *what = NULL;

	if (!r->inventory || r->inventory->generation == 0)
		what = "the host's devices have not been read yet";
	else if (!r->page && !r->is_sampled)
		what = "the first sample has not been taken yet";
	snprintf(ret, READINESS_TEXT, "not ready: %s\n", what ? what : "");
	return what;
}

bool readiness_is_refused(const struct routes *r, char ret[READINESS_TEXT])
{
	const struct config_state *c = r->config;

	if (c && c->offers_nothing)
		snprintf(ret, READINESS_TEXT, "not ready: the configuration file is refused: %s\n",
			 c->error.msg);
	else if (c && c->beside[0])
		snprintf(ret, READINESS_TEXT, "not ready: %s\n", c->beside);
	return c && (c->offers_nothing || c->beside[0]);
}

bool readiness_cannot_attach(const struct routes *r, char ret[READINESS_TEXT])
{
	struct attach_counters counters = {.view_error = "", .journal_error = ""};
	const char *why = "";

	if (r->admin.counters)
		r->admin.counters(&counters, r->admin.arg);
	if (counters.view_error[0])
		why = counters.view_error;
	else if (counters.journal_error[0])
		why = counters.journal_error;
	else if (counters.runtime_lacks_all)
		why = counters.runtime_error;
	snprintf(ret, READINESS_TEXT, "not ready: %s\n", why);
	return why[0];
}

/* True if a capability is missing without which the daemon cannot do its work. */
static bool readiness_is_powerless(const struct routes *r, char ret[READINESS_TEXT])
{
	for (size_t i = 0; i < r->n_missing; i++) {
		if (!r->missing[i].fatal)
			continue;
		snprintf(ret, READINESS_TEXT, "not ready: %s is missing: %.400s\n",
			 r->missing[i].name, r->missing[i].stops);
		return true;
	}
	return false;
}

/* Returns why a configured TCP listener serves nothing; NULL: it serves, or none is configured. A
 * listener that continues with earlier certificates or passwords serves. */
static const char *readiness_listener(const struct routes *r)
{
	if (!r->serves_tcp || *r->serves_tcp)
		return NULL;
	if (r->port_error && r->port_error->code)
		return r->port_error->msg;
	return r->guard_error && r->guard_error->code ? r->guard_error->msg : "not listening yet";
}

static const char *readiness_files(const struct resource_table *t)
{
	for (size_t i = 0; t && i < t->n_resources; i++)
		if (t->resources[i].files_error[0])
			return t->resources[i].files_error;
	return NULL;
}

/* Returns a resource if none is registered with the kubelet. NULL: one is registered, or none is
 * configured. */
static const struct resource_info *readiness_unknown(const struct resource_table *t)
{
	for (size_t i = 0; t && i < t->n_resources; i++)
		if (t->resources[i].registration == REGISTRATION_DONE)
			return NULL;
	return t && t->n_resources > 0 ? &t->resources[0] : NULL;
}

static bool readiness_is_unknown(const struct routes *r, char ret[READINESS_TEXT])
{
	const struct resource_info *first = readiness_unknown(r->resources);

	if (r->n_to_register == 0)
		return false;
	if (!r->resources) {
		snprintf(ret, READINESS_TEXT, "not ready: resources are not registered yet\n");
		return true;
	}
	if (!first)
		return false;
	snprintf(ret, READINESS_TEXT,
		 "not ready: the kubelet %s of the configured resources (%zu): %.128s%s%.128s\n",
		 first->registration == REGISTRATION_REFUSED ? "accepts none" : "knows none",
		 r->resources->n_resources, first->name, first->error[0] ? ": " : "", first->error);
	return true;
}

bool readiness_cannot_serve(const struct routes *r, char ret[READINESS_TEXT])
{
	const char *why = readiness_listener(r);
	const char *what = "nothing is served over TCP: ";

	if (readiness_is_powerless(r, ret))
		return true;
	if (!why && r->socket_error && r->socket_error->code) {
		why = r->socket_error->msg;
		what = "rocelet.sock is not served: ";
	}
	if (!why) {
		why = readiness_files(r->resources);
		what = "";
	}
	if (!why)
		return readiness_is_unknown(r, ret);
	snprintf(ret, READINESS_TEXT, "not ready: %s%.400s\n", what, why);
	return true;
}
