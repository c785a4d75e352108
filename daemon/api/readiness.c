// SPDX-License-Identifier: Apache-2.0
#include "readiness.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "capabilities.h"
#include "cleanup.h"
#include "err.h"
#include "inventory.h"
#include "pool_config.h"
#include "resource_table.h"
#include "routes.h"

/* Adds a line. Lines without room are only counted. */
__attribute__((format(printf, 3, 4))) static void
readiness_add(struct readiness *ret, enum readiness_kind kind, const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	line[strcspn(line, "\n")] = '\0';
	ret->n++;
	ret->kinds |= 1u << kind;
	n = snprintf(ret->text + ret->len, sizeof(ret->text) - ret->len, READINESS_MARK "%s\n",
		     line);
	if ((size_t)n < sizeof(ret->text) - ret->len)
		ret->len += (size_t)n;
	else
		ret->text[ret->len] = '\0';
}

static bool readiness_is_starting(const struct readiness *r)
{
	return r->kinds & 1u << READINESS_STARTING;
}

/* --- the reasons ------------------------------------------------------------------------------ */

static void readiness_config(const struct routes *r, struct readiness *ret)
{
	const struct config_state *c = r->config;

	if (c && c->offers_nothing)
		readiness_add(ret, READINESS_CONFIG, "the configuration file is rejected: %s",
			      c->error.msg);
	else if (c && c->last_good_of[0])
		readiness_add(ret, READINESS_CONFIG,
			      "running with the last good configuration of %s, because %s",
			      c->last_good_of, c->error.msg);
	else if (c && c->beside[0])
		readiness_add(ret, READINESS_CONFIG, "%s", c->beside);
}

static void readiness_starting(const struct routes *r, struct readiness *ret)
{
	if (!r->inventory || r->inventory->generation == 0)
		readiness_add(ret, READINESS_STARTING, "the host's devices have not been read yet");
	else if (!r->page && !r->is_sampled)
		readiness_add(ret, READINESS_STARTING, "the first sample has not been taken yet");
}

/* A capability is missing without which the daemon cannot do its work. */
static void readiness_powers(const struct routes *r, struct readiness *ret)
{
	for (size_t i = 0; i < r->n_missing; i++)
		if (r->missing[i].fatal)
			readiness_add(ret, READINESS_SERVE, "%s is missing: %.400s",
				      r->missing[i].name, r->missing[i].stops);
}

static void readiness_attach(const struct routes *r, struct readiness *ret)
{
	struct attach_counters counters = {.view_error = "", .journal_error = ""};

	if (r->admin.counters)
		r->admin.counters(&counters, r->admin.arg);
	if (counters.view_error[0])
		readiness_add(ret, READINESS_ATTACH, "%s", counters.view_error);
	if (counters.journal_error[0])
		readiness_add(ret, READINESS_ATTACH, "%s", counters.journal_error);
	if (counters.runtime_lacks_all && counters.runtime_error[0])
		readiness_add(ret, READINESS_ATTACH, "%s", counters.runtime_error);
}

/* A configured TCP listener serves nothing. One that continues with earlier certificates or
 * passwords serves. */
static void readiness_listener(const struct routes *r, struct readiness *ret)
{
	const char *why = "not listening yet";

	if (!r->serves_tcp || *r->serves_tcp)
		return;
	if (r->port_error && r->port_error->code)
		why = r->port_error->msg;
	else if (r->guard_error && r->guard_error->code)
		why = r->guard_error->msg;
	readiness_add(ret, READINESS_SERVE, "nothing is served over TCP: %s", why);
}

static void readiness_socket(const struct routes *r, struct readiness *ret)
{
	if (r->socket_error && r->socket_error->code)
		readiness_add(ret, READINESS_SERVE, "rocelet.sock is not served: %s",
			      r->socket_error->msg);
}

/* The files for containers, each error once: usually all resources share one folder. */
static void readiness_files(const struct routes *r, struct readiness *ret)
{
	const struct resource_table *t = r->resources;

	for (size_t i = 0; t && i < t->n_resources; i++) {
		const char *why = t->resources[i].files_error;
		size_t k = 0;

		while (strcmp(t->resources[k].files_error, why) != 0)
			k++;
		if (why[0] && k == i)
			readiness_add(ret, READINESS_SERVE, "%s", why);
	}
}

/* No resource is registered with the kubelet, although some are configured. */
static void readiness_kubelet(const struct routes *r, struct readiness *ret)
{
	const struct resource_table *t = r->resources;
	const struct resource_info *first;

	if (r->n_to_register == 0 || readiness_is_starting(ret))
		return;
	if (!t) {
		readiness_add(ret, READINESS_SERVE, "resources are not registered yet");
		return;
	}
	for (size_t i = 0; i < t->n_resources; i++)
		if (t->resources[i].registration == REGISTRATION_DONE)
			return;
	if (t->n_resources == 0)
		return;
	first = &t->resources[0];
	readiness_add(ret, READINESS_SERVE,
		      "the kubelet %s of the configured resources (%zu): %.128s%s%.128s",
		      first->registration == REGISTRATION_REFUSED ? "accepts none" : "knows none",
		      t->n_resources, first->name, first->error[0] ? ": " : "", first->error);
}

/* --- all of them ------------------------------------------------------------------------------ */

void readiness_read(struct readiness *ret, const struct routes *r)
{
	/* The most important first: what a person must correct, then what nothing works without. */
	static void (*const reasons[])(const struct routes *, struct readiness *) = {
		readiness_config,   readiness_starting, readiness_attach, readiness_powers,
		readiness_listener, readiness_socket,	readiness_files,  readiness_kubelet,
	};

	*ret = (struct readiness){0};
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		reasons[i](r, ret);
}
