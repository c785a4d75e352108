// SPDX-License-Identifier: Apache-2.0
/* grpc_status.c - names of status codes, and their mapping to other protocols' codes. Pure. */
#include <nghttp2/nghttp2.h>

#include "cleanup.h"
#include "grpc_internal.h"

static const char *const names[] = {
	[GRPC_OK] = "OK",
	[GRPC_CANCELLED] = "CANCELLED",
	[GRPC_UNKNOWN] = "UNKNOWN",
	[GRPC_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
	[GRPC_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
	[GRPC_NOT_FOUND] = "NOT_FOUND",
	[GRPC_ALREADY_EXISTS] = "ALREADY_EXISTS",
	[GRPC_PERMISSION_DENIED] = "PERMISSION_DENIED",
	[GRPC_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
	[GRPC_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
	[GRPC_ABORTED] = "ABORTED",
	[GRPC_OUT_OF_RANGE] = "OUT_OF_RANGE",
	[GRPC_UNIMPLEMENTED] = "UNIMPLEMENTED",
	[GRPC_INTERNAL] = "INTERNAL",
	[GRPC_UNAVAILABLE] = "UNAVAILABLE",
	[GRPC_DATA_LOSS] = "DATA_LOSS",
	[GRPC_UNAUTHENTICATED] = "UNAUTHENTICATED",
};

const char *grpc_status_name(enum grpc_status status)
{
	return (size_t)status < ARRAY_SIZE(names) ? names[status] : "UNKNOWN";
}

/* The first row of a status is its errno. */
static const struct {
	int code;
	enum grpc_status status;
} errnos[] = {
	{0, GRPC_OK},
	{ECANCELED, GRPC_CANCELLED},
	{EREMOTEIO, GRPC_UNKNOWN},
	{EINVAL, GRPC_INVALID_ARGUMENT},
	{E2BIG, GRPC_INVALID_ARGUMENT},
	{ENAMETOOLONG, GRPC_INVALID_ARGUMENT},
	{EILSEQ, GRPC_INVALID_ARGUMENT},
	{ETIMEDOUT, GRPC_DEADLINE_EXCEEDED},
	{ENOENT, GRPC_NOT_FOUND},
	{ENODEV, GRPC_NOT_FOUND},
	{ENXIO, GRPC_NOT_FOUND},
	{ESRCH, GRPC_NOT_FOUND},
	{EEXIST, GRPC_ALREADY_EXISTS},
	{EACCES, GRPC_PERMISSION_DENIED},
	{EPERM, GRPC_PERMISSION_DENIED},
	{EROFS, GRPC_PERMISSION_DENIED},
	{ENOBUFS, GRPC_RESOURCE_EXHAUSTED},
	{ENOMEM, GRPC_RESOURCE_EXHAUSTED},
	{ENOSPC, GRPC_RESOURCE_EXHAUSTED},
	{EMFILE, GRPC_RESOURCE_EXHAUSTED},
	{ENFILE, GRPC_RESOURCE_EXHAUSTED},
	{EMSGSIZE, GRPC_RESOURCE_EXHAUSTED},
	{EBADFD, GRPC_FAILED_PRECONDITION},
	{ENOTEMPTY, GRPC_FAILED_PRECONDITION},
	{ENOTCONN, GRPC_FAILED_PRECONDITION},
	{ESTALE, GRPC_ABORTED},
	{EDEADLK, GRPC_ABORTED},
	{ERANGE, GRPC_OUT_OF_RANGE},
	{EOVERFLOW, GRPC_OUT_OF_RANGE},
	{EOPNOTSUPP, GRPC_UNIMPLEMENTED},
	{ENOSYS, GRPC_UNIMPLEMENTED},
	{EIO, GRPC_INTERNAL},
	{EPROTO, GRPC_INTERNAL},
	{EAGAIN, GRPC_UNAVAILABLE},
	{EBUSY, GRPC_UNAVAILABLE},
	{EINTR, GRPC_UNAVAILABLE},
	{EPIPE, GRPC_UNAVAILABLE},
	{ECONNREFUSED, GRPC_UNAVAILABLE},
	{ECONNRESET, GRPC_UNAVAILABLE},
	{ECONNABORTED, GRPC_UNAVAILABLE},
	{EBADMSG, GRPC_DATA_LOSS},
	{EKEYREJECTED, GRPC_UNAUTHENTICATED},
};

int grpc_status_errno(enum grpc_status status)
{
	for (size_t i = 0; i < ARRAY_SIZE(errnos); i++)
		if (errnos[i].status == status)
			return -errnos[i].code;
	return -EREMOTEIO;
}

enum grpc_status grpc_status_of_errno(int code)
{
	for (size_t i = 0; i < ARRAY_SIZE(errnos); i++)
		if (errnos[i].code == -code)
			return errnos[i].status;
	return GRPC_UNKNOWN;
}

/* gRPC's http-grpc-status-mapping document. */
enum grpc_status grpc_status_of_http(unsigned status)
{
	switch (status) {
	case 400:
		return GRPC_INTERNAL;
	case 401:
		return GRPC_UNAUTHENTICATED;
	case 403:
		return GRPC_PERMISSION_DENIED;
	case 404:
		return GRPC_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return GRPC_UNAVAILABLE;
	default:
		return GRPC_UNKNOWN;
	}
}

/* The table at the end of gRPC's PROTOCOL-HTTP2 document. */
enum grpc_status grpc_status_of_h2(uint32_t error_code)
{
	switch (error_code) {
	case NGHTTP2_REFUSED_STREAM:
		return GRPC_UNAVAILABLE;
	case NGHTTP2_CANCEL:
		return GRPC_CANCELLED;
	case NGHTTP2_ENHANCE_YOUR_CALM:
		return GRPC_RESOURCE_EXHAUSTED;
	case NGHTTP2_INADEQUATE_SECURITY:
		return GRPC_PERMISSION_DENIED;
	case NGHTTP2_STREAM_CLOSED:
		return GRPC_UNKNOWN;
	default:
		return GRPC_INTERNAL;
	}
}
