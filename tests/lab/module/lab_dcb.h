/* SPDX-License-Identifier: Apache-2.0 */
/* lab_dcb.h - what `dcb` sets and shows of a netdev, and what the switch port says of its own PFC.
 */
#pragma once

#include "lab_function.h"

extern const struct dcbnl_rtnl_ops dcb_ops;
extern const struct attribute_group dcb_group;
