// SPDX-License-Identifier: Apache-2.0
/* routes_device.c - the device that a query names. */
#include "device_name.h"
#include "inventory.h"
#include "routes.h"

const char *routes_wanted_device(const struct routes *r, const struct http_request *request,
				 struct err *e)
{
	const char *name = http_param(request, "device");

	if (!name || !r->inventory)
		return name;
	return device_behind_name(&r->inventory->host, r->attachments, name, e);
}
