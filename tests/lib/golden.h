/* SPDX-License-Identifier: Apache-2.0 */
/* golden.h - compares a text with a file of the repository; UPDATE_GOLDEN=1 rewrites the file
 * instead. Tests run from the top of the repository. */
#pragma once

#include <stddef.h>
#include <stdio.h>

void assert_golden_text(const char *path, const char *text, size_t len);
void assert_golden(const char *path, void (*print)(FILE *));
