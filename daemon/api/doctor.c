// SPDX-License-Identifier: Apache-2.0
/* doctor.c - builds the findings: one function per subject, called in the order of the report. */
#include "doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "condition.h"
#include "doctor_ports.h"
#include "explain.h"
#include "health.h"
#include "search.h"
#include "trouble_word.h"

struct examination {
	const struct doctor_input *in;
	struct doctor *doctor;
	bool failed; /* out of memory */
};

const char *finding_kind_name(enum finding_kind kind)
{
	static const char *const names[N_FINDING_KINDS] = {
		[FINDING_DIRTY] = "dirty",	   [FINDING_ORPHAN] = "orphan",
		[FINDING_DRIFT] = "drift",	   [FINDING_CHARDEV] = "chardev",
		[FINDING_UNHEALTHY] = "unhealthy", [FINDING_SETTING] = "setting",
		[FINDING_JOURNAL] = "journal",	   [FINDING_RUNTIME] = "runtime",
		[FINDING_KUBELET] = "kubelet",	   [FINDING_CONFIG] = "config",
		[FINDING_EMPTY] = "empty",	   [FINDING_VIEW] = "view",
		[FINDING_PRIVILEGE] = "privilege", [FINDING_STUCK] = "stuck",
	};

	return kind < N_FINDING_KINDS ? names[kind] : "unknown";
}

const char *finding_kind_about(enum finding_kind kind)
{
	switch (kind) {
	case FINDING_CHARDEV:
	case FINDING_UNHEALTHY:
	case FINDING_SETTING:
		return "host";
	default:
		return "rocelet";
	}
}

/* Returns the name by which users know the device: a VF's function, else its ID. */
static const char *doctor_name_of(const struct attach_record *r)
{
	return r->plan.kind == PLAN_VF && r->function[0] ? r->function : r->id;
}

/* Sets the pod that holds the object: that of its attachment, else the one that the kubelet
 * reports. */
static void doctor_find_pod(const struct doctor_input *in, struct doctor_finding *f)
{
	const struct pod_device *holder = NULL;

	f->namespace = f->pod = "";
	for (size_t i = 0; i < in->attachments.n; i++) {
		const struct attach_record *r = in->attachments.items[i].record;

		if (r->state == ATTACH_FREE || strcmp(doctor_name_of(r), f->object) != 0)
			continue;
		f->namespace = r->owner.namespace;
		f->pod = r->owner.pod;
		return;
	}
	if (f->object[0] && in->resources)
		holder = resource_table_holder(in->resources, f->object, f->object);
	if (!holder)
		return;
	f->namespace = holder->namespace;
	f->pod = holder->pod;
}

/* Adds a finding. NULL: out of memory. */
__attribute__((format(printf, 5, 6))) static struct doctor_finding *
find(struct examination *x, enum finding_kind kind, const char *object, const char *help,
     const char *fmt, ...)
{
	struct doctor_finding *f = x->failed ? NULL : array_push(x->doctor->findings, x->doctor->n);
	va_list ap;

	if (!f) {
		x->failed = true;
		return NULL;
	}
	f->kind = kind;
	f->help = help;
	snprintf(f->object, sizeof(f->object), "%.*s", (int)sizeof(f->object) - 1, object);
	doctor_find_pod(x->in, f);
	va_start(ap, fmt);
	vsnprintf(f->what, sizeof(f->what), fmt, ap);
	va_end(ap);
	return f;
}

/* Marks a finding that the engine repairs on `rocectl doctor --fix`. */
static void make_fixable(struct doctor_finding *f)
{
	if (f)
		f->fixable = true;
}

/* --- jobs that do not end --------------------------------------------------------------------- */

static void check_stuck(struct examination *x)
{
	for (size_t i = 0; i < x->in->n_jobs; i++) {
		const struct job_status *j = &x->in->jobs[i];

		find(x, FINDING_STUCK, "",
		     j->has_thread
			     ? "A driver, the kernel or a file system does not respond; /proc/PID/task/*/stack shows which. Other work continues. If you restart rocelet, it waits at most 20 s for this operation, and repairs it if it was interrupted."
			     : "All of rocelet's worker threads are busy; other findings of this kind show with what.",
		     "%s %s for %" PRIu64 " s", j->text,
		     j->has_thread ? "has been running" : "has been waiting for a thread",
		     j->for_ms / 1000);
	}
}

/* --- attachments ------------------------------------------------------------------------------ */

static bool is_slow(const struct examination *x, const struct attach_status *a)
{
	return x->in->now_ms > a->since_ms && x->in->now_ms - a->since_ms > DOCTOR_SLOW_MS;
}

static void check_dirty(struct examination *x, const struct attach_status *a)
{
	const struct attach_record *r = a->record;
	bool bad = r->state == ATTACH_BAD, returning = r->state == ATTACH_RETURNING;
	struct doctor_finding *f;
	char owner[256];

	if (!bad && !(is_slow(x, a) && (returning || r->state == ATTACH_ATTACHING)))
		return;
	explain_owner(&r->owner, owner, sizeof(owner));
	f = find(
		x, FINDING_DIRTY, doctor_name_of(r),
		returning || bad
			? "The device is not offered until it is clean; the return is retried automatically."
			: "The container starts only when the device is attached. The pod's events show the same.",
		"%s %s for %" PRIu64 " s%s%s%s%.200s",
		bad	    ? "could not be cleaned after"
		: returning ? "is being returned from"
			    : "is being attached to",
		owner, x->in->now_ms > a->since_ms ? (x->in->now_ms - a->since_ms) / 1000 : 0,
		a->step ? ", at step " : "", a->step ? a->step : "", a->error[0] ? ": " : "",
		a->error);
	if (bad)
		make_fixable(f);
}

static void check_drift(struct examination *x, const struct attach_status *a)
{
	char settings[128];
	struct doctor_finding *f;

	explain_drift(a->drift, settings, sizeof(settings));
	if (!settings[0])
		return;
	if (a->error[0]) { /* e.g. no longer in the pod */
		find(x, FINDING_DRIFT, doctor_name_of(a->record),
		     "The device lost its driver, was removed from the bus, or was moved by another program.",
		     "%s", a->error);
		return;
	}
	f = find(x, FINDING_DRIFT, doctor_name_of(a->record),
		 "A program on the host or in the pod changed it after the attach.",
		 "its %s %s from the settings requested for the pod", settings,
		 strchr(settings, ',') ? "differ" : "differs");
	/* No repair sets GUIDs in a pod, or creates an RDMA device there. */
	if (a->drift & ~(VF_NODE_GUID | VF_PORT_GUID | ATTACH_DRIFT_RDMA))
		make_fixable(f);
}

static void check_attachments(struct examination *x,
			      void (*check)(struct examination *, const struct attach_status *))
{
	for (size_t i = 0; i < x->in->attachments.n; i++)
		check(x, &x->in->attachments.items[i]);
}

/* --- the host --------------------------------------------------------------------------------- */

static const struct pod_device *doctor_holder_of(const struct examination *x, const char *function)
{
	return x->in->resources ? resource_table_holder(x->in->resources, function, "") : NULL;
}

/* Finds devices in other namespaces that no container holds. Checks nothing while the allocations
 * are unknown. */
static void check_orphans(struct examination *x)
{
	const struct host *host = x->in->host;

	if (!x->in->resources || x->in->resources->held.source == POD_SOURCE_NONE)
		return;
	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct netdev *nd = &host->netdevs[i];
		const char *where = host_netns_name(host, nd->nsid);
		struct doctor_finding *f;

		if (nd->nsid == NSID_HOST || nd->function[0] == '\0' ||
		    attach_list_function(x->in->attachments, nd->function) ||
		    doctor_holder_of(x, nd->function))
			continue;
		f = find(
			x, FINDING_ORPHAN, nd->function,
			"Its pod has ended and left it there, or it was moved by hand. rocelet returns only devices that it attached.",
			"%s is in %s%s, and no container holds it", nd->name,
			where[0] ? "network namespace " : "another network namespace", where);
		if (nd->origin[0])
			make_fixable(f);
	}
}

static const char no_node_help[] =
	"Programs cannot open the device without its node. Check that udev runs, and that rocelet's container has the host's /dev.";

static void doctor_check_node(struct examination *x, const struct rdma_dev *rd, const char *node,
			      bool missing)
{
	if (missing)
		find(x, FINDING_CHARDEV, rd->name, no_node_help,
		     "the kernel has %s for it, but there is no /dev/infiniband/%s", node, node);
}

static void check_rdma_cm(struct examination *x)
{
	const char *help =
		"Containers get no rdma_cm, so programs in them that connect with librdmacm fail. Run "
		"`modprobe rdma_ucm`, then delete the pods: a container that only restarts keeps the device nodes of its admission.";

	if (x->in->host->n_rdma == 0)
		return;
	switch (x->in->host->rdma_cm) {
	case RDMA_CM_UNKNOWN:
	case RDMA_CM_THERE:
		return;
	case RDMA_CM_NO_MODULE:
		find(x, FINDING_CHARDEV, "", help,
		     "there is no /dev/infiniband/rdma_cm: the module rdma_ucm is not loaded");
		return;
	case RDMA_CM_NO_NODE:
		find(x, FINDING_CHARDEV, "", no_node_help,
		     "the kernel has rdma_cm, but there is no /dev/infiniband/rdma_cm");
		return;
	}
}

/* Counts the missing device nodes. 0: some node exists. */
static size_t doctor_missing_nodes(const struct host *host)
{
	size_t n = host->rdma_cm == RDMA_CM_NO_NODE;

	if (host->rdma_cm == RDMA_CM_THERE)
		return 0;
	for (size_t i = 0; i < host->n_rdma; i++) {
		const struct rdma_dev *rd = &host->rdma[i];

		if ((rd->uverbs[0] && !rd->no_uverbs_node) || (rd->umad[0] && !rd->no_umad_node))
			return 0;
		n += (rd->uverbs[0] != '\0') + (rd->umad[0] != '\0');
	}
	return n;
}

/* True if /dev/infiniband as a whole is missing: one fault, which would otherwise appear once per
 * node and once per device. */
static bool doctor_lacks_folder(const struct examination *x)
{
	return x->in->resources && x->in->resources->n_resources > 0 && x->in->host->n_rdma > 0 &&
	       doctor_missing_nodes(x->in->host) > 1;
}

/* Checks the device nodes, which only containers need. Where nothing is offered, as in an overlay
 * that only observes, the host's /dev is usually not mounted. */
static void check_chardevs(struct examination *x)
{
	const struct host *host = x->in->host;

	if (!x->in->resources || x->in->resources->n_resources == 0)
		return;
	if (doctor_lacks_folder(x)) {
		find(x, FINDING_CHARDEV, "",
		     "No new container gets a device that needs one of them. Mount the host's /dev/infiniband into rocelet's container (--dev-root). If the nodes are missing on the host, too, check that udev runs.",
		     "none of the kernel's %zu RDMA device nodes is in /dev/infiniband",
		     doctor_missing_nodes(host));
		if (host->rdma_cm == RDMA_CM_NO_MODULE)
			check_rdma_cm(x);
		return;
	}
	check_rdma_cm(x);
	for (size_t i = 0; i < host->n_rdma; i++) {
		const struct rdma_dev *rd = &host->rdma[i];

		doctor_check_node(x, rd, rd->uverbs, rd->no_uverbs_node);
		doctor_check_node(x, rd, rd->umad, rd->no_umad_node);
	}
}

static void check_settings(struct examination *x)
{
	const struct host *host = x->in->host;

	for (size_t i = 0; i < host->n_functions; i++) {
		const struct function *fn = &host->functions[i];

		if (fn->kind == FN_VF && fn->vf_link == VF_LINK_DISABLE &&
		    !attach_list_function(x->in->attachments, fn->id) &&
		    !doctor_holder_of(x, fn->id))
			find(x, FINDING_SETTING, fn->id,
			     "`ip link set PF vf N state auto` makes the VF follow its PF again.",
			     "the device is free, but its VF link state is disabled on %s: it would have no carrier in a pod",
			     fn->parent);
	}
}

/* --- resources -------------------------------------------------------------------------------- */

/* Help for the first reason, which explains the others. */
static const char *help_for(const struct examination *x, const char *function, unsigned reasons)
{
	for (enum health_reason r = 0; r < N_HEALTH_REASONS; r++)
		if (reasons & HEALTH_BIT(r))
			return r == HEALTH_LINK_DOWN
				       ? condition_link_advice(x->in->host, function)
				       : trouble_row_find(health_reason_name(r))->advice;
	return "";
}

static void check_device(struct examination *x, const struct resource_info *r,
			 const struct resource_device *d)
{
	char text[224];

	if (d->reasons == HEALTH_BIT(HEALTH_NO_CHARDEV) && doctor_lacks_folder(x))
		return;
	explain_unhealthy(d, text, sizeof(text));
	if (text[0])
		find(x, FINDING_UNHEALTHY, d->id, help_for(x, d->id, d->reasons),
		     "it is unhealthy (%s), and not offered to new containers as %s", text,
		     r->name);
}

/* One finding for all devices behind a port whose link is down. */
static void check_port(struct examination *x, const struct function *pf)
{
	char text[512];

	doctor_port_text(x->in->host, x->in->resources, pf, text, sizeof(text));
	find(x, FINDING_UNHEALTHY, pf->id, condition_link_advice(x->in->host, pf->id), "%s", text);
}

/* Checks the health of devices. All slots of a shared resource have the health of its HCAs, so only
 * the first is reported. */
static void check_health(struct examination *x)
{
	const struct resource_table *t = x->in->resources;

	for (size_t i = 0; t && i < t->n_resources; i++) {
		const struct resource_info *r = &t->resources[i];
		size_t n = r->shared && r->n_devices > 1 ? 1 : r->n_devices;

		for (size_t k = 0; k < n; k++) {
			const struct function *pf = doctor_port_of(x->in->host, t, r, k);

			if (!pf)
				check_device(x, r, &t->devices[r->first_device + k]);
			else if (doctor_port_is_first(x->in->host, t, i, k, pf))
				check_port(x, pf);
		}
	}
}

typedef bool doctor_same_fn(const struct resource_info *a, const struct resource_info *b);

/* Writes the resources with the same fault as resource i: "a/b and 3 others". False: an earlier
 * one has it, so it is reported already. */
static bool doctor_with_same(const struct resource_table *t, size_t i, doctor_same_fn *is_same,
			     char *ret, size_t size)
{
	size_t n = 0;

	for (size_t k = 0; k < t->n_resources; k++) {
		if (k == i || !is_same(&t->resources[i], &t->resources[k]))
			continue;
		if (k < i)
			return false;
		n++;
	}
	snprintf(ret, size, n ? "%s and %zu other%s" : "%s", t->resources[i].name, n,
		 n == 1 ? "" : "s");
	return true;
}

static bool doctor_same_files(const struct resource_info *a, const struct resource_info *b)
{
	return strcmp(a->files_error, b->files_error) == 0;
}

static bool doctor_same_registration(const struct resource_info *a, const struct resource_info *b)
{
	return a->registration == b->registration && strcmp(a->error, b->error) == 0;
}

/* Checks the CDI specifications, without which no container can get the resource. All resources
 * share the folder: one finding for the same error. */
static void check_files(struct examination *x)
{
	const struct resource_table *t = x->in->resources;
	char names[192];

	for (size_t i = 0; t && i < t->n_resources; i++)
		if (t->resources[i].files_error[0] &&
		    doctor_with_same(t, i, doctor_same_files, names, sizeof(names)))
			find(x, FINDING_KUBELET, names,
			     "Containers that request it do not start until the file can be written. "
			     "Is the folder (--cdi-dir) mounted and writable?",
			     "%s", t->resources[i].files_error);
}

static void check_empty(struct examination *x)
{
	const struct resource_table *t = x->in->resources;

	for (size_t i = 0; t && i < t->n_resources; i++) {
		const struct resource_info *r = &t->resources[i];

		if (r->n_devices == 0 || r->hint[0])
			find(x, FINDING_EMPTY, r->name,
			     "`rocelet --check-config` prints for every device which pool selects it, or why none does.",
			     "it has no devices%s%s", r->hint[0] ? ": " : "", r->hint);
	}
}

/* Checks where resources are registered; reported once, because all resources share the folder. */
static void check_registry(struct examination *x)
{
	const struct resource_table *t = x->in->resources;

	for (size_t i = 0; t && i < t->n_resources; i++) {
		if (!t->resources[i].left_registry)
			continue;
		find(x, FINDING_KUBELET, "",
		     "The devices are not affected. `--registration legacy` avoids the wait of 10 s at "
		     "every start.",
		     "the kubelet does not scan plugins_registry for resources; they are registered in device-plugins instead");
		return;
	}
}

/* The pod resources socket is absent if the kubelet has another root folder or the folder is not
 * mounted; the list of pods reports no error then. */
static void check_list_of_pods(struct examination *x)
{
	const struct resource_table *t = x->in->resources;
	bool registered = false;

	for (size_t i = 0; t && i < t->n_resources; i++)
		registered |= t->resources[i].registration == REGISTRATION_DONE;
	if (registered && t->held.source == POD_SOURCE_NONE && !t->held_error[0])
		find(x, FINDING_KUBELET, "",
		     "Is the kubelet's pod-resources folder mounted? If the kubelet has another "
		     "--root-dir, set --pod-resources.",
		     "resources are registered, but the allocations of pods are unknown");
}

static bool doctor_is_ours(const struct resource_table *t, const char *resource)
{
	return any_of(t->n_resources, i, strcmp(t->resources[i].name, resource) == 0);
}

/* Reports functions that two plugins have given away: an allocation of ours, and another. */
static void check_granted_twice(struct examination *x)
{
	const struct resource_table *t = x->in->resources;

	for (size_t i = 0; t && i < t->held.n; i++) {
		const struct pod_device *d = &t->held.devices[i], *other;

		other = doctor_is_ours(t, d->resource) && host_function(x->in->host, d->id)
				? pod_list_find_other(&t->held, d->resource, d->id)
				: NULL;
		if (other)
			find(x, FINDING_KUBELET, d->id,
			     "Two device plugins offer the device. Let only one of them select it, then delete one of the pods. rocelet leaves the device as it is while both have it.",
			     "allocated twice: to pod %s/%s as %s, and to pod %s/%s as %s",
			     d->namespace, d->pod, d->resource, other->namespace, other->pod,
			     other->resource);
	}
}

static void check_kubelet(struct examination *x)
{
	const struct resource_table *t = x->in->resources;
	char names[192];

	check_registry(x);
	check_list_of_pods(x);
	check_granted_twice(x);
	for (size_t i = 0; t && i < t->n_resources; i++) {
		const struct resource_info *r = &t->resources[i];

		if (r->registration != REGISTRATION_DONE &&
		    doctor_with_same(t, i, doctor_same_registration, names, sizeof(names)))
			find(x, FINDING_KUBELET, names,
			     "Pods that request it stay pending. Is the kubelet running, and is its "
			     "folder (--kubelet-dir) mounted?",
			     "the kubelet %s%s%s",
			     r->registration == REGISTRATION_REFUSED ? "refuses it"
								     : "does not know it yet",
			     r->error[0] ? ": " : "", r->error);
	}
	if (t && t->held_error[0])
		find(x, FINDING_KUBELET, "",
		     "The last known allocations stay in use: devices of ended pods do not become free, and new allocations are not visible. Is the kubelet's pod-resources folder mounted?",
		     "the kubelet does not report the allocations of pods: %s", t->held_error);
}

/* --- the engine ------------------------------------------------------------------------------- */

static void check_view(struct examination *x)
{
	const struct attach_counters *c = x->in->counters;

	if (c && c->view_error[0])
		find(x, FINDING_VIEW, "",
		     "No device is attached or returned until this is corrected; pods keep their devices. Check the manifest of the daemon's pod.",
		     "%s", c->view_error);
}

static void check_privileges(struct examination *x)
{
	for (size_t i = 0; i < x->in->n_missing; i++)
		find(x, FINDING_PRIVILEGE, x->in->missing[i].name,
		     "Add the capability to the container's securityContext, or to the unit's CapabilityBoundingSet. With --unprivileged rocelet drops it again: use the overlay native, or pools without network. SECURITY.md lists what each capability is for.",
		     "the daemon lacks this capability: %s", x->in->missing[i].stops);
}

static bool is_denial(const char *text)
{
	return strstr(text, "Permission denied") || strstr(text, "Operation not permitted");
}

/* The first error of the daemon that a security module may have caused; NULL: none. */
static const char *find_denial(const struct doctor_input *in)
{
	const struct resource_table *t = in->resources;
	const struct attach_counters *c = in->counters;

	for (size_t i = 0; t && i < t->n_resources; i++) {
		if (is_denial(t->resources[i].error))
			return t->resources[i].error;
		if (is_denial(t->resources[i].files_error))
			return t->resources[i].files_error;
	}
	if (t && is_denial(t->held_error))
		return t->held_error;
	if (!c)
		return NULL;
	return is_denial(c->journal_error) ? c->journal_error
	       : is_denial(c->cri.error)   ? c->cri.error
	       : is_denial(c->view_error)  ? c->view_error
					   : NULL;
}

static void check_confinement(struct examination *x)
{
	const char *by = x->in->confinement, *what = by && *by ? find_denial(x->in) : NULL;

	if (what)
		find(x, FINDING_PRIVILEGE, "",
		     "The kernel's audit log (dmesg, ausearch -m avc) shows what was denied; docs/start/platforms.md lists what each overlay needs.",
		     "the daemon is confined by %s, and access was denied: %.256s", by, what);
}

static void check_journal(struct examination *x)
{
	const struct attach_counters *c = x->in->counters;

	if (c && c->journal_error[0])
		find(x, FINDING_JOURNAL, "",
		     "rocelet attaches nothing until it can write the journal, but still returns devices from pods. Check whether the file system of --state-dir is full or read-only.",
		     "the journal cannot be written: %s", c->journal_error);
}

static void check_runtime(struct examination *x)
{
	const struct attach_counters *c = x->in->counters;

	if (c && c->contradicting)
		find(x, FINDING_RUNTIME, c->cri.socket,
		     "The runtime's list contradicts the running processes, so rocelet does not use it, and pods keep their devices. Check that --cri-socket is the socket of the kubelet's runtime. If the pod has ended, end the process that is left in its network namespace, or use `rocectl detach --force`.",
		     "%s%s", c->runtime_error,
		     c->runtime_lacks_all ? "; it lists no sandbox of the pods that have devices"
					  : "");
	if (!c || !c->cri_open || (c->cri.socket[0] && !c->cri.error[0]))
		return;
	find(x, FINDING_RUNTIME, c->cri.socket,
	     "Without the runtime the pods' namespaces are unknown, and no pod gets an interface. Check that the runtime runs and that its socket is mounted (--cri-socket).",
	     "%s%s%s",
	     c->cri.socket[0] ? "the container runtime does not answer"
			      : "no container runtime was found",
	     c->cri.error[0] ? ": " : "", c->cri.error);
}

/* --- the configuration ------------------------------------------------------------------------ */

static const char *doctor_config_help(const struct config_state *c)
{
	if (c->observes)
		return "Until the file is corrected, rocelet only observes: it attaches and returns no devices. Once the file is correct, rocelet restarts by itself. `rocelet --check-config` reports the same error.";
	if (c->offers_nothing)
		return "Nothing is offered until the file is corrected; devices in pods are still managed. `rocelet --check-config` reports the same error.";
	if (c->last_good_of[0])
		return "The node offers and manages its devices as before the restart. It is not ready, so that a rollout stops. `rocelet --check-config` reports the same error.";
	if (c->held)
		return "The previous configuration stays in use until no pod has any of these devices. To apply the change before that, set \"lost-pool\": \"accept\" in the file, or restart rocelet.";
	if (c->lost)
		return "The previous configuration stays in use. To apply the change, set \"lost-pool\": \"accept\" in the file, or restart rocelet.";
	return "The previous configuration stays in use until the file is corrected; after a restart only if none of its resources had been rejected. `rocelet --check-config` reports the same error.";
}

static void doctor_check_config(struct examination *x)
{
	const struct config_state *c = x->in->config;

	if (c && c->last_good_of[0])
		find(x, FINDING_CONFIG, "", doctor_config_help(c),
		     "running with the last good configuration of %s, because %s", c->last_good_of,
		     c->error.msg);
	else if (c && c->error.code)
		find(x, FINDING_CONFIG, "", doctor_config_help(c),
		     "the configuration file is %s: %s", c->held ? "held" : "rejected",
		     c->error.msg);
	if (c && c->no_last_good[0])
		find(x, FINDING_CONFIG, "last good configuration",
		     "It would have been used in place of the rejected file. It is replaced as soon as the file is correct.",
		     "%s", c->no_last_good);
	if (x->in->port_error && x->in->port_error->code)
		find(x, FINDING_CONFIG, "listen",
		     "rocelet retries every second. Meanwhile it answers on its unix sockets only.",
		     "%s", x->in->port_error->msg);
	if (x->in->features_error && x->in->features_error->code)
		find(x, FINDING_CONFIG, "features-dir",
		     "Node labels are not updated, and expire. Is the folder mounted and writable?",
		     "%s", x->in->features_error->msg);
	if (x->in->tls_expired)
		find(x, FINDING_CONFIG, "listen",
		     "Clients reject the certificate. rocelet uses a new one as soon as its file is replaced.",
		     "%s", "the certificate in use has expired");
	if (x->in->guard_error && x->in->guard_error->code)
		find(x, FINDING_CONFIG, "listen",
		     "The last valid content stays in use. If rocelet has read no valid content since its start, it serves nothing over TCP. It reads the file again as soon as the file changes.",
		     "%s", x->in->guard_error->msg);
	for (size_t i = 0; c && i < c->refusals.n; i++) {
		const struct pool_refusal *r = &c->refusals.list[i];

		find(x, FINDING_CONFIG, r->resource[0] ? r->resource : r->name,
		     r->kept ? "rocelet uses the new definition once it is valid."
			     : "rocelet offers the resource once its definition is valid. `rocelet --check-config` reports the same error.",
		     "%s: %s", r->kept ? "keeps its previous definition" : "is left out", r->why);
	}
	for (size_t i = 0; c && i < c->n_lacks; i++)
		find(x, FINDING_CONFIG, c->lacks[i].resource,
		     "No pod gets a device of the resource until the plugin exists. Is its \"type\" right, and its folder mounted?",
		     "%s", c->lacks[i].what);
	for (size_t i = 0; c && i < c->idle.n; i++)
		find(x, FINDING_CONFIG, c->idle.list[i].resource,
		     "The pool works as if the key were absent. Remove the key, or the one that the message names.",
		     "%s", c->idle.list[i].what);
	if (c && c->beside[0])
		find(x, FINDING_CONFIG, "",
		     "Nothing is offered. The key in the ConfigMap, or the name of the file, must be the file name of --config.",
		     "%s", c->beside);
}

static void doctor_list_unchecked(struct examination *x)
{
	const struct doctor_input *in = x->in;
	struct doctor *d = x->doctor;

	if (!in->resources)
		d->unchecked[d->n_unchecked++] = "resources: not decided yet";
	else if (in->resources->held.source == POD_SOURCE_NONE && in->resources->n_resources > 0)
		d->unchecked[d->n_unchecked++] =
			"devices left behind by pods: the allocations of pods are unknown";
	if (in->config && in->config->n_ignored > 0)
		d->unchecked[d->n_unchecked++] =
			"the configured pools: rocelet observes only (--observe), and does not offer them";
	if (!in->counters)
		d->unchecked[d->n_unchecked++] =
			"attachments and the container runtime: rocelet attaches no devices";
	if (!in->config)
		d->unchecked[d->n_unchecked++] = "the configuration: not read yet";
}

int doctor_build(struct doctor *ret, const struct doctor_input *in)
{
	struct examination x = {.in = in, .doctor = ret};

	*ret = (struct doctor){0};
	check_view(&x);
	check_privileges(&x);
	check_confinement(&x);
	check_stuck(&x);
	check_attachments(&x, check_dirty);
	check_orphans(&x);
	check_attachments(&x, check_drift);
	check_chardevs(&x);
	check_health(&x);
	check_settings(&x);
	check_journal(&x);
	check_runtime(&x);
	check_kubelet(&x);
	check_files(&x);
	check_empty(&x);
	doctor_check_config(&x);
	doctor_list_unchecked(&x);
	if (!x.failed)
		return 0;
	doctor_done(ret);
	return -ENOMEM;
}

void doctor_done(struct doctor *d)
{
	free(d->findings);
	*d = (struct doctor){0};
}
