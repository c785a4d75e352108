/* tmptree.h - a throw-away directory for a test, with whatever files it needs. */
#pragma once

/* A new directory; heap. */
char *tmptree_new(void);
/* Writes a file below it, making the folders on the way; an existing one is overwritten in place.
 */
__attribute__((format(printf, 3, 4))) void tmptree_write(const char *dir, const char *path,
							 const char *fmt, ...);
/* Makes a symbolic link below it, likewise. */
void tmptree_link(const char *dir, const char *path, const char *target);
/* Removes a file, a link or an empty folder. */
void tmptree_remove(const char *dir, const char *path);
/* Removes it with all that is in it, and frees the name. */
void tmptree_free(char *dir);
