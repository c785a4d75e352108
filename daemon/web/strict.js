// SPDX-License-Identifier: Apache-2.0
// strict.js - the first script: strict mode for all scripts, and requests relative to the page's address, behind any path prefix.
'use strict';

// A proxy may drop the trailing slash; relative addresses would then resolve to the parent folder.
if (!location.pathname.endsWith('/'))
	history.replaceState(null, '', `${location.pathname}/${location.search}${location.hash}`);
