#include "api_diagnosis.h"

#include <string.h>

#include "api_attachments.h"
#include "diagnosis_json.h"
#include "host_index.h"

static bool is_of_function(const char *function, const struct rdma_dev *dev,
			   const struct verdict *v)
{
	if (dev)
		return strcmp(rdma_function_id(dev), function) == 0;
	return v && (strcmp(v->function, function) == 0 || strcmp(v->device, function) == 0);
}

static bool concerns_pod(const char *pod, const struct verdict *v)
{
	for (uint32_t i = 0; v && i < v->n_pods && i < VERDICT_PODS_MAX; i++)
		if (api_names_pod(pod, v->pods[i].namespace, v->pods[i].name))
			return true;
	return false;
}

static bool is_held_by(const struct diagnosis_question *q, const char *device,
		       const struct rdma_dev *dev)
{
	const struct pod_device *holder = dev && q->resources
						  ? resource_table_holder(q->resources,
									  dev->function, device)
						  : NULL;

	return holder && api_names_pod(q->pod, holder->namespace, holder->pod);
}

/* A device that has just gone is known by its verdicts alone. */
static bool is_asked_for(const char *device, const struct verdict *v, void *question)
{
	const struct diagnosis_question *q = question;
	const struct rdma_dev *dev = host_rdma(q->host, device);

	if (q->function && !is_of_function(q->function, dev, v))
		return false;
	return !q->pod || concerns_pod(q->pod, v) || is_held_by(q, device, dev);
}

char *api_diagnosis(const struct diagnosis_report *r, const struct diagnosis_question *q,
		    size_t *ret_len)
{
	struct diagnosis_question question = *q;
	bool all = !q->function && !q->pod;

	return api_print(diagnosis_json(r, all ? NULL : is_asked_for, &question), ret_len);
}
