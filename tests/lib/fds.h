/* fds.h - how many file descriptors this process has open. */
#pragma once

unsigned fds_open(void);
