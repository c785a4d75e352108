/* SPDX-License-Identifier: Apache-2.0 */
/* sysfs.h - reads attribute files below a directory descriptor. Files are not trusted: numbers are
 * parsed strictly, text is bounded, and a missing or unreadable file is an errno, never 0.
 *
 * `dir` is hw->sys_fd or any directory below it, paths are relative to it. Outputs are untouched on
 * failure. -ENOENT is normal: attributes differ between kernels, drivers and devices. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One attribute is at most one page (linux/Documentation/filesystems/sysfs.rst). */
#define SYSFS_ATTR_MAX 4096
#define SYSFS_PATH_MAX 512

/* Reads the text without surrounding white space; -EOVERFLOW if it does not fit, -EINVAL if it
 * contains a NUL. Returns its length, which may be 0. */
__attribute__((format(printf, 4, 5))) int sysfs_str(int dir, char *ret, size_t size,
						    const char *fmt, ...);
/* Read a number in decimal or 0x hexadecimal. -EINVAL: not a number, -ERANGE: does not fit. */
__attribute__((format(printf, 3, 4))) int sysfs_u64(int dir, uint64_t *ret, const char *fmt, ...);
__attribute__((format(printf, 3, 4))) int sysfs_u32(int dir, uint32_t *ret, const char *fmt, ...);
__attribute__((format(printf, 3, 4))) int sysfs_int(int dir, int *ret, const char *fmt, ...);

/* Reads the last component of a symbolic link's target; -EOVERFLOW if it does not fit. */
__attribute__((format(printf, 4, 5))) int sysfs_link(int dir, char *ret, size_t size,
						     const char *fmt, ...);
/* Reads the whole target of a symbolic link. */
__attribute__((format(printf, 4, 5))) int sysfs_target(int dir, char *ret, size_t size,
						       const char *fmt, ...);
__attribute__((format(printf, 2, 3))) bool sysfs_exists(int dir, const char *fmt, ...);
/* Opens a directory; the caller closes the descriptor. */
__attribute__((format(printf, 2, 3))) int sysfs_open_dir(int dir, const char *fmt, ...);

/* Calls fn for every entry that does not begin with a dot, in no order. A negative return of fn
 * stops the iteration and is returned; otherwise the number of entries. */
typedef int sysfs_entry_fn(int dir, const char *name, void *arg);
int sysfs_list(int dir, const char *path, sysfs_entry_fn *fn, void *arg);

/* Returns the resource that this thread ran out of since the last call (-EMFILE, -ENFILE, -ENOMEM);
 * 0 = none. If not 0, the reads in between may have missed existing files. */
int sysfs_exhausted(void);

/* --- pure --------------------------------------------------------------------------------- */

/* Parses a number, which must be the whole string: "12", "0x1f"; no sign, no blanks, no unit. */
int parse_u64(const char *, uint64_t *ret);
/* Parses an optional '-' and decimal digits, or 0x hexadecimal. */
int parse_int(const char *, int *ret);
/* Parses the number in front of a colon: "4: ACTIVE" is 4. */
int parse_leading_u32(const char *, uint32_t *ret);
/* Parses a port rate in the format of rate_show() in linux/drivers/infiniband/core/sysfs.c, to bits
 * per second: "400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X SDR)". */
int parse_rate(const char *, uint64_t *ret_bps);
/* Parses the speed of a PCIe lane in the format of pci_speed_string() in linux/drivers/pci/probe.c,
 * to megatransfers per second: "16.0 GT/s PCIe"; kernels before 5.7 omit the last word. "Unknown"
 * is -EINVAL. */
int parse_link_speed(const char *, uint32_t *ret_mt_s);
/* Parses "a088:c203:0000:0001" to host order. */
int parse_guid(const char *, uint64_t *ret);
/* Parses eight groups of four hexadecimal digits, the format of gids/N. */
int parse_gid(const char *, uint8_t ret[16]);
