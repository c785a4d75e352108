// SPDX-License-Identifier: Apache-2.0
#include "api_pod.h"

#include <string.h>

#include "api_ports.h"
#include "cleanup.h"
#include "diagnosis_json.h"
#include "diagnosis_report.h"
#include "host_index.h"

/* Keys of verdict_json() that a pod may see; all other keys are withheld, including new ones. */
static const char *const verdict_keys[] = {
	"device",   "port",   "netdev",	  "function",	"cause",   "severity",
	"level",    "onset",  "onsetMs",  "firstMoved", "remark",  "clearingSinceMs",
	"sentence", "advice", "disproof", "symptoms",	"runbook",
};

/* Returns the keys of the verdict that a pod may see. NULL: out of memory. */
static json_t *own_verdict(const struct verdict *v)
{
	json_t *all = verdict_json(v, NULL, 0), *ret = json_object();
	bool ok = all && ret;

	for (size_t i = 0; ok && i < ARRAY_SIZE(verdict_keys); i++)
		ok = json_object_set(ret, verdict_keys[i], json_object_get(all, verdict_keys[i])) ==
		     0;
	json_decref(all);
	if (ok)
		return ret;
	json_decref(ret);
	return NULL;
}

static void api_pod_add_ports(struct json_out *o, const struct diagnosis_report *r,
			      const struct rdma_dev *dev, const struct function *fn)
{
	for (size_t i = 0; i < r->n_ports; i++) {
		const struct port_row row = {.at = i, .dev = dev, .fn = fn, .own = true};

		if (strcmp(r->ports[i].device, dev->name) == 0)
			api_add_port(o, r, &row);
	}
}

static void api_pod_add_verdicts(struct json_out *o, const struct diagnosis_report *r,
				 const struct rdma_dev *dev)
{
	for (size_t i = 0; i < r->n_verdicts; i++) {
		const struct verdict *v = &r->verdicts[i];

		if (verdict_is_own(v) && strcmp(v->device, dev->name) == 0)
			json_out_value(o, NULL, own_verdict(v));
	}
}

/* Iterates over the function's RDMA devices that are in samples; NULL: no more. Skips a device if
 * samples contain another one with its name, because a pod may give its device the name of a device
 * of the host. */
static const struct rdma_dev *next_device(const struct host *host, const char *function, size_t *at)
{
	while (*at < host->n_rdma) {
		const struct rdma_dev *dev = &host->rdma[(*at)++];

		if (strcmp(rdma_function_id(dev), function) == 0 &&
		    host_rdma_sampled(host, dev->name) == dev)
			return dev;
	}
	return NULL;
}

char *api_pod_status(const struct diagnosis_report *r, const struct host *host,
		     const char *function, uint32_t every_ms, size_t *ret_len)
{
	const struct function *fn = host_function(host, function);
	const struct rdma_dev *dev;
	struct json_out o = {0};

	json_out_open(&o, NULL, '{');
	api_add_time(&o, r);
	json_out_number(&o, "everyMs", every_ms);
	json_out_text(&o, "function", function);
	json_out_open(&o, "ports", '[');
	for (size_t at = 0; (dev = next_device(host, function, &at)) != NULL;)
		api_pod_add_ports(&o, r, dev, fn);
	json_out_close(&o, ']');
	json_out_open(&o, "verdicts", '[');
	for (size_t at = 0; (dev = next_device(host, function, &at)) != NULL;)
		api_pod_add_verdicts(&o, r, dev);
	json_out_close(&o, ']');
	json_out_close(&o, '}');
	text_add(&o.text, "\n", 1);
	return api_text(&o, ret_len);
}
