// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_doc.h"

#include "cause.h"
#include "doc_text.h"
#include "thresholds.h"

static const char introduction[] =
	"# Diagnosis\n\n"
	"rocelet diagnoses why RDMA is slow on a node. This page lists every cause that rocelet knows, and every number on which a verdict depends. It is made "
	"from the tables in the code (`make golden`). The [runbook](../runbook.md) describes for each cause how to confirm it and what to do. "
	"[scenarios.md](scenarios.md) describes the files that `rocectl diagnose --replay` judges, and [concepts/diagnosis.md](../concepts/diagnosis.md) how "
	"the diagnosis works and why.\n\n"
	"## How a verdict opens and ends\n\n"
	"### What a rule decides\n\n"
	"Each cause has a rule, which decides for each sample of each port: yes, no, or undecided. The rule is undecided if rocelet cannot read a value that the "
	"rule needs: then no verdict opens, an open verdict stays open, and rocelet lists the cause as undecided, with the reason.\n\n"
	"Some faults show in any one of several counters (for example pause, or discards). If one of these counters is not visible and the others show no fault, "
	"the rule decides no, and rocelet still lists the cause as undecided, with what is missing.\n\n"
	"### Opening\n\n"
	"A verdict opens when its rule decided yes in two of the last three samples, or, for an event (a link went down, a queue pair failed), in one. Undecided "
	"samples do not count.\n\n"
	"A *recent* mean is one over the last 10 s and at least three samples. Two of these samples must themselves be above the limit; for CE marks three. If "
	"the sample interval is longer than one second, all such times are longer, too.\n\n"
	"### Chance\n\n"
	"A few rare events (NAKs, timeouts, drops, damaged frames, ignored CNPs) may be chance. So rocelet subtracts three standard deviations from their "
	"number: it counts n events as n - 3 sqrt(n). It counts them over 10 s, a minute or a quarter of an hour.\n\n"
	"### Counters\n\n"
	"rocelet may read some counters less often than others. If it did not read a counter in a sample, the counter's next rate covers all the time since "
	"its last value, and rocelet does not compare it with rates over another time. If a counter becomes smaller, but has its old total again within three "
	"samples, it did not start over.\n\n"
	"If rocelet knows which priorities are lossless, it takes only their pause and drops as evidence about RDMA, and ignores those of other priorities.\n\n"
	"### Onset\n\n"
	"The onset of a verdict is the time at which the fault began: the first sample in which a value that the rule uses left its level of the last quarter "
	"of an hour. It is at most 60 s or twelve samples before the verdict opened. The counter that *moved first* is the one that left its level first. If "
	"several did in the same sample, it is the first of them in this order, in which one causes the next: link, pause, CE and CNP, discards, out of "
	"sequence, NAK, timeout, retries exceeded.\n\n"
	"### Holding and ending\n\n"
	"A verdict stays open for at least `hold_seconds`. While it is open, its limits are half as high. It ends when the rule has decided no for the time "
	"that is listed for its cause. If there is no traffic, or the counters cannot be read, it ends after `release_idle_seconds`. If the port is missing in "
	"three samples, it ends with reason `gone`.\n\n"
	"### Severity\n\n"
	"A verdict keeps the worst severity that it has reached since it opened: 1 information, 2 warning, 3 critical. If a warning opens for the third time "
	"(`escalation_onsets`) in an hour, it becomes critical, unless its value is below half of the cause's critical limit. On a management port (the default "
	"route uses it, and it has no queue pairs) a verdict is information, unless it explains a worse one on the port of a VF.\n\n"
	"The severity of `link_flap` is that of the last sample. It is critical while the link of a port in use is down, from the first sample on "
	"(`down_critical_seconds`), and if that link went down three times in 12 h (`flaps_critical`); otherwise it is a warning. A port is in use if a pod "
	"has it or one of its VFs, or if RDMA uses more than 0.01 % of its line over a minute; it stays so for an hour. The alert RoceletLinkDown fires if the severity "
	"is critical.\n\n"
	"### Causes and symptoms\n\n"
	"A cause can *explain* others, which are then its symptoms. While the verdicts of both are open, rocelet lists the symptom as a part of the verdict "
	"that explains it, and not as a verdict of its own.\n\n"
	"### Ports without a verdict\n\n"
	"A port is *warming* if rocelet has watched it for less than `warming_seconds`, or has fewer than three rates of it. It is then never called healthy. "
	"A port without a link is *down*, whatever the reason. rocelet does not judge the link of a new port during the first `settle_seconds`.\n\n"
	"rocelet reports *the network is not the bottleneck* for a port that had much traffic (`clear_bytes`) for a minute (`clear_seconds`) and used less than "
	"half of its line (`clear_utilisation`), if the port had no symptom. Every symptom except damaged frames must be measurable on the port. This report is not a "
	"verdict.\n\n"
	"### Congestion control\n\n"
	"`expect-congestion-control` (`dcqcn`, `pfc_only`, `lossy`, `unknown`) decides whether missing CNPs are a fault. Causes that *need congestion control* "
	"have their full severity only with `dcqcn`. With `unknown` they are information; with `pfc_only` and `lossy` they open no verdict.\n\n"
	"### Bursts\n\n"
	"If a port has pause, marks or loss, rocelet also reads it between samples, every 20 to 100 ms, for `burst_seconds`. It does so again when another of "
	"these three begins, or after `burst_rest_seconds`. The highest values and histograms of these readings are on the metrics page "
	"(`roce_pfc_pause_peak_ratio`, `roce_ecn_ce_window_ratio`). A storm that lasts for `storm_burst_seconds` is reported at once.\n\n"
	"The burst readings of all ports together make at most `burst_reads` queries of drivers per second (each file, and each request over netlink or ioctl, "
	"is one), and need at most a tenth of one thread's time. If a reading needed 100 ms, the next one is a second later.\n\n"
	"### Hung transmit queues\n\n"
	"To count hung queues (`nic_reset`), rocelet uses a BPF program at the kernel's tracepoint `net_dev_xmit_timeout`, which costs nothing until a queue "
	"hangs. It does not read sysfs (`class/net/NAME/queues/tx-N/tx_timeout`), for two reasons: there is one file per queue (with eight NICs of 128 queues "
	"1,024 reads per sample), and rocelet cannot see the files of VFs in pods. The disadvantage is that the count begins when rocelet "
	"starts. rocelet counts reports to devlink's health reporters in the same way. If neither program is loaded (`/api/v1/config`), the cause is undecided.\n\n"
	"### What can be decided where\n\n"
	"`rocectl diagnose --undecided` prints the reason for each port. Most causes are undecided because the driver lacks a counter; the overlay does not change "
	"that. "
	"These causes depend on the overlay, or on the kind of port:\n\n"
	"| cause | what it needs | with `observe`, `device-plugin` | with `native`, `multus` |\n"
	"|---|---|---|---|\n"
	"| `nic_reset` | the BPF program `tx_timeout` or `nic_health` | never decided | decided |\n"
	"| `not_ecn_capable` | traffic classes of queue pairs, by BPF; or rdma_cm's default type of service, if configfs is mounted | never decided | decided |\n"
	"| `one_path` | flow labels of queue pairs, by BPF; mlx5, irdma or hns | never decided | decided |\n"
	"| `mtu_mismatch` | the port's MTU, and path MTUs of queue pairs (by BPF) or at least two siblings with the same MTU | decided on PFs with two "
	"siblings or more | decided |\n"
	"| `cnp_lost` | the sums of all nodes | never decided; the alert RoceletCnpLost compares them | the same |\n"
	"| PFC, pause, PCIe and PHY of a VF in a pod | the VF's netdev, which is not in the host; NICs count most of it for the PF only | decided on the port "
	"of its PF | the same |\n\n"
	"The overlays `observe` and `device-plugin` have no capability. To decide the first four causes there, remove the argument `--unprivileged` in the "
	"DaemonSet, "
	"and add the capabilities `SYS_ADMIN` and those of the overlay's column in [SECURITY.md](../../SECURITY.md#privileges).\n\n"
	"A container may not open `/dev/infiniband`, so rocelet cannot read a port's MTU over verbs there. It computes the MTU from that of the port's netdev, "
	"as mlx5, bnxt_re and qedr do: it is the largest power of two from 256 to 4096 that leaves 96 bytes for headers. Other drivers do not subtract the "
	"headers. If that makes a difference (for example with 4096 to 4191 bytes), the MTU of their ports is unknown.\n\n";

static const char about_causes[] =
	"## Causes\n\n"
	"The causes are in the order in which rocelet evaluates their rules. *Severity* is the worst severity that a cause can have. *Ends after* is the time "
	"for which its rule must decide no. *Rule* is the field `rule` of `/api/v1/diagnosis`.\n\n"
	"| cause | severity | what is wrong |\n"
	"|---|---|---|\n";

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

static void put_reads(FILE *f, const struct cause_row *row)
{
	char list[1600] = "";

	for (unsigned i = 0; i < row->n_reads; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s`%s`", i ? ", " : "",
			 series_name(row->reads[i]));
	if (row->n_reads)
		put_line(f, "Reads: ", list, "");
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
		snprintf(text, sizeof(text), "%s; the data of one node cannot decide it",
			 severity_name(row->severity));
	put_line(f, "Severity: ", text, "");
	cause_node_rule(row, text, sizeof(text));
	put_line(f, "The node: ", text, "");
	put_line(f, "Advice: ", row->advice, "");
	put_line(f, "Ruled out if ", row->disproof, "");
	put_explains(f, row);
	put_reads(f, row);
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
	fputs("\n## Thresholds\n\nThese are the keys of `diagnosis` in the configuration, with the range of each value.\n\n| key | unit | default | from | to | meaning |\n|---|---|---|---|---|---|\n",
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

	fputs("\n## Series that are read\n\nThe diagnosis reads these series of [metrics.md](metrics.md); `#` is a priority or lane.\n\n",
	      f);
	for (int s = 0; s < N_SERIES; s++) {
		if (series_name((enum series)s) == last)
			continue;
		last = series_name((enum series)s);
		fprintf(f, "* `%s`\n", last);
	}
}

static const char soft_roce[] =
	"\n"
	"## What soft-RoCE can show\n\n"
	"soft-RoCE (rxe) has few counters, but all of its packets pass the kernel. If BPF programs are attached to its netdev "
	"([packets.md](../tasks/packets.md)), they count events that soft-RoCE does not count; otherwise these numbers are unknown. If soft-RoCE and BPF count "
	"the same event, rocelet uses the counter of soft-RoCE. The lab's scenario `congestion` makes these faults with real traffic between pods.\n\n"
	"| fault | what shows it | verdict, and which side's pod it names |\n"
	"|---|---|---|\n"
	"| a congested queue that marks | CE marks, by BPF at the receiver | `fabric_congestion` of the receiver; `incast` with enough peers and a full line |\n"
	"| loss | `rcvd_seq_err`: the receiver's sequence NAKs | `packet_loss` of the sender |\n"
	"| delay | no counter measures time; `rocectl qps` shows round trips | none; `peer_gone` of the sender if the delay exceeds the timeouts of its queue "
	"pairs |\n"
	"| a receiver that stops posting receives | `rcvd_rnr_err`, `send_rnr_err` | `receiver_not_ready` of both |\n"
	"| a peer that disappears | `retry_exceeded_err`; timeouts, by BPF | `peer_gone` of those that sent to it |\n"
	"| a wrong key | NAKs with that reason, by BPF on both sides | `application_error` of both |\n"
	"| a link that flaps | the port's state, `link_downed` | `link_flap` of all pods on it; `port_off` of the pod if its own interface was taken down |\n"
	"| traffic without ECN | traffic classes of queue pairs, by BPF | `not_ecn_capable` of both ends, if `dcqcn` is expected |\n"
	"| an MTU that does not fit | path MTUs of queue pairs, by BPF, and the MTU of the port | `mtu_mismatch` of the pod with the smaller interface MTU |\n\n"
	"soft-RoCE cannot show:\n\n"
	"* Congestion control. It does not answer marks with CNPs, and does not slow down when it receives CNPs. So `notification_point_off` and "
	"`reaction_point_off` cannot be decided.\n"
	"* Reordering. It answers a packet that comes too early with a sequence NAK, as if an earlier packet were lost. So the verdict is `packet_loss`.\n"
	"* How full the line is. It reports the speed of its netdev, rounded up and at least 2.5 Gbit/s, but a queue in front of the netdev may be slower. For "
	"`incast`, set `incast_utilisation` to the share of that speed that the queue allows.\n"
	"* Exhausted retries of queue pairs with a retry count of 7, which most programs request, because soft-RoCE treats 7 as unlimited. With a smaller "
	"count the verdict is `peer_gone`.\n"
	"* Pause, PCIe, PHY errors and discards, because these belong to the netdev below it. Causes that need them cannot be decided.\n"
	"* Local length errors. soft-RoCE does not count them, and answers them with no NAK of their own. `rocectl events` has the failed completion.\n"
	"* Loopback. Packets that a device sends to itself do not pass its netdev.\n";

void diagnosis_doc(FILE *f)
{
	doc_put(f, introduction);
	put_causes(f);
	put_thresholds(f);
	put_series(f);
	doc_put(f, soft_roce);
}
