/* SPDX-License-Identifier: Apache-2.0 */
/* granted_parse.h - reads from the kubelet's checkpoint which device nodes were granted to
 * containers. */
#pragma once

#include <sys/stat.h>

#include "err.h"
#include "granted.h"

/* Parses device-plugins/kubelet_internal_checkpoint (pod_resources.h): the AllocResp of each entry,
 * which is a ContainerAllocateResponse in base64. Entries without nodes or our annotation, and
 * those that cannot be decoded, are left out. Returns the number of entries that cannot be decoded;
 * -EBADMSG: not a checkpoint; -ENOMEM. *ret is untouched on failure. Pure. */
int granted_parse(struct granted_list *ret, const char *text, size_t len, struct err *);
/* Reads and parses the file below the kubelet's folder; messages contain its name. The kubelet
 * always replaces the file as a whole. -EALREADY: the file's status equals *known, so it is
 * unchanged since the last read; otherwise *known is set to the status of the file read. -ENOENT:
 * no file. */
int granted_read(struct granted_list *ret, const char *kubelet_dir, struct stat *known,
		 struct err *);
