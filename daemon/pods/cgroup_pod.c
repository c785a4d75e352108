// SPDX-License-Identifier: Apache-2.0
/* cgroup_pod.c - checks the path components one by one, each with the two before it. */
#include "cgroup_pod.h"

#include <string.h>

#include "cleanup.h"

struct word {
	const char *s;
	size_t len;
};

static bool is(struct word w, const char *text)
{
	return w.len == strlen(text) && memcmp(w.s, text, w.len) == 0;
}

/* Removes the prefix `text`; returns false if *w does not begin with it. */
static bool cut_prefix(struct word *w, const char *text)
{
	size_t n = strlen(text);

	if (w->len < n || memcmp(w->s, text, n) != 0)
		return false;
	w->s += n;
	w->len -= n;
	return true;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Parses a UUID with this separator between its groups, or the 32 digits of a static pod, and
 * advances *w past it. */
static bool cut_uid(struct word *w, char dash, char ret[POD_UID_SIZE])
{
	bool grouped = w->len > 8 && w->s[8] == dash;
	size_t n = grouped ? 36 : 32;
	char uid[POD_UID_SIZE] = "";

	if (w->len < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		bool at_dash = grouped && (i == 8 || i == 13 || i == 18 || i == 23);

		if (at_dash ? w->s[i] != dash : !is_hex(w->s[i]))
			return false;
		uid[i] = at_dash ? '-' : w->s[i];
	}
	memcpy(ret, uid, sizeof(uid));
	w->s += n;
	w->len -= n;
	return true;
}

/* Matches "kubepods-burstable-pod<uid>.slice", after any prefix from --cgroup-root. If the runtime
 * and the kubelet use different drivers, ":cri-containerd:<id>" follows. */
static bool is_slice(struct word w, char ret[POD_UID_SIZE])
{
	static const char name[] = "kubepods";
	const char *found = memmem(w.s, w.len, name, strlen(name));
	char uid[POD_UID_SIZE];

	if (!found || (found > w.s && found[-1] != '-'))
		return false;
	w.len -= (size_t)(found - w.s) + strlen(name);
	w.s = found + strlen(name);
	if (!cut_prefix(&w, "-burstable"))
		cut_prefix(&w, "-besteffort");
	if (!cut_prefix(&w, "-pod") || !cut_uid(&w, '_', uid) || !cut_prefix(&w, ".slice") ||
	    (w.len > 0 && w.s[0] != ':'))
		return false;
	memcpy(ret, uid, sizeof(uid));
	return true;
}

/* Matches "kubepods", optionally "burstable" or "besteffort", then "pod<uid>". */
static bool cgroup_pod_is_folder(struct word w, const struct word before[2], char ret[POD_UID_SIZE])
{
	bool by_class = is(before[0], "burstable") || is(before[0], "besteffort");
	char uid[POD_UID_SIZE];

	if (!is(before[by_class ? 1 : 0], "kubepods") || !cut_prefix(&w, "pod") ||
	    !cut_uid(&w, '-', uid) || w.len > 0)
		return false;
	memcpy(ret, uid, sizeof(uid));
	return true;
}

static size_t component_length(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] != '/' && s[n] != '\n')
		n++;
	return n;
}

bool cgroup_pod_uid(const char *text, size_t len, char ret[POD_UID_SIZE])
{
	static const struct word none = {"", 0};
	struct word before[2] = {none, none};

	while (len > 0) {
		struct word w = {text, component_length(text, len)};
		size_t step = w.len < len ? w.len + 1 : w.len;

		if (is_slice(w, ret) || cgroup_pod_is_folder(w, before, ret))
			return true;
		before[1] = text[step - 1] == '\n' ? none : before[0];
		before[0] = text[step - 1] == '\n' ? none : w;
		text += step;
		len -= step;
	}
	return false;
}
