/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_log.h - redirects libbpf's messages to our log, and keeps the verifier's reason for a
 * rejection for the caller of the load. */
#pragma once

#include <stddef.h>

#define BPF_WORDS_SIZE 80 /* including the NUL */

/* Starts the redirection, for all threads. */
void bpf_log_follow(void);
/* Returns and clears this thread's last rejection; "" = none. Valid until the next call. */
const char *bpf_log_take_words(void);
/* Extracts the verifier's reason from a libbpf message; *ret is unchanged if the message has no
 * verifier log. */
void bpf_log_words(const char *text, char ret[static BPF_WORDS_SIZE]);
