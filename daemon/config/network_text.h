/* SPDX-License-Identifier: Apache-2.0 */
/* network_text.h - parses and prints network settings as spelt in configurations and annotations.
 * Pure. Parsers leave *ret unchanged on failure. */
#pragma once

#include "attachment.h"

/* Size of an address with prefix length, including the NUL. */
#define IP_TEXT_SIZE  64
/* "aa:bb:cc:dd:ee:ff" */
#define MAC_TEXT_SIZE 18

/* Parses an address without a prefix length; the length becomes the family's maximum. */
bool ip_address_parse(const char *text, struct ip_prefix *ret);
/* Parses "10.9.0.1/24" or "2001:db8::1/64". */
bool ip_prefix_parse(const char *text, struct ip_prefix *ret);
/* Print an address without and with its prefix length; "" for AF_UNSPEC. */
void ip_address_text(const struct ip_prefix *, char ret[IP_TEXT_SIZE]);
void ip_prefix_text(const struct ip_prefix *, char ret[IP_TEXT_SIZE]);
/* Returns 32 or 128, by the family. */
unsigned ip_bits(const struct ip_prefix *);
/* True if all bits after the prefix are equal to `ones`. */
bool ip_rest_is(const struct ip_prefix *, bool ones);
bool ip_same_address(const struct ip_prefix *, const struct ip_prefix *);

/* Parses n bytes with two hex digits each, separated by ':'. */
bool hex_bytes_parse(const char *text, uint8_t *ret, size_t n);

/* Returns why a name is invalid for a pod's interface; NULL = valid. dev_valid_name() in
 * linux/net/core/dev.c; '%' would make it a pattern (dev_alloc_name(), same file); "all" and
 * "default" exist in /proc/sys/net (sysctl_dev_name_is_allowed(), linux/net/core/sysctl_net_core.c
 * and its callers), "bonding_masters" in /sys/class/net (linux/drivers/net/bonding/bond_sysfs.c).
 * "lo" and "eth0" exist in every pod. */
const char *ifname_wrong(const char *name);
