#include "bpf_tally.h"

static void add_cm(struct bpf_tally *t, const struct bpf_event_cm *e)
{
	if (e->passive) {
		t->accepted += e->what == BPF_CM_CONNECTED;
		return;
	}
	t->connections[e->what]++;
	if (e->what == BPF_CM_REJECTED)
		t->rejects[e->status >= 0 && e->status < BPF_REJECTS ? e->status
								     : BPF_REJECTS - 1]++;
	if (e->what == BPF_CM_CONNECTED && e->latency_ns) {
		t->connect_ns += e->latency_ns;
		t->n_connect++;
	}
}

void bpf_tally_add(struct bpf_tally *t, const struct bpf_event *e)
{
	if (e->kind == BPF_EVENT_CM)
		add_cm(t, (const struct bpf_event_cm *)e);
}
