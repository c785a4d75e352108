/* SPDX-License-Identifier: Apache-2.0 */
/* ipam_requests.h - IPAM plugins that run for a CHECK, GC or STATUS of CNI: beside the operations
 * on devices, which run them for ADD and DEL (operation.h). */
#pragma once

struct attach_engine;

/* Kills the plugins and answers their requests with -ECANCELED. */
void ipam_requests_close(struct attach_engine *);
