// strict.js - the first of our own: each mistake is an error, and the daemon is asked relative to where the page is, whatever stands before that.
'use strict';

// Behind a proxy the last slash may be missing; without it what is relative would be beside the page, not below it.
if (!location.pathname.endsWith('/'))
	history.replaceState(null, '', `${location.pathname}/${location.search}${location.hash}`);
