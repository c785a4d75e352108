#include "ctl_show.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "ctl_table.h"

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* Strings of a list, or of one key of its objects (key not NULL), with commas. Heap. */
static char *joined(const json_t *list, const char *key)
{
	char *text = NULL;
	size_t len, i;
	json_t *item;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	json_array_foreach ((json_t *)list, i, item) {
		const char *s = key ? text_of(item, key) : json_string_value(item);

		if (s)
			fprintf(f, "%s%s", ftell(f) > 0 ? "," : "", s);
	}
	fclose(f);
	return text;
}

static void add_joined(struct table *t, const json_t *list, const char *key)
{
	AUTO_FREE char *text = joined(list, key);

	table_add(t, text);
}

static void print(struct table *t, FILE *f, const char *nothing)
{
	if (t->failed)
		fputs("out of memory\n", f);
	else if (t->n_cells == 0)
		fprintf(f, "%s\n", nothing);
	table_print(t, f);
	table_done(t);
}

/* --- pods ------------------------------------------------------------------------------------- */

static void add_pod_device(struct table *t, const json_t *pod, const json_t *container,
			   const json_t *device)
{
	const json_t *a = json_object_get(device, "attachment");
	const char *name = text_of(pod, "name");

	table_add(t, text_of(pod, "namespace"));
	table_add(t, name ? name : text_of(pod, "uid"));
	table_add(t, text_of(container, "name"));
	table_add(t, text_of(device, "resource"));
	table_add(t, text_of(device, "id"));
	table_add(t, text_of(a, "interface"));
	add_joined(t, json_object_get(a, "ips"), NULL);
	table_add(t, json_is_object(a) ? text_of(a, "state") : "held");
}

void ctl_show_pods(const json_t *document, FILE *f)
{
	struct table t = {.heads = {"NAMESPACE", "POD", "CONTAINER", "RESOURCE", "DEVICE",
				    "INTERFACE", "IPS", "STATE"},
			  .n_columns = 8};
	json_t *pod, *container, *device;
	size_t i, k, m;

	json_array_foreach (json_object_get(document, "pods"), i, pod) {
		json_array_foreach (json_object_get(pod, "containers"), k, container) {
			json_array_foreach (json_object_get(container, "devices"), m, device) {
				add_pod_device(&t, pod, container, device);
			}
		}
	}
	print(&t, f, "no container has a device");
}

/* --- devices ---------------------------------------------------------------------------------- */

/* A netdev in a pod bears the pod's name for it: the host's says more. */
static void add_netdevs(struct table *t, const json_t *device)
{
	const char *name = text_of(json_object_get(device, "attachment"), "name");

	if (name)
		table_add(t, name);
	else
		add_joined(t, json_object_get(device, "netdevs"), "name");
}

void ctl_show_devices(const json_t *document, FILE *f)
{
	struct table t = {.heads = {"DEVICE", "KIND", "NETDEV", "RDMA", "DRIVER", "WHY"},
			  .n_columns = 6};
	json_t *device;
	size_t i;

	json_array_foreach (json_object_get(document, "devices"), i, device) {
		table_add(&t, text_of(device, "id"));
		table_add(&t, text_of(device, "kind"));
		add_netdevs(&t, device);
		add_joined(&t, json_object_get(device, "rdma"), "name");
		table_add(&t, text_of(device, "driver"));
		table_add(&t, text_of(device, "why"));
	}
	print(&t, f, "this node has no devices");
}

void ctl_show_explain(const json_t *document, FILE *f)
{
	const char *device = text_of(document, "device"), *why = text_of(document, "why");

	table_put(device ? device : "-", f);
	fputs(": ", f);
	table_put(why ? why : "-", f);
	fputc('\n', f);
}

/* --- events ----------------------------------------------------------------------------------- */

#define POD_TEXT_SIZE 400

/* "namespace/pod", "" for none. */
static void pod_text(const json_t *object, char ret[POD_TEXT_SIZE])
{
	const char *namespace = text_of(object, "namespace"), *pod = text_of(object, "pod");

	ret[0] = '\0';
	if (pod)
		snprintf(ret, POD_TEXT_SIZE, "%.64s/%.300s", namespace ? namespace : "", pod);
}

static void add_event(struct table *t, const json_t *e)
{
	char object[POD_TEXT_SIZE], count[24];

	pod_text(e, object);
	snprintf(count, sizeof(count), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(json_object_get(e, "count")));
	table_add(t, text_of(e, "last"));
	table_add(t, text_of(e, "type"));
	table_add(t, text_of(e, "reason"));
	table_add(t, object);
	table_add(t, text_of(e, "device"));
	table_add(t, count);
	table_add(t, text_of(e, "message"));
}

void ctl_show_events(const json_t *document, FILE *f)
{
	struct table t = {.heads = {"LAST", "TYPE", "REASON", "POD", "DEVICE", "COUNT", "MESSAGE"},
			  .n_columns = 7};
	json_t *e;
	size_t i;

	json_array_foreach (json_object_get(document, "events"), i, e) {
		add_event(&t, e);
	}
	print(&t, f, "no events");
}

static void put_word(const char *text, FILE *f)
{
	table_put(text && *text ? text : "-", f);
	fputs("  ", f);
}

void ctl_show_event(const json_t *e, FILE *f)
{
	json_int_t count = json_integer_value(json_object_get(e, "count"));
	const char *message = text_of(e, "message");
	char object[POD_TEXT_SIZE];

	pod_text(e, object);
	put_word(text_of(e, "last"), f);
	put_word(text_of(e, "type"), f);
	put_word(text_of(e, "reason"), f);
	put_word(object, f);
	put_word(text_of(e, "device"), f);
	table_put(message ? message : "-", f);
	if (count > 1)
		fprintf(f, " (%" JSON_INTEGER_FORMAT " times)", count);
	fputc('\n', f);
}

/* --- doctor ----------------------------------------------------------------------------------- */

static void show_finding(const json_t *finding, FILE *f)
{
	const char *object = text_of(finding, "object"), *help = text_of(finding, "help");
	const char *kind = text_of(finding, "kind"), *what = text_of(finding, "what");

	table_put(kind ? kind : "-", f);
	fputs(": ", f);
	if (object) {
		table_put(object, f);
		fputs(": ", f);
	}
	table_put(what ? what : "-", f);
	fputs("\n    ", f);
	table_put(help ? help : "-", f);
	fputs(json_is_true(json_object_get(finding, "fixable"))
		      ? "\n    `rocectl doctor --fix` works on it.\n"
		      : "\n",
	      f);
}

size_t ctl_show_doctor(const json_t *document, FILE *f)
{
	const json_t *findings = json_object_get(document, "findings");
	json_t *finding;
	size_t i;

	if (json_array_size(findings) == 0)
		fputs("nothing is wrong\n", f);
	json_array_foreach ((json_t *)findings, i, finding) {
		show_finding(finding, f);
	}
	return json_array_size(findings);
}

/* --- orders ----------------------------------------------------------------------------------- */

void ctl_show_attached(const json_t *document, FILE *f)
{
	const json_t *a = json_object_get(document, "attachment");
	const char *device = text_of(document, "device"), *interface = text_of(a, "interface");

	table_put(device ? device : "-", f);
	fputs(" is attached", f);
	if (interface) {
		fputs(" as ", f);
		table_put(interface, f);
	}
	fputc('\n', f);
}

void ctl_show_detached(const json_t *document, FILE *f)
{
	const char *device = text_of(document, "device");

	table_put(device ? device : "-", f);
	fputs(" is back in the host, and clean\n", f);
}
