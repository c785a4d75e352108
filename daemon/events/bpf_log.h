/* bpf_log.h - what libbpf says goes to our log; of the verifier's, the words that tell why it
 * refused a program are kept for whoever asked for the load. */
#pragma once

#include <stddef.h>

#define BPF_WORDS_SIZE 80 /* with its NUL */

/* From now on, of all threads. */
void bpf_log_follow(void);
/* This thread's last refusal, which is forgotten with it; "" = there was none. Up to the next
 * call. */
const char *bpf_log_take_words(void);
/* What decides: `text` is a message of libbpf, that with a verifier's log or another one, in which
 * case *ret stays. */
void bpf_log_words(const char *text, char ret[static BPF_WORDS_SIZE]);
