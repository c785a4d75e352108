/* tree.h - a small file tree in a temporary directory, made and taken apart by a test. */
#pragma once

struct tree {
	char path[64];
	int fd;
};

void tree_init(struct tree *);
void tree_done(struct tree *); /* removes everything */

/* Writes a file below, with the directories that lead to it; an existing one is overwritten. */
__attribute__((format(printf, 3, 4))) void tree_write(struct tree *, const char *text,
						      const char *path_fmt, ...);
/* Removes a file or an empty directory. */
__attribute__((format(printf, 2, 3))) void tree_remove(struct tree *, const char *path_fmt, ...);
