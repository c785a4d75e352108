// SPDX-License-Identifier: Apache-2.0
#include "cni_decide.h"

#include <jansson.h>
#include <strings.h>

#include "device_name.h"
#include "explain.h"
#include "network_text.h"
#include "search.h"

/* --- ADD -------------------------------------------------------------------------------------- */

static const char *cni_by_address(const struct host *host, const char *text)
{
	const char *function = NULL;
	uint8_t addr[6];

	if (!hex_bytes_parse(text, addr, sizeof(addr)))
		return NULL;
	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct netdev *nd = &host->netdevs[i];

		if (nd->nsid != NSID_HOST || !nd->function[0] || nd->addr_len != sizeof(addr) ||
		    memcmp(nd->addr, addr, sizeof(addr)) != 0)
			continue;
		if (function)
			return NULL;
		function = nd->function;
	}
	return function;
}

/* Finds the function of a path "/sys/devices/pci0000:00/0000:00:1f.6", or of "/net/eth1" below it.
 */
static const char *cni_by_path(const struct host *host, const char *path)
{
	const char *function = NULL;

	for (const char *at = path; (at = strchr(at, '/')) != NULL;) {
		char part[DEV_ID_SIZE];
		size_t n = strcspn(++at, "/");
		const struct function *fn;

		snprintf(part, sizeof(part), "%.*s", (int)n, at);
		fn = n < sizeof(part) ? host_function(host, part) : NULL;
		function = fn ? fn->id : function;
	}
	return function;
}

static const char *find_device(const struct netconf *n, const struct host *host,
			       struct attach_list attachments, struct cni_error *e)
{
	const char *function = NULL;
	struct err err = {0};

	switch (n->by) {
	case NETCONF_BY_NAME:
		function = device_by_name(host, attachments, n->device, &err);
		break;
	case NETCONF_BY_ADDRESS:
		function = cni_by_address(host, n->device);
		break;
	case NETCONF_BY_PATH:
		function = cni_by_path(host, n->device);
		break;
	}
	if (!function)
		cni_fail(e, CNI_NO_DEVICE, "no function of this host is %.100s%s%s", n->device,
			 err.msg[0] ? ": " : "", err.msg);
	return function;
}

static bool is_attached(const struct cni_request *r, struct attach_list list)
{
	for (size_t i = 0; i < list.n; i++) {
		const struct attach_record *a = list.items[i].record;

		if (a->owner.door == DOOR_CNI && a->state == ATTACH_IN_POD &&
		    strcmp(a->owner.sandbox, r->owner.sandbox) == 0 &&
		    strcmp(a->plan.ifname, r->ifname) == 0)
			return true;
	}
	return false;
}

static int pass_on(struct cni_wanted *ret, const struct cni_request *r, struct attach_list list,
		   struct cni_error *e)
{
	if (!json_is_object(json_object_get(r->config, "prevResult")))
		return cni_fail(e, CNI_BAD_CONFIG,
				"type rdma: expected to be called as part of a plugin chain");
	if (!is_attached(r, list))
		return cni_fail(e, CNI_BAD_CONFIG,
				"type rdma: %s of container %s was not attached by rocelet: the "
				"previous plugin of the chain must be rocelet's, too",
				r->ifname, r->owner.sandbox);
	*ret = (struct cni_wanted){.pass_on = true};
	return 0;
}

/* Rejects rdmaIsolation in shared mode, like rdma-cni and ib-sriov-cni: there, every namespace sees
 * the RDMA device, so a pod cannot have it exclusively. The mode is node-wide and cannot be changed
 * while pods run (rdma-system(8)). */
static int check_isolation(const struct netconf *n, const struct host *host, struct cni_error *e)
{
	if (!n->rdma_isolation || host->rdma_mode == RDMA_NETNS_EXCLUSIVE)
		return 0;
	return cni_fail(e, CNI_BAD_CONFIG,
			"%s: the node's RDMA netns mode is %s, not exclusive: every network "
			"namespace sees all RDMA devices (rdma system set netns exclusive, before "
			"any pod runs)",
			n->only_rdma ? "type rdma" : "rdmaIsolation",
			rdma_netns_mode_name(host->rdma_mode));
}

/* True if a program in the pod drives the device itself, like in the DPDK mode of sriov-cni and
 * ib-sriov-cni; but this depends on the device's driver, not on vfioPciMode. */
static bool is_for_user_space(const struct host *host, const char *function)
{
	const struct function *fn = host_function(host, function);

	return fn && (fn->vfio[0] || fn->uio[0]) && !host_function_netdev(host, function);
}

/* Rejects settings that would have no effect without a netdev. IPAM addresses are still allocated
 * and reported, because the program in the pod uses them. */
static int check_without_netdev(const struct netconf *n, const struct host *host,
				const char *function, struct cni_error *e)
{
	const char *key = n->plan.soft_roce ? "softRoce" : NULL;

	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		if (n->plan.link[i])
			key = link_fields[i].name;
	return key ? cni_fail(e, CNI_BAD_CONFIG, "%s: %s has no netdev, its driver is %s", key,
			      function, host_function(host, function)->driver)
		   : 0;
}

int cni_decide_add(struct cni_wanted *ret, const struct netconf *n, const struct cni_request *r,
		   const struct host *host, struct attach_list attachments, struct cni_error *e)
{
	const char *function;
	bool no_netdev;

	if (check_isolation(n, host, e) < 0)
		return -EINVAL;
	if (n->only_rdma)
		return pass_on(ret, r, attachments, e);
	if (!n->device[0])
		return cni_fail(e, CNI_BAD_CONFIG,
				"no device is named: none of deviceID, pciBusID, device, hwaddr, "
				"kernelpath");
	function = find_device(n, host, attachments, e);
	if (!function)
		return -EINVAL;
	no_netdev = is_for_user_space(host, function);
	if (no_netdev && check_without_netdev(n, host, function, e) < 0)
		return -EINVAL;
	*ret = (struct cni_wanted){.no_netdev = no_netdev};
	snprintf(ret->function, sizeof(ret->function), "%s", function);
	return 0;
}

/* --- CHECK ------------------------------------------------------------------------------------ */

static const json_t *prev_interface(const json_t *prev, const char *name)
{
	const json_t *list = json_object_get(prev, "interfaces"), *item;

	for (size_t i = 0; (item = json_array_get(list, i)); i++) {
		const char *is = json_string_value(json_object_get(item, "name"));
		const char *sandbox = json_string_value(json_object_get(item, "sandbox"));

		if (is && sandbox && sandbox[0] && strcmp(is, name) == 0)
			return item;
	}
	return NULL;
}

static bool has_mac_of(const json_t *interface, const struct net_plan *plan)
{
	const char *text = json_string_value(json_object_get(interface, "mac"));
	uint8_t mac[6];

	return !text || !text[0] ||
	       (hex_bytes_parse(text, mac, sizeof(mac)) && memcmp(mac, plan->mac, 6) == 0);
}

static bool has_mtu_of(const json_t *interface, const struct net_plan *plan)
{
	const json_t *mtu = json_object_get(interface, "mtu");

	return !mtu || json_integer_value(mtu) == (json_int_t)plan->mtu;
}

static bool is_in_ips(const json_t *prev, const struct ip_prefix *ip)
{
	const json_t *list = json_object_get(prev, "ips"), *item;
	struct ip_prefix other;

	for (size_t i = 0; (item = json_array_get(list, i)); i++) {
		const char *text = json_string_value(json_object_get(item, "address"));

		if (text && ip_prefix_parse(text, &other) && ip_same_address(&other, ip))
			return true;
	}
	return false;
}

static bool are_in_ips(const json_t *prev, const struct attach_record *r)
{
	for (size_t i = 0; i < r->plan.n_ips; i++)
		if (!is_in_ips(prev, &r->plan.ips[i]))
			return false;
	return !any_of(r->n_ips, i, !is_in_ips(prev, &r->ips[i]));
}

/* Returns the differences, as drift bits, that later plugins of the chain (tuning, vrf) have made
 * or may have made. */
static unsigned bits_of_later_plugins(const struct attach_record *r, const json_t *prev)
{
	const json_t *interface = prev_interface(prev, r->plan.ifname);
	unsigned bits = ATTACH_DRIFT_LINK(LINK_TXQLEN); /* not part of a result */

	if (interface && !has_mac_of(interface, &r->plan))
		bits |= VF_MAC;
	if (interface && !has_mtu_of(interface, &r->plan))
		bits |= ATTACH_DRIFT_LINK(LINK_MTU);
	if (prev && !are_in_ips(prev, r))
		bits |= ATTACH_DRIFT_IPS;
	return bits;
}

int cni_decide_check(const struct attach_status *a, const struct cni_request *r,
		     struct cni_error *e)
{
	const json_t *prev = json_object_get(r->config, "prevResult");
	unsigned drift = a->drift & ~bits_of_later_plugins(a->record, prev);
	char text[160];

	if (!drift)
		return 0;
	explain_drift(drift, text, sizeof(text));
	return cni_fail(e, CNI_DIFFERS, "%s (%s) differs from its attachment: %s", r->ifname,
			a->record->function, text);
}

/* --- GC --------------------------------------------------------------------------------------- */

/* Returns the list of valid attachments. libcni before 1.1.0 uses the second key. */
static const json_t *cni_valid_list(const struct cni_request *r)
{
	const json_t *list = json_object_get(r->config, "cni.dev/valid-attachments");

	return list && !json_is_null(list) ? list
					   : json_object_get(r->config, "cni.dev/attachments");
}

int cni_decide_gc(const struct cni_request *r, struct cni_error *e)
{
	const json_t *list = cni_valid_list(r);

	if (!list || json_is_null(list))
		return 0;
	if (!json_is_array(list))
		return cni_fail(e, CNI_BAD_CONFIG, "cni.dev/valid-attachments is not a list");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);

		if (!json_is_string(json_object_get(item, "containerID")) ||
		    !json_is_string(json_object_get(item, "ifname")))
			return cni_fail(e, CNI_BAD_CONFIG,
					"cni.dev/valid-attachments: item %zu has no containerID "
					"and ifname",
					i + 1);
	}
	return 1;
}

bool cni_is_valid(const struct cni_request *r, const struct attach_record *a)
{
	const json_t *list = cni_valid_list(r), *item;

	for (size_t i = 0; (item = json_array_get(list, i)); i++)
		if (strcmp(json_string_value(json_object_get(item, "containerID")),
			   a->owner.sandbox) == 0 &&
		    strcmp(json_string_value(json_object_get(item, "ifname")), a->plan.ifname) == 0)
			return true;
	return false;
}
