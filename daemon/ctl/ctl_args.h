/* ctl_args.h - rocectl's command line, as the table of ctl_commands.h has it. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl_commands.h"
#include "err.h"

#define CTL_SOCKET  "/run/rocelet/rocelet.sock"
#define CTL_IPS_MAX 64

/* Borrows from argv; NULL = not given. */
struct ctl_args {
	enum ctl_command command;
	int topic; /* of help: the command, -1 = all */
	const char *socket;
	const char *device; /* a short PCI address, as 03:00.2, was made a whole one */
	const char *netns, *interface, *mac, *top;
	const char *pod; /* NAMESPACE/NAME, if a namespace was given in whatever way */
	const char *namespace, *sort_by, *selector;
	const char *format; /* of -o; "json" also by --json */
	const char *ips[CTL_IPS_MAX];
	size_t n_ips;
	const char *file, *write;
	const char *top_sort;
	const char *only, *flow; /* which packets of a capture are listed */
	const char *shell;	 /* of completion */
	const char *configmap;
	const char *output, *config, *state_dir;
	const char *replay;
	long vlan, mtu, limit; /* -1 = not given */
	long flows;
	long seconds, packets, bytes; /* sniff ends with the first of them */
	long record;		      /* seconds; 0 = not given */
	bool json, no_headers, watch, packet_list, soft_roce, force, fix, help, version;
	char device_text[16], pod_text[384]; /* what device and pod may point into */
};

/* -EINVAL: a sentence. Options may stand anywhere. */
int ctl_args_parse(struct ctl_args *ret, int argc, char *argv[], struct err *);
/* The document itself is wanted, not a text that people read. */
bool ctl_args_want_document(const struct ctl_args *);
