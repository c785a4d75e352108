// SPDX-License-Identifier: Apache-2.0
#include "plugin_request.h"

#include <stdlib.h>

#include "plugin_wire.h"
#include "utf8.h"

static bool plugin_request_is_id(const char *id)
{
	size_t len = 0, n;

	while (len < PLUGIN_ID_SIZE && (n = utf8_char(id + len)) > 0)
		len += n;
	return len > 0 && len < PLUGIN_ID_SIZE && id[len] == '\0';
}

static int plugin_request_check_ids(const struct id_list *l, struct err *e)
{
	for (size_t i = 0; i < l->n; i++)
		if (!plugin_request_is_id(l->ids[i]))
			return err_set(e, -EINVAL, "device ID %zu is not 1 to %d bytes of UTF-8", i,
				       PLUGIN_ID_SIZE - 1);
	return 0;
}

static int check_count(const char *what, size_t n, size_t most, struct err *e)
{
	if (n <= most)
		return 0;
	return err_set(e, -EINVAL, "%zu %s in one request, at most %zu are served", n, what, most);
}

static int check_preference(const struct preference_request *p, struct err *e)
{
	int r;

	if (p->size > p->available.n || p->must_include.n > p->size)
		return err_set(e, -EINVAL, "cannot choose %zu of %zu devices, %zu of them given",
			       p->size, p->available.n, p->must_include.n);
	r = plugin_request_check_ids(&p->available, e);
	return r < 0 ? r : plugin_request_check_ids(&p->must_include, e);
}

static int fill_ids(struct plugin_request *q, struct err *e)
{
	size_t total = 0;
	int r = 0;

	q->ids = calloc(q->n + 1, sizeof(*q->ids));
	if (!q->ids)
		return err_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < q->n && r == 0; i++) {
		q->ids[i] = wire_request_ids(q->wire, i);
		total += q->ids[i].n;
		r = check_count("device IDs", total, PLUGIN_IDS_MAX, e);
		if (r == 0)
			r = plugin_request_check_ids(&q->ids[i], e);
	}
	return r;
}

static int fill_preferences(struct plugin_request *q, struct err *e)
{
	int r = 0;

	q->preferences = calloc(q->n + 1, sizeof(*q->preferences));
	if (!q->preferences)
		return err_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < q->n && r == 0; i++) {
		q->preferences[i] = wire_request_preference(q->wire, i);
		r = check_preference(&q->preferences[i], e);
	}
	return r;
}

typedef int decode_fn(struct wire_request **ret, const uint8_t *, size_t len);
typedef int fill_fn(struct plugin_request *, struct err *);

static int take_request(struct plugin_request *ret, decode_fn *decode, fill_fn *fill,
			const uint8_t *bytes, size_t len, struct err *e)
{
	struct plugin_request q = {0};
	int r = decode(&q.wire, bytes, len);

	if (r < 0)
		return err_set(e, r, r == -ENOMEM ? "out of memory" : "the request is malformed");
	q.n = wire_request_n(q.wire);
	r = check_count("containers", q.n, PLUGIN_CONTAINERS_MAX, e);
	if (r == 0)
		r = fill(&q, e);
	if (r < 0)
		plugin_request_done(&q);
	else
		*ret = q;
	return r;
}

int plugin_request_allocate(struct plugin_request *q, const uint8_t *bytes, size_t len,
			    struct err *e)
{
	return take_request(q, wire_decode_allocate, fill_ids, bytes, len, e);
}

int plugin_request_pre_start(struct plugin_request *q, const uint8_t *bytes, size_t len,
			     struct err *e)
{
	return take_request(q, wire_decode_pre_start, fill_ids, bytes, len, e);
}

int plugin_request_preferred(struct plugin_request *q, const uint8_t *bytes, size_t len,
			     struct err *e)
{
	return take_request(q, wire_decode_preferred, fill_preferences, bytes, len, e);
}

void plugin_request_done(struct plugin_request *q)
{
	wire_request_free(q->wire);
	free(q->ids);
	free(q->preferences);
	*q = (struct plugin_request){0};
}
