/* faults.h - makes the nth allocation, send or write of our own code fail. The linker sends the
 * calls here
 * (--wrap, see the Makefile); those within libraries are not touched. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The nth (from 0) malloc(), calloc(), realloc(), reallocarray(), strdup() or strndup() from now on
 * returns NULL; -1 = none. */
void faults_alloc(long nth);
/* Bytes asked for by malloc() and calloc() since faults_alloc(). */
size_t faults_allocated(void);
/* The nth send() or sendto() from now on fails with this errno; -1 = none. */
void faults_send(long nth, int code);
/* The nth write(), pwrite(), fsync(), fdatasync() or mknodat(), likewise. */
void faults_write(long nth, int code);
/* Ends all; whether one has failed since it was asked for. */
bool faults_end(void);
