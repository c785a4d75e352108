/* qp_fault.c - a queue pair that fails in a given way, for scenarios: both ends in one process.
 *
 *   qp_fault rkey|rnr|gone DEVICE PEER [TIMEOUT [RETRIES]]
 *
 * rkey: an RDMA write with a wrong key. rnr: a send that nobody receives. gone: a send to a peer
 * that the scenario has cut off; it reads a line from stdin before it sends. Prints "qpn N peer M"
 * once connected, then "status S at T": the status of the completion (enum ibv_wc_status) and when
 * it was polled, unix milliseconds. */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE 4096

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	union ibv_gid gid;
	int gid_index;
	char buffer[SIZE];
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct ibv_context *open_device(const char *name)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);

	for (int i = 0; list && i < n; i++)
		if (strcmp(ibv_get_device_name(list[i]), name) == 0)
			return ibv_open_device(list[i]);
	fprintf(stderr, "no device %s\n", name);
	exit(1);
}

/* The IPv4 address's, which follows the link-local one. */
static void find_gid(struct end *e)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	for (e->gid_index = 0; e->gid_index < 16; e->gid_index++)
		if (ibv_query_gid(e->context, 1, e->gid_index, &e->gid) == 0 &&
		    memcmp(e->gid.raw, mapped, sizeof(mapped)) == 0)
			return;
	fprintf(stderr, "no IPv4 address\n");
	exit(1);
}

static void open_end(struct end *e, const char *device)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	e->context = open_device(device);
	if (!e->context || !(e->pd = ibv_alloc_pd(e->context)))
		die("device");
	e->mr = ibv_reg_mr(e->pd, e->buffer, SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	e->cq = ibv_create_cq(e->context, 8, NULL, NULL, 0);
	init.send_cq = init.recv_cq = e->cq;
	if (!e->mr || !e->cq || !(e->qp = ibv_create_qp(e->pd, &init)))
		die("queue pair");
	if (ibv_modify_qp(e->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("INIT");
	find_gid(e);
}

static void connect_end(struct end *e, const struct end *peer, int timeout, int retries)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = peer->gid,
				    .sgid_index = (uint8_t)e->gid_index,
				    .hop_limit = 64,
				    .traffic_class = 106}},
	};

	if (ibv_modify_qp(e->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("RTR");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = (uint8_t)timeout,
		.retry_cnt = (uint8_t)retries,
		.rnr_retry = (uint8_t)retries,
		.max_rd_atomic = 1,
	};
	if (ibv_modify_qp(e->qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("RTS");
}

static void post(struct end *e, const struct end *peer, bool write, uint32_t wrong)
{
	struct ibv_sge sge = {(uintptr_t)e->buffer, 64, e->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	wr.opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_SEND;
	wr.wr.rdma.remote_addr = (uintptr_t)peer->buffer;
	wr.wr.rdma.rkey = peer->mr->rkey ^ wrong;
	if (ibv_post_send(e->qp, &wr, &bad))
		die("post");
}

static struct ibv_wc wait_completion(struct end *e)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(e->cq, 1, &wc)) == 0)
		;
	if (n < 0)
		die("poll");
	return wc;
}

int main(int argc, char **argv)
{
	static struct end here, there;
	struct timespec now;
	struct ibv_wc wc;

	if (argc < 4)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_end(&here, argv[2]);
	open_end(&there, argv[3]);
	connect_end(&here, &there, argc > 4 ? atoi(argv[4]) : 10, argc > 5 ? atoi(argv[5]) : 2);
	connect_end(&there, &here, 14, 7);
	printf("qpn %u peer %u\n", here.qp->qp_num, there.qp->qp_num);
	if (strcmp(argv[1], "gone") == 0)
		getchar();
	post(&here, &there, strcmp(argv[1], "rkey") == 0, 0xff);
	wc = wait_completion(&here);
	clock_gettime(CLOCK_REALTIME, &now);
	printf("status %d at %lld\n", wc.status,
	       (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
	getchar();
	return 0;
}
