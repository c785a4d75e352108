/* SPDX-License-Identifier: Apache-2.0 */
/* cni_limits.h - timeouts of an ADD of CNI, from inside out: the engine's is the shortest, so that
 * it undoes the attach and rocelet-cni prints the reason instead of a closed connection. */
#pragma once

/* Engine: from the request to the start of the undo. */
#define CNI_ADD_ATTACH_MS 45000
/* rocelet-cni: wait for the reply. The HTTP server keeps the connection longer than that. */
#define CNI_ADD_WAIT_MS	  60000
#define CNI_ADD_KEEP_MS	  (CNI_ADD_WAIT_MS + 5000)
