// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the alias of a netdev, which a pod can set. The decoded name is given to a netdev,
 * and the UID is compared with those of pods.
 *
 * proves: include daemon/attach
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attachment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The rules of dev_valid_name(), linux/net/core/dev.c. */
static void check_name(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len >= IFNAMSIZ || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strpbrk(name, "/: \t\n\v\f\r"))
		abort();
}

static void check_uid(const char *uid)
{
	for (; *uid; uid++)
		if (!isalnum((unsigned char)*uid) && *uid != '-')
			abort();
}

/* An alias that rocelet writes yields the same name and UID. */
static void check_ours(const char *name, const char *uid)
{
	char alias[ATTACH_ALIAS_SIZE], again[IFNAMSIZ], uid_again[POD_UID_SIZE];
	struct attach_record *r = calloc(1, sizeof(*r));

	if (!r)
		return;
	memcpy(r->origin.name, name, strlen(name) + 1);
	memcpy(r->owner.uid, uid, strlen(uid) + 1);
	strcpy(r->owner.namespace, "ml");
	strcpy(r->owner.pod, "train-7");
	attach_alias(r, alias);
	if (!attach_alias_origin(alias, again) || strcmp(again, name) != 0)
		abort();
	attach_alias_uid(alias, uid_again);
	if (strcmp(uid_again, uid) != 0)
		abort();
	free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char name[IFNAMSIZ] = "untouched", uid[POD_UID_SIZE];
	/* exactly this size, so that sanitizers find a read past the end */
	char *alias = malloc(n + 1);

	if (!alias)
		return 0;
	memcpy(alias, data, n);
	alias[n] = '\0';
	attach_alias_uid(alias, uid);
	check_uid(uid);
	if (attach_alias_origin(alias, name)) {
		check_name(name);
		check_ours(name, uid);
	} else if (strcmp(name, "untouched") != 0) {
		abort();
	}
	free(alias);
	return 0;
}
