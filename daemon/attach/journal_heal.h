/* SPDX-License-Identifier: Apache-2.0 */
/* journal_heal.h - after a failed write, finds out when the journal can be written again. Until
 * then STATUS of CNI answers 50, and /readyz and doctor report it: an attach that succeeds would
 * clear the error, too, but with that answer a runtime may send none. */
#pragma once

struct attach_engine;

/* Begins a try on a worker if the journal is open and its last write has failed, at most once per
 * HEAL_MS. Success clears the error. */
void journal_heal(struct attach_engine *);
