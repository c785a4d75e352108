/* uds_channel.c - a client's connections.
 *
 * One that is not up any more (the peer hung up or said GOAWAY; it has not said a word to a call
 * that ran out of time) keeps the calls it has, and the next call gets a new one. Hence a server
 * may be replaced between two calls without its clients seeing it. */
#include <stdlib.h>
#include <unistd.h>

#include "uds_client.h"

static void on_lost(struct uds_link *l)
{
	struct uds_channel *ch = (struct uds_channel *)l;

	*ch->at = ch->next;
	if (ch->next)
		ch->next->at = ch->at;
}

static void on_release(struct uds_link *l)
{
	struct uds_channel *ch = (struct uds_channel *)l;

	uds_client_unuse(ch->client);
	free(ch);
}

static void add_channel(struct uds_client *c, struct uds_channel *ch)
{
	ch->client = c;
	ch->next = c->channels;
	ch->at = &c->channels;
	if (ch->next)
		ch->next->at = &ch->next;
	c->channels = ch;
	c->n_users++;
}

static bool is_usable(const struct uds_channel *ch)
{
	return !ch->is_retired && !ch->link.is_ending && ch->link.conn &&
	       !grpc_is_closing(ch->link.conn) && !uds_is_hung_up(ch->link.fd);
}

static int connect_channel(struct uds_client *c, struct uds_channel **ret)
{
	int fd = uds_connect(&c->address), r;
	struct uds_channel *ch;
	struct grpc_conn *conn;

	if (fd < 0)
		return fd;
	ch = calloc(1, sizeof(*ch));
	if (!ch || grpc_client_new(&conn, c->limits_or_null, uv_now(c->loop)) < 0) {
		free(ch);
		close(fd);
		return -ENOMEM;
	}
	ch->link.lost = on_lost;
	ch->link.release = on_release;
	r = uds_link_start(&ch->link, c->loop, fd, conn);
	if (r < 0) {
		free(ch);
		return r;
	}
	add_channel(c, ch);
	*ret = ch;
	return 0;
}

int uds_channel_find(struct uds_client *c, struct uds_channel **ret)
{
	for (struct uds_channel *ch = c->channels; ch; ch = ch->next)
		if (is_usable(ch)) {
			*ret = ch;
			return 0;
		}
	return connect_channel(c, ret);
}

/* A server that does not say a word within a call's time is not tried again. */
void uds_channel_leave(struct uds_call *call, enum grpc_status status)
{
	struct uds_channel *ch = call->channel;

	ch->n_calls--;
	if (status == GRPC_DEADLINE_EXCEEDED && ch->link.n_reads == call->n_reads)
		ch->is_retired = true;
	if (ch->is_retired && ch->n_calls == 0)
		uds_link_end_soon(&ch->link);
	call->channel = NULL;
}
