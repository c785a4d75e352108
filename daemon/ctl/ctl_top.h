/* ctl_top.h - rocectl top: the node's ports, live; on what is no terminal one text. */
#pragma once

#include "question.h"

enum ctl_exit ctl_top(const struct ctl *);
