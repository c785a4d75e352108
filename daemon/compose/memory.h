/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - keeps the daemon's memory small.
 *
 * Heap: usually only one thread works at a time, but with a heap per thread, each heap would grow
 * to the size of the largest page. Each thread also keeps freed blocks of up to 1 kB, which nothing
 * returns: with all worker threads, 3 MB after a thousand devices have come and gone. Only the
 * environment can prevent that (GLIBC_TUNABLES=glibc.malloc.tcache_count=0); the image and the
 * systemd unit do. Code: relocating two dozen libraries touches 4 MB of their
 * pages, of which less than 1 MB is used again. GnuTLS, a dependency of libmicrohttpd: linking this
 * file keeps it uninitialised until TLS is needed. */
#pragma once

/* Uses one heap; large blocks are returned when they are freed (mallopt(3): without a fixed
 * threshold, it grows with the largest block). Call before the first thread. */
void memory_keep_small(void);

/* Initialises GnuTLS: call before the first use of TLS. -ELIBACC: it is missing, or its self-tests
 * fail. */
int memory_start_tls(void);

/* Returns free pages of the heap, and unmaps the code and constants of the program and all loaded
 * libraries. Those pages stay in the page cache, and are mapped again when accessed. May be called
 * by any thread at any time, but the code that runs next is a little slower. Modified pages stay
 * mapped. A breakpoint or uprobe in an unmapped page is lost. */
void memory_release(void);
