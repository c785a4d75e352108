/* SPDX-License-Identifier: Apache-2.0 */
/* confinement.h - which Linux security module confines this process, for messages. */
#pragma once

#include <stddef.h>

#define CONFINEMENT_SIZE 160

/* Pure: the text of /proc/PID/attr/current as "SELinux type container_t" or "AppArmor profile
 * cri-containerd.apparmor.d"; "" if the process is not confined. SELinux labels are
 * user:role:type:level (selinux(8)), AppArmor's are "NAME (MODE)" or "unconfined" (apparmor(7));
 * only mode enforce confines. */
void confinement_describe(const char *label, char ret[CONFINEMENT_SIZE]);
/* The same of this process; "" also if it cannot be read. */
void confinement_read(char ret[CONFINEMENT_SIZE]);
