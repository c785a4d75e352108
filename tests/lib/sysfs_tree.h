/* sysfs_tree.h - sysfs trees for tests: links, and whole nodes from the generator. */
#pragma once

#include "hw.h"

/* Makes a symbolic link below dir, making the folders on the way. */
void sysfs_tree_link(const char *dir, const char *path, const char *target);
/* Fills dir with what build/bench/mk_sysfs writes for so many functions. */
void sysfs_tree_generate(const char *dir, unsigned pfs, unsigned vfs);
/* hw_open() with every root at dir. */
struct hw sysfs_tree_open(const char *dir);
