/* refusals.c - requests that are larger than what we take in.
 *
 * A connection has a fixed memory in libmicrohttpd, shared by its request (each parameter and
 * header costs it a record) and the head of the answer. What fills it up gets no answer at all from
 * libmicrohttpd (0.9.75 even waits for more of it), so it is refused before, in words of our own
 * that need none of that memory. */
#include <microhttpd.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "self_counters.h"
#include "server.h"

#define TEXT_OF_(n) #n
#define TEXT_OF(n)  TEXT_OF_(n)

/* What libmicrohttpd keeps of a header beside its text, and a bit. */
#define HEADER_RECORD ((size_t)80)
/* For the head of an answer. */
#define ANSWER_MEMORY ((size_t)2048)

/* Straight to the socket: libmicrohttpd has sent all of what it was given, and nothing of this
 * request's. The connection ends with it. */
static void last_word(struct http *h, struct MHD_Connection *c, unsigned status,
		      const char *sentence)
{
	struct connection *slot = request_slot(c);
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "HTTP/1.1 %u %s\r\nConnection: close\r\n"
			 "Content-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n\r\n%s",
			 status, MHD_get_reason_phrase_for(status), strlen(sentence), sentence);

	if (!slot)
		return;
	h->self->http_requests++;
	h->self->http_errors++;
	(void)!send(slot->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
	http_cut(h, slot);
}

/* As libmicrohttpd will count them. */
static size_t count_params(const char *target)
{
	const char *query = strchr(target, '?');
	size_t n = query && query[1];

	for (const char *at = query; at && (at = strchr(at, '&')) != NULL; at++)
		n += at[1] != '\0';
	return n;
}

bool refusal_of_target(struct http *h, struct MHD_Connection *c, const char *target)
{
	if (strlen(target) > HTTP_TARGET_MAX) {
		last_word(h, c, MHD_HTTP_URI_TOO_LONG,
			  "a path and its query have at most " TEXT_OF(HTTP_TARGET_MAX) " bytes\n");
		return true;
	}
	if (count_params(target) > HTTP_PARAMS_MAX) {
		last_word(h, c, MHD_HTTP_BAD_REQUEST,
			  "a query has at most " TEXT_OF(HTTP_PARAMS_MAX) " parameters\n");
		return true;
	}
	return false;
}

bool refusal_of_headers(struct http *h, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		c, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	int n = MHD_get_connection_values(c, MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND, NULL, NULL);
	size_t size = (info ? info->header_size : 0) + (n > 0 ? (size_t)n : 0) * HEADER_RECORD;

	if (size <= CONNECTION_MEMORY - ANSWER_MEMORY)
		return false;
	last_word(h, c, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE,
		  "the headers of a request are too many or too long\n");
	return true;
}
