#include "diagnosis_doc.h"

#include "cause.h"
#include "thresholds.h"

static void put_text(FILE *f)
{
	fputs("# Diagnosis\n\n"
	      "Why RDMA is slow on this node. This page is made from the tables in the code (`make docs`): every cause that rocelet knows, and every number that a judgement rests on.\n"
	      "How scenario files are written is in [scenarios.md](scenarios.md), why it is built as it is in [design.md](design.md).\n\n"
	      "## How a verdict comes and goes\n\n"
	      "* Each sample of each port is judged by every rule: yes, no, or it cannot be decided. **What cannot be seen is unknown and changes nothing**; the cause is then listed as undecided, with the\n"
	      "  reason.\n"
	      "* **A verdict opens** when a rule said yes in two of the last three samples; where a rule counts what happened and not how much (a link went down, a queue pair died), one is enough.\n"
	      "  A *recent* mean is one over 10 s, to which at least two samples must have contributed, of CE marks three.\n"
	      "* **Onset** is the first sample in which what the rule reads began to move, at most 60 s before the verdict opened; the counter that *moved first* is the earliest of all, in causal order\n"
	      "  (link, pause, CE and CNP, discards, out of sequence, NAK, timeout, retries exceeded) where several moved in one sample.\n"
	      "* **It stays** at least `hold_seconds`, and while it is open its limits are halved. **It ends** when the rule has said no for the time in the table; where silence proves nothing (no traffic) or\n"
	      "  nothing is visible, after `release_idle_seconds`; with reason `gone` when the port has been missing for three samples.\n"
	      "* **Severity** is the worst so far: 1 info, 2 warning, 3 critical. The third onset in an hour makes a warning critical. On a management port (it carries the default route and has no queue pairs)\n"
	      "  everything is info.\n"
	      "* **One cause explains its symptoms**: what is in its last column is listed under it, not beside it, while both are there.\n"
	      "* A port that was seen for less than `warming_seconds` is *warming*, never healthy. Its link is not judged during the first `settle_seconds`.\n"
	      "* **What congestion control is expected** (`expect-congestion-control`: `dcqcn`, `pfc_only`, `lossy`, `unknown`) decides what silence means. Causes marked with * accuse only where it is `dcqcn`;\n"
	      "  where it is `unknown` they are info, elsewhere they are silent.\n"
	      "* **The network is not it** is said of a port that has moved much for a minute, with room on its line, every sign of trouble visible, and none of them there. It is no verdict.\n\n",
	      f);
}

static void put_causes(FILE *f)
{
	fputs("## Causes, in order of judgement\n\n"
	      "| cause | rule | worst | ends after | what is said | advice | it is something else if | explains |\n|---|---|---|---|---|---|---|---|\n",
	      f);
	for (int c = 0; c < N_CAUSES; c++) {
		const struct cause_row *row = cause_row((enum cause)c);
		const char *separator = "";

		fprintf(f, "| `%s`%s | %s | %s | ", row->name,
			row->needs_congestion_control ? " *" : "", row->number,
			severity_name(row->severity));
		if (row->rule)
			fprintf(f, "%g s", threshold_key(row->release)->fallback);
		else
			fputs("one node alone cannot tell", f);
		fprintf(f, " | %s | %s | %s | ", row->sentence, row->advice, row->disproof);
		for (int i = 0; i < N_CAUSES; i++) {
			if (!(row->explains & CAUSE_BIT(i)))
				continue;
			fprintf(f, "%s`%s`", separator, cause_row((enum cause)i)->name);
			separator = ", ";
		}
		fputs(" |\n", f);
	}
	fputs("\nRules are numbered as in the table of causes that this began with; those without a number are of our own.\n\n### Where the rules come from\n\n",
	      f);
	for (int c = 0; c < N_CAUSES; c++)
		fprintf(f, "* `%s`: %s\n", cause_row((enum cause)c)->name,
			cause_row((enum cause)c)->source);
}

static void put_thresholds(FILE *f)
{
	fputs("\n## Thresholds\n\n| key | unit | default | from | to | of what |\n|---|---|---|---|---|---|\n",
	      f);
	for (int i = 0; i < N_THRESHOLDS; i++) {
		const struct threshold_key *k = threshold_key((enum threshold)i);

		fprintf(f, "| `%s` | %s | %g | %g | %g | %s |\n", k->name, k->unit, k->fallback,
			k->least, k->greatest, k->help);
	}
}

static void put_series(FILE *f)
{
	const char *last = "";

	fputs("\n## Series that are read\n\nUnder the names of [metrics.md](metrics.md); `#` stands for a priority or lane.\n\n",
	      f);
	for (int s = 0; s < N_SERIES; s++) {
		if (series_name((enum series)s) == last)
			continue;
		last = series_name((enum series)s);
		fprintf(f, "* `%s`\n", last);
	}
}

void diagnosis_doc(FILE *f)
{
	put_text(f);
	put_causes(f);
	put_thresholds(f);
	put_series(f);
}
