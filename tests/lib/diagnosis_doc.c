// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_doc.h"

#include "cause.h"
#include "doc_text.h"
#include "thresholds.h"

static const char introduction[] =
	"# Diagnosis\n\n"
	"Why RDMA is slow on this node. This page is made from the tables in the code (`make golden`): every cause that rocelet knows, and every number on which a "
	"verdict depends. The [runbook](../runbook.md) has for each cause how to confirm it and what to do. [scenarios.md](scenarios.md) describes the files that "
	"`rocectl diagnose --replay` judges, [concepts/diagnosis.md](../concepts/diagnosis.md) how it is built and why.\n\n"
	"## How a verdict opens and ends\n\n"
	"### What a rule decides\n\n"
	"Every rule decides for each sample of each port: yes, no, or undecided. It is undecided if a value that it needs cannot be read. Then no verdict opens, an open "
	"one stays, and the cause is listed as undecided, with the reason.\n\n"
	"### Opening\n\n"
	"A verdict opens when its rule said yes in two of the last three samples. One sample is enough for rules that count whether something happened and not how "
	"much (a link went down, a queue pair failed).\n\n"
	"A *recent* mean covers 10 s and at least three samples, of which two must themselves be above the limit (for CE marks three). With a longer "
	"sample interval, every window is longer.\n\n"
	"### Chance\n\n"
	"A few rare events (NAKs, timeouts, drops, damaged frames, ignored CNPs) may be chance. So three standard deviations are subtracted from their number: n events "
	"count as n - 3 sqrt(n), over 10 s, a minute or a quarter of an hour.\n\n"
	"### Counters\n\n"
	"Each counter has its own time. If it was not read, its next rate covers all the time since. Rates over different spans are not compared. If a counter returns a "
	"smaller value, and its old total again within three samples, it did not start over.\n\n"
	"Where the lossless priorities are known, only their pause and drops are evidence about RDMA. Those of other priorities are ignored.\n\n"
	"### Onset\n\n"
	"The onset is the first sample in which the rule's input moved away from its level in the previous quarter of an hour, at most 60 s or twelve samples before "
	"the verdict opened. The counter that *moved first* is the earliest of all. If several moved in one sample, it is the first of them in causal order: link, "
	"pause, CE and CNP, discards, out of sequence, NAK, timeout, retries exceeded.\n\n"
	"### Holding and ending\n\n"
	"A verdict stays at least `hold_seconds`, and while it is open its limits are halved. It ends when the rule has said no for the time that is listed for its "
	"cause. If there is no traffic, or the counters cannot be read, it ends after `release_idle_seconds`. It ends with reason `gone` when the port has "
	"been missing for three samples.\n\n"
	"### Severity\n\n"
	"A verdict has the worst severity that it has reached since it opened: 1 information, 2 warning, 3 critical. A warning becomes critical at the third onset in an "
	"hour, if its value is at least half of the critical limit, or if its cause has no such limit. On a management port (it carries the default route and has no "
	"queue pairs) every verdict is information.\n\n"
	"### Causes and symptoms\n\n"
	"While both are open, a verdict that another cause *explains* is listed under the verdict of that cause, not beside it.\n\n"
	"### Ports without a verdict\n\n"
	"A port that was watched for less than `warming_seconds`, or has less than three rates, is *warming* and never called healthy. A port without a link is *down*, "
	"whatever took it down. The link of a new port is not judged during the first `settle_seconds`.\n\n"
	"*The network is not the bottleneck* is reported for a port that had much traffic for a minute and did not fill its line, if every symptom can be measured on it "
	"and there was none. It is no verdict.\n\n"
	"### Congestion control\n\n"
	"`expect-congestion-control` (`dcqcn`, `pfc_only`, `lossy`, `unknown`) decides whether missing CNPs are a fault. Causes that *need congestion control* have "
	"their full severity only with `dcqcn`. With `unknown` they are information, with the others they open no verdict.\n\n"
	"### Bursts\n\n"
	"A port with pause, marks or loss is also read between samples, every 20 to 100 ms, for `burst_seconds`, and again when another of these three begins or after "
	"`burst_rest_seconds`. The burst readings of all ports together make at most `burst_reads` driver queries a second (each request over netlink or ioctl is one, "
	"and each file), and use at most a tenth of one thread's time. A read that needs 100 ms is followed by a pause of one second, however many samples are taken in "
	"between. A storm that lasts "
	"for `storm_burst_seconds` is reported at once. Peaks and histograms of the windows are on the metrics page (`roce_pfc_pause_peak_ratio`, "
	"`roce_ecn_ce_window_ratio`).\n\n"
	"### Hung transmit queues\n\n"
	"A BPF program counts hung queues (`nic_reset`) at the kernel's tracepoint `net_dev_xmit_timeout`. sysfs is not read for it "
	"(`class/net/NAME/queues/tx-N/tx_timeout`), for two reasons: it has one file for each queue (eight NICs of 128 queues: 1,024 reads a sample), and none for a netdev "
	"in a pod's network namespace, where VFs are. The program costs nothing until a queue hangs. The disadvantage: counts begin when rocelet starts. Reports to "
	"devlink's health reporters are counted in the same way. If neither program is loaded (`/api/v1/config`), the cause is undecided.\n\n"
	"### What can be decided where\n\n"
	"`rocectl diagnose --undecided` has the reason for each port. Most reasons are in the NIC: its driver does not count something, whatever the overlay. The "
	"following causes depend on the overlay, or on the kind of port:\n\n"
	"| cause | what it needs | `observe`, `device-plugin` | `native` |\n|---|---|---|---|\n"
	"| `nic_reset` | the BPF program `tx_timeout` or `nic_health` | never | yes |\n"
	"| `not_ecn_capable` | traffic classes of queue pairs, by BPF; or rdma_cm's default type of service, if configfs is mounted | never | yes |\n"
	"| `one_path` | flow labels of queue pairs, by BPF; mlx5, irdma or hns | never | yes |\n"
	"| `mtu_mismatch` | the port's MTU, and path MTUs of queue pairs (by BPF) or at least two siblings with one MTU | PFs with two siblings or more | yes |\n"
	"| `cnp_lost` | the sums of all nodes | never; the alert RoceletCnpLost compares them | the same |\n"
	"| PFC, pause, PCIe and PHY of a VF in a pod | the VF's netdev, which is not in the host; NICs count most of it for the PF only | decided on the port of its PF | the same |\n"
	"\n"
	"`observe` and `device-plugin` have no capability. To decide the first four there, replace `--unprivileged` in their DaemonSet by the capabilities "
	"of their column and `SYS_ADMIN`, as [SECURITY.md](../../SECURITY.md#privileges) describes.\n\n"
	"A container may not open `/dev/infiniband`, so verbs do not report a port's MTU there. rocelet derives it from the MTU of the port's netdev: it is the largest "
	"of 256 to 4096 that "
	"leaves 96 bytes for headers, as mlx5, bnxt_re and qedr compute it. Other drivers do not subtract the headers: if that makes a difference (4096 to 4191 bytes, "
	"for example), their MTU is unknown.\n\n";

static const char about_causes[] =
	"## Causes\n\n"
	"The table is in the order in which the rules are evaluated. *Severity* is the worst severity that a cause can have. *Ends after* is the time for which its rule "
	"must say no. *Rule* is the field `rule` of `/api/v1/diagnosis`.\n\n"
	"| cause | severity | what is wrong |\n|---|---|---|\n";

/* One of the paragraphs of a cause. */
static void put_line(FILE *f, const char *lead, const char *text, const char *end)
{
	char line[2048];

	snprintf(line, sizeof(line), "* %s%s%s\n", lead, text, end);
	doc_put(f, line);
}

static void put_explains(FILE *f, const struct cause_row *row)
{
	char list[1024] = "";
	size_t len = 0;

	for (int i = 0; i < N_CAUSES; i++)
		if (row->explains & CAUSE_BIT(i))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s[%s](#%s)",
						len ? ", " : "", cause_row((enum cause)i)->name,
						cause_row((enum cause)i)->name);
	if (len)
		put_line(f, "Explains: ", list, "");
}

static void put_cause(FILE *f, const struct cause_row *row)
{
	char text[512];

	fprintf(f, "\n### %s\n\n", row->name);
	snprintf(text, sizeof(text), "> %s\n\n", row->sentence);
	doc_put(f, text);
	if (row->rule)
		snprintf(text, sizeof(text), "%s, ends after %g s%s", severity_name(row->severity),
			 threshold_key(row->release)->fallback,
			 row->needs_congestion_control ? "; needs congestion control" : "");
	else
		snprintf(text, sizeof(text), "%s; one node alone cannot decide",
			 severity_name(row->severity));
	put_line(f, "Severity: ", text, "");
	put_line(f, "Advice: ", row->advice, "");
	put_line(f, "Ruled out if ", row->disproof, "");
	put_explains(f, row);
	put_line(f, "Source: ", row->source, "");
	if (*row->number)
		put_line(f, "Rule: ", row->number, "");
	fprintf(f, "* [Runbook](../runbook.md#%s)\n", row->name);
}

static void put_causes(FILE *f)
{
	doc_put(f, about_causes);
	for (int c = 0; c < N_CAUSES; c++) {
		const struct cause_row *row = cause_row((enum cause)c);

		fprintf(f, "| [%s](#%s) | %s | %s |\n", row->name, row->name,
			severity_name(row->severity), row->sentence);
	}
	for (int c = 0; c < N_CAUSES; c++)
		put_cause(f, cause_row((enum cause)c));
}

static void put_thresholds(FILE *f)
{
	fputs("\n## Thresholds\n\nKeys of `diagnosis` in the configuration.\n\n| key | unit | default | from | to | meaning |\n|---|---|---|---|---|---|\n",
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

	fputs("\n## Series that are read\n\nUnder the names of [metrics.md](metrics.md); `#` is a priority or lane.\n\n",
	      f);
	for (int s = 0; s < N_SERIES; s++) {
		if (series_name((enum series)s) == last)
			continue;
		last = series_name((enum series)s);
		fprintf(f, "* `%s`\n", last);
	}
}

static const char soft_roce[] =
	"\n## What soft-RoCE can show\n\n"
	"soft-RoCE (rxe) counts little itself, but all of its packets pass the kernel. Where BPF programs are attached ([packets.md](../tasks/packets.md)), they count "
	"events that it does not count itself; elsewhere these numbers are unknown. A counter of the device takes precedence. The lab's scenario `congestion` makes "
	"these faults with "
	"real traffic between pods.\n\n"
	"| fault | seen in | verdict, and the end whose pod it names |\n|---|---|---|\n"
	"| a congested queue that marks | CE marks, by BPF at the receiver | `fabric_congestion` of the receiver; `incast` with enough peers and a full line |\n"
	"| loss | `rcvd_seq_err`: the receiver's sequence NAKs | `packet_loss` of the sender |\n"
	"| delay | no counter measures time; `rocectl qps` shows round trips | none; `peer_gone` of the sender if the delay exceeds the timeouts of its queue pairs |\n"
	"| a receiver that stops posting | `rcvd_rnr_err`, `send_rnr_err` | `receiver_not_ready` of both |\n"
	"| a peer that vanishes | `retry_exceeded_err`; timeouts, by BPF | `peer_gone` of those that sent to it |\n"
	"| a wrong key | NAKs with that reason, by BPF on both sides | `application_error` of both |\n"
	"| a link that flaps | the port's state, `link_downed` | `link_flap` of all pods on it; `port_off` of the pod if its own interface was taken down |\n"
	"| traffic without ECN | traffic classes of queue pairs, by BPF | `not_ecn_capable` of both ends, where `dcqcn` is expected |\n"
	"| an MTU that does not fit | path MTUs of queue pairs, by BPF, and the port's | `mtu_mismatch` of the pod with the smaller interface MTU |\n\n"
	"soft-RoCE cannot show:\n\n"
	"* Congestion control. It neither answers marks with CNPs nor slows down on them: `notification_point_off` and `reaction_point_off` cannot be decided.\n"
	"* Reordering. It answers a packet that comes too early with a sequence NAK, as if an earlier one were lost: the verdict is `packet_loss`.\n"
	"* How full the line is. It reports its netdev's speed, rounded up, 2.5 Gbit/s at least, and a queue before it may be narrower: for `incast`, set "
	"`incast_utilisation` to the share that it can reach.\n"
	"* Exhausted retries of queue pairs with a retry count of 7, which most programs request: soft-RoCE treats 7 as unlimited. With a smaller count the verdict is "
	"`peer_gone`.\n"
	"* Pause, PCIe, PHY errors, discards. Those of the netdev below are not its own: these causes cannot be decided.\n"
	"* Local length errors, which are neither counted nor answered with a NAK of their own. `rocectl events` has the failed completion.\n"
	"* Loopback. Packets that a device sends to itself do not pass its netdev.\n";

void diagnosis_doc(FILE *f)
{
	doc_put(f, introduction);
	put_causes(f);
	put_thresholds(f);
	put_series(f);
	doc_put(f, soft_roce);
}
