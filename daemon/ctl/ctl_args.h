/* ctl_args.h - rocectl's command line. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "err.h"

#define CTL_SOCKET  "/run/rocelet/rocelet.sock"
#define CTL_IPS_MAX 64
#define CTL_BOX_MAX 1000000000000 /* packets or bytes to sniff */

enum ctl_command {
	CTL_HELP,
	CTL_VERSION,
	CTL_PODS,
	CTL_DEVICES,
	CTL_ATTACH,
	CTL_DETACH,
	CTL_EXPLAIN,
	CTL_DOCTOR,
	CTL_READY,
	CTL_EVENTS,
	CTL_PCAP,
	CTL_SNIFF,
	CTL_QPS,
	CTL_WATCH,
	CTL_SUGGEST,
	CTL_SUPPORT_BUNDLE,
	CTL_DIAGNOSE,
	N_CTL_COMMANDS
};

/* Borrows from argv; NULL = not given. */
struct ctl_args {
	enum ctl_command command;
	const char *socket;
	const char *device, *netns, *pod, *interface, *mac, *top;
	const char *ips[CTL_IPS_MAX];
	size_t n_ips;
	const char *file, *write;
	const char *configmap;
	const char *output, *config, *state_dir;
	const char *replay;
	long vlan, mtu, limit; /* -1 = not given */
	long flows;
	long seconds, packets, bytes; /* sniff ends with the first of them */
	long record;		      /* seconds; 0 = not given */
	bool json, soft_roce, force, fix;
};

/* -EINVAL: a sentence. Options may stand anywhere. */
int ctl_args_parse(struct ctl_args *ret, int argc, char *argv[], struct err *);
void ctl_args_help(FILE *);
