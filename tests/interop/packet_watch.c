// SPDX-License-Identifier: Apache-2.0
/* packet_watch.c - daemon/packets/packet_port.h on one interface, for packets_python.py.
 *
 *   packet_watch NETDEV tc|clsact|xdp
 *
 * Prints "watching HOOK"; then for each line of stdin the counts so far, as one line of JSON.
 */
#include <bpf/libbpf.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "packet_port.h"

static void show_array(const char *name, const __u64 *values, unsigned n)
{
	const char *comma = "";

	printf("\"%s\":{", name);
	for (unsigned i = 0; i < n; i++) {
		if (!values[i])
			continue;
		printf("%s\"%u\":%llu", comma, i, values[i]);
		comma = ",";
	}
	printf("},");
}

static void show(const struct roce_counts *c)
{
	printf("{");
	show_array("traffic_class", c->traffic_class, 256);
	show_array("ops", c->ops, N_ROCE_TRANSPORTS * N_ROCE_OPS);
	show_array("syndromes", c->syndromes, N_ROCE_SYNDROMES);
	printf("\"packets\":%llu,\"bytes\":%llu,\"cnp\":%llu,\"fecn\":%llu,\"becn\":%llu,"
	       "\"solicited\":%llu,\"read\":%llu,\"write\":%llu,\"v1\":%llu,\"ip4\":%llu,"
	       "\"ip6\":%llu,\"fragments\":%llu,\"malformed\":%llu}",
	       c->packets, c->bytes, c->cnp, c->fecn, c->becn, c->solicited,
	       c->requested_read_bytes, c->requested_write_bytes, c->v1, c->ip4, c->ip6,
	       c->fragments, c->malformed);
}

static int answer(const struct packet_port_fd *port)
{
	struct roce_counts counts[N_ROCE_DIRECTIONS];
	int r = packet_port_read(port, counts);

	if (r < 0)
		return r;
	printf("{\"received\":");
	show(&counts[ROCE_RECEIVED]);
	printf(",\"sent\":");
	show(&counts[ROCE_SENT]);
	printf("}\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct packet_port_spec spec = {.netns_fd = -1};
	struct packet_port_fd *port = NULL;
	enum packet_hook hook;
	struct err e = {0};
	char line[64];
	int r = 0;

	if (argc != 3)
		return 2;
	libbpf_set_print(NULL);
	spec.ifindex = (int)if_nametoindex(argv[1]);
	spec.xdp = strcmp(argv[2], "xdp") == 0;
	spec.clsact = strcmp(argv[2], "clsact") == 0;
	if (packet_port_open(&port, &spec, &hook, &e) < 0) {
		printf("%s\n", e.msg);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("watching %s\n", packet_hook_name(hook));
	while (r == 0 && fgets(line, sizeof(line), stdin))
		r = answer(port);
	packet_port_close(port);
	return r < 0;
}
