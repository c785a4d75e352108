/* SPDX-License-Identifier: Apache-2.0 */
/* fds.h - number of open file descriptors of this process. */
#pragma once

unsigned fds_open(void);
