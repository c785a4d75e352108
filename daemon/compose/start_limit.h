/* SPDX-License-Identifier: Apache-2.0 */
/* start_limit.h - limits the time of reads before the event loop runs. The configuration file and,
 * with --strict or --check-config, the folders of IPAM plugins may be on a file system that does
 * not answer; the daemon could not report then what it waits for. */
#pragma once

#define START_LIMIT_S 30

/* Begins the limit. If start_limit_end() is not called within START_LIMIT_S seconds, the process
 * writes a message with `doing` (not copied) to stderr and exits with status 1, whatever its other
 * threads wait for. Needs a thread; if none can be created, there is no limit. Must not be nested.
 */
void start_limit_begin(const char *doing);
/* Ends the limit. Returns when its thread has exited, so that privileges dropped afterwards are
 * dropped by all threads. */
void start_limit_end(void);
