#include "scenario_port.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "scenario_keys.h"

#define SERIES_NAME_MAX 256
#define BITS_IN_BYTE	8

/* --- settings --------------------------------------------------------------------------------- */

/* A mask, or a list of priorities. */
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

static bool read_pfc(struct scenario_port *p, const json_t *v, const struct scenario_complaints *c)
{
	(void)c;
	return read_mask(&p->settings.pfc, v);
}

static bool read_peer_pfc(struct scenario_port *p, const json_t *v,
			  const struct scenario_complaints *c)
{
	(void)c;
	return read_mask(&p->settings.peer_pfc, v);
}

static bool read_trust(struct scenario_port *p, const json_t *v,
		       const struct scenario_complaints *c)
{
	const char *word = json_string_value(v);

	(void)c;
	p->settings.dscp_trusted = word && strcmp(word, "dscp") == 0;
	return word != NULL;
}

static bool read_dscp(struct scenario_port *p, const json_t *v, const struct scenario_complaints *c)
{
	const char *name;
	json_t *priority;

	(void)c;
	memset(p->settings.dscp_priority, NO_PRIORITY, sizeof(p->settings.dscp_priority));
	json_object_foreach ((json_t *)v, name, priority) {
		long dscp = strtol(name, NULL, 10);

		if (dscp >= 0 && dscp < N_DSCP && json_is_integer(priority))
			p->settings.dscp_priority[dscp] = (uint8_t)json_integer_value(priority);
	}
	return json_is_object(v);
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

static bool read_pcie(struct scenario_port *p, const json_t *v, const struct scenario_complaints *c)
{
	(void)c;
	return read_pcie_link(&p->settings.pcie, v);
}

static bool read_segment(struct scenario_port *p, const json_t *v,
			 const struct scenario_complaints *c)
{
	(void)c;
	return key_read_text(p->settings.segment, sizeof(p->settings.segment),
			     json_object_get(v, "id")) &&
	       read_pcie_link(&p->settings.segment_link, v);
}

#define SETTING(field) offsetof(struct port_settings, field)

static const struct key setting_keys[] = {
	{"pfc", 0, 0, read_pfc, KEY_OBJECT, SETTINGS_PFC},
	{"peer_pfc", 0, 0, read_peer_pfc, KEY_OBJECT, SETTINGS_PEER_PFC},
	{"trust", 0, 0, read_trust, KEY_OBJECT, SETTINGS_DSCP},
	{"dscp_trusted", SETTING(dscp_trusted), 0, NULL, KEY_BOOL, SETTINGS_DSCP},
	{"dscp_priority", 0, 0, read_dscp, KEY_OBJECT, 0},
	{"pause_receives", SETTING(pause_receives), 0, NULL, KEY_BOOL, SETTINGS_PAUSE},
	{"pause_sends", SETTING(pause_sends), 0, NULL, KEY_BOOL, SETTINGS_PAUSE},
	{"dcbx", SETTING(dcbx), 0, NULL, KEY_U8, SETTINGS_DCBX},
	{"cm_roce_v2", SETTING(cm_roce_v2), 0, NULL, KEY_BOOL, SETTINGS_CM_TYPE},
	{"cm_tos", SETTING(cm_tos), 0, NULL, KEY_U8, SETTINGS_CM_TOS},
	{"pcie", 0, 0, read_pcie, KEY_OBJECT, SETTINGS_PCIE},
	{"segment", 0, 0, read_segment, KEY_OBJECT, SETTINGS_PCIE_SEGMENT},
};

static bool scenario_port_read_settings(struct scenario_port *p, const json_t *v,
					const struct scenario_complaints *c)
{
	memset(&p->settings, 0, sizeof(p->settings));
	keys_read(p, &p->settings, v, setting_keys, ARRAY_SIZE(setting_keys), NULL,
		  &p->settings.seen, c);
	p->o.settings = json_is_object(v) ? &p->settings : NULL;
	return json_is_object(v) || json_is_null(v);
}

/* --- pods, queue pairs, health ---------------------------------------------------------------- */

/* "namespace/name", or an object. */
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

static bool read_pods(struct scenario_port *p, const json_t *v, const struct scenario_complaints *c)
{
	size_t n = 0, i;
	json_t *item;

	(void)c;
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

static bool read_failed(struct scenario_port *p, const json_t *v,
			const struct scenario_complaints *c)
{
	double n = json_number_value(v);

	(void)c;
	p->o.qps.failed = n >= 0 && n < UINT32_MAX ? (uint32_t)n : 0;
	p->o.qps.failures_known = json_is_number(v);
	return json_is_number(v);
}

static bool read_one_label(struct scenario_port *p, const json_t *v,
			   const struct scenario_complaints *c)
{
	double n = json_number_value(v);

	(void)c;
	p->o.qps.one_label = n >= 0 && n < UINT32_MAX ? (uint32_t)n : 0;
	p->o.qps.labels_known = json_is_number(v);
	return json_is_number(v);
}

#define OF_QPS(field) offsetof(struct observed_qps, field)

static const struct key qp_keys[] = {
	{"count", OF_QPS(count), 0, NULL, KEY_U32, 0},
	{"peers", OF_QPS(peers), 0, NULL, KEY_U32, 0},
	{"not_ect", OF_QPS(not_ect), 0, NULL, KEY_U32, 0},
	{"path_mtu", OF_QPS(path_mtu), 0, NULL, KEY_U32, 0},
	{"one_label", 0, 0, read_one_label, KEY_OBJECT, 0},
	{"failed", 0, 0, read_failed, KEY_OBJECT, 0},
	{"failed_peers", OF_QPS(failed_peers), 0, NULL, KEY_U32, 0},
	{"peer", OF_QPS(peer), OBSERVED_PEER_SIZE, NULL, KEY_TEXT, 0},
};

static bool read_qps(struct scenario_port *p, const json_t *v, const struct scenario_complaints *c)
{
	memset(&p->o.qps, 0, sizeof(p->o.qps));
	p->o.qps.known = json_is_object(v);
	keys_read(p, &p->o.qps, v, qp_keys, ARRAY_SIZE(qp_keys), NULL, NULL, c);
	return json_is_object(v) || json_is_null(v);
}

/* Seconds; null: nobody looked. */
static bool read_stood(struct scenario_port *p, const json_t *v,
		       const struct scenario_complaints *c)
{
	const json_t *in = json_object_get(v, "received"), *out = json_object_get(v, "sent");

	(void)c;
	p->o.stood_received_s = json_is_number(in) ? json_number_value(in) : (double)NAN;
	p->o.stood_sent_s = json_is_number(out) ? json_number_value(out) : (double)NAN;
	return json_is_object(v) || json_is_null(v);
}

#define OF_HEALTH(field) offsetof(struct observed_health, field)

static const struct key health_keys[] = {
	{"devlink_error", OF_HEALTH(devlink_error), 32, NULL, KEY_TEXT, 0},
	{"unreachable", OF_HEALTH(unreachable), 0, NULL, KEY_BOOL, 0},
	{"driverless", OF_HEALTH(driverless), 0, NULL, KEY_BOOL, 0},
	{"command_failures", OF_HEALTH(command_failures), 0, NULL, KEY_U64, 0},
	{"restricted", OF_HEALTH(restricted), 64, NULL, KEY_TEXT, 0},
	{"no_uverbs", OF_HEALTH(no_uverbs), 0, NULL, KEY_BOOL, 0},
	{"no_umad", OF_HEALTH(no_umad), 0, NULL, KEY_BOOL, 0},
};

static bool read_health(struct scenario_port *p, const json_t *v,
			const struct scenario_complaints *c)
{
	memset(&p->o.health, 0, sizeof(p->o.health));
	keys_read(p, &p->o.health, v, health_keys, ARRAY_SIZE(health_keys), NULL, NULL, c);
	return json_is_object(v) || json_is_null(v);
}

/* --- the port --------------------------------------------------------------------------------- */

static bool set_rate(struct port_observation *o, double bytes)
{
	if (!(bytes >= 0 && bytes < 1e15))
		return false;
	o->rate_bps = (uint64_t)(bytes * BITS_IN_BYTE);
	return true;
}

static bool read_rate(struct scenario_port *p, const json_t *v, const struct scenario_complaints *c)
{
	(void)c;
	return json_is_number(v) && set_rate(&p->o, json_number_value(v));
}

static bool set_state(struct port_observation *o, double n)
{
	if (!(n >= 0 && n <= PORT_ACTIVE_DEFER))
		return false;
	o->state = (enum port_state)n;
	return true;
}

static bool scenario_port_read_state(struct scenario_port *p, const json_t *v,
				     const struct scenario_complaints *c)
{
	static const char *const words[] = {"unknown", "down",	 "init",
					    "armed",   "active", "active_defer"};
	const char *word = json_string_value(v);

	(void)c;
	for (size_t i = 0; word && i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i], word) == 0)
			return set_state(&p->o, (double)i);
	return json_is_number(v) && set_state(&p->o, json_number_value(v));
}

static bool read_link_layer(struct scenario_port *p, const json_t *v,
			    const struct scenario_complaints *c)
{
	const char *word = json_string_value(v);

	(void)c;
	if (!word)
		return false;
	p->o.link_layer = strcasecmp(word, "infiniband") == 0 ? LINK_INFINIBAND : LINK_ETHERNET;
	return true;
}

#define OF_PORT(field) offsetof(struct port_observation, field)
#define TEXT_OF(field)                                                                             \
	OF_PORT(field), sizeof(((struct port_observation *)0)->field), NULL, KEY_TEXT, 0

static const struct key port_keys[] = {
	{"netdev", TEXT_OF(netdev)},
	{"function", TEXT_OF(function)},
	{"parent", TEXT_OF(parent)},
	{"driver", TEXT_OF(driver)},
	{"bytes_source", TEXT_OF(bytes_source)},
	{"management", OF_PORT(management), 0, NULL, KEY_BOOL, 0},
	{"admin_down", OF_PORT(admin_down), 0, NULL, KEY_BOOL, 0},
	{"was_active", OF_PORT(was_active), 0, NULL, KEY_BOOL, 0},
	{"gid_moved", OF_PORT(gid_moved), 0, NULL, KEY_BOOL, 0},
	{"visible", OF_PORT(visible), 0, NULL, KEY_BOOL, 0},
	{"mtu_bytes", OF_PORT(mtu), 0, NULL, KEY_U32, 0},
	{"rate_bytes_per_second", 0, 0, read_rate, KEY_OBJECT, 0},
	{"state", 0, 0, scenario_port_read_state, KEY_OBJECT, 0},
	{"link_layer", 0, 0, read_link_layer, KEY_OBJECT, 0},
	{"pods", 0, 0, read_pods, KEY_OBJECT, 0},
	{"qps", 0, 0, read_qps, KEY_OBJECT, 0},
	{"health", 0, 0, read_health, KEY_OBJECT, 0},
	{"stood", 0, 0, read_stood, KEY_OBJECT, 0},
	{"settings", 0, 0, scenario_port_read_settings, KEY_OBJECT, 0},
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
	keys_read(p, &p->o, object, port_keys, ARRAY_SIZE(port_keys), skip, NULL, c);
}

/* --- its series ------------------------------------------------------------------------------- */

/* Gauges of docs/reference/metrics.md that are fields of the port. False: it is none of them. */
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

/* "family{labels}" in two. False: it is no name of a series. */
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
			continue; /* not visible, said aloud */
		if (!json_is_number(v) || json_number_value(v) < 0) {
			c->tell(MISTAKE_WRONG_TYPE, name, c->arg);
			continue;
		}
		if (!scenario_port_split(name, family, &labels))
			continue;
		series = series_find(family, labels);
		if (series >= 0)
			p->o.value[series] = json_number_value(v);
		else if (!take_gauge(p, family, labels, json_number_value(v)) &&
			 strncmp(family, "roce", 4) != 0)
			c->tell(MISTAKE_UNKNOWN_SERIES, name, c->arg);
	}
}

void scenario_port_clear(struct scenario_port *p)
{
	for (int i = 0; i < N_SERIES; i++)
		p->o.value[i] = (double)NAN;
	p->o.stood_received_s = p->o.stood_sent_s = (double)NAN;
	p->o.visible = true;
	p->sampled = false;
}
