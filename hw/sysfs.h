/* sysfs.h - reads attribute files below a directory descriptor. A file is never trusted: numbers
 * are parsed strictly, text is bounded, and what is not there or not readable is an errno, never a
 * 0.
 *
 * `dir` is hw->sys_fd or any directory below it, paths are relative to it. Outputs are untouched on
 * failure. -ENOENT is normal: attributes come and go with kernels, drivers and devices. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One attribute is at most one page (linux/Documentation/filesystems/sysfs.rst). */
#define SYSFS_ATTR_MAX 4096
#define SYSFS_PATH_MAX 512

/* The text without surrounding white space; -EOVERFLOW when it does not fit, -EINVAL when it holds
 * a NUL. Returns its length, which may be 0. */
__attribute__((format(printf, 4, 5))) int sysfs_str(int dir, char *ret, size_t size,
						    const char *fmt, ...);
/* Numbers in decimal or 0x hexadecimal. -EINVAL: not a number, -ERANGE: does not fit. */
__attribute__((format(printf, 3, 4))) int sysfs_u64(int dir, uint64_t *ret, const char *fmt, ...);
__attribute__((format(printf, 3, 4))) int sysfs_u32(int dir, uint32_t *ret, const char *fmt, ...);
__attribute__((format(printf, 3, 4))) int sysfs_int(int dir, int *ret, const char *fmt, ...);

/* Last component of a symbolic link's target; -EOVERFLOW when it does not fit. */
__attribute__((format(printf, 4, 5))) int sysfs_link(int dir, char *ret, size_t size,
						     const char *fmt, ...);
/* The whole target of a symbolic link. */
__attribute__((format(printf, 4, 5))) int sysfs_target(int dir, char *ret, size_t size,
						       const char *fmt, ...);
__attribute__((format(printf, 2, 3))) bool sysfs_exists(int dir, const char *fmt, ...);
/* A descriptor of a directory below; the caller closes it. */
__attribute__((format(printf, 2, 3))) int sysfs_open_dir(int dir, const char *fmt, ...);

/* Calls fn for every entry but those that begin with a dot, in no order. A negative return of fn
 * ends the walk and is returned; otherwise the number of entries. */
typedef int sysfs_entry_fn(int dir, const char *name, void *arg);
int sysfs_list(int dir, const char *path, sysfs_entry_fn *fn, void *arg);

/* What this thread ran out of (-EMFILE, -ENFILE, -ENOMEM) since it was last asked; 0 = nothing.
 * What was read meanwhile may lack things that are there. */
int sysfs_starved(void);

/* --- pure --------------------------------------------------------------------------------- */

/* The whole string must be one number: "12", "0x1f"; no sign, no blanks, no unit. */
int parse_u64(const char *, uint64_t *ret);
/* An optional '-' and decimal digits, or 0x hexadecimal. */
int parse_int(const char *, int *ret);
/* The number in front of a colon: "4: ACTIVE" is 4. */
int parse_leading_u32(const char *, uint32_t *ret);
/* Port rate as rate_show() in linux/drivers/infiniband/core/sysfs.c prints it, to bits per second:
 * "400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X SDR)". */
int parse_rate(const char *, uint64_t *ret_bps);
/* Speed of a PCIe lane as pci_speed_string() in linux/drivers/pci/probe.c spells it, to mega
 * transfers a second: "16.0 GT/s PCIe"; kernels before 5.7 without the last word. "Unknown" is
 * -EINVAL. */
int parse_link_speed(const char *, uint32_t *ret_mt_s);
/* "a088:c203:0000:0001", host order. */
int parse_guid(const char *, uint64_t *ret);
/* Eight groups of four hexadecimal digits, as gids/N prints them. */
int parse_gid(const char *, uint8_t ret[16]);
