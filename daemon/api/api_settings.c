// SPDX-License-Identifier: Apache-2.0
#include "api_settings.h"

#include <linux/dcbnl.h>
#include <stdio.h>

/* --- DCB and pause ---------------------------------------------------------------------------- */

static void dscp(struct json_out *o, const struct port_settings *s)
{
	char key[12];

	if (!(s->seen & SETTINGS_DSCP)) {
		json_out_null(o, "dscpTrusted");
		json_out_null(o, "dscpPriorities");
		return;
	}
	json_out_bool(o, "dscpTrusted", s->dscp_trusted);
	json_out_open(o, "dscpPriorities", '{');
	for (int i = 0; i < N_DSCP; i++) {
		if (s->dscp_priority[i] == NO_PRIORITY)
			continue;
		snprintf(key, sizeof(key), "%d", i);
		json_out_number(o, key, s->dscp_priority[i]);
	}
	json_out_close(o, '}');
}

static void api_mask(struct json_out *o, const char *key, bool seen, uint8_t bits)
{
	if (!seen) {
		json_out_null(o, key);
		return;
	}
	json_out_open(o, key, '[');
	for (unsigned i = 0; i < SETTINGS_PRIOS; i++)
		if (bits >> i & 1)
			json_out_number(o, NULL, i);
	json_out_close(o, ']');
}

static void numbers(struct json_out *o, const char *key, const uint8_t values[SETTINGS_PRIOS])
{
	json_out_open(o, key, '[');
	for (int i = 0; i < SETTINGS_PRIOS; i++)
		json_out_number(o, NULL, values[i]);
	json_out_close(o, ']');
}

static void algorithm(struct json_out *o, uint8_t tsa)
{
	char number[8];

	snprintf(number, sizeof(number), "%u", tsa);
	json_out_text(o, NULL,
		      tsa == IEEE_8021QAZ_TSA_STRICT	  ? "strict"
		      : tsa == IEEE_8021QAZ_TSA_CB_SHAPER ? "cbs"
		      : tsa == IEEE_8021QAZ_TSA_ETS	  ? "ets"
		      : tsa == IEEE_8021QAZ_TSA_VENDOR	  ? "vendor"
							  : number);
}

static void traffic_classes(struct json_out *o, const struct port_settings *s)
{
	if (!(s->seen & SETTINGS_ETS)) {
		json_out_null(o, "ets");
		return;
	}
	json_out_open(o, "ets", '{');
	numbers(o, "classes", s->ets_class);
	json_out_open(o, "algorithms", '[');
	for (int i = 0; i < SETTINGS_PRIOS; i++)
		algorithm(o, s->ets_algorithm[i]);
	json_out_close(o, ']');
	numbers(o, "percents", s->ets_percent);
	json_out_close(o, '}');
}

static void pause(struct json_out *o, const struct port_settings *s)
{
	if (!(s->seen & SETTINGS_PAUSE)) {
		json_out_null(o, "pause");
		return;
	}
	json_out_open(o, "pause", '{');
	json_out_bool(o, "receives", s->pause_receives);
	json_out_bool(o, "sends", s->pause_sends);
	json_out_close(o, '}');
}

static void dcbx(struct json_out *o, const struct port_settings *s)
{
	static const struct {
		uint8_t bit;
		const char *word;
	} words[] = {{DCB_CAP_DCBX_HOST, "host"},
		     {DCB_CAP_DCBX_LLD_MANAGED, "firmware"},
		     {DCB_CAP_DCBX_VER_CEE, "cee"},
		     {DCB_CAP_DCBX_VER_IEEE, "ieee"},
		     {DCB_CAP_DCBX_STATIC, "static"}};

	if (!(s->seen & SETTINGS_DCBX)) {
		json_out_null(o, "dcbx");
		return;
	}
	json_out_open(o, "dcbx", '[');
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (s->dcbx & words[i].bit)
			json_out_text(o, NULL, words[i].word);
	json_out_close(o, ']');
}

/* --- rdma_cm and PCIe ------------------------------------------------------------------------- */

static void rdma_cm(struct json_out *o, const struct port_settings *s)
{
	const char *type = s->cm_roce_v2 ? "RoCE v2" : "RoCE v1";

	if (!(s->seen & (SETTINGS_CM_TYPE | SETTINGS_CM_TOS))) {
		json_out_null(o, "rdmaCm");
		return;
	}
	json_out_open(o, "rdmaCm", '{');
	json_out_text(o, "type", s->seen & SETTINGS_CM_TYPE ? type : "");
	json_out_known(o, "tos", s->seen & SETTINGS_CM_TOS, s->cm_tos);
	json_out_close(o, '}');
}

static void link_members(struct json_out *o, const struct pcie_link *l)
{
	json_out_number(o, "speed", l->mt_s);
	json_out_number(o, "maxSpeed", l->max_mt_s);
	json_out_number(o, "width", l->width);
	json_out_number(o, "maxWidth", l->max_width);
}

static void pcie(struct json_out *o, const struct port_settings *s)
{
	if (s->seen & SETTINGS_PCIE) {
		json_out_open(o, "pcie", '{');
		link_members(o, &s->pcie);
		json_out_close(o, '}');
	} else {
		json_out_null(o, "pcie");
	}
	if (!(s->seen & SETTINGS_PCIE_SEGMENT)) {
		json_out_null(o, "slowSegments");
		return;
	}
	json_out_open(o, "slowSegments", '[');
	if (s->segment[0]) {
		json_out_open(o, NULL, '{');
		json_out_text(o, "bridge", s->segment);
		link_members(o, &s->segment_link);
		json_out_close(o, '}');
	}
	json_out_close(o, ']');
}

void api_settings(struct json_out *o, const struct port_settings *s)
{
	if (!s || !s->seen) {
		json_out_null(o, "settings");
		return;
	}
	json_out_open(o, "settings", '{');
	dscp(o, s);
	api_mask(o, "pfc", s->seen & SETTINGS_PFC, s->pfc);
	api_mask(o, "peerPfc", s->seen & SETTINGS_PEER_PFC, s->peer_pfc);
	traffic_classes(o, s);
	pause(o, s);
	dcbx(o, s);
	rdma_cm(o, s);
	pcie(o, s);
	json_out_close(o, '}');
}
