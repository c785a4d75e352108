/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_args.h - parses rocectl's command line by the table in ctl_commands.h. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl_commands.h"
#include "err.h"

#define CTL_IPS_MAX 64

/* Borrows from argv; NULL = not given. */
struct ctl_args {
	enum ctl_command command;
	int topic; /* of `help`: enum ctl_command, -1 = all */
	const char *socket;
	const char *device; /* a short PCI address such as 03:00.2 is completed with domain 0000 */
	const char *netns, *interface, *mac, *top;
	const char *pod;   /* NAMESPACE/NAME if a namespace is given */
	const char *cause; /* of explain: of a verdict, or a word of trouble_word.h */
	const char *namespace, *sort_by, *selector, *columns;
	const char *format; /* value of -o; --json sets it to "json" */
	const char *ips[CTL_IPS_MAX];
	size_t n_ips;
	const char *file, *write, *trace;
	const char *top_sort;
	const char *only, *flow;   /* select packets of a capture */
	const char *since, *until; /* of events and ended verdicts: moments, as in moment_text.h */
	const char *choice;	   /* the argument of completion or node-problem */
	const char *severity;	   /* of node-problem */
	const char *configmap, *merge;
	const char *output, *config, *state_dir;
	const char *replay;
	long vlan, mtu, limit; /* -1 = not given */
	long flows;
	long seconds, packets, bytes; /* sniff ends at the first limit reached */
	long record;		      /* seconds; 0 = not given */
	long timeout;		      /* seconds; 0 = not given */
	bool json, no_headers, watch, packet_list, soft_roce, force, fix, undecided, ended, help,
		version;
	bool is_word; /* a list's device is the argument: it may be a pod's name */
	char device_text[16], pod_text[384]; /* storage that device and pod may point to */
};

/* Parses the command line; flags may precede or follow the command. -EINVAL with a message. */
int ctl_args_parse(struct ctl_args *ret, int argc, char *argv[], struct err *);
/* True if the user asked for the JSON or YAML document instead of text. */
bool ctl_args_want_document(const struct ctl_args *);
/* Maximum wait for a reply, in ms. ctl_args_wait_ms(): for queries, which the daemon answers at
 * once; ctl_args_long_wait_ms(): for requests that change something or wait for a sample. */
uint64_t ctl_args_wait_ms(const struct ctl_args *);
uint64_t ctl_args_long_wait_ms(const struct ctl_args *);
