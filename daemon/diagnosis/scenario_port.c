// SPDX-License-Identifier: Apache-2.0
#include "scenario_port.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "json_text.h"
#include "scenario_keys.h"

#define SERIES_NAME_MAX 256
#define BITS_IN_BYTE	8.0

/* --- settings --------------------------------------------------------------------------------- */

/* Reads a bit mask, or a list of priorities. */
static bool read_mask(uint8_t *ret, const json_t *v)
{
	double n = json_number_value(v);
	uint8_t mask = 0;
	json_t *item;
	size_t i;

	if (json_is_number(v) && n >= 0 && n <= UINT8_MAX) {
		*ret = (uint8_t)n;
		return true;
	}
	json_array_foreach ((json_t *)v, i, item) {
		json_int_t priority = json_integer_value(item);

		if (!json_is_integer(item) || priority < 0 || priority >= SETTINGS_PRIOS)
			return false;
		mask |= (uint8_t)(1 << priority);
	}
	*ret = mask;
	return json_is_array(v);
}

static bool read_pfc(struct scenario_port *p, const json_t *v)
{
	return read_mask(&p->settings.pfc, v);
}

static bool read_peer_pfc(struct scenario_port *p, const json_t *v)
{
	return read_mask(&p->settings.peer_pfc, v);
}

static json_t *write_pfc(const struct port_observation *o)
{
	return json_integer(o->settings->pfc);
}

static json_t *write_peer_pfc(const struct port_observation *o)
{
	return json_integer(o->settings->peer_pfc);
}

static bool read_trust(struct scenario_port *p, const json_t *v)
{
	const char *word = json_string_value(v);

	p->settings.dscp_trusted = word && strcmp(word, "dscp") == 0;
	return word != NULL;
}

static json_t *write_trust(const struct port_observation *o)
{
	return json_string(o->settings->dscp_trusted ? "dscp" : "pcp");
}

static bool read_dscp_trusted(struct scenario_port *p, const json_t *v)
{
	p->settings.dscp_trusted = json_is_true(v) || json_number_value(v) > 0;
	return json_is_boolean(v) || json_is_number(v);
}

static bool read_dscp(struct scenario_port *p, const json_t *v)
{
	const char *name;
	json_t *priority;

	memset(p->settings.dscp_priority, NO_PRIORITY, sizeof(p->settings.dscp_priority));
	json_object_foreach ((json_t *)v, name, priority) {
		long dscp = strtol(name, NULL, 10);

		if (dscp >= 0 && dscp < N_DSCP && json_is_integer(priority))
			p->settings.dscp_priority[dscp] = (uint8_t)json_integer_value(priority);
	}
	return json_is_object(v);
}

static json_t *write_dscp(const struct port_observation *o)
{
	json_t *priorities = json_object();
	bool ok = priorities;

	for (int i = 0; i < N_DSCP; i++) {
		char name[12];

		snprintf(name, sizeof(name), "%d", i);
		if (o->settings->dscp_priority[i] != NO_PRIORITY)
			ok &= json_object_set_new(priorities, name,
						  json_integer(o->settings->dscp_priority[i])) == 0;
	}
	return scenario_keys_whole(priorities, ok);
}

static bool read_pcie_link(struct pcie_link *ret, const json_t *v)
{
	const struct {
		const char *name;
		uint32_t *field;
	} rates[] = {{"gt_s", &ret->mt_s}, {"max_gt_s", &ret->max_mt_s}};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		double n = json_number_value(json_object_get(v, rates[i].name));

		*rates[i].field = n > 0 && n < 1e6 ? (uint32_t)lround(n * 1000) : 0;
	}
	ret->width = (uint8_t)json_integer_value(json_object_get(v, "width"));
	ret->max_width = (uint8_t)json_integer_value(json_object_get(v, "max_width"));
	return json_is_object(v);
}

/* Returns the PCIe link as JSON. MT/s are multiples of 500, so dividing by 1000 is exact. */
static json_t *link_json(const struct pcie_link *l)
{
	return json_pack("{si si sf sf}", "width", l->width, "max_width", l->max_width, "gt_s",
			 l->mt_s / 1000.0, "max_gt_s", l->max_mt_s / 1000.0);
}

static bool read_pcie(struct scenario_port *p, const json_t *v)
{
	return read_pcie_link(&p->settings.pcie, v);
}

static json_t *write_pcie(const struct port_observation *o)
{
	return link_json(&o->settings->pcie);
}

static bool read_segment(struct scenario_port *p, const json_t *v)
{
	return key_read_text(p->settings.segment, sizeof(p->settings.segment),
			     json_object_get(v, "id")) &&
	       read_pcie_link(&p->settings.segment_link, v);
}

/* If no bridge on the path is slow, "id" is null and the link's values equal its maxima. */
static json_t *write_segment(const struct port_observation *o)
{
	json_t *link = link_json(&o->settings->segment_link);

	return scenario_keys_whole(
		link, json_object_set_new(link, "id", json_text(o->settings->segment)) == 0);
}

#define SETTING(field) offsetof(struct port_settings, field)

static const struct key setting_keys[] = {
	{"pfc", 0, 0, read_pfc, write_pfc, KEY_OBJECT, SETTINGS_PFC},
	{"peer_pfc", 0, 0, read_peer_pfc, write_peer_pfc, KEY_OBJECT, SETTINGS_PEER_PFC},
	{"trust", 0, 0, read_trust, write_trust, KEY_OBJECT, SETTINGS_DSCP},
	{"dscp_trusted", 0, 0, read_dscp_trusted, NULL, KEY_OBJECT, SETTINGS_DSCP},
	{"dscp_priority", 0, 0, read_dscp, write_dscp, KEY_OBJECT, 0},
	{"pause_receives", SETTING(pause_receives), 0, NULL, NULL, KEY_BOOL, SETTINGS_PAUSE},
	{"pause_sends", SETTING(pause_sends), 0, NULL, NULL, KEY_BOOL, SETTINGS_PAUSE},
	{"dcbx", SETTING(dcbx), 0, NULL, NULL, KEY_U8, SETTINGS_DCBX},
	{"cm_roce_v2", SETTING(cm_roce_v2), 0, NULL, NULL, KEY_BOOL, SETTINGS_CM_TYPE},
	{"cm_tos", SETTING(cm_tos), 0, NULL, NULL, KEY_U8, SETTINGS_CM_TOS},
	{"pcie", 0, 0, read_pcie, write_pcie, KEY_OBJECT, SETTINGS_PCIE},
	{"segment", 0, 0, read_segment, write_segment, KEY_OBJECT, SETTINGS_PCIE_SEGMENT},
};

static bool scenario_port_read_settings(struct scenario_port *p, const json_t *v)
{
	memset(&p->settings, 0, sizeof(p->settings));
	keys_read(p, &p->settings, v, setting_keys, ARRAY_SIZE(setting_keys), NULL,
		  &p->settings.seen);
	p->o.settings = json_is_object(v) ? &p->settings : NULL;
	return json_is_object(v) || json_is_null(v);
}

static json_t *scenario_port_write_settings(const struct port_observation *o)
{
	json_t *object = o->settings ? json_object() : NULL;

	if (!o->settings)
		return json_null();
	return scenario_keys_whole(object, keys_write(object, o, o->settings, setting_keys,
						      ARRAY_SIZE(setting_keys), o->settings->seen));
}

/* --- pods, queue pairs, health ---------------------------------------------------------------- */

/* Reads "namespace/name", or an object. */
static bool scenario_port_read_pod(struct observed_pod *pod, const json_t *v)
{
	const char *text = json_string_value(v), *slash = text ? strchr(text, '/') : NULL;
	const json_t *name = json_object_get(v, "name");

	memset(pod, 0, sizeof(*pod));
	if (slash && (size_t)(slash - text) < sizeof(pod->namespace) &&
	    strlen(slash + 1) < sizeof(pod->name)) {
		memcpy(pod->namespace, text, (size_t)(slash - text));
		memcpy(pod->name, slash + 1, strlen(slash + 1));
		return true;
	}
	pod->ended = json_is_true(json_object_get(v, "ended"));
	return json_is_object(v) &&
	       key_read_text(pod->name, sizeof(pod->name),
			     name ? name : json_object_get(v, "pod")) &&
	       (!json_object_get(v, "namespace") ||
		key_read_text(pod->namespace, sizeof(pod->namespace),
			      json_object_get(v, "namespace")));
}

static bool read_pods(struct scenario_port *p, const json_t *v)
{
	size_t n = 0, i;
	json_t *item;

	json_array_foreach ((json_t *)v, i, item) {
		if (n == SCENARIO_PODS_MAX)
			break;
		if (!scenario_port_read_pod(&p->pods[n], item))
			return false;
		n++;
	}
	p->o.pods = p->pods;
	p->o.n_pods = n;
	return json_is_array(v);
}

static json_t *write_pods(const struct port_observation *o)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < o->n_pods; i++) {
		const struct observed_pod *pod = &o->pods[i];

		list = json_push(list,
				 json_pack("{so so sb}", "namespace", json_text(pod->namespace),
					   "name", json_text(pod->name), "ended", pod->ended));
	}
	return list;
}

static bool read_failed(struct scenario_port *p, const json_t *v)
{
	double n = json_number_value(v);

	p->o.qps.failed = n >= 0 && n < UINT32_MAX ? (uint32_t)n : 0;
	p->o.qps.failures_known = json_is_number(v);
	return json_is_number(v);
}

static bool read_one_label(struct scenario_port *p, const json_t *v)
{
	double n = json_number_value(v);

	p->o.qps.one_label = n >= 0 && n < UINT32_MAX ? (uint32_t)n : 0;
	p->o.qps.labels_known = json_is_number(v);
	return json_is_number(v);
}

static json_t *write_failed(const struct port_observation *o)
{
	return json_integer(o->qps.failed);
}

static json_t *write_one_label(const struct port_observation *o)
{
	return json_integer(o->qps.one_label);
}

/* Bits: the facts about queue pairs that are known besides their number. */
enum { QPS_LABELS = 1, QPS_FAILURES = 2 };

#define OF_QPS(field) offsetof(struct observed_qps, field)

static const struct key qp_keys[] = {
	{"count", OF_QPS(count), 0, NULL, NULL, KEY_U32, 0},
	{"peers", OF_QPS(peers), 0, NULL, NULL, KEY_U32, 0},
	{"not_ect", OF_QPS(not_ect), 0, NULL, NULL, KEY_U32, 0},
	{"path_mtu", OF_QPS(path_mtu), 0, NULL, NULL, KEY_U32, 0},
	{"one_label", 0, 0, read_one_label, write_one_label, KEY_OBJECT, QPS_LABELS},
	{"failed", 0, 0, read_failed, write_failed, KEY_OBJECT, QPS_FAILURES},
	{"failed_peers", OF_QPS(failed_peers), 0, NULL, NULL, KEY_U32, QPS_FAILURES},
	{"peer", OF_QPS(peer), OBSERVED_PEER_SIZE, NULL, NULL, KEY_TEXT, QPS_FAILURES},
};

static bool read_qps(struct scenario_port *p, const json_t *v)
{
	memset(&p->o.qps, 0, sizeof(p->o.qps));
	p->o.qps.known = json_is_object(v);
	keys_read(p, &p->o.qps, v, qp_keys, ARRAY_SIZE(qp_keys), NULL, NULL);
	return json_is_object(v) || json_is_null(v);
}

static json_t *write_qps(const struct port_observation *o)
{
	uint32_t known = (o->qps.labels_known ? QPS_LABELS : 0) |
			 (o->qps.failures_known ? QPS_FAILURES : 0);
	json_t *object = o->qps.known ? json_object() : NULL;

	if (!o->qps.known)
		return json_null();
	return scenario_keys_whole(
		object, keys_write(object, o, &o->qps, qp_keys, ARRAY_SIZE(qp_keys), known));
}

/* Seconds; null: no burst was read. */
static bool read_stalled(struct scenario_port *p, const json_t *v)
{
	const json_t *in = json_object_get(v, "received"), *out = json_object_get(v, "sent");

	p->o.stalled_received_s = json_is_number(in) ? json_number_value(in) : (double)NAN;
	p->o.stalled_sent_s = json_is_number(out) ? json_number_value(out) : (double)NAN;
	return json_is_object(v) || json_is_null(v);
}

static json_t *seconds_json(double s)
{
	return isnan(s) ? json_null() : json_real(s);
}

static json_t *write_stalled(const struct port_observation *o)
{
	return json_pack("{so so}", "received", seconds_json(o->stalled_received_s), "sent",
			 seconds_json(o->stalled_sent_s));
}

#define OF_HEALTH(field) offsetof(struct observed_health, field)

static const struct key health_keys[] = {
	{"devlink_error", OF_HEALTH(devlink_error), 32, NULL, NULL, KEY_TEXT, 0},
	{"unreachable", OF_HEALTH(unreachable), 0, NULL, NULL, KEY_BOOL, 0},
	{"driverless", OF_HEALTH(driverless), 0, NULL, NULL, KEY_BOOL, 0},
	{"command_failures", OF_HEALTH(command_failures), 0, NULL, NULL, KEY_U64, 0},
	{"restricted", OF_HEALTH(restricted), 64, NULL, NULL, KEY_TEXT, 0},
	{"no_uverbs", OF_HEALTH(no_uverbs), 0, NULL, NULL, KEY_BOOL, 0},
	{"no_umad", OF_HEALTH(no_umad), 0, NULL, NULL, KEY_BOOL, 0},
};

static bool read_health(struct scenario_port *p, const json_t *v)
{
	memset(&p->o.health, 0, sizeof(p->o.health));
	keys_read(p, &p->o.health, v, health_keys, ARRAY_SIZE(health_keys), NULL, NULL);
	return json_is_object(v) || json_is_null(v);
}

static json_t *write_health(const struct port_observation *o)
{
	json_t *object = json_object();

	return scenario_keys_whole(
		object, keys_write(object, o, &o->health, health_keys, ARRAY_SIZE(health_keys), 0));
}

/* --- the port --------------------------------------------------------------------------------- */

static bool set_rate(struct port_observation *o, double bytes)
{
	if (!(bytes >= 0 && bytes < 1e15))
		return false;
	o->rate_bps = (uint64_t)(bytes * BITS_IN_BYTE);
	return true;
}

static bool read_rate(struct scenario_port *p, const json_t *v)
{
	return json_is_number(v) && set_rate(&p->o, json_number_value(v));
}

static json_t *write_rate(const struct port_observation *o)
{
	return json_real((double)o->rate_bps / BITS_IN_BYTE);
}

static bool set_state(struct port_observation *o, double n)
{
	if (!(n >= 0 && n <= PORT_ACTIVE_DEFER))
		return false;
	o->state = (enum port_state)n;
	return true;
}

static bool scenario_port_read_state(struct scenario_port *p, const json_t *v)
{
	static const char *const words[] = {"unknown", "down",	 "init",
					    "armed",   "active", "active_defer"};
	const char *word = json_string_value(v);

	for (size_t i = 0; word && i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i], word) == 0)
			return set_state(&p->o, (double)i);
	return json_is_number(v) && set_state(&p->o, json_number_value(v));
}

static json_t *write_state(const struct port_observation *o)
{
	return json_integer(o->state);
}

static bool read_link_layer(struct scenario_port *p, const json_t *v)
{
	const char *word = json_string_value(v);

	if (!word)
		return false;
	p->o.link_layer = strcasecmp(word, "infiniband") == 0 ? LINK_INFINIBAND : LINK_ETHERNET;
	return true;
}

static json_t *write_link_layer(const struct port_observation *o)
{
	return json_string(o->link_layer == LINK_INFINIBAND ? "infiniband" : "ethernet");
}

#define OF_PORT(field) offsetof(struct port_observation, field)
#define TEXT_OF(field)                                                                             \
	OF_PORT(field), sizeof(((struct port_observation *)0)->field), NULL, NULL, KEY_TEXT, 0

static const struct key port_keys[] = {
	{"netdev", TEXT_OF(netdev)},
	{"function", TEXT_OF(function)},
	{"parent", TEXT_OF(parent)},
	{"driver", TEXT_OF(driver)},
	{"bytes_source", TEXT_OF(bytes_source)},
	{"management", OF_PORT(management), 0, NULL, NULL, KEY_BOOL, 0},
	{"admin_down", OF_PORT(admin_down), 0, NULL, NULL, KEY_BOOL, 0},
	{"link_disabled", OF_PORT(link_disabled), 0, NULL, NULL, KEY_BOOL, 0},
	{"was_active", OF_PORT(was_active), 0, NULL, NULL, KEY_BOOL, 0},
	{"gid_moved", OF_PORT(gid_moved), 0, NULL, NULL, KEY_BOOL, 0},
	{"visible", OF_PORT(visible), 0, NULL, NULL, KEY_BOOL, 0},
	{"mtu_bytes", OF_PORT(mtu), 0, NULL, NULL, KEY_U32, 0},
	{"rate_bytes_per_second", 0, 0, read_rate, write_rate, KEY_OBJECT, 0},
	{"state", 0, 0, scenario_port_read_state, write_state, KEY_OBJECT, 0},
	{"link_layer", 0, 0, read_link_layer, write_link_layer, KEY_OBJECT, 0},
	{"pods", 0, 0, read_pods, write_pods, KEY_OBJECT, 0},
	{"qps", 0, 0, read_qps, write_qps, KEY_OBJECT, 0},
	{"health", 0, 0, read_health, write_health, KEY_OBJECT, 0},
	{"stood", 0, 0, read_stalled, write_stalled, KEY_OBJECT, 0},
	{"settings", 0, 0, scenario_port_read_settings, scenario_port_write_settings, KEY_OBJECT,
	 0},
};

void scenario_port_init(struct scenario_port *p, const char *device, uint32_t port)
{
	memset(p, 0, sizeof(*p));
	port_observation_init(&p->o);
	snprintf(p->o.device, sizeof(p->o.device), "%s", device);
	p->o.port = port;
	p->o.link_layer = LINK_ETHERNET;
	p->o.state = PORT_ACTIVE;
}

void scenario_port_describe(struct scenario_port *p, const json_t *object, const char *const *skip,
			    const struct scenario_complaints *c)
{
	p->complaints = c;
	keys_read(p, &p->o, object, port_keys, ARRAY_SIZE(port_keys), skip, NULL);
}

json_t *scenario_port_json(const struct port_observation *o)
{
	json_t *object = json_pack("{so si}", "device", json_text(o->device), "port", o->port);

	return scenario_keys_whole(object,
				   keys_write(object, o, o, port_keys, ARRAY_SIZE(port_keys), 0));
}

/* --- its series ------------------------------------------------------------------------------- */

/* Stores a gauge of docs/reference/metrics.md that is a field of the port. False: it is no such
 * gauge. */
static bool take_gauge(struct scenario_port *p, const char *family, const char *labels, double v)
{
	const char *priority = strstr(labels, "priority=\"");

	if (strcmp(family, "roce_port_state") == 0)
		return set_state(&p->o, v);
	if (strcmp(family, "roce_port_rate_bytes_per_second") == 0)
		return set_rate(&p->o, v);
	if (strcmp(family, "roce_port_mtu_bytes") == 0) {
		p->o.mtu = v >= 0 && v < 1e6 ? (unsigned)v : 0;
		return true;
	}
	if (strcmp(family, "roce_pfc_enabled") != 0 || !priority)
		return false;
	priority += strlen("priority=\"");
	if (*priority < '0' || *priority >= '0' + SETTINGS_PRIOS)
		return false;
	if (v > 0)
		p->settings.pfc |= (uint8_t)(1 << (*priority - '0'));
	else
		p->settings.pfc &= (uint8_t) ~(1 << (*priority - '0'));
	p->settings.seen |= SETTINGS_PFC;
	p->o.settings = &p->settings;
	return true;
}

/* Splits "family{labels}". False: not a valid series name. */
static bool scenario_port_split(const char *name, char family[SERIES_NAME_MAX],
				const char **ret_labels)
{
	size_t len = strcspn(name, "{");

	if (len == 0 || len >= SERIES_NAME_MAX)
		return false;
	memcpy(family, name, len);
	family[len] = '\0';
	*ret_labels = name[len] ? name + len + 1 : name + len;
	return true;
}

void scenario_port_values(struct scenario_port *p, const json_t *values,
			  const struct scenario_complaints *c)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)values, name, v) {
		char family[SERIES_NAME_MAX];
		const char *labels;
		int series;

		if (json_is_null(v))
			continue; /* explicitly not visible */
		if (!json_is_number(v) || json_number_value(v) < 0) {
			c->report(MISTAKE_WRONG_TYPE, name, c->arg);
			continue;
		}
		if (!scenario_port_split(name, family, &labels))
			continue;
		series = series_find(family, labels);
		if (series >= 0)
			p->o.value[series] = json_number_value(v);
		else if (!take_gauge(p, family, labels, json_number_value(v)) &&
			 strncmp(family, "roce", 4) != 0)
			c->report(MISTAKE_UNKNOWN_SERIES, name, c->arg);
	}
}

void scenario_port_clear(struct scenario_port *p)
{
	for (int i = 0; i < N_SERIES; i++)
		p->o.value[i] = (double)NAN;
	p->o.stalled_received_s = p->o.stalled_sent_s = (double)NAN;
	p->o.visible = true;
	p->sampled = false;
}
