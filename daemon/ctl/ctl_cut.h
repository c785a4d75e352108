/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_cut.h - shortens names that do not fit, in the middle, because similar names differ at their
 * ends. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Cuts a text to `width` characters, of which the last `after` are its end. ascii: '~' replaces the
 * part that is left out, else an ellipsis. */
void ctl_cut_middle(char *text, size_t size, size_t width, size_t after, bool ascii);
/* Cuts a pod's name: keeps its start and its last word, "train/llm-70~-12", "train/llm~-q4z7m"; of
 * a long word the last characters. */
void ctl_cut_pod(char *text, size_t size, size_t width, bool ascii);
