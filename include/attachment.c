// SPDX-License-Identifier: Apache-2.0
#include "attachment.h"

#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "ifname.h"

const char *attach_state_name(enum attach_state s)
{
	switch (s) {
	case ATTACH_FREE:
		return "free";
	case ATTACH_ATTACHING:
		return "attaching";
	case ATTACH_IN_POD:
		return "in_pod";
	case ATTACH_RETURNING:
		return "returning";
	case ATTACH_BAD:
		return "bad";
	}
	return "unknown";
}

bool attach_state_may_become(enum attach_state from, enum attach_state to)
{
#define TO(state) (1u << (state))
	static const unsigned moves[] = {
		/* BAD without an attach: the device was found with residual state of unknown
		   origin. */
		[ATTACH_FREE] = TO(ATTACH_ATTACHING) | TO(ATTACH_BAD),
		[ATTACH_ATTACHING] = TO(ATTACH_IN_POD) | TO(ATTACH_RETURNING),
		[ATTACH_IN_POD] = TO(ATTACH_RETURNING),
		[ATTACH_RETURNING] = TO(ATTACH_FREE) | TO(ATTACH_BAD),
		[ATTACH_BAD] = TO(ATTACH_RETURNING),
	};
#undef TO

	return (unsigned)from < ARRAY_SIZE(moves) && (unsigned)to < ARRAY_SIZE(moves) &&
	       (moves[from] >> to & 1);
}

/* --- the alias ------------------------------------------------------------------------------ */

#define ALIAS_START "rocelet "

/* Builds the alias. A pod's name that does not fit is truncated, because the UID after it
 * identifies the pod exactly. */
void attach_alias(const struct attach_record *r, char ret[ATTACH_ALIAS_SIZE])
{
	const struct attach_owner *o = &r->owner;
	int n = snprintf(ret, ATTACH_ALIAS_SIZE, ALIAS_START "%s", r->origin.name);
	int room;

	if (!o->pod[0])
		return;
	room = ATTACH_ALIAS_SIZE - 1 - n - (int)strlen(o->namespace) - (int)strlen(o->uid) - 3;
	snprintf(ret + n, ATTACH_ALIAS_SIZE - (size_t)n, " %s/%.*s%s%s", o->namespace, room, o->pod,
		 o->uid[0] ? " " : "", o->uid);
}

/* Extracts the original name and validates it: an alias can be forged, and a netdev will get this
 * name. */
bool attach_alias_origin(const char *alias, char ret[IFNAMSIZ])
{
	char name[IFNAMSIZ] = "";
	size_t n;

	if (strncmp(alias, ALIAS_START, strlen(ALIAS_START)) != 0)
		return false;
	alias += strlen(ALIAS_START);
	n = strcspn(alias, " ");
	if (n >= IFNAMSIZ)
		return false;
	memcpy(name, alias, n);
	if (!ifname_is_valid(name))
		return false;
	memcpy(ret, name, sizeof(name));
	return true;
}

/* True for letters, digits and dashes, as in UIDs from the API server and of static pods. */
static bool is_uid(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");

	return n < POD_UID_SIZE && s[n] == '\0';
}

void attach_alias_uid(const char *alias, char ret[POD_UID_SIZE])
{
	char origin[IFNAMSIZ];
	const char *pod, *uid;

	ret[0] = '\0';
	if (!attach_alias_origin(alias, origin))
		return;
	pod = strchr(alias + strlen(ALIAS_START), ' ');
	uid = pod ? strchr(pod + 1, ' ') : NULL;
	if (uid && is_uid(uid + 1))
		memcpy(ret, uid + 1, strlen(uid + 1) + 1);
}

/* --- RDMA devices ----------------------------------------------------------------------------- */

/* Compares by the recorded index, or else by function: only a VF attachment owns its function's
 * RDMA device; a macvlan or ipvlan shares it with others. */
bool attach_record_is_rdma(const struct attach_record *r, const struct rdma_dev *d)
{
	const struct rdma_identity *id = r->rdma_id.known ? &r->rdma_id : &r->origin.rdma_id;

	if (id->known && d->index != RDMA_INDEX_NONE && id->index == d->index)
		return true;
	return r->plan.kind == PLAN_VF && d->function[0] && strcmp(r->function, d->function) == 0;
}

/* --- soft-RoCE -------------------------------------------------------------------------------- */

/* Makes the node's name. Replaces characters so that no ID can lead outside the folder. */
void soft_roce_node(const char *id, char ret[SOFT_ROCE_NODE_SIZE])
{
	static const char start[] = SOFT_ROCE_DIR "/by-name/";

	snprintf(ret, SOFT_ROCE_NODE_SIZE, "%s%s", start, id);
	for (char *c = ret + strlen(start); *c; c++)
		if (*c == '/' || (*c == '.' && c == ret + strlen(start)))
			*c = '_';
}
