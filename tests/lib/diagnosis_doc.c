#include "diagnosis_doc.h"

#include "cause.h"
#include "thresholds.h"

static void put_text(FILE *f)
{
	fputs("# Diagnosis\n\n"
	      "Why RDMA is slow on this node. This page is made from the tables in the code (`make docs`): every cause that rocelet knows, and every number that a judgement rests on.\n"
	      "How scenario files are written is in [scenarios.md](scenarios.md), why it is built as it is in [concepts/diagnosis.md](../concepts/diagnosis.md).\n\n"
	      "## How a verdict comes and goes\n\n"
	      "* Each sample of each port is judged by every rule: yes, no, or it cannot be decided. **What cannot be seen is unknown and changes nothing**; the cause is then listed as undecided, with the\n"
	      "  reason.\n"
	      "* **A verdict opens** when a rule said yes in two of the last three samples; where a rule counts what happened and not how much (a link went down, a queue pair died), one is enough.\n"
	      "  A *recent* mean is one over 10 s and at least three samples, to which two must have contributed, of CE marks three: the longer the interval, the longer every window.\n"
	      "* **Chance is no fault.** Of events that are rare (NAKs, timeouts, drops, damaged frames, ignored CNPs), only those count that are more than three standard deviations beyond none:\n"
	      "  of n events n - 3 sqrt(n), over 10 s, a minute or a quarter of an hour.\n"
	      "* **Each counter has its own time.** One that was not read has its next rate over all the time since; rates of different spans are not compared. One that reads less and returns to its\n"
	      "  old total within three samples did not start over.\n"
	      "* **Only RDMA's priorities accuse RDMA**: the lossless ones, where they are known. Pause and drops of others are left out.\n"
	      "* **Onset** is the first sample in which what the rule reads began to move, from what it was in the quarter of an hour before, at most 60 s or twelve samples before the verdict opened; the counter that *moved first* is the earliest of all, in causal order\n"
	      "  (link, pause, CE and CNP, discards, out of sequence, NAK, timeout, retries exceeded) where several moved in one sample.\n"
	      "* **It stays** at least `hold_seconds`, and while it is open its limits are halved. **It ends** when the rule has said no for the time in the table; where silence proves nothing (no traffic) or\n"
	      "  nothing is visible, after `release_idle_seconds`; with reason `gone` when the port has been missing for three samples.\n"
	      "* **Severity** is the worst so far: 1 info, 2 warning, 3 critical. The third onset in an hour makes a warning critical, where the number comes to half of what is critical or there is no such number. On a management port (it carries the default route and has no queue pairs)\n"
	      "  everything is info.\n"
	      "* **One cause explains its symptoms**: what is in its last column is listed under it, not beside it, while both are there.\n"
	      "* A port that was seen for less than `warming_seconds` is *warming*, never healthy; so is one with less than three rates. One whose link is down is *down*, whoever took it down. Its link is not judged during the first `settle_seconds`.\n"
	      "* **What congestion control is expected** (`expect-congestion-control`: `dcqcn`, `pfc_only`, `lossy`, `unknown`) decides what silence means. Causes marked with * accuse only where it is `dcqcn`;\n"
	      "  where it is `unknown` they are info, elsewhere they are silent.\n"
	      "* **Bursts.** A port on which pause, marks or loss show is read alone, every 20 to 100 ms, for `burst_seconds`; again when another of these begins, or after `burst_rest_seconds`. All ports together\n"
	      "  take at most `burst_reads` answers of drivers a second (one for each request over netlink or ioctl, one for each file) and a tenth of one thread's time: a read that needs 100 ms is followed by a pause of one second, however many samples are taken meanwhile. A storm that stands for\n"
	      "  `storm_burst_seconds` is told at once. Peaks and histograms of the windows are on the metrics page (`roce_pfc_pause_peak_ratio`, `roce_ecn_ce_window_ratio`).\n"
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

static void put_soft_roce(FILE *f)
{
	fputs("\n## What soft-RoCE can show\n\n"
	      "soft-RoCE (rxe) counts little itself, but all of its packets pass the kernel: what its counters lack BPF tells, where its programs are attached ([packets.md](../tasks/packets.md)), and is unknown where\n"
	      "they are not. A counter of its own has precedence. The lab's scenario `congestion` makes these faults with real traffic between pods.\n\n"
	      "| what is wrong | what tells | verdict, of whose pod |\n|---|---|---|\n"
	      "| a congested queue that marks | CE marks, by BPF at the receiver | `fabric_congestion` of the receiver, `incast` where there are the peers and the line is full |\n"
	      "| loss | `rcvd_seq_err`: the receiver's sequence NAKs | `packet_loss` of the sender |\n"
	      "| delay | no counter has a time; `rocectl qps` shows round trips | none. Longer than queue pairs wait: `peer_gone` of the sender |\n"
	      "| a receiver that stops posting | `rcvd_rnr_err`, `send_rnr_err` | `receiver_not_ready` of both |\n"
	      "| a peer that vanishes | `retry_exceeded_err`; timeouts, by BPF | `peer_gone` of those who sent to it |\n"
	      "| a wrong key | NAKs with that reason, by BPF on both sides | `application_error` of both |\n"
	      "| a link that flaps | the port's state, `link_downed` | `link_flap` of all pods on it; none where somebody took the pod's own interface down |\n"
	      "| traffic without ECN | traffic classes of queue pairs, by BPF | `not_ecn_capable` of both ends, where `dcqcn` is expected |\n"
	      "| an MTU that does not fit | path MTUs of queue pairs, by BPF, and the port's | `mtu_mismatch` of the pod whose interface has the smaller one |\n\n"
	      "What it cannot show:\n\n"
	      "* **Congestion control.** It neither answers marks with CNPs nor slows down on them: `notification_point_off` and `reaction_point_off` cannot be decided.\n"
	      "* **Reordering.** It answers a packet that comes too early with a sequence NAK, as if one before were lost: that is `packet_loss`.\n"
	      "* **How full the line is.** It tells a rate of its netdev's speed rounded up, 2.5 Gbit/s at least, and a queue before that may be narrower: `incast` needs `incast_utilisation` set to what it can reach.\n"
	      "* **That it gives up**, of queue pairs with 7 retries, which most programs ask for: soft-RoCE takes that as without end. With fewer it is `peer_gone`.\n"
	      "* **Pause, PCIe, PHY errors, discards.** A netdev's are not its own: these causes cannot be decided.\n"
	      "* **Local length errors** are neither counted nor answered with a NAK of their own; `rocectl events` has the failed completion.\n"
	      "* **Loopback.** What a device sends to itself does not pass its netdev.\n",
	      f);
}

void diagnosis_doc(FILE *f)
{
	put_text(f);
	put_causes(f);
	put_thresholds(f);
	put_series(f);
	put_soft_roce(f);
}
