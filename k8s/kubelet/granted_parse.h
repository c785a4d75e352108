/* granted_parse.h - which device nodes the kubelet's checkpoint says containers were given. */
#pragma once

#include <sys/stat.h>

#include "err.h"
#include "granted.h"

/* The text of device-plugins/kubelet_internal_checkpoint (pod_resources.h): of each entry what is
 * in its AllocResp, a ContainerAllocateResponse as base64. Entries without nodes or our annotation
 * are left out, and so are those that cannot be decoded. Returns how many could not; -EBADMSG: it
 * is no checkpoint; -ENOMEM. *ret is untouched on failure. Pure. */
int granted_parse(struct granted_list *ret, const char *text, size_t len, struct err *);
/* The same of the file below the kubelet's folder; messages name it. The kubelet replaces the file
 * as a whole: one with the status *known has been read already, which is -EALREADY; otherwise
 * *known becomes that of the file that is read. -ENOENT: there is none. */
int granted_read(struct granted_list *ret, const char *kubelet_dir, struct stat *known,
		 struct err *);
