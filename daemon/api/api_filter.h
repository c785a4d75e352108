/* SPDX-License-Identifier: Apache-2.0 */
/* api_filter.h - selects objects of a list by the parameters of a query. Pure. */
#pragma once

#include <stdbool.h>

/* An object must match all members that are not NULL. */
struct api_filter {
	const char *device;    /* a function's bus name; any other name matches nothing */
	const char *namespace; /* Kubernetes namespace of the object's pod */
	const char *pod;       /* "name" or "namespace/name" */
	const char *kind;      /* kind of a device or of a finding */
	const char *name;      /* name of a resource */
};

/* True if the filter selects an object with this property. A NULL filter selects every object. */
bool api_filter_pod(const struct api_filter *, const char *namespace, const char *pod);
/* True if the filter does not select by pods. */
bool api_filter_has_no_pod(const struct api_filter *);
bool api_filter_device(const struct api_filter *, const char *device);
bool api_filter_kind(const struct api_filter *, const char *kind);
bool api_filter_name(const struct api_filter *, const char *name);
