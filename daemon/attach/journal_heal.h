/* SPDX-License-Identifier: Apache-2.0 */
/* journal_heal.h - after a failed write, finds out when the journal can be written again. Until
 * then, CNI STATUS returns error 50, and /readyz and doctor report the failure. A successful attach
 * would clear the error, too, but a runtime that got error 50 may request no attach. */
#pragma once

struct attach_engine;

/* Begins a try on a worker if the journal is open and its last write has failed, at most once per
 * HEAL_MS. Success clears the error. */
void journal_heal(struct attach_engine *);
