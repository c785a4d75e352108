// SPDX-License-Identifier: Apache-2.0
/* grpc_failure.c - why a connection is lost, and whether it accepts new calls. Pure. */
#include "grpc_internal.h"

int grpc_conn_fail(struct grpc_conn *c, int code, const char *text)
{
	if (c->err.code == 0)
		err_set(&c->err, code, "%s", text);
	return code;
}

int grpc_conn_check(struct grpc_conn *c, int code)
{
	if (code >= 0 || !nghttp2_is_fatal(code))
		return code;
	c->is_broken = true;
	return grpc_conn_fail(c, code == NGHTTP2_ERR_NOMEM ? -ENOMEM : -EPROTO,
			      nghttp2_strerror(code));
}

int grpc_conn_failure(struct grpc_conn *c, struct err *err)
{
	if (c->err.code == 0)
		return 0;
	c->is_err_told = true;
	if (err)
		*err = c->err;
	return c->err.code;
}

bool grpc_is_closing(const struct grpc_conn *c)
{
	return c->is_left || c->is_shut || c->is_freed || c->err.code != 0;
}
