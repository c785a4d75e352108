/* SPDX-License-Identifier: Apache-2.0 */
/* lab_netdev.h - the function's Ethernet side: its link, its speed, 802.3x pause, ethtool's
 * statistics.
 *
 * Its carrier is set as a dummy's is, by writing class/net/NAME/carrier; speed and pause by
 * ethtool. */
#pragma once

#include "lab_function.h"

int netdev_make(struct lab_nic *);
void netdev_unmake(struct lab_nic *);
