/* Fuzzes the decoders of pause frames and PFC with a datagram of messages. */
#include <string.h>

#include "datagram.h"
#include "dcb.h"
#include "genl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void on_named(const char *name, uint64_t value, void *arg)
{
	size_t *sum = arg;

	*sum += strlen(name) + (size_t)value;
}

/* Whatever the family is called: the message says it is the one. */
static int on_message(const struct nlmsghdr *h, void *arg)
{
	uint16_t family;
	struct pfc pfc;

	pause_decode(h, h->nlmsg_type, on_named, arg);
	genl_decode_family(h, &family);
	dcb_decode_pfc(h, &pfc);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t sum = 0;

	datagram_walk(data, n, on_message, &sum);
	return 0;
}
