// SPDX-License-Identifier: Apache-2.0
#include "routes_agent.h"

#include "api_agent.h"
#include "cleanup.h"
#include "diagnosis_report.h"
#include "reply.h"
#include "self_counters.h"

void routes_agent(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	struct attach_counters counters = {0};
	struct api_bpf bpf = {.on = false};
	struct job_status jobs[4];
	struct agent_input input = {.now_ms = request->now_ms,
				    .every_ms = r->every_ms,
				    .resources = r->resources,
				    .config = r->config,
				    .missing = r->missing,
				    .n_missing = r->n_missing,
				    .jobs = jobs,
				    .bpf = &bpf};
	size_t len = 0;

	if (r->diagnosis) {
		input.sample_ms = r->diagnosis->now_ms;
		input.sources = r->diagnosis->sources;
	}
	if (r->self) {
		input.samples = r->self->samples;
		input.samples_late = r->self->samples_late;
	}
	if (r->admin.counters) {
		r->admin.counters(&counters, r->admin.arg);
		input.counters = &counters;
	}
	if (r->report_bpf)
		r->report_bpf(&bpf, r->report_bpf_arg);
	input.n_jobs = r->jobs ? r->jobs(jobs, ARRAY_SIZE(jobs), JOB_SLOW_MS) : 0;
	reply_document(reply, api_agent(&input, &len));
}
