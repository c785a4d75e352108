/* attach_status.c - see attach_status.h. */
#include "attach_status.h"

#include <string.h>

#include "cleanup.h"
#include "vf_fields.h"

#define LINK_DRIFT(id, name, ...)                                                                  \
	{                                                                                          \
		ATTACH_DRIFT_LINK(LINK_##id), #name                                                \
	}

/* Their bits are the first N_VF_FIELDS. */
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

/* The place of the first one of a function, or of what stands behind it. */
static size_t attach_status_first_of(struct attach_list list, const char *function)
{
	size_t low = 0, high = list.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (natural_cmp(list.items[mid].record->function, function) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool has_it(const struct attach_record *r, const char *function)
{
	return r->plan.kind == PLAN_VF && r->state != ATTACH_FREE &&
	       strcmp(r->function, function) == 0;
}

const struct attach_status *attach_list_function(struct attach_list list, const char *function)
{
	const struct attach_status *end = list.items + list.n;

	for (const struct attach_status *a = list.items + attach_status_first_of(list, function);
	     a < end && natural_cmp(a->record->function, function) == 0; a++)
		if (has_it(a->record, function))
			return a;
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
