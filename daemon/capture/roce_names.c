// SPDX-License-Identifier: Apache-2.0
#include "roce_names.h"

#include <arpa/inet.h>
#include <string.h>

const char *roce_transport_name(unsigned transport)
{
	static const char *const names[N_ROCE_TRANSPORTS] = {
		[ROCE_RC] = "rc", [ROCE_UC] = "uc",   [ROCE_RD] = "rd", [ROCE_UD] = "ud",
		[4] = "cnp",	  [ROCE_XRC] = "xrc", [6] = "6",	[7] = "7",
	};

	return names[transport % N_ROCE_TRANSPORTS];
}

const char *roce_op_name(enum roce_op op)
{
	static const char *const names[N_ROCE_OPS] = {
		[ROCE_SEND] = "send",
		[ROCE_WRITE] = "write",
		[ROCE_READ_REQUEST] = "readRequest",
		[ROCE_READ_RESPONSE] = "readResponse",
		[ROCE_ACK] = "ack",
		[ROCE_ATOMIC] = "atomic",
		[ROCE_ATOMIC_ACK] = "atomicAck",
		[ROCE_OP_OTHER] = "other",
	};

	return names[op];
}

const char *roce_syndrome_name(enum roce_syndrome syndrome)
{
	static const char *const names[N_ROCE_SYNDROMES] = {
		[ROCE_SYN_ACK] = "ack",
		[ROCE_SYN_RNR] = "rnrNak",
		[ROCE_SYN_SEQUENCE] = "sequenceNak",
		[ROCE_SYN_INVALID_REQUEST] = "invalidRequestNak",
		[ROCE_SYN_REMOTE_ACCESS] = "remoteAccessNak",
		[ROCE_SYN_REMOTE_OPERATION] = "remoteOperationNak",
		[ROCE_SYN_INVALID_RD] = "invalidRdNak",
		[ROCE_SYN_OTHER] = "other",
	};

	return names[syndrome];
}

const char *roce_ecn_name(unsigned ecn)
{
	static const char *const names[] = {"notEct", "ect1", "ect0", "ce"};

	return names[ecn & 3];
}

void roce_address_text(const uint8_t address[16], char ret[INET6_ADDRSTRLEN])
{
	static const uint8_t ip4[12] = {[10] = 0xff, [11] = 0xff};
	bool is_ip4 = memcmp(address, ip4, sizeof(ip4)) == 0;

	if (!inet_ntop(is_ip4 ? AF_INET : AF_INET6, is_ip4 ? address + 12 : address, ret,
		       INET6_ADDRSTRLEN))
		ret[0] = '\0';
}
