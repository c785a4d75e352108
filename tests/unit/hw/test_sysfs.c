// SPDX-License-Identifier: Apache-2.0
/* Attribute files: an invalid text is an error, never a number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sysfs.h"
#include "sysfs_fixture.h"
#include "test_group.h"
#include "tmptree.h"

static int u64_of(struct sysfs_fixture *f, const char *text, uint64_t *ret)
{
	tmptree_write(f->dir, "attr", "%s", text);
	return sysfs_u64(f->hw.sys_fd, ret, "attr");
}

static void test_numbers(void **state)
{
	uint64_t v = 0;

	assert_int_equal(u64_of(*state, "0\n", &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(u64_of(*state, "42", &v), 0);
	assert_int_equal(v, 42);
	assert_int_equal(u64_of(*state, "0x15b3\n", &v), 0);
	assert_int_equal(v, 0x15b3);
	assert_int_equal(u64_of(*state, "0XfF\n", &v), 0);
	assert_int_equal(v, 255);
	assert_int_equal(u64_of(*state, "18446744073709551615\n", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(u64_of(*state, "0xffffffffffffffff\n", &v), 0);
	assert_true(v == UINT64_MAX);
}

static void test_invalid_numbers_are_errors(void **state)
{
	static const char *const bad[] = {
		"",    "\n",  "N/A (no PMA)\n", "-1\n",	  "+1\n", "1 2", "12x", "0x",
		"0xg", "1.5", "0x 1",		"1\n2\n", "NaN"};
	uint64_t v = 77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(u64_of(*state, bad[i], &v), -EINVAL);
		assert_int_equal(v, 77);
	}
}

static void test_numbers_that_do_not_fit(void **state)
{
	struct sysfs_fixture *f = *state;
	char digits[401];
	uint64_t v = 77;
	uint32_t v32 = 77;
	int i = 77;

	memset(digits, '9', 400);
	digits[400] = '\0';
	assert_int_equal(u64_of(f, digits, &v), -ERANGE);
	assert_int_equal(u64_of(f, "18446744073709551616", &v), -ERANGE);
	assert_int_equal(v, 77);
	tmptree_write(f->dir, "attr", "4294967296\n");
	assert_int_equal(sysfs_u32(f->hw.sys_fd, &v32, "attr"), -ERANGE);
	assert_int_equal(sysfs_int(f->hw.sys_fd, &i, "attr"), -ERANGE);
	assert_int_equal(v32, 77);
	assert_int_equal(i, 77);
	tmptree_write(f->dir, "attr", "-2147483648\n");
	assert_int_equal(sysfs_int(f->hw.sys_fd, &i, "attr"), 0);
	assert_int_equal(i, INT32_MIN);
	tmptree_write(f->dir, "attr", "-1\n"); /* a device without a NUMA node */
	assert_int_equal(sysfs_int(f->hw.sys_fd, &i, "attr"), 0);
	assert_int_equal(i, -1);
}

static void test_texts_are_trimmed_and_bounded(void **state)
{
	struct sysfs_fixture *f = *state;
	char text[8] = "before";

	tmptree_write(f->dir, "attr", "  a b \n");
	assert_int_equal(sysfs_str(f->hw.sys_fd, text, sizeof(text), "attr"), 3);
	assert_string_equal(text, "a b");
	tmptree_write(f->dir, "attr", "1234567\n");
	assert_int_equal(sysfs_str(f->hw.sys_fd, text, sizeof(text), "attr"), 7);
	tmptree_write(f->dir, "attr", "12345678\n");
	assert_int_equal(sysfs_str(f->hw.sys_fd, text, sizeof(text), "attr"), -EOVERFLOW);
	assert_string_equal(text, "1234567");
	tmptree_write(f->dir, "attr", "\n");
	assert_int_equal(sysfs_str(f->hw.sys_fd, text, sizeof(text), "attr"), 0);
	tmptree_write(f->dir, "attr", "a%cb\n", 0);
	assert_int_equal(sysfs_str(f->hw.sys_fd, text, sizeof(text), "attr"), -EINVAL);
	tmptree_write(f->dir, "attr", "%5000d\n", 1); /* more than a page */
	assert_int_equal(sysfs_str(f->hw.sys_fd, text, sizeof(text), "attr"), -EOVERFLOW);
}

static void test_other_file_types(void **state)
{
	struct sysfs_fixture *f = *state;
	char text[32], longer[SYSFS_PATH_MAX + 10];
	uint64_t v;

	assert_int_equal(sysfs_u64(f->hw.sys_fd, &v, "none"), -ENOENT);
	tmptree_write(f->dir, "dir/file", "1\n");
	assert_int_equal(sysfs_u64(f->hw.sys_fd, &v, "dir"), -EISDIR);
	assert_int_equal(sysfs_u64(f->hw.sys_fd, &v, "dir/file/deeper"), -ENOTDIR);
	snprintf(longer, sizeof(longer), "%s/fifo", f->dir);
	assert_int_equal(mkfifo(longer, 0600), 0);
	/* A FIFO without a writer: opening it must not block. */
	assert_int_equal(sysfs_u64(f->hw.sys_fd, &v, "fifo"), -EINVAL);
	/* Links out of the tree are not followed. */
	snprintf(longer, sizeof(longer), "%s/secret", f->dir);
	assert_int_equal(symlink("/proc/self/comm", longer), 0);
	assert_int_equal(sysfs_str(f->hw.sys_fd, text, sizeof(text), "secret"), -ELOOP);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(sysfs_str(f->hw.sys_fd, text, sizeof(text), "%s", longer), -ENAMETOOLONG);
	assert_int_equal(sysfs_open_dir(f->hw.sys_fd, "dir/file"), -ENOTDIR);
	assert_true(sysfs_exists(f->hw.sys_fd, "dir/%s", "file"));
	assert_false(sysfs_exists(f->hw.sys_fd, "dir/%s", "none"));
}

static void test_links(void **state)
{
	struct sysfs_fixture *f = *state;
	char text[16] = "before";

	tmptree_link(f->dir, "dev/driver", "../../bus/pci/drivers/mlx5_core");
	assert_int_equal(sysfs_link(f->hw.sys_fd, text, sizeof(text), "dev/driver"), 0);
	assert_string_equal(text, "mlx5_core");
	assert_int_equal(sysfs_link(f->hw.sys_fd, text, 5, "dev/driver"), -EOVERFLOW);
	assert_int_equal(sysfs_target(f->hw.sys_fd, text, sizeof(text), "dev/driver"), -EOVERFLOW);
	assert_string_equal(text, "mlx5_core");
	tmptree_link(f->dir, "plain", "target");
	assert_int_equal(sysfs_link(f->hw.sys_fd, text, sizeof(text), "plain"), 0);
	assert_string_equal(text, "target");
	tmptree_write(f->dir, "file", "1\n");
	assert_int_equal(sysfs_link(f->hw.sys_fd, text, sizeof(text), "file"), -EINVAL);
}

static int count_or_stop(int dir, const char *name, void *arg)
{
	(void)dir;
	assert_int_not_equal(name[0], '.');
	++*(int *)arg;
	return strcmp(name, "stop") == 0 ? -ECANCELED : 0;
}

static void test_listing(void **state)
{
	struct sysfs_fixture *f = *state;
	int seen = 0;

	assert_int_equal(sysfs_list(f->hw.sys_fd, "none", count_or_stop, &seen), -ENOENT);
	tmptree_write(f->dir, "list/a", "1");
	tmptree_write(f->dir, "list/b", "1");
	tmptree_write(f->dir, "list/.hidden", "1");
	assert_int_equal(sysfs_list(f->hw.sys_fd, "list", count_or_stop, &seen), 2);
	assert_int_equal(seen, 2);
	/* Lists the same open directory twice: each walk starts at the beginning. */
	assert_int_equal(sysfs_list(f->hw.sys_fd, ".", count_or_stop, &seen), 1);
	assert_int_equal(sysfs_list(f->hw.sys_fd, ".", count_or_stop, &seen), 1);
	tmptree_write(f->dir, "list/stop", "1");
	assert_int_equal(sysfs_list(f->hw.sys_fd, "list", count_or_stop, &seen), -ECANCELED);
}

static void test_roots(void **state)
{
	struct sysfs_fixture *f = *state;
	struct hw hw;
	struct err e = {0};

	assert_false(f->hw.live);
	assert_int_equal(hw_open(&hw, "/none/such", "/dev", "/proc", &e), -ENOENT);
	assert_non_null(strstr(e.msg, "/none/such"));
	assert_int_equal(hw_open(&hw, f->dir, "/none/dev", "/none/proc", &e), 0);
	assert_int_equal(hw.dev_fd, -1);
	assert_int_equal(hw.proc_fd, -1);
	hw_close(&hw);
	assert_int_equal(hw.sys_fd, -1);
}

static void test_rates(void **state)
{
	uint64_t bps = 77;
	(void)state;

	assert_int_equal(parse_rate("400 Gb/sec (4X NDR)", &bps), 0);
	assert_true(bps == 400000000000);
	assert_int_equal(parse_rate("2.5 Gb/sec (1X SDR)", &bps), 0);
	assert_true(bps == 2500000000);
	assert_int_equal(parse_rate("1600 Gb/sec (8X XDR)", &bps), 0);
	assert_int_equal(parse_rate("10 Gb/sec", &bps), 0);
	bps = 77;
	assert_int_equal(parse_rate("400", &bps), -EINVAL);
	assert_int_equal(parse_rate("400 Gb/second", &bps), -EINVAL);
	assert_int_equal(parse_rate("400 Mb/sec", &bps), -EINVAL);
	assert_int_equal(parse_rate("2. Gb/sec", &bps), -EINVAL);
	assert_int_equal(parse_rate("-1 Gb/sec", &bps), -EINVAL);
	assert_int_equal(parse_rate("", &bps), -EINVAL);
	assert_int_equal(parse_rate("18446744073709551615 Gb/sec", &bps), -ERANGE);
	assert_int_equal(bps, 77);
}

static void test_link_speeds(void **state)
{
	uint32_t mt_s = 77;
	(void)state;

	assert_int_equal(parse_link_speed("16.0 GT/s PCIe", &mt_s), 0);
	assert_int_equal(mt_s, 16000);
	assert_int_equal(parse_link_speed("2.5 GT/s PCIe", &mt_s), 0);
	assert_int_equal(mt_s, 2500);
	assert_int_equal(parse_link_speed("8 GT/s", &mt_s), 0); /* Linux 5.6 and before */
	assert_int_equal(mt_s, 8000);
	assert_int_equal(parse_link_speed("64.0 GT/s PCIe", &mt_s), 0);
	assert_int_equal(mt_s, 64000);
	mt_s = 77;
	assert_int_equal(parse_link_speed("Unknown", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("Unknown speed", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("0 GT/s", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("0.0 GT/s PCIe", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("16.0 GT/s PCI", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("16.0 GT/s PCIe\x1b[2J", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("16.0", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("16. GT/s", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("16.00 GT/s", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("-16 GT/s", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("", &mt_s), -EINVAL);
	assert_int_equal(parse_link_speed("4294968 GT/s", &mt_s), -ERANGE);
	assert_int_equal(parse_link_speed("18446744073709551615 GT/s", &mt_s), -ERANGE);
	assert_int_equal(mt_s, 77);
}

static void test_states_guids_gids(void **state)
{
	uint32_t n = 77;
	uint64_t guid = 77;
	uint8_t gid[16];
	(void)state;

	assert_int_equal(parse_leading_u32("4: ACTIVE", &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(parse_leading_u32("ACTIVE", &n), -EINVAL);
	assert_int_equal(parse_leading_u32("4 ACTIVE", &n), -EINVAL);
	assert_int_equal(parse_leading_u32("4294967296: X", &n), -ERANGE);
	assert_int_equal(parse_guid("a088:c203:0000:0001", &guid), 0);
	assert_true(guid == 0xa088c20300000001);
	assert_int_equal(parse_guid("a088:c203:0000", &guid), -EINVAL);
	assert_int_equal(parse_guid("a088:c203:0000:0001:", &guid), -EINVAL);
	assert_int_equal(parse_guid("a088:c203:0000:000", &guid), -EINVAL);
	assert_int_equal(parse_guid("", &guid), -EINVAL);
	assert_int_equal(parse_gid("fe80:0000:0000:0000:a288:c2ff:fe03:0001", gid), 0);
	assert_int_equal(gid[0], 0xfe);
	assert_int_equal(gid[15], 1);
	assert_int_equal(parse_gid("fe80::1", gid), -EINVAL);
}

TEST_GROUP(sysfs)
{
#define T(name) cmocka_unit_test_setup_teardown(name, sysfs_fixture_setup, sysfs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(test_numbers),
		T(test_invalid_numbers_are_errors),
		T(test_numbers_that_do_not_fit),
		T(test_texts_are_trimmed_and_bounded),
		T(test_other_file_types),
		T(test_links),
		T(test_listing),
		T(test_roots),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_link_speeds),
		cmocka_unit_test(test_states_guids_gids),
	};
#undef T

	return test_group_run(tests, NULL, NULL);
}
