// SPDX-License-Identifier: Apache-2.0
/* function_nodes.c - maps a function and its pool's selectors to paths below /dev. */
#include "function_nodes.h"

#include "array.h"

/* --- requests of the selectors ---------------------------------------------------------------- */

/* any: at least one selector requests it; all: every selector does. */
struct request {
	bool any, all;
};

struct requests {
	struct request rdma, vdpa, vhost;
};

static void add_request(struct request *w, bool requested)
{
	w->any = w->any || requested;
	w->all = w->all && requested;
}

static struct requests requests_of(const struct pool *pool)
{
	bool some = pool->n_selectors > 0;
	struct requests w = {{false, some}, {false, some}, {false, some}};

	for (size_t i = 0; i < pool->n_selectors; i++) {
		add_request(&w.rdma, pool->selectors[i].is_rdma);
		add_request(&w.vdpa, pool->selectors[i].vdpa != VDPA_NONE);
		add_request(&w.vhost, pool->selectors[i].need_vhost_net);
	}
	if (pool->kind != POOL_EXCLUSIVE)
		w.rdma = (struct request){true, true};
	return w;
}

/* --- one node --------------------------------------------------------------------------------- */

/* The nodes being collected, and their function. */
struct collection {
	struct function_nodes *nodes;
	const struct allocation_input *in;
	const char *function; /* for messages; NULL = no particular function */
	struct err *err;
};

static int missing(const struct collection *c, const char *name)
{
	if (!c->function)
		return err_set(c->err, -ENODEV, "/dev/%s does not exist", name);
	return err_set(c->err, -ENODEV, "/dev/%s of %s does not exist", name, c->function);
}

/* Adds a node. name: below /dev on the host; inside: below /dev in the container. */
static int add_as(struct collection *c, enum node_role role, const char *name, const char *inside)
{
	struct function_node *node;

	if (!c->in->exists(name, c->in->arg))
		return missing(c, name);
	node = array_push(c->nodes->list, c->nodes->n);
	if (!node)
		return err_set(c->err, -ENOMEM, "out of memory");
	node->role = role;
	snprintf(node->host_path, sizeof(node->host_path), "/dev/%s", name);
	snprintf(node->container_path, sizeof(node->container_path), "/dev/%s", inside);
	return 0;
}

static int node_add(struct collection *c, enum node_role role, const char *name)
{
	return add_as(c, role, name, name);
}

/* --- RDMA ------------------------------------------------------------------------------------- */

static int add_rdma_node(struct collection *c, enum node_role role, const char *name)
{
	char below_dev[NODE_PATH_SIZE];

	if (name[0] == '\0')
		return 0;
	snprintf(below_dev, sizeof(below_dev), "infiniband/%s", name);
	return node_add(c, role, below_dev);
}

/* Adds the nodes of an RDMA device. uverbs and the (long obsolete) ucm nodes are always added; umad
 * and issm give access to the whole fabric, so they depend on the pool. A port without issm (as
 * with RoCE) or umad is an error only if the pool requires it. */
static int add_rdma_dev(struct collection *c, const struct rdma_dev *d)
{
	const struct pool *pool = c->in->view->pool;
	int r;

	if (d->uverbs[0] == '\0')
		return err_set(c->err, -ENODEV, "RDMA device %s of %s has no uverbs node", d->name,
			       c->function);
	if (d->umad[0] == '\0' && pool->require_umad)
		return err_set(c->err, -ENODEV, "RDMA device %s of %s has no umad node", d->name,
			       c->function);
	r = pool->issm ? add_rdma_node(c, NODE_ISSM, d->issm) : 0;
	if (r == 0 && pool->umad)
		r = add_rdma_node(c, NODE_UMAD, d->umad);
	if (r == 0)
		r = add_rdma_node(c, NODE_UVERBS, d->uverbs);
	return r < 0 ? r : add_rdma_node(c, NODE_UCM, d->ucm);
}

/* True if the RDMA device belongs to the function. A device without a parent function is a function
 * of its own. */
static bool function_nodes_is_of(const struct rdma_dev *d, const char *function)
{
	return strcmp(d->function[0] != '\0' ? d->function : d->name, function) == 0;
}

static int function_nodes_add_rdma(struct collection *c, bool required)
{
	const struct host *host = c->in->host;
	int r;

	for (size_t i = 0; i < host->n_rdma; i++) {
		if (!function_nodes_is_of(&host->rdma[i], c->function))
			continue;
		if (!c->nodes->rdma)
			c->nodes->rdma = &host->rdma[i];
		r = add_rdma_dev(c, &host->rdma[i]);
		if (r < 0)
			return r;
	}
	if (!c->nodes->rdma)
		return required ? err_set(c->err, -ENODEV, "%s has no RDMA device", c->function)
				: 0;
	/* Optional: some kernels do not have the connection manager, and some programs do not need
	 * it. */
	if (!c->in->exists("infiniband/rdma_cm", c->in->arg))
		return 0;
	return node_add(c, NODE_RDMA_CM, "infiniband/rdma_cm");
}

/* --- user space drivers, vDPA, vhost ---------------------------------------------------------- */

/* Adds the VFIO node. Without an IOMMU the group is called noiommu-N on the host. In the container
 * it is N, as with sriov-network-device-plugin. */
static int add_vfio(struct collection *c, const struct function *fn)
{
	static const char noiommu[] = "vfio/noiommu-";
	char inside[NODE_PATH_SIZE];
	int r;

	if (strncmp(fn->vfio, noiommu, sizeof(noiommu) - 1) == 0)
		snprintf(inside, sizeof(inside), "vfio/%s", fn->vfio + sizeof(noiommu) - 1);
	else
		snprintf(inside, sizeof(inside), "%s", fn->vfio);
	r = node_add(c, NODE_VFIO_CONTAINER, "vfio/vfio");
	return r < 0 ? r : add_as(c, NODE_VFIO, fn->vfio, inside);
}

/* Adds the vDPA node. virtio_vdpa creates a netdev, which needs no node. */
static int function_nodes_add_vdpa(struct collection *c, const struct function *fn)
{
	c->nodes->vdpa = true;
	if (strcmp(fn->vdpa_driver, "vhost_vdpa") != 0)
		return 0;
	if (fn->vdpa_node[0] == '\0')
		return err_set(c->err, -ENODEV, "the vDPA device of %s has no node", fn->id);
	return node_add(c, NODE_VDPA, fn->vdpa_node);
}

static int add_vhost(struct collection *c, bool required)
{
	int r;

	if (!required && !c->in->exists("vhost-net", c->in->arg))
		return 0;
	c->nodes->vhost = true;
	r = node_add(c, NODE_VHOST_NET, "vhost-net");
	return r < 0 ? r : node_add(c, NODE_TUN, "net/tun");
}

/* Adds the nodes of one kind. vDPA and RDMA are alternatives: a selector requests one of them. */
static int add_kind(struct collection *c, const struct requests *w, const struct function *fn)
{
	if (w->vdpa.any && fn->vdpa_driver[0] != '\0')
		return function_nodes_add_vdpa(c, fn);
	if (w->vdpa.all)
		return err_set(c->err, -ENODEV, "%s has no vDPA device", fn->id);
	return w->rdma.any ? function_nodes_add_rdma(c, w->rdma.all) : 0;
}

static int function_nodes_add_all(struct collection *c, const struct function *fn)
{
	struct requests w = requests_of(c->in->view->pool);
	int r = 0;

	if (fn->vfio[0] != '\0')
		r = add_vfio(c, fn);
	if (r == 0 && fn->uio[0] != '\0')
		r = node_add(c, NODE_UIO, fn->uio);
	if (r == 0)
		r = add_kind(c, &w, fn);
	return r == 0 && w.vhost.any ? add_vhost(c, w.vhost.all) : r;
}

/* --- interface -------------------------------------------------------------------------------- */

int function_nodes_collect(struct function_nodes *ret, const struct allocation_input *in,
			   const struct function *fn, struct err *err)
{
	struct function_nodes nodes = {0};
	struct collection c = {&nodes, in, fn->id, err};
	int r = function_nodes_add_all(&c, fn);

	if (r < 0)
		function_nodes_done(&nodes);
	*ret = nodes;
	return r;
}

int function_nodes_folder(struct function_nodes *ret, const struct allocation_input *in,
			  struct err *err)
{
	struct function_nodes nodes = {0};
	struct collection c = {&nodes, in, NULL, err};
	int r = node_add(&c, NODE_RDMA_FOLDER, "infiniband");

	if (r < 0)
		function_nodes_done(&nodes);
	*ret = nodes;
	return r;
}

void function_nodes_done(struct function_nodes *nodes)
{
	free(nodes->list);
	*nodes = (struct function_nodes){0};
}

const char *function_nodes_path(const struct function_nodes *nodes, enum node_role role)
{
	for (size_t i = 0; i < nodes->n; i++)
		if (nodes->list[i].role == role)
			return nodes->list[i].container_path;
	return NULL;
}
