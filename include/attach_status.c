// SPDX-License-Identifier: Apache-2.0
#include "attach_status.h"

#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "vf_fields.h"

#define LINK_DRIFT(id, name, ...)                                                                  \
	{                                                                                          \
		ATTACH_DRIFT_LINK(LINK_##id), #name                                                \
	}

/* Returns the name of a VF setting's drift bit: the first N_VF_FIELDS bits are VF settings. */
static const char *vf_name(unsigned bit)
{
	for (size_t i = 0; i < N_VF_FIELDS; i++)
		if (vf_fields[i].bit == bit)
			return vf_fields[i].name;
	return NULL;
}

const char *attach_drift_name(size_t i, unsigned *ret_bit)
{
	static const struct {
		unsigned bit;
		const char *name;
	} seen[] = {
		{ATTACH_DRIFT_NAME, "name"}, LINK_FIELDS(LINK_DRIFT),
		{ATTACH_DRIFT_DOWN, "down"}, {ATTACH_DRIFT_IPS, "ips"},
		{ATTACH_DRIFT_RDMA, "rdma"},
	};

	if (i >= N_VF_FIELDS + ARRAY_SIZE(seen))
		return NULL;
	*ret_bit = i < N_VF_FIELDS ? 1u << i : seen[i - N_VF_FIELDS].bit;
	return i < N_VF_FIELDS ? vf_name(*ret_bit) : seen[i - N_VF_FIELDS].name;
}

static bool has_it(const struct attach_record *r, const char *function)
{
	return r->plan.kind == PLAN_VF && r->state != ATTACH_FREE &&
	       strcmp(r->function, function) == 0;
}

const struct attach_status *attach_list_function(struct attach_list list, const char *function)
{
	size_t at = lower_bound(list.n, i,
				natural_cmp(list.items[i].record->function, function) < 0);

	for (; at < list.n && natural_cmp(list.items[at].record->function, function) == 0; at++)
		if (has_it(list.items[at].record, function))
			return list.items + at;
	return NULL;
}

const struct attach_status *attach_list_id(struct attach_list list, const char *resource,
					   const char *id)
{
	const struct attach_status *a = list.items;

	for (size_t i = 0; i < list.n; i++, a++)
		if (strcmp(a->record->id, id) == 0 && strcmp(a->record->resource, resource) == 0)
			return a;
	return NULL;
}

const char *renewal_name(enum renewal r)
{
	switch (r) {
	case RENEWAL_DIRTY:
		return "dirty";
	case RENEWAL_UNKNOWN:
		return "unknown";
	case RENEWAL_ALWAYS:
		return "always";
	case RENEWAL_BEYOND:
		return "beyond";
	case RENEWAL_NONE:
	case N_RENEWALS:
		break;
	}
	return "";
}
