// SPDX-License-Identifier: Apache-2.0
#include "privileges.h"

#include <cap-ng.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cleanup.h"
#include "search.h"
#include "syscalls.h"

/* Types that container-selinux and similar policies do not confine. */
static const char *const unconfined_types[] = {"spc_t", "unconfined_t", "unconfined_service_t",
					       "super_t"};

static bool is_unconfined_type(const char *type, size_t len)
{
	return any_of(ARRAY_SIZE(unconfined_types), i,
		      strlen(unconfined_types[i]) == len &&
			      memcmp(type, unconfined_types[i], len) == 0);
}

/* Returns the type in a label; NULL: the label has no third field. */
static const char *selinux_type(const char *label, size_t *ret_len)
{
	const char *role = strchr(label, ':');
	const char *type = role ? strchr(role + 1, ':') : NULL;

	if (!type)
		return NULL;
	*ret_len = strcspn(type + 1, ": \n");
	return type + 1;
}

void confinement_describe(const char *label, char ret[CONFINEMENT_SIZE])
{
	static const char enforced[] = " (enforce)";
	const char *mode = strstr(label, enforced);
	size_t len = 0;
	const char *type = mode ? NULL : selinux_type(label, &len);

	ret[0] = '\0';
	if (mode)
		snprintf(ret, CONFINEMENT_SIZE, "AppArmor profile %.*s",
			 (int)(mode - label < 100 ? mode - label : 100), label);
	else if (type && !is_unconfined_type(type, len))
		snprintf(ret, CONFINEMENT_SIZE, "SELinux type %.*s", (int)(len < 100 ? len : 100),
			 type);
}

void confinement_read(char ret[CONFINEMENT_SIZE])
{
	AUTO_FD fd = open("/proc/self/attr/current", O_RDONLY | O_CLOEXEC);
	char label[512] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, label, sizeof(label) - 1);

	label[n > 0 ? n : 0] = '\0';
	confinement_describe(label, ret);
}

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

/* Selects exactly these capabilities for all sets. */
static void privileges_select(uint64_t keep)
{
	capng_clear(CAPNG_SELECT_ALL);
	for (unsigned cap = 0; cap < CAPABILITIES_MAX; cap++)
		if (keep & UINT64_C(1) << cap)
			capng_update(CAPNG_ADD,
				     CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET, cap);
}

int privileges_drop_capabilities(uint64_t keep, struct err *e)
{
	bool can_reduce_bounds = privileges_effective() & UINT64_C(1) << CAP_SETPCAP;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(e, -errno, "no_new_privs: %s", strerror(errno));
	/* Kernels before 4.3 have no ambient set (EINVAL). */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
		return err_set(e, -errno, "ambient capabilities: %s", strerror(errno));
	privileges_select(keep & read_set(CAPNG_PERMITTED));
	/* The bounding set first, because CAP_SETPCAP may be dropped below. */
	if (can_reduce_bounds && capng_apply(CAPNG_SELECT_BOUNDS) < 0)
		return err_set(e, -EPERM, "the bounding set cannot be reduced");
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

/* Returns the number of a call; false: the call does not exist on this architecture. */
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

/* Sets the filter's attributes. CTL_LOG needs Linux 4.14. CTL_OPTIMIZE produces a binary tree
 * instead of a list, for kernels before 5.11, which evaluate the filter for every call. */
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
			       "built with a sanitizer, which makes additional calls");
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
