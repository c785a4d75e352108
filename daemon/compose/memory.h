/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - keeps the daemon's memory small.
 *
 * Heap: only one of several threads works at a time, but with a heap per thread, each would grow to
 * the size of the largest page. Code: relocating two dozen libraries touches 4 MB of their pages,
 * of which less than 1 MB is used again. GnuTLS, a dependency of libmicrohttpd: linking this file
 * keeps it uninitialised until TLS is needed. */
#pragma once

/* Uses one heap; large blocks are returned when they are freed (mallopt(3): without a fixed
 * threshold, it grows with the largest block). Call before the first thread. */
void memory_keep_small(void);

/* Initialises GnuTLS: call before the first use of TLS. -ELIBACC: it is missing, or its self-tests
 * fail. */
int memory_start_tls(void);

/* Unmaps the pages of code and constants of everything that is loaded. They stay in the page cache,
 * and are mapped again when accessed. Any thread, any time; modified pages are not touched. A
 * breakpoint or uprobe in such a page is lost. */
void memory_give_back_code(void);
