/* sysfs_tree.h - sysfs trees of whole nodes, from the generator, as roots for hw/; single files and
 * links are tmptree.h's. */
#pragma once

#include "hw.h"

/* Fills dir with what build/bench/mk_sysfs writes for so many functions. */
void sysfs_tree_generate(const char *dir, unsigned pfs, unsigned vfs);
/* hw_open() with every root at dir. */
struct hw sysfs_tree_open(const char *dir);
