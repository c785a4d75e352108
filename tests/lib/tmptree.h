/* SPDX-License-Identifier: Apache-2.0 */
/* tmptree.h - a temporary directory with files for a test. */
#pragma once

/* A new directory; heap. */
char *tmptree_new(void);
/* Writes a file below it, creating folders as needed; an existing file is overwritten in place. */
__attribute__((format(printf, 3, 4))) void tmptree_write(const char *dir, const char *path,
							 const char *fmt, ...);
/* Creates a symbolic link below it, likewise. */
void tmptree_link(const char *dir, const char *path, const char *target);
/* Removes a file, a link or an empty folder. */
void tmptree_remove(const char *dir, const char *path);
/* Removes the directory recursively, and frees the name. */
void tmptree_free(char *dir);
