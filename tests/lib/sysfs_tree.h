/* SPDX-License-Identifier: Apache-2.0 */
/* sysfs_tree.h - generated sysfs trees of whole nodes, as roots for hw/. tmptree.h creates single
 * files and links. */
#pragma once

#include "hw.h"

/* Fills dir by running build/bench/mk_sysfs for this number of functions. */
void sysfs_tree_generate(const char *dir, unsigned pfs, unsigned vfs);
/* hw_open() with every root at dir. */
struct hw sysfs_tree_open(const char *dir);
