/* ctl_show_status.h - rocectl status: one screen, what is not well first. Pure: JSON in, text out.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* ctl_status()'s document. */
void ctl_show_status(const json_t *, bool colours, FILE *);
