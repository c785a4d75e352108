/* SPDX-License-Identifier: Apache-2.0 */
/* trouble_word.h - the one table of troubles that are no verdicts: troubles of a device, its
 * attachment, its link and its resource. Documents, doctor and `rocectl explain` read it, and a
 * test compares the page's titles with it. Pure. */
#pragma once

#include "cause.h"

enum trouble_kind {
	TROUBLE_DEVICE,	    /* it is unhealthy; the word is the reason */
	TROUBLE_ATTACHMENT, /* it fails, is slow, or was changed */
	TROUBLE_LINK,	    /* "link_down": the link of a pod's port, if nothing else reports it */
	TROUBLE_VERDICT,    /* the word is the cause */
	TROUBLE_RESOURCE,   /* a restart of the container fails */
	N_TROUBLE_KINDS
};

const char *trouble_kind_name(enum trouble_kind);

/* Words of TROUBLE_DEVICE are the names of health reasons. */
enum trouble_word {
	WORD_GONE,
	WORD_NO_DRIVER,
	WORD_NO_CHARDEV,
	WORD_NO_RDMA,
	WORD_LINK_DOWN,
	WORD_PORT_DOWN,
	WORD_PCI,
	WORD_DEVLINK,
	WORD_NOT_CLEAN,
	WORD_LEAVING,
	WORD_NODE_CHANGED,
	WORD_NODE_HELD,
	WORD_ATTACHING,
	WORD_RETURNING,
	WORD_BAD,
	WORD_DRIFT,
	WORD_ATTACH_FAILED,
	WORD_NOT_REGISTERED,
	WORD_NO_FILES,
	N_TROUBLE_WORDS
};

struct trouble_row {
	const char *word;
	const char *kind;     /* names of the kinds that have it */
	const char *severity; /* text */
	enum fault_side side;
	const char *sentence; /* what is wrong */
	const char *advice;
};

/* Static. */
const struct trouble_row *trouble_row(enum trouble_word);
/* NULL: no such word. */
const struct trouble_row *trouble_row_find(const char *word);
