// SPDX-License-Identifier: Apache-2.0
#include "desired_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <linux/if_ether.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define VF "0000:03:00."
#define PF "0000:81:00.0"

/* --- the node --------------------------------------------------------------------------------- */

static struct pool *add_native(struct pool_config *c, const char *name, enum pool_kind kind)
{
	struct pool *p = add_pool(c, "a.b", name, kind);

	p->network = calloc(1, sizeof(*p->network));
	assert_non_null(p->network);
	p->network->timeout_ms = POOL_ATTACH_MS;
	p->network->allow = ~0u;
	return p;
}

static void add_pools(struct pool_config *c)
{
	struct pool *p = add_native(c, "roce", POOL_EXCLUSIVE);

	add_word(&add_selector(p)->pci_addresses, VF "1");
	add_word(&p->selectors[0].pci_addresses, VF "2");
	p = add_native(c, "fast", POOL_EXCLUSIVE);
	add_word(&add_selector(p)->pci_addresses, VF "3");
	p->network->plan.vf = (struct vf_settings){
		.fields = VF_VLAN, .vlan = 7, .vlan_proto = ETH_P_8021Q};
	p = add_pool(c, "a.b", "plain", POOL_EXCLUSIVE);
	add_word(&add_selector(p)->pci_addresses, VF "4");
	p = add_native(c, "pf", POOL_EXCLUSIVE);
	add_word(&add_selector(p)->pci_addresses, PF);
	p = add_native(c, "slot", POOL_SHARED_ONE);
	add_word(&add_selector(p)->rdma_names, "mlx5_0");
	p->slots = 8;
	p->network->plan.kind = PLAN_MACVLAN;
}

int desired_fixture_setup(void **state)
{
	struct desired_fixture *f = calloc(1, sizeof(*f));
	void *pools = NULL;

	assert_non_null(f);
	assert_int_equal(pool_fixture_setup(&pools), 0);
	f->pools = pools;
	add_pools(&f->pools->config);
	pool_fixture_build(f->pools);
	f->held.source = POD_SOURCE_API;
	f->sandboxes.known = true;
	*state = f;
	return 0;
}

void desired_fixture_clear(struct desired_fixture *f)
{
	pod_list_done(&f->held);
	sandbox_list_done(&f->sandboxes);
	desired_list_done(&f->desired);
	free(f->records);
	free(f->others);
	f->records = NULL;
	f->others = NULL;
	f->n_records = 0;
	f->held.source = POD_SOURCE_API;
	f->sandboxes.known = true;
}

int desired_fixture_teardown(void **state)
{
	struct desired_fixture *f = *state;
	void *pools = f->pools;

	desired_fixture_clear(f);
	for (size_t i = 0; i < f->pools->config.n_pools; i++)
		free(f->pools->config.pools[i].network);
	pool_fixture_teardown(&pools);
	free(f);
	return 0;
}

/* --- inputs ----------------------------------------------------------------------------------- */

void device_of(const char *device, char resource[RESOURCE_NAME_SIZE], char id[PLUGIN_ID_SIZE])
{
	const char *colon = strchr(device, ':');
	int n = (int)(colon - device);

	snprintf(resource, RESOURCE_NAME_SIZE, "a.b/%.*s", n, device);
	if (strncmp(device, "pf:", 3) == 0)
		snprintf(id, PLUGIN_ID_SIZE, PF);
	else if (strncmp(device, "slot:", 5) == 0)
		snprintf(id, PLUGIN_ID_SIZE, "%s", colon + 1);
	else
		snprintf(id, PLUGIN_ID_SIZE, VF "%s", colon + 1);
}

/* In milliseconds; 0 = absent. */
static uint64_t seconds(const char *text)
{
	return text ? (uint64_t)(strtod(text, NULL) * 1000 + 0.5) : 0;
}

static void add_one_held(struct desired_fixture *f, char *text)
{
	const char *pod = strsep(&text, ":"), *container = strsep(&text, ":"),
		   *device = strsep(&text, "@"), *reserved = strsep(&text, "!");
	char resource[RESOURCE_NAME_SIZE], id[PLUGIN_ID_SIZE];
	bool is_uid = pod[0] == '#';
	const struct pod_device d = {.namespace = pod[0] && !is_uid ? "ns" : "",
				     .pod = is_uid ? "" : pod,
				     .uid = is_uid ? pod + 1 : "",
				     .container = container,
				     .resource = resource,
				     .id = id,
				     .reserved_ms = seconds(reserved),
				     .start_ms = seconds(text)};

	device_of(device, resource, id);
	assert_int_equal(pod_list_push(&f->held, &d), 0);
}

void add_held(struct desired_fixture *f, const char *text)
{
	char copy[512], *rest = copy, *word;

	SET_TEXT(copy, text);
	while ((word = strsep(&rest, " ")))
		if (*word == '=')
			f->held.asked_ms = seconds(word + 1);
		else if (*word)
			add_one_held(f, word);
	pod_list_sort(&f->held);
}

static void add_sandbox(struct desired_fixture *f, const char *text)
{
	struct sandbox *s = array_push(f->sandboxes.items, f->sandboxes.n);
	char flags[8], seen[16], *rest = seen, *made;

	if (!s)
		abort();
	SET_TEXT(s->namespace, "ns");
	assert_int_equal(sscanf(text, "%63[^/]/%39[^/]/%u@%15[0-9.~]%7s", s->pod, s->uid,
				&s->attempt, seen, flags),
			 5);
	made = (strsep(&rest, "~"), rest ? rest : seen);
	s->seen_ms = seconds(seen);
	s->created_ns = (int64_t)seconds(made) * 1000000;
	s->made_ms = seconds(made) <= s->seen_ms ? seconds(made) : 0;
	snprintf(s->id, sizeof(s->id), "%s.%u", s->uid, s->attempt);
	s->ready = strchr(flags, '+') != NULL;
	s->host_network = strchr(flags, 'h') != NULL;
	s->user_namespace = strchr(flags, 'u') != NULL;
	s->detailed = !strchr(flags, 'd');
	if (!strchr(flags, 'n'))
		snprintf(s->netns, sizeof(s->netns), "/run/netns/%s", s->id);
}

void add_sandboxes(struct desired_fixture *f, const char *text)
{
	char copy[512], *rest = copy, *word;

	SET_TEXT(copy, text);
	while ((word = strsep(&rest, " ")))
		if (*word == '=')
			f->sandboxes.asked_ms = seconds(word + 1);
		else if (*word)
			add_sandbox(f, word);
	sandbox_list_sort(&f->sandboxes);
}

void set_networks(struct desired_fixture *f, const char *uid, const char *annotation)
{
	for (size_t i = 0; i < f->sandboxes.n; i++) {
		struct sandbox *s = &f->sandboxes.items[i];

		if (strcmp(s->uid, uid) != 0)
			continue;
		free(s->networks);
		s->networks = strdup(annotation);
		assert_non_null(s->networks);
	}
}

struct attach_record *add_record(struct desired_fixture *f, const char *device, const char *pod,
				 const char *sandbox)
{
	struct attach_record *r = array_push(f->records, f->n_records);

	assert_non_null(r);
	r->state = ATTACH_IN_POD;
	device_of(device, r->resource, r->id);
	SET_TEXT(r->function, r->id);
	SET_TEXT(r->owner.namespace, "ns");
	SET_TEXT(r->owner.pod, pod);
	SET_TEXT(r->owner.sandbox, sandbox);
	snprintf(r->owner.uid, sizeof(r->owner.uid), "%.*s", (int)strcspn(sandbox, "."), sandbox);
	free(f->others);
	f->others = calloc(f->n_records, sizeof(*f->others));
	assert_non_null(f->others);
	for (size_t i = 0; i < f->n_records; i++)
		f->others[i] = &f->records[i];
	return r;
}

/* --- the desired list ------------------------------------------------------------------------- */

static const char *device_text(const struct desired *w)
{
	static char text[64];
	const char *name = strchr(w->resource, '/') + 1;

	snprintf(text, sizeof(text), "%.16s:%.16s", name,
		 strncmp(w->id, VF, strlen(VF)) == 0 ? w->id + strlen(VF)
		 : strcmp(w->id, PF) == 0	     ? ""
						     : w->id);
	return text;
}

const char *joined(struct desired_fixture *f)
{
	static char text[1024];
	size_t n = 0;

	desired_list_done(&f->desired);
	assert_int_equal(desired_build(&f->desired, &f->pools->pools, &f->pools->host, &f->held,
				       &f->sandboxes, f->others, f->n_records),
			 0);
	text[0] = '\0';
	for (size_t i = 0; i < f->desired.n; i++) {
		const struct desired *w = &f->desired.items[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s>%s=%s%s", n ? " " : "",
				      device_text(w), w->owner.sandbox, w->plan.ifname,
				      w->err.code ? "!" : "");
		assert_true(n < sizeof(text));
	}
	return text;
}

const struct desired *desired_of(const struct desired_fixture *f, const char *device)
{
	char resource[RESOURCE_NAME_SIZE], id[PLUGIN_ID_SIZE];

	device_of(device, resource, id);
	return desired_find(&f->desired, resource, id);
}
