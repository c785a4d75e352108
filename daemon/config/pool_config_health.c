/* pool_config_health.c - the names of health reasons, and how long they must hold. Pure. */
#include "pool_parse.h"

#include "array.h"
#include "cleanup.h"

/* An hour: longer is a way to switch a reason off, which ignoreLink does openly. */
#define HOLD_MAX_MS 3600000

/* What is gone cannot be given to anyone, so it counts at once. A link that flaps for less than a
 * second is the switch's doing and no reason to reschedule; one that has been down must prove
 * itself. Whoever is given what is about to leave its pod waits for it at the gate. */
static const struct {
	const char *name, *key;
	struct hold_times hold;
} reasons[N_HEALTH_REASONS] = {
	[HEALTH_GONE] = {"gone", "gone", {0, 1000}},
	[HEALTH_NO_DRIVER] = {"no_driver", "noDriver", {0, 1000}},
	[HEALTH_NO_CHARDEV] = {"no_chardev", "noChardev", {0, 1000}},
	[HEALTH_NO_RDMA] = {"no_rdma", "noRdma", {0, 1000}},
	[HEALTH_LINK_DOWN] = {"link_down", "linkDown", {1000, 3000}},
	[HEALTH_PORT_DOWN] = {"port_down", "portDown", {1000, 3000}},
	[HEALTH_PCI] = {"pci", "pci", {0, 5000}},
	[HEALTH_DEVLINK] = {"devlink", "devlink", {1000, 5000}},
	[HEALTH_NOT_CLEAN] = {"not_clean", "notClean", {0, 0}},
	[HEALTH_LEAVING] = {"leaving", "leaving", {HOLD_MAX_MS, 0}},
};

const char *health_reason_name(enum health_reason reason)
{
	return reason < N_HEALTH_REASONS ? reasons[reason].name : "unknown";
}

const char *hold_key(enum health_reason reason)
{
	return reasons[reason].key;
}

void hold_defaults(struct hold_times hold[N_HEALTH_REASONS])
{
	for (size_t i = 0; i < N_HEALTH_REASONS; i++)
		hold[i] = reasons[i].hold;
}

static int parse_ms(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	return parse_count(p, at, value, 0, HOLD_MAX_MS, field);
}

static int parse_times(struct parse *p, const struct json_place *at, const json_t *value,
		       void *field)
{
	static const struct parse_key keys[] = {
		PARSE_KEY("downMs", parse_ms, struct hold_times, down_ms),
		PARSE_KEY("upMs", parse_ms, struct hold_times, up_ms),
	};

	return parse_object(p, at, value, keys, ARRAY_SIZE(keys), field);
}

int parse_hold(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	struct parse_key keys[N_HEALTH_REASONS];

	for (size_t i = 0; i < N_HEALTH_REASONS; i++)
		keys[i] = (struct parse_key){reasons[i].key, parse_times,
					     i * sizeof(struct hold_times)};
	return parse_object(p, at, value, keys, N_HEALTH_REASONS, field);
}
