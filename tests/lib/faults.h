/* SPDX-License-Identifier: Apache-2.0 */
/* faults.h - makes the nth allocation, send or write of our own code fail. The linker redirects our
 * calls here (--wrap, see the Makefile), but not those inside libraries. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The nth (from 0) malloc(), calloc(), realloc(), reallocarray(), strdup() or strndup() from now on
 * returns NULL; -1 = none. */
void faults_alloc(long nth);
/* Bytes requested by malloc() and calloc() since faults_alloc(). */
size_t faults_allocated(void);
/* The nth send() or sendto() from now on fails with this errno; -1 = none. */
void faults_send(long nth, int code);
/* The nth write(), pwrite(), fsync(), fdatasync() or mknodat(), likewise. */
void faults_write(long nth, int code);
/* Cancels all; returns whether a fault has occurred. */
bool faults_end(void);
