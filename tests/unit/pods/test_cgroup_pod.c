// SPDX-License-Identifier: Apache-2.0
/* Finds a process' pod by its cgroups, in the spellings of the cgroup drivers and runtimes. */
#include "process_owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "test_group.h"

#define UID	   "8dbc5577-d0e2-4706-8787-57d52c03ddf2"
#define UID_	   "8dbc5577_d0e2_4706_8787_57d52c03ddf2"
#define STATIC_UID "0123456789abcdef0123456789abcdef"
#define CONTAINER  "b0f1c4ec2c5e3b7f7e1bb8d26a9f4f7dcb5d9d0a1f2e3d4c5b6a798877665544"

static void assert_pod(const char *text, const char *uid)
{
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1), found[POD_UID_SIZE] = "untouched";
	bool is_pod;

	memcpy(exact, text, len);
	is_pod = cgroup_pod_uid(exact, len, found);
	if (is_pod != (uid != NULL) || strcmp(found, uid ? uid : "untouched") != 0)
		fail_msg("%s: %s", text, is_pod ? found : "no pod found");
	free(exact);
}

static void test_spellings(void **state)
{
	(void)state;
	/* cgroup v2, systemd: containerd, CRI-O */
	assert_pod("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
		   ".slice/cri-containerd-" CONTAINER ".scope\n",
		   UID);
	assert_pod("0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
		   ".slice/crio-" CONTAINER ".scope/container\n",
		   UID);
	assert_pod("/kubepods.slice/kubepods-pod" UID_ ".slice", UID);
	/* cgroupfs, v2 and v1; guaranteed pods are at the top level */
	assert_pod("0::/kubepods/besteffort/pod" UID "/" CONTAINER "\n", UID);
	assert_pod("0::/kubepods/pod" UID "/crio-" CONTAINER, UID);
	assert_pod("13:rdma:/\n12:memory:/kubepods/burstable/pod" UID "/" CONTAINER
		   "\n1:name=systemd:/kubepods/burstable/pod" UID "/" CONTAINER "\n",
		   UID);
	/* static pods */
	assert_pod("0::/kubepods/burstable/pod" STATIC_UID "/" CONTAINER, STATIC_UID);
	assert_pod("0::/kubepods.slice/kubepods-pod" STATIC_UID ".slice/x.scope", STATIC_UID);
}

static void test_prefixes_of_cgroup_paths(void **state)
{
	(void)state;
	/* a node that is a container; --cgroup-root */
	assert_pod("0::/docker/" CONTAINER "/kubelet/kubepods/burstable/pod" UID "/" CONTAINER,
		   UID);
	assert_pod("0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
		   "kubelet-kubepods-besteffort-pod" UID_ ".slice/cri-containerd-x.scope",
		   UID);
	assert_pod("0::/../../kubepods/burstable/pod" UID "/x", UID);
	/* the runtime and the kubelet have different drivers */
	assert_pod("0::/system.slice/containerd.service/kubepods-burstable-pod" UID_
		   ".slice:cri-containerd:" CONTAINER,
		   UID);
	/* a pod inside a pod: the outer one is found */
	assert_pod("0::/kubepods/burstable/pod" UID "/x/kubelet/kubepods/pod" STATIC_UID "/y", UID);
}

static void test_paths_without_a_pod(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"/",
		"0::/",
		"0::/system.slice/sshd.service\n",
		"0::/kubepods.slice/kubepods-burstable.slice\n",
		"0::/pod" UID "/x", /* without kubepods */
		"0::/machine.slice/libpod-" CONTAINER ".scope",
		"0::/kubepods/burstable/pod" UID "x/y", /* more than a uid */
		"0::/kubepods/burstable/pod" UID_ "/y", /* the other driver's spelling */
		"0::/kubepods/burstable/pod/y",
		"0::/kubepods/burstable/pod8dbc5577-d0e2",
		"0::/kubepods/burstable/podGdbc5577-d0e2-4706-8787-57d52c03ddf2/y",
		"0::/kubepods/other/more/pod" UID,
		"0::/kubepods\n1::/pod" UID, /* in another line */
		"0::/kubepods/burstable\n1::pod" UID,
		"0::/kubepods-pod" UID ".slice", /* the other driver's spelling */
		"0::/kubepods-pod" UID_,
		"0::/kubepods-pod" UID_ ".slicer",
		"0::/xkubepods-pod" UID_ ".slice",
		"0::/kubepods-burstable-besteffort-pod" UID_ ".slice",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_pod(texts[i], NULL);
}

static void test_truncated_anywhere(void **state)
{
	static const char whole[] = "0::/kubepods.slice/kubepods-pod" UID_ ".slice";
	char found[POD_UID_SIZE];

	(void)state;
	for (size_t n = 0; n < strlen(whole); n++) {
		char *cut = malloc(n ? n : 1);

		memcpy(cut, whole, n);
		assert_false(cgroup_pod_uid(cut, n, found));
		free(cut);
	}
}

TEST_GROUP(cgroup_pod)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_prefixes_of_cgroup_paths),
		cmocka_unit_test(test_paths_without_a_pod),
		cmocka_unit_test(test_truncated_anywhere),
	};

	return test_group_run(tests, NULL, NULL);
}
