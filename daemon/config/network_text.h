/* network_text.h - the words of network settings, as configurations and annotations spell them.
 * Pure. Parsers leave *ret alone when the text is none. */
#pragma once

#include "attachment.h"

/* Of an address with its length, terminator included. */
#define IP_TEXT_SIZE  64
/* "aa:bb:cc:dd:ee:ff" */
#define MAC_TEXT_SIZE 18

/* An address without a length; its length is then the family's whole. */
bool ip_address_parse(const char *text, struct ip_prefix *ret);
/* "10.9.0.1/24", "2001:db8::1/64" */
bool ip_prefix_parse(const char *text, struct ip_prefix *ret);
/* "" for AF_UNSPEC. */
void ip_address_text(const struct ip_prefix *, char ret[IP_TEXT_SIZE]);
void ip_prefix_text(const struct ip_prefix *, char ret[IP_TEXT_SIZE]);
/* Bits of an address of the family. */
unsigned ip_bits(const struct ip_prefix *);
/* Every bit behind the length is as `ones` says. */
bool ip_rest_is(const struct ip_prefix *, bool ones);
bool ip_same_address(const struct ip_prefix *, const struct ip_prefix *);

/* Two hex digits for each of the n bytes, with ':' between. */
bool hex_bytes_parse(const char *text, uint8_t *ret, size_t n);

/* What is wrong with a name for a pod's interface, NULL = nothing. dev_valid_name() in
 * linux/net/core/dev.c; '%' would make it a pattern (dev_alloc_name(), same file); "all" and
 * "default" are taken in /proc/sys/net (sysctl_dev_name_is_allowed(),
 * linux/net/core/sysctl_net_core.c and its callers), "bonding_masters" in /sys/class/net
 * (linux/drivers/net/bonding/bond_sysfs.c). "lo" and "eth0" are the pod's already. */
const char *ifname_wrong(const char *name);
