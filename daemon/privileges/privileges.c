// SPDX-License-Identifier: Apache-2.0
/* privileges.c - see privileges.h. */
#include "privileges.h"

#include <cap-ng.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>

#include "cleanup.h"
#include "syscalls.h"

/* --- capabilities ----------------------------------------------------------------------------- */

#define CAPABILITIES_MAX 64

static uint64_t read_set(capng_type_t set)
{
	uint64_t found = 0;

	capng_clear(CAPNG_SELECT_ALL);
	if (capng_get_caps_process() < 0)
		return 0;
	for (unsigned cap = 0; cap < CAPABILITIES_MAX; cap++)
		if (capng_have_capability(set, cap))
			found |= UINT64_C(1) << cap;
	return found;
}

uint64_t privileges_effective(void)
{
	return read_set(CAPNG_EFFECTIVE);
}

/* Selects exactly these for all sets; capabilities not named, including unknown ones, are in
 * none. */
static void privileges_choose(uint64_t keep)
{
	capng_clear(CAPNG_SELECT_ALL);
	for (unsigned cap = 0; cap < CAPABILITIES_MAX; cap++)
		if (keep & UINT64_C(1) << cap)
			capng_update(CAPNG_ADD,
				     CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET, cap);
}

int privileges_drop_capabilities(uint64_t keep, struct err *e)
{
	bool may_bound = privileges_effective() & UINT64_C(1) << CAP_SETPCAP;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(e, -errno, "no_new_privs: %s", strerror(errno));
	/* Kernels before 4.3 have no ambient set (EINVAL). */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
		return err_set(e, -errno, "ambient capabilities: %s", strerror(errno));
	privileges_choose(keep & read_set(CAPNG_PERMITTED));
	/* The bounding set first, because CAP_SETPCAP may be dropped below. */
	if (may_bound && capng_apply(CAPNG_SELECT_BOUNDS) < 0)
		return err_set(e, -EPERM, "the bounding set cannot be made smaller");
	if (capng_apply(CAPNG_SELECT_CAPS) < 0)
		return err_set(e, -EPERM, "capabilities cannot be dropped");
	return 0;
}

/* --- system calls ----------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

static void cleanup_filter(scmp_filter_ctx *f)
{
	if (*f)
		seccomp_release(*f);
}

#define AUTO_FILTER __attribute__((cleanup(cleanup_filter))) scmp_filter_ctx

/* A call that does not exist on this architecture need not be allowed. */
static bool privileges_number_of(const char *name, int *ret)
{
	*ret = seccomp_syscall_resolve_name(name);
	return *ret >= 0;
}

static int privileges_add_allowed(scmp_filter_ctx f, unsigned calls)
{
	int r = 0, number;

	for (size_t i = 0; i < n_syscalls_allowed && r == 0; i++)
		if (syscalls_allowed[i].use & calls &&
		    privileges_number_of(syscalls_allowed[i].name, &number))
			r = seccomp_rule_add(f, SCMP_ACT_ALLOW, number, 0);
	return r;
}

static int add_conditional(scmp_filter_ctx f, unsigned calls)
{
	int r = 0, number;

	for (size_t i = 0; i < n_syscalls_conditional && r == 0; i++) {
		const struct syscall_condition *c = &syscalls_conditional[i];
		const struct scmp_arg_cmp is = {c->argument, SCMP_CMP_EQ, c->value, 0};

		if (c->use & calls && privileges_number_of(c->name, &number))
			r = seccomp_rule_add_array(f, SCMP_ACT_ALLOW, number, 1, &is);
	}
	return r;
}

static int add_fatal(scmp_filter_ctx f)
{
	int r = 0, number;

	for (size_t i = 0; i < n_syscalls_fatal && r == 0; i++)
		if (privileges_number_of(syscalls_fatal[i], &number))
			r = seccomp_rule_add(f, SCMP_ACT_KILL_PROCESS, number, 0);
	return r;
}

/* CTL_LOG needs Linux 4.14. CTL_OPTIMIZE makes a binary tree instead of a list, for kernels before
 * 5.11, which evaluate the filter for every call. */
static void set_attributes(scmp_filter_ctx f)
{
	seccomp_attr_set(f, SCMP_FLTATR_CTL_NNP, 0); /* is set already */
	seccomp_attr_set(f, SCMP_FLTATR_CTL_LOG, 1);
	seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
}

int privileges_filter_calls(unsigned calls, enum seccomp_mode mode, struct err *e)
{
	bool logs = mode == SECCOMP_LOG;
	AUTO_FILTER f = NULL;
	int r;

	if (mode == SECCOMP_OFF)
		return 0;
	if (HAS_SANITIZER)
		return err_set(e, -EOPNOTSUPP,
			       "built with a sanitizer, which makes calls of its own");
	f = seccomp_init(logs ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(ENOSYS));
	if (!f)
		return err_set(e, -ENOMEM, "out of memory");
	set_attributes(f);
	r = privileges_add_allowed(f, calls);
	if (r == 0)
		r = add_conditional(f, calls);
	if (r == 0 && !logs)
		r = add_fatal(f);
	if (r == 0)
		r = seccomp_load(f);
	return r < 0 ? err_set(e, r == -EINVAL ? -EOPNOTSUPP : r, "%s", strerror(-r)) : 0;
}
