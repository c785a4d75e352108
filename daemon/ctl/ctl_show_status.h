/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_show_status.h - prints `rocectl status`: one screen. Pure: JSON in, text out. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints the document of ctl_status(). */
void ctl_show_status(const json_t *, bool wide, bool colours, FILE *);
