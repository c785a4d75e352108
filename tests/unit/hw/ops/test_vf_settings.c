// SPDX-License-Identifier: Apache-2.0
/* Settings of VFs through a PF whose driver rejects some of them. The fake kernel behaves like
 * do_setvfinfo(): it applies them in its order and stops at the first rejected one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "cleanup.h"
#include "fake_netlink.h"
#include "faults.h"
#include "netdev_ops.h"
#include "rtnl_vf.h"
#include "test_group.h"

struct fixture {
	struct nlsock s;
	struct fake_netlink *kernel;
	struct vf_settings vf; /* current settings */
	unsigned refused;      /* fields that the driver cannot set */
	int code;
	unsigned made; /* fields that were set */
	unsigned n_sets, n_gets;
	bool no_vfs;
};

/* Applies attributes up to the first rejected one. The request has them in the kernel's order,
 * except for the link state. */
static int set(struct fixture *f, const struct nlmsghdr *req)
{
	static const unsigned fields[IFLA_VF_MAX + 1] = {
		[IFLA_VF_MAC] = VF_MAC,
		[IFLA_VF_VLAN_LIST] = VF_VLAN,
		[IFLA_VF_SPOOFCHK] = VF_SPOOFCHK,
		[IFLA_VF_TRUST] = VF_TRUST,
	};
	struct nlattr *list = nlmsg_find_attr((struct nlmsghdr *)req, sizeof(struct ifinfomsg),
					      IFLA_VFINFO_LIST);
	struct nlattr *info = nla_data(list), *a;
	int left;

	f->n_sets++;
	nla_for_each_nested (a, info, left) {
		if (f->refused & fields[nla_type(a)])
			return f->code;
		f->made |= fields[nla_type(a)];
	}
	return 0;
}

static int get(struct fixture *f, struct fake_netlink *k, const struct nlmsghdr *req)
{
	struct nl_msg *m = rtnl_set_vf(7, 5, &f->vf, ~0u);

	f->n_gets++;
	nlmsg_hdr(m)->nlmsg_type = RTM_NEWLINK;
	if (f->no_vfs)
		nlmsg_free(m);
	else
		fake_netlink_send(k, req, m);
	return 0;
}

static int answer(struct fake_netlink *k, const struct nlmsghdr *req, void *arg)
{
	struct fixture *f = arg;

	return req->nlmsg_type == RTM_GETLINK ? get(f, k, req) : set(f, req);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->code = -EOPNOTSUPP;
	f->vf = (struct vf_settings){.fields = VF_MAC | VF_MIN_RATE | VF_MAX_RATE,
				     .mac = {2, 0, 0, 0, 0, 5},
				     .max_rate = 1000};
	f->kernel = fake_netlink_start(&f->s, answer, f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fake_netlink_stop(f->kernel, &f->s);
	free(f);
	return 0;
}

static void test_settings_are_read(void **state)
{
	struct fixture *f = *state;
	struct vf_settings s;
	struct err e = {0};

	assert_int_equal(vf_settings_get(&f->s, 7, 5, &s, &e), 0);
	assert_int_equal(s.fields, f->vf.fields);
	assert_int_equal(s.max_rate, 1000);
	assert_int_equal(vf_settings_get(&f->s, 7, 6, &s, &e), -ENODEV);
	assert_string_equal(e.msg, "the PF has no VF 6");
	f->no_vfs = true;
	assert_int_equal(vf_settings_get(&f->s, 7, 5, &s, &e), -ENODEV);
}

static const struct vf_settings several = {
	.fields = VF_MAC | VF_VLAN | VF_SPOOFCHK | VF_TRUST,
	.mac = {2, 0, 0, 0, 0, 9},
	.vlan = 100,
	.vlan_proto = ETH_P_8021Q,
};

static void test_one_request_on_success(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};

	assert_int_equal(vf_settings_set(&f->s, 7, 5, &several, &e), 0);
	assert_int_equal(f->n_sets, 1);
	assert_int_equal(f->n_gets, 0);
	assert_int_equal(vf_settings_set(&f->s, 7, 5, &(struct vf_settings){0}, &e), 0);
	assert_int_equal(f->n_sets, 1);
}

static void test_rejected_settings_are_named(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};

	f->refused = VF_MAC;
	fake_netlink_say(f->kernel, "not while it is trusted");
	assert_int_equal(vf_settings_set(&f->s, 7, 5, &several, &e), -EOPNOTSUPP);
	assert_string_equal(e.msg, "VF 5: the PF's driver rejects mac: not while it is trusted: "
				   "Operation not supported");
	assert_int_equal(e.code, -EOPNOTSUPP);
	assert_int_equal(f->n_sets, 1 + 4);
	f->made = 0;
	f->refused = VF_MAC | VF_TRUST;
	f->code = -EINVAL;
	assert_int_equal(vf_settings_set(&f->s, 7, 5, &several, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "rejects mac, trust: "));
	/* The other settings are applied. */
	assert_int_equal(f->made, VF_VLAN | VF_SPOOFCHK);
}

/* Rejects a request with several settings and accepts each one alone: the result is a success. */
static int refuses_two_at_once(struct fake_netlink *k, const struct nlmsghdr *req, void *arg)
{
	(void)k;
	(void)arg;
	return req->nlmsg_len > 100 ? -EINVAL : 0;
}

static void test_one_by_one_may_succeed(void **state)
{
	struct fake_netlink *kernel;
	struct nlsock s;
	struct err e = {0};
	(void)state;

	kernel = fake_netlink_start(&s, refuses_two_at_once, NULL);
	assert_int_equal(vf_settings_set(&s, 7, 5, &several, &e), 0);
	assert_int_equal(e.code, 0);
	fake_netlink_stop(kernel, &s);
}

static void test_other_errors_are_not_retried_one_by_one(void **state)
{
	static const int codes[] = {-ENODEV, -EPERM, -EBUSY};
	struct fixture *f = *state;
	struct err e = {0};

	f->refused = VF_MAC;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		f->n_sets = 0;
		f->code = codes[i];
		assert_int_equal(vf_settings_set(&f->s, 7, 5, &several, &e), codes[i]);
		assert_int_equal(f->n_sets, 1);
		assert_int_equal(strncmp(e.msg, "VF 5: ", 6), 0);
	}
}

/* Accepts only both rates together. */
static int expects_rates(struct fake_netlink *k, const struct nlmsghdr *req, void *arg)
{
	const uint8_t *p = (const void *)req;
	struct ifla_vf_rate rate = {5, 10, 1000};
	struct fixture *f = arg;

	if (req->nlmsg_type == RTM_GETLINK)
		return get(f, k, req);
	return memcmp(p + req->nlmsg_len - sizeof(rate), &rate, sizeof(rate)) == 0 ? 0 : -EPERM;
}

static void test_a_minimum_keeps_the_maximum(void **state)
{
	struct vf_settings want = {.fields = VF_MIN_RATE, .min_rate = 10};
	struct fixture *f = *state;
	struct fake_netlink *kernel;
	struct nlsock s;
	struct err e = {0};

	kernel = fake_netlink_start(&s, expects_rates, f);
	assert_int_equal(vf_settings_set(&s, 7, 5, &want, &e), 0);
	fake_netlink_stop(kernel, &s);
}

static void test_an_unknown_maximum_is_not_reset(void **state)
{
	struct vf_settings want = {.fields = VF_MIN_RATE, .min_rate = 10};
	struct fixture *f = *state;
	struct err e = {0};

	f->vf.fields &= ~(unsigned)(VF_MIN_RATE | VF_MAX_RATE);
	assert_int_equal(vf_settings_set(&f->s, 7, 5, &want, &e), -EOPNOTSUPP);
	assert_non_null(strstr(e.msg, "would remove the maximum"));
	faults_send(0, ENOBUFS);
	assert_int_equal(vf_settings_set(&f->s, 7, 5, &want, &e), -ENOBUFS);
	assert_true(faults_end());
}

static void test_every_send_may_fail(void **state)
{
	struct fixture *f = *state;
	struct err e;
	bool hit = true;
	long nth = 0;

	f->refused = VF_MAC;
	for (; hit; nth++) {
		int r;

		e = (struct err){0};
		faults_send(nth, ENOBUFS);
		r = vf_settings_set(&f->s, 7, 5, &several, &e);
		hit = faults_end();
		assert_true(r == (nth == 0 ? -ENOBUFS : nth == 1 ? -ENOBUFS : -EOPNOTSUPP));
		assert_int_equal(e.code, r);
	}
	assert_int_equal(nth, 6);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

TEST_GROUP(vf_settings)
{
	const struct CMUnitTest tests[] = {
		TEST(test_settings_are_read),
		TEST(test_one_request_on_success),
		TEST(test_rejected_settings_are_named),
		TEST(test_one_by_one_may_succeed),
		TEST(test_other_errors_are_not_retried_one_by_one),
		TEST(test_a_minimum_keeps_the_maximum),
		TEST(test_an_unknown_maximum_is_not_reset),
		TEST(test_every_send_may_fail),
	};

	return test_group_run(tests, NULL, NULL);
}
