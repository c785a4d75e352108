// SPDX-License-Identifier: Apache-2.0
// strict.js - first in the script: strict mode for all that follow.
'use strict';
