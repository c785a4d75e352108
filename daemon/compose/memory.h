/* memory.h - what keeps the daemon small.
 *
 * Its heap: work is done on one thread of several at a time, and with a heap for each, all of them
 * grow to what the largest page needs. Its code: relocating two dozen libraries reads pages all
 * over them, 4 MB, of which less than one is ever used again. And GnuTLS, which libmicrohttpd
 * brings along: it is not initialised in a program that has this part before TLS is asked for. */
#pragma once

/* One heap; large pieces are given back when they are freed (mallopt(3): a threshold that is not
 * fixed follows the largest of them). Before the first thread. */
void memory_keep_small(void);

/* Initialises GnuTLS after all: before the first use of TLS. -ELIBACC: it is not there, or fails
 * its own tests. */
int memory_start_tls(void);

/* Takes the pages of code and constants of everything that is loaded out of our page tables. They
 * stay in the page cache, for the kernel to keep or reclaim; what is needed again is mapped again
 * when it is touched. Any thread, any time; what is modified is left alone. A breakpoint or uprobe
 * that was set in such a page is lost. */
void memory_give_back_code(void);
