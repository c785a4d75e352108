/* ctl_lists.h - commands that show what there is: lists, once or as they change, and the status. */
#pragma once

#include "listing.h"
#include "question.h"

enum ctl_exit ctl_list(const struct ctl *, const struct listing *);
enum ctl_exit ctl_status_run(const struct ctl *);

/* It is a terminal, and nobody has asked for no colours (NO_COLOR, no-color.org). */
bool ctl_wants_colours(FILE *out);
