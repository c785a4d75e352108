// SPDX-License-Identifier: Apache-2.0
#include "api_agent.h"

#include <stdio.h>
#include <string.h>

#include "api_ports.h"
#include "json_out.h"

enum agent_works { AGENT_FAILS, AGENT_WORKS, AGENT_UNUSED };

#define AGENT_TEXT 704

static void api_agent_part(struct json_out *o, const char *name, enum agent_works works,
			   const char *what, const char *why)
{
	json_out_open(o, NULL, '{');
	json_out_text(o, "name", name);
	if (works == AGENT_UNUSED)
		json_out_null(o, "works");
	else
		json_out_bool(o, "works", works == AGENT_WORKS);
	json_out_text(o, "what", what);
	json_out_text(o, "why", why);
	json_out_close(o, '}');
}

static enum agent_works agent_works_if(bool works)
{
	return works ? AGENT_WORKS : AGENT_FAILS;
}

static bool agent_is_stale(const struct agent_input *s)
{
	uint64_t age_ms = s->now_ms > s->sample_ms ? s->now_ms - s->sample_ms : 0;

	return s->sample_ms == 0 ||
	       (age_ms > AGENT_STALE_MS && age_ms > AGENT_STALE_SAMPLES * (uint64_t)s->every_ms);
}

/* Adds the part "sampling". If a job hangs, it is reported as the reason for a stale sample. */
static void api_agent_sampling(struct json_out *o, const struct agent_input *s)
{
	char what[AGENT_TEXT], why[AGENT_TEXT] = "";

	snprintf(what, sizeof(what), "every %.3g s, %llu taken, %llu skipped", s->every_ms / 1000.0,
		 (unsigned long long)s->samples, (unsigned long long)s->samples_late);
	if (agent_is_stale(s) && s->n_jobs > 0)
		snprintf(why, sizeof(why), "%s has been running for %llu s", s->jobs[0].text,
			 (unsigned long long)s->jobs[0].for_ms / 1000);
	else if (agent_is_stale(s))
		snprintf(why, sizeof(why), "%s",
			 s->sample_ms ? "no sample has been judged recently"
				      : "no sample has been judged yet");
	api_agent_part(o, "sampling", agent_works_if(!agent_is_stale(s)), what, why);
}

static void api_agent_kubelet(struct json_out *o, const struct agent_input *s)
{
	size_t n = s->resources ? s->resources->n_resources : 0;
	const char *why = s->resources ? s->resources->held_error : "";
	size_t n_done = 0;
	char what[AGENT_TEXT];

	for (size_t i = 0; i < n; i++) {
		n_done += s->resources->resources[i].registration == REGISTRATION_DONE;
		if (!why[0])
			why = s->resources->resources[i].error;
	}
	if (n == 0) {
		api_agent_part(o, "kubelet", AGENT_UNUSED, "no pool is configured", "");
		return;
	}
	snprintf(what, sizeof(what), "%zu of %zu resources are registered", n_done, n);
	api_agent_part(o, "kubelet", agent_works_if(n_done == n && !why[0]), what, why);
}

static void api_agent_engine(struct json_out *o, const struct attach_counters *c)
{
	char what[AGENT_TEXT];

	if (!c) {
		api_agent_part(o, "attach engine", AGENT_UNUSED, "this daemon attaches no devices",
			       "");
		return;
	}
	snprintf(what, sizeof(what), "%u in pods, %u attaching, %u returning, %u failed", c->in_pod,
		 c->attaching, c->returning, c->bad);
	api_agent_part(o, "attach engine", agent_works_if(!c->view_error[0]), what, c->view_error);
	api_agent_part(o, "journal", agent_works_if(!c->journal_error[0]),
		       c->journal_error[0] ? "not writable" : "writable", c->journal_error);
	if (!c->cri_open)
		return;
	snprintf(what, sizeof(what), "%s%s%s", c->cri.runtime[0] ? c->cri.runtime : "not found yet",
		 c->cri.socket[0] ? ", " : "", c->cri.socket);
	api_agent_part(o, "container runtime",
		       agent_works_if(c->cri.socket[0] && !c->cri.error[0] && !c->runtime_error[0]),
		       what, c->cri.error[0] ? c->cri.error : c->runtime_error);
}

static void api_agent_config(struct json_out *o, const struct config_state *c)
{
	static const struct config_state in_use;
	char what[AGENT_TEXT], why[AGENT_TEXT];

	if (!c)
		c = &in_use;
	snprintf(why, sizeof(why), "%s", c->error.code ? c->error.msg : c->beside);
	if (c->error.code)
		snprintf(what, sizeof(what), "%s",
			 c->held	      ? "waits for pods to release devices"
			 : c->last_good_of[0] ? "the file is rejected; the last good one is in use"
					      : "the file is rejected");
	else if (c->beside[0])
		snprintf(what, sizeof(what), "there is no file");
	else if (c->refusals.n > 0)
		snprintf(what, sizeof(what), "%zu of its pools are rejected", c->refusals.n);
	else if (c->n_lacks > 0)
		snprintf(what, sizeof(what), "%zu of its pools cannot be used", c->n_lacks);
	else if (c->n_ignored > 0)
		snprintf(what, sizeof(what), "valid; its pools (%zu) are not offered (--observe)",
			 c->n_ignored);
	else
		snprintf(what, sizeof(what), "in use");
	if (!why[0] && c->refusals.n == 0 && c->n_lacks > 0)
		snprintf(why, sizeof(why), "%s: %s", c->lacks[0].resource, c->lacks[0].what);
	api_agent_part(o, "configuration", agent_works_if(config_state_ok(c) && c->n_lacks == 0),
		       what, why);
}

static void api_agent_privileges(struct json_out *o, const struct agent_input *s)
{
	char what[AGENT_TEXT];

	snprintf(what, sizeof(what),
		 s->n_missing ? "%zu missing" : "no required capability is missing", s->n_missing);
	api_agent_part(o, "privileges", agent_works_if(s->n_missing == 0), what,
		       s->n_missing ? s->missing[0].stops : "");
}

static void api_agent_bpf(struct json_out *o, const struct api_bpf *b)
{
	char name[AGENT_TEXT], what[AGENT_TEXT];

	if (!b->on)
		api_agent_part(o, "BPF", AGENT_UNUSED, "switched off", "");
	for (size_t i = 0; b->on && i < b->n_programs; i++) {
		const struct api_bpf_program *p = &b->programs[i];
		const bool is_loaded = strcmp(p->hook, "none") != 0;
		const char *error = p->error ? p->error : "";

		snprintf(name, sizeof(name), "BPF %s", p->name);
		snprintf(what, sizeof(what), is_loaded ? "attached (%s)" : "not attached", p->hook);
		api_agent_part(o, name,
			       is_loaded  ? AGENT_WORKS
			       : error[0] ? AGENT_FAILS
					  : AGENT_UNUSED,
			       what, error);
	}
}

static void api_agent_sources(struct json_out *o, const struct agent_input *s)
{
	json_out_open(o, "sources", '[');
	for (int i = 0; s->sources && i < N_SOURCES; i++) {
		const struct source_state *source = &s->sources[i];

		if (!source->used)
			continue;
		json_out_open(o, NULL, '{');
		json_out_text(o, "name", source_name((enum source)i));
		json_out_number(o, "errors", source->errors);
		json_out_known(o, "ageMs", source->read_ms > 0,
			       s->now_ms > source->read_ms ? s->now_ms - source->read_ms : 0);
		json_out_close(o, '}');
	}
	json_out_close(o, ']');
}

char *api_agent(const struct agent_input *s, size_t *ret_len)
{
	struct json_out o = {0};

	json_out_open(&o, NULL, '{');
	json_out_number(&o, "samples", s->samples);
	json_out_number(&o, "samplesSkipped", s->samples_late);
	json_out_number(&o, "everyMs", s->every_ms);
	api_agent_sources(&o, s);
	json_out_open(&o, "parts", '[');
	api_agent_sampling(&o, s);
	api_agent_kubelet(&o, s);
	api_agent_engine(&o, s->counters);
	api_agent_config(&o, s->config);
	api_agent_privileges(&o, s);
	api_agent_bpf(&o, s->bpf);
	json_out_close(&o, ']');
	json_out_close(&o, '}');
	return api_text(&o, ret_len);
}
