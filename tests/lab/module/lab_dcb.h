/* SPDX-License-Identifier: Apache-2.0 */
/* lab_dcb.h - the settings of a netdev for `dcb`, and the PFC of its switch port.
 */
#pragma once

#include "lab_function.h"

extern const struct dcbnl_rtnl_ops dcb_ops;
extern const struct attribute_group dcb_group;
