// SPDX-License-Identifier: Apache-2.0
#include "api_filter.h"

#include <string.h>

#include "api_attachments.h"

static bool filter_is(const char *wanted, const char *text)
{
	return !wanted || strcmp(wanted, text) == 0;
}

bool api_filter_has_no_pod(const struct api_filter *f)
{
	return !f || (!f->namespace && !f->pod);
}

bool api_filter_pod(const struct api_filter *f, const char *namespace, const char *pod)
{
	return !f || (filter_is(f->namespace, namespace) &&
		      (!f->pod || api_names_pod(f->pod, namespace, pod)));
}

bool api_filter_device(const struct api_filter *f, const char *device)
{
	return !f || filter_is(f->device, device);
}

bool api_filter_kind(const struct api_filter *f, const char *kind)
{
	return !f || filter_is(f->kind, kind);
}

bool api_filter_name(const struct api_filter *f, const char *name)
{
	return !f || filter_is(f->name, name);
}
