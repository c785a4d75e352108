// SPDX-License-Identifier: Apache-2.0
#include "node_features.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "diagnosis_report.h"
#include "model.h"
#include "utc_text.h"

#define PREFIX "feature.node.kubernetes.io/rocelet."

/* Is a RoCE version in use on any port? */
enum node_features_roce { ROCE_NO, ROCE_UNKNOWN, ROCE_YES };

struct node_features_ports {
	unsigned n, n_active;
	uint64_t min_bps, max_bps; /* of the active ports; 0 = unknown */
	enum node_features_roce v1, v2;
	unsigned n_judged, n_down;
	bool unseen; /* at least one port has not been judged */
};

/* --- ports ------------------------------------------------------------------------------------ */

static bool node_features_has_gid(const struct rdma_port *p, enum gid_type type)
{
	for (unsigned i = 0; i < p->n_gids; i++)
		if (p->gids[i].type == type)
			return true;
	return false;
}

/* Counts ports of physical cards only: VFs change with pods, and soft-RoCE is not a property of the
 * node. An Ethernet port that has GIDs, but no RoCE GID, is iWARP. */
static bool node_features_counts(const struct host *h, const struct rdma_dev *d,
				 const struct rdma_port *p)
{
	const struct function *f = host_function(h, d->function);

	if (d->nsid != NSID_HOST || p->link_layer != LINK_ETHERNET || !f || f->kind != FN_PF ||
	    strcmp(d->driver, "rxe") == 0 || strcmp(d->driver, "siw") == 0)
		return false;
	return p->n_gids == 0 || node_features_has_gid(p, GID_ROCE_V1) ||
	       node_features_has_gid(p, GID_ROCE_V2);
}

/* Without GIDs the version is unknown: a port that is down has none. */
static enum node_features_roce node_features_version(enum node_features_roce so_far,
						     const struct rdma_port *p, enum gid_type type)
{
	enum node_features_roce of_port = p->n_gids == 0		   ? ROCE_UNKNOWN
					  : node_features_has_gid(p, type) ? ROCE_YES
									   : ROCE_NO;

	return of_port > so_far ? of_port : so_far;
}

static void node_features_add_speed(struct node_features_ports *sum, uint64_t bps)
{
	if (bps == 0)
		return;
	if (sum->min_bps == 0 || bps < sum->min_bps)
		sum->min_bps = bps;
	if (bps > sum->max_bps)
		sum->max_bps = bps;
}

/* NULL: diagnosis does not watch the port. */
static const struct port_watched *node_features_watched(const struct diagnosis_report *r,
							const char *device, uint32_t port)
{
	for (size_t i = 0; r && i < r->n_ports; i++)
		if (r->ports[i].port == port && strcmp(r->ports[i].device, device) == 0)
			return &r->ports[i];
	return NULL;
}

static void node_features_add_watch(struct node_features_ports *sum, const struct port_watched *w)
{
	switch (w ? w->watch : WATCH_UNSEEN) {
	case WATCH_JUDGED:
		sum->n_judged++;
		return;
	case WATCH_DOWN:
		sum->n_down++;
		return;
	case WATCH_WARMING:
	case WATCH_UNSEEN:
	case WATCH_NOT_APPLICABLE:
		sum->unseen = true;
		return;
	}
}

static void node_features_add_port(struct node_features_ports *sum,
				   const struct node_features_input *in, const struct rdma_dev *d,
				   const struct rdma_port *p)
{
	sum->n++;
	sum->v1 = node_features_version(sum->v1, p, GID_ROCE_V1);
	sum->v2 = node_features_version(sum->v2, p, GID_ROCE_V2);
	if (p->state == PORT_ACTIVE) {
		sum->n_active++;
		node_features_add_speed(sum, p->rate_bps);
	}
	node_features_add_watch(sum, node_features_watched(in->report, d->name, p->num));
}

static void node_features_sum(struct node_features_ports *sum, const struct node_features_input *in)
{
	const struct host *h = in->host;

	for (size_t i = 0; i < h->n_rdma; i++)
		for (unsigned k = 0; k < h->rdma[i].n_ports; k++)
			if (node_features_counts(h, &h->rdma[i], &h->rdma[i].ports[k]))
				node_features_add_port(sum, in, &h->rdma[i], &h->rdma[i].ports[k]);
}

/* --- the worst verdict ------------------------------------------------------------------------ */

static enum severity node_features_worst(const struct diagnosis_report *r)
{
	enum severity worst = SEVERITY_NONE;

	for (size_t i = 0; r && i < r->n_verdicts; i++)
		if (verdict_is_reported(&r->verdicts[i]) && r->verdicts[i].severity > worst)
			worst = r->verdicts[i].severity;
	return worst;
}

/* Is the link down on a port that a pod holds? */
static bool node_features_pod_is_down(const struct diagnosis_report *r)
{
	for (size_t i = 0; r && i < r->n_ports; i++)
		if (r->ports[i].watch == WATCH_DOWN && r->ports[i].held)
			return true;
	return false;
}

/* "ok" only if every port of the node was judged or is down, and at least one was judged. */
static const char *node_features_verdict(const struct node_features_ports *sum,
					 const struct diagnosis_report *r)
{
	enum severity worst = node_features_worst(r);

	if (worst >= SEVERITY_WARNING)
		return severity_name(worst);
	if (node_features_pod_is_down(r))
		return severity_name(SEVERITY_WARNING);
	if (!r || sum->n == 0 || sum->unseen)
		return "unknown";
	if (sum->n_judged == 0)
		return "down";
	return worst == SEVERITY_INFO ? severity_name(worst) : "ok";
}

/* --- text ------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void node_features_add(char *text, const char *fmt,
								    ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, NODE_FEATURES_SIZE - n, fmt, ap);
	va_end(ap);
}

static void node_features_add_rate(char *text, const char *name, uint64_t bps)
{
	if (bps == 0)
		node_features_add(text, PREFIX "%s=unknown\n", name);
	else /* whole Gbit/s, because NFD's rules compare integers; ports below 1 Gbit/s do not
	      * matter */
		node_features_add(text, PREFIX "%s=%" PRIu64 "\n", name, bps / 1000000000);
}

static void node_features_add_version(char *text, const char *name, enum node_features_roce version)
{
	static const char *const words[] = {
		[ROCE_NO] = "false", [ROCE_UNKNOWN] = "unknown", [ROCE_YES] = "true"};

	node_features_add(text, PREFIX "%s=%s\n", name, words[version]);
}

void node_features_labels(const struct node_features_input *in, char ret[NODE_FEATURES_SIZE])
{
	struct node_features_ports sum = {0};

	node_features_sum(&sum, in);
	ret[0] = '\0';
	node_features_add(ret, PREFIX "ports=%u\n", sum.n);
	node_features_add(ret, PREFIX "ports-active=%u\n", sum.n_active);
	if (sum.n > 0) {
		node_features_add_rate(ret, "speed-min-gbps", sum.min_bps);
		node_features_add_rate(ret, "speed-max-gbps", sum.max_bps);
		node_features_add_version(ret, "roce-v1", sum.v1);
		node_features_add_version(ret, "roce-v2", sum.v2);
	}
	node_features_add(ret, PREFIX "verdict=%s\n", node_features_verdict(&sum, in->report));
	if (in->config_digest)
		node_features_add(ret, PREFIX "config=%016" PRIx64 "\n", in->config_digest);
	if (in->config_group[0])
		node_features_add(ret, PREFIX "config-group=%s\n", in->config_group);
}

char *node_features_file(const char *labels, uint64_t expires_unix_ms)
{
	char when[UTC_TEXT_SIZE], *text;

	utc_text(expires_unix_ms, when);
	if (asprintf(&text,
		     "# Written by rocelet for Node Feature Discovery; do not edit.\n"
		     "# +expiry-time=%s\n%s",
		     when, labels) < 0)
		return NULL;
	return text;
}
