// SPDX-License-Identifier: Apache-2.0
#include "thresholds.h"

static const struct threshold_key keys[N_THRESHOLDS] = {
#define X(key, unit, fallback, least, greatest, help) {#key, unit, fallback, least, greatest, help},
	THRESHOLD_LIST(X)
#undef X
};

static const char *const cc_names[N_CC] = {
	[CC_UNKNOWN] = "unknown",
	[CC_DCQCN] = "dcqcn",
	[CC_PFC_ONLY] = "pfc_only",
	[CC_LOSSY] = "lossy",
};

const struct threshold_key *threshold_key(enum threshold t)
{
	return &keys[t];
}

void thresholds_init(struct thresholds *ret)
{
	ret->expected = CC_UNKNOWN;
	for (int i = 0; i < N_THRESHOLDS; i++)
		ret->value[i] = keys[i].fallback;
}

int thresholds_set(struct thresholds *t, const char *key, double value, struct err *e)
{
	for (int i = 0; i < N_THRESHOLDS; i++) {
		if (strcmp(keys[i].name, key) != 0)
			continue;
		if (!(value >= keys[i].least && value <= keys[i].greatest))
			return err_set(e, -EINVAL, "%s: %g is not from %g to %g", key, value,
				       keys[i].least, keys[i].greatest);
		t->value[i] = value;
		return 0;
	}
	return err_set(e, -EINVAL, "unknown threshold %.60s", key);
}

int thresholds_expect(struct thresholds *t, const char *word, struct err *e)
{
	for (int i = 0; i < N_CC; i++)
		if (strcmp(cc_names[i], word) == 0) {
			t->expected = (enum congestion_control)i;
			return 0;
		}
	return err_set(
		e, -EINVAL,
		"expect_congestion_control: %.60s is none of dcqcn, pfc_only, lossy, unknown",
		word);
}

const char *congestion_control_name(enum congestion_control cc)
{
	return cc_names[cc];
}
