// SPDX-License-Identifier: Apache-2.0
#include "packet_row.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "json_text.h"
#include "utc_text.h"

#define QPN_MAX 0xffffff

bool packet_row_of(struct packet_row *ret, const struct capture_packet *p)
{
	struct roce_frame frame;

	*ret = (struct packet_row){.packet = p};
	if (!link_is_known(p->link) || !frame_of(&frame, &ret->bytes, p) ||
	    roce_decode(&frame, &ret->roce) != ROCE_PACKET)
		return false;
	ret->icrc = icrc_check(&frame, &ret->roce);
	return true;
}

/* --- filter ----------------------------------------------------------------------------------- */

static int packet_add_address(struct packet_filter *f, const char *word, struct err *e)
{
	struct in_addr ip4;
	uint8_t *address;

	if (f->n_addresses == 2)
		return err_set(e, -EINVAL, "--flow: more than two addresses");
	address = f->addresses[f->n_addresses];
	if (inet_pton(AF_INET, word, &ip4) == 1) {
		memset(address, 0, 10);
		memset(address + 10, 0xff, 2);
		memcpy(address + 12, &ip4, 4);
	} else if (inet_pton(AF_INET6, word, address) != 1) {
		return err_set(e, -EINVAL, "--flow: %.60s is neither an address nor a QPN", word);
	}
	f->n_addresses++;
	return 0;
}

/* Parses a queue pair number. False: it is none, or the filter has one already. */
static bool read_qpn(struct packet_filter *f, const char *word)
{
	char *end;
	unsigned long qpn = strtoul(word, &end, 0);

	if (word[0] < '0' || word[0] > '9' || *end || qpn > QPN_MAX || f->has_qpn)
		return false;
	f->has_qpn = true;
	f->qpn = (uint32_t)qpn;
	return true;
}

int packet_filter_flow(struct packet_filter *f, const char *text, struct err *e)
{
	int r = 0;

	while (r == 0 && *text) {
		size_t len = strcspn(text, ",");
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		if (!read_qpn(f, word))
			r = packet_add_address(f, word, e);
		text += len + (text[len] == ',');
	}
	return r;
}

static bool is_nak(const struct roce_packet *p)
{
	return p->has_aeth && p->syndrome_class != ROCE_SYN_ACK;
}

static bool is_ce(const struct roce_packet *p)
{
	return (p->traffic_class & 3) == 3;
}

static bool has_sign(const struct packet_row *row, const char *sign)
{
	if (strcmp(sign, "cnp") == 0)
		return row->roce.cnp;
	if (strcmp(sign, "ce") == 0)
		return is_ce(&row->roce);
	if (strcmp(sign, "nak") == 0)
		return is_nak(&row->roce);
	return row->icrc == ICRC_BAD;
}

bool packet_matches(const struct packet_filter *f, const struct packet_row *row)
{
	for (unsigned i = 0; i < f->n_addresses; i++)
		if (memcmp(f->addresses[i], row->roce.saddr, 16) != 0 &&
		    memcmp(f->addresses[i], row->roce.daddr, 16) != 0)
			return false;
	return (!f->has_qpn || f->qpn == row->roce.qpn) && (!f->only || has_sign(row, f->only));
}

/* --- a line ----------------------------------------------------------------------------------- */

static const char *icrc_name(enum icrc_verdict verdict)
{
	static const char *const names[N_ICRC_VERDICTS] = {
		[ICRC_GOOD] = "good",
		[ICRC_BAD] = "bad",
		[ICRC_UNVERIFIABLE] = "unverifiable",
	};

	return names[verdict];
}

/* Writes the operation, such as "rc send" or "cnp". */
static void op_text(const struct roce_packet *p, char *ret, size_t size)
{
	if (p->cnp)
		snprintf(ret, size, "cnp");
	else
		snprintf(ret, size, "%s %s", roce_transport_name(p->transport),
			 roce_op_name((enum roce_op)p->op));
}

static void packet_put_signs(const struct packet_row *row, FILE *f)
{
	const struct roce_packet *p = &row->roce;
	const struct {
		bool is;
		const char *word;
	} signs[] = {
		{is_nak(p), roce_syndrome_name((enum roce_syndrome)p->syndrome_class)},
		{row->icrc == ICRC_BAD, "bad ICRC"},
		{p->ack_request, "requests an ACK"},
		{p->solicited, "solicited"},
		{p->fecn, "FECN"},
		{p->becn, "BECN"},
	};
	const char *before = "  ";

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!signs[i].is)
			continue;
		fprintf(f, "%s%s", before, signs[i].word);
		before = ", ";
	}
}

void packet_row_heads(FILE *f)
{
	fprintf(f, "%8s  %14s  %-15s  %-15s  %8s  %8s  %-15s  %4s  %-6s  %6s  %s\n", "PACKET",
		"SECONDS", "SOURCE", "DESTINATION", "QPN", "PSN", "OPERATION", "DSCP", "ECN",
		"BYTES", "SIGNS");
}

void packet_row_put(const struct packet_row *row, uint64_t from_ns, FILE *f)
{
	const struct roce_packet *p = &row->roce;
	char source[INET6_ADDRSTRLEN], destination[INET6_ADDRSTRLEN], op[40], seconds[32] = "-";

	roce_address_text(p->saddr, source);
	roce_address_text(p->daddr, destination);
	op_text(p, op, sizeof(op));
	if (row->packet->time_ns)
		snprintf(seconds, sizeof(seconds), "%.9f",
			 (double)(int64_t)(row->packet->time_ns - from_ns) / 1e9);
	fprintf(f, "%8llu  %14s  %-15s  %-15s  %8u  %8u  %-15s  %4u  %-6s  %6u",
		(unsigned long long)row->packet->number, seconds, source, destination, p->qpn,
		p->psn, op, p->traffic_class >> 2, roce_ecn_name(p->traffic_class & 3), row->bytes);
	packet_put_signs(row, f);
	fputc('\n', f);
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static json_t *packet_address_json(const uint8_t address[16])
{
	char text[INET6_ADDRSTRLEN];

	roce_address_text(address, text);
	return json_text(text);
}

static json_t *packet_time_json(uint64_t time_ns)
{
	char text[UTC_TEXT_SIZE];

	utc_text(time_ns / 1000000, text);
	return json_text(time_ns ? text : "");
}

json_t *packet_row_json(const struct packet_row *row)
{
	const struct roce_packet *p = &row->roce;

	return json_pack(
		"{sI sI so so sI so so si sI sI ss ss si ss sb so sb sb sb sb si so so ss}",
		"packet", (json_int_t)row->packet->number, "offset",
		(json_int_t)row->packet->offset, "time", packet_time_json(row->packet->time_ns),
		"timeNs", json_above_zero(row->packet->time_ns), "bytes", (json_int_t)row->bytes,
		"source", packet_address_json(p->saddr), "destination",
		packet_address_json(p->daddr), "version", (int)p->version, "qpn",
		(json_int_t)p->qpn, "psn", (json_int_t)p->psn, "transport",
		roce_transport_name(p->transport), "operation", roce_op_name((enum roce_op)p->op),
		"dscp", p->traffic_class >> 2, "ecn", roce_ecn_name(p->traffic_class & 3), "cnp",
		p->cnp, "syndrome",
		json_text(p->has_aeth ? roce_syndrome_name((enum roce_syndrome)p->syndrome_class)
				      : ""),
		"asksForAck", p->ack_request, "solicited", p->solicited, "fecn", p->fecn, "becn",
		p->becn, "pkey", (int)p->pkey, "sourcePort", json_above_zero(p->source_port),
		"dmaBytes", p->has_reth ? json_integer(p->reth_length) : json_null(), "icrc",
		icrc_name(row->icrc));
}
