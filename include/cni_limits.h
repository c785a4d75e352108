/* SPDX-License-Identifier: Apache-2.0 */
/* cni_limits.h - timeouts of CNI requests. Those of the engine are the shortest, so that it undoes
 * the attach before rocelet-cni gives up, which can then print the reason. */
#pragma once

/* Engine: from the request to the start of the undo. */
#define CNI_ADD_ATTACH_MS 45000
/* rocelet-cni: wait for the reply. The HTTP server keeps the connection longer than that. */
#define CNI_ADD_WAIT_MS	  60000
#define CNI_ADD_KEEP_MS	  (CNI_ADD_WAIT_MS + 5000)
/* Engine: time that an ADD waits until its device is free and granted. */
#define CNI_EARLY_MS	  10000
/* Engine: after this time a DEL is answered while its return continues, and a CHECK fails.
 * rocelet-cni waits 20 s for each, because IPAM plugins need time, too. */
#define CNI_WAIT_MS	  10000
