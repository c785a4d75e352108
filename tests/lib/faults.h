/* faults.h - makes the nth allocation or send of our own code fail. The linker sends the calls here
 * (--wrap, see the Makefile); those within libraries are not touched. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The nth (from 0) malloc(), calloc(), realloc(), reallocarray() or strdup() from now on returns
 * NULL; -1 = none. */
void faults_alloc(long nth);
/* Bytes asked for by malloc() and calloc() since faults_alloc(). */
size_t faults_allocated(void);
/* The nth send() from now on fails with this errno; -1 = none. */
void faults_send(long nth, int code);
/* Ends both; whether one has failed since it was asked for. */
bool faults_end(void);
