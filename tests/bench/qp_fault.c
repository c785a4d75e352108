// SPDX-License-Identifier: Apache-2.0
/* qp_fault.c - a queue pair that fails in a given way, for scenarios.
 *
 *   qp_fault rkey|rnr|gone DEVICE PEER [TIMEOUT [RETRIES]]    both ends in one process
 *   qp_fault write|answer DEVICE [TIMEOUT [RETRIES]]          one end
 *
 * rkey: an RDMA write with a wrong key. rnr: a send without a posted receive. gone: a send to a
 * peer that the scenario has cut off; it reads a line from stdin before it sends. Prints "qpn N
 * peer M" once connected, then "status S at T": the status of the completion (enum ibv_wc_status)
 * and when it was polled, unix milliseconds.
 *
 * One end prints "end ..." and reads the other end's line from stdin. Then `write` writes to it
 * twenty times a second until a write fails, and prints the status as above; `answer` runs until it
 * is killed. soft-RoCE treats 7 RETRIES as infinite, so perftest, which uses 7, never gives up a
 * peer there. */
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SIZE 4096

/* Data that the other end needs. */
struct address {
	union ibv_gid gid;
	uint32_t qpn, rkey;
	uint64_t buffer;
};

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

/* The GID of the IPv4 address, which follows the link-local one. */
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

static struct address address_of(const struct end *e)
{
	return (struct address){e->gid, e->qp->qp_num, e->mr->rkey, (uintptr_t)e->buffer};
}

static void connect_end(struct end *e, const struct address *peer, int timeout, int retries)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qpn,
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

static void post(struct end *e, const struct address *peer, bool write, uint32_t wrong)
{
	struct ibv_sge sge = {(uintptr_t)e->buffer, 64, e->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	wr.opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_SEND;
	wr.wr.rdma.remote_addr = peer->buffer;
	wr.wr.rdma.rkey = peer->rkey ^ wrong;
	if (ibv_post_send(e->qp, &wr, &bad))
		die("post");
}

static struct ibv_wc wait_completion(struct end *e)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(e->cq, 1, &wc)) == 0)
		sched_yield();
	if (n < 0)
		die("poll");
	return wc;
}

static void print_status(enum ibv_wc_status status)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	printf("status %d at %lld\n", status, (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

/* --- both ends -------------------------------------------------------------------------------- */

static void fail_once(const char *how, const char *device, const char *peer, int timeout,
		      int retries)
{
	static struct end here, there;
	struct address from, to;

	open_end(&here, device);
	open_end(&there, peer);
	from = address_of(&here);
	to = address_of(&there);
	connect_end(&here, &to, timeout, retries);
	connect_end(&there, &from, 14, 7);
	printf("qpn %u peer %u\n", from.qpn, to.qpn);
	if (strcmp(how, "gone") == 0)
		getchar();
	post(&here, &to, strcmp(how, "rkey") == 0, 0xff);
	print_status(wait_completion(&here).status);
	getchar();
}

/* --- one end ---------------------------------------------------------------------------------- */

static void put_address(const struct address *a)
{
	printf("end ");
	for (size_t i = 0; i < sizeof(a->gid.raw); i++)
		printf("%02x", a->gid.raw[i]);
	printf(" %u %u %llu\n", a->qpn, a->rkey, (unsigned long long)a->buffer);
}

static void get_address(struct address *ret)
{
	char gid[33];
	unsigned long long buffer;

	if (scanf("end %32s %u %u %llu", gid, &ret->qpn, &ret->rkey, &buffer) != 4 ||
	    strlen(gid) != 32)
		exit(2);
	for (size_t i = 0; i < sizeof(ret->gid.raw); i++)
		sscanf(gid + 2 * i, "%2hhx", &ret->gid.raw[i]);
	ret->buffer = buffer;
}

static void write_until_it_fails(struct end *e, const struct address *peer)
{
	static const struct timespec between = {.tv_nsec = 50000000};
	enum ibv_wc_status status;

	do {
		nanosleep(&between, NULL);
		post(e, peer, true, 0);
		status = wait_completion(e).status;
	} while (status == IBV_WC_SUCCESS);
	print_status(status);
}

static void be_one_end(const char *device, bool writes, int timeout, int retries)
{
	static struct end here;
	struct address own, peer;

	open_end(&here, device);
	own = address_of(&here);
	put_address(&own);
	get_address(&peer);
	connect_end(&here, &peer, timeout, retries);
	if (writes)
		write_until_it_fails(&here, &peer);
	else
		pause();
}

/* Argument n, or its default. */
static int number(int argc, char **argv, int n, int usual)
{
	return argc > n ? atoi(argv[n]) : usual;
}

int main(int argc, char **argv)
{
	bool writes = argc > 1 && strcmp(argv[1], "write") == 0;
	bool one = writes || (argc > 1 && strcmp(argv[1], "answer") == 0);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (one && argc > 2)
		be_one_end(argv[2], writes, number(argc, argv, 3, 10), number(argc, argv, 4, 2));
	else if (!one && argc > 3)
		fail_once(argv[1], argv[2], argv[3], number(argc, argv, 4, 10),
			  number(argc, argv, 5, 2));
	else
		return 2;
	return 0;
}
