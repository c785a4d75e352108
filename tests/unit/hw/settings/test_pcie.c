// SPDX-License-Identifier: Apache-2.0
/* Speed and width of PCIe links, compared with what both ends support: from files as in sysfs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "pcie.h"
#include "sysfs_fixture.h"
#include "test_group.h"
#include "tmptree.h"

#define BUS "bus/pci/devices/"

/* A device with its link, in the words of the kernel: "16.0 GT/s PCIe" of "32.0 GT/s PCIe". */
static void device(const struct sysfs_fixture *f, const char *id, const char *speed,
		   const char *max_speed, unsigned width, unsigned max_width)
{
	char path[256];

	snprintf(path, sizeof(path), BUS "%s/current_link_speed", id);
	tmptree_write(f->dir, path, "%s\n", speed);
	snprintf(path, sizeof(path), BUS "%s/max_link_speed", id);
	tmptree_write(f->dir, path, "%s\n", max_speed);
	snprintf(path, sizeof(path), BUS "%s/current_link_width", id);
	tmptree_write(f->dir, path, "%u\n", width);
	snprintf(path, sizeof(path), BUS "%s/max_link_width", id);
	tmptree_write(f->dir, path, "%u\n", max_width);
}

#define GEN3 "8.0 GT/s PCIe"
#define GEN4 "16.0 GT/s PCIe"
#define GEN5 "32.0 GT/s PCIe"

#define NIC   "0000:05:00.0"
#define SLOT  "0000:04:00.0" /* lower port of a switch */
#define ENTRY "0000:01:00.0" /* upper port of the switch */
#define ROOT  "0000:00:01.0"

static struct port_settings read_below(const struct sysfs_fixture *f, const char *path)
{
	struct function nic = {.kind = FN_PF, .id = NIC};
	struct port_settings s = {0};

	snprintf(nic.path, sizeof(nic.path), "%s", path);
	pcie_read(&f->hw, &nic, &s);
	return s;
}

static struct port_settings read_in_root(const struct sysfs_fixture *f)
{
	return read_below(f, "pci0000:00/" ROOT);
}

static struct port_settings read_in_switch(const struct sysfs_fixture *f)
{
	return read_below(f, "pci0000:00/" ROOT "/" ENTRY "/" SLOT);
}

/* --- the function's own link ------------------------------------------------------------------ */

/* A Gen5 card in a Gen4 slot is not a fault. */
static void a_card_faster_than_its_slot(void **state)
{
	const struct sysfs_fixture *f = *state;
	struct port_settings s;

	device(f, NIC, GEN4, GEN5, 8, 16);
	device(f, ROOT, GEN4, GEN4, 8, 8);
	s = read_in_root(f);
	assert_int_equal(s.seen, SETTINGS_PCIE | SETTINGS_PCIE_SEGMENT);
	assert_int_equal(s.pcie.mt_s, 16000);
	assert_int_equal(s.pcie.max_mt_s, 16000);
	assert_int_equal(s.pcie.width, 8);
	assert_int_equal(s.pcie.max_width, 8);
	assert_string_equal(s.segment, "");
}

static void a_slot_faster_than_its_card(void **state)
{
	const struct sysfs_fixture *f = *state;
	struct port_settings s;

	device(f, NIC, GEN3, GEN3, 8, 8);
	device(f, ROOT, GEN3, GEN5, 8, 16);
	s = read_in_root(f);
	assert_int_equal(s.pcie.max_mt_s, 8000);
	assert_int_equal(s.pcie.max_width, 8);
}

static void a_link_that_trained_down(void **state)
{
	const struct sysfs_fixture *f = *state;
	struct port_settings s;

	device(f, NIC, GEN3, GEN5, 4, 16);
	device(f, ROOT, GEN3, GEN5, 4, 16);
	s = read_in_root(f);
	assert_int_equal(s.pcie.mt_s, 8000);
	assert_int_equal(s.pcie.max_mt_s, 32000);
	assert_int_equal(s.pcie.width, 4);
	assert_int_equal(s.pcie.max_width, 16);
	/* `segment` is only for slow links further up. */
	assert_string_equal(s.segment, "");
}

/* Both ends of a link report the same; otherwise the link is changing, or they are not its ends. */
static void ends_that_disagree(void **state)
{
	const struct sysfs_fixture *f = *state;

	device(f, NIC, GEN4, GEN5, 16, 16);
	device(f, ROOT, GEN5, GEN5, 16, 16);
	assert_int_equal(read_in_root(f).seen, SETTINGS_PCIE_SEGMENT);
	device(f, ROOT, GEN4, GEN5, 8, 16);
	assert_int_equal(read_in_root(f).seen, SETTINGS_PCIE_SEGMENT);
	device(f, ROOT, GEN4, GEN5, 16, 16);
	assert_true(read_in_root(f).seen & SETTINGS_PCIE);
}

/* --- links further up ------------------------------------------------------------------------- */

/* The card's own link is fine, but the link above the switch is slow. */
static void a_segment_in_the_middle(void **state)
{
	const struct sysfs_fixture *f = *state;
	struct port_settings s;

	device(f, NIC, GEN5, GEN5, 16, 16);
	device(f, SLOT, GEN5, GEN5, 16, 16);
	device(f, ENTRY, GEN4, GEN5, 16, 16);
	device(f, ROOT, GEN4, GEN5, 16, 16);
	s = read_in_switch(f);
	assert_int_equal(s.seen, SETTINGS_PCIE | SETTINGS_PCIE_SEGMENT);
	assert_int_equal(s.pcie.mt_s, s.pcie.max_mt_s);
	assert_string_equal(s.segment, ROOT);
	assert_int_equal(s.segment_link.mt_s, 16000);
	assert_int_equal(s.segment_link.max_mt_s, 32000);
	assert_int_equal(s.segment_link.width, 16);
	assert_int_equal(s.segment_link.max_width, 16);
}

/* Two ports of a switch are not ends of a link; they may differ. */
static void between_the_ports_of_a_switch(void **state)
{
	const struct sysfs_fixture *f = *state;
	struct port_settings s;

	device(f, NIC, GEN3, GEN3, 8, 8);
	device(f, SLOT, GEN3, GEN5, 8, 16);
	device(f, ENTRY, GEN5, GEN5, 16, 16);
	device(f, ROOT, GEN5, GEN5, 16, 16);
	s = read_in_switch(f);
	assert_int_equal(s.seen, SETTINGS_PCIE | SETTINGS_PCIE_SEGMENT);
	assert_int_equal(s.pcie.max_mt_s, 8000);
	assert_string_equal(s.segment, "");
}

static void the_slowest_of_several(void **state)
{
	const struct sysfs_fixture *f = *state;
	struct port_settings s;

	device(f, NIC, GEN5, GEN5, 16, 16);
	device(f, SLOT, GEN5, GEN5, 16, 16);
	device(f, ENTRY, GEN4, GEN5, 16, 16);
	device(f, "0000:02:00.0", GEN4, GEN5, 16, 16);
	device(f, "0000:03:00.0", GEN5, GEN5, 4, 16); /* half of that bandwidth */
	device(f, ROOT, GEN5, GEN5, 4, 16);
	s = read_below(f, "pci0000:00/" ROOT "/0000:03:00.0/0000:02:00.0/" ENTRY "/" SLOT);
	assert_string_equal(s.segment, ROOT);
	assert_int_equal(s.segment_link.width, 4);
	device(f, "0000:03:00.0", GEN5, GEN5, 16, 16);
	device(f, ROOT, GEN5, GEN5, 16, 16);
	s = read_below(f, "pci0000:00/" ROOT "/0000:03:00.0/0000:02:00.0/" ENTRY "/" SLOT);
	assert_string_equal(s.segment, "0000:02:00.0");
}

/* An invisible part of the path may hide a segment; a segment that was found is reported. */
static void a_partly_visible_path(void **state)
{
	const struct sysfs_fixture *f = *state;
	const char *path = "pci0000:00/" ROOT "/0000:03:00.0/0000:02:00.0/" ENTRY "/" SLOT;
	struct port_settings s;

	device(f, NIC, GEN5, GEN5, 16, 16);
	device(f, SLOT, GEN5, GEN5, 16, 16);
	device(f, ENTRY, GEN5, GEN5, 16, 16);
	device(f, "0000:02:00.0", GEN5, GEN5, 16, 16);
	s = read_below(f, path);
	assert_int_equal(s.seen, SETTINGS_PCIE);
	device(f, ENTRY, GEN4, GEN5, 16, 16);
	device(f, "0000:02:00.0", GEN4, GEN5, 16, 16);
	s = read_below(f, path);
	assert_int_equal(s.seen, SETTINGS_PCIE | SETTINGS_PCIE_SEGMENT);
	assert_string_equal(s.segment, "0000:02:00.0");
}

/* In a virtual machine a passed-through card is on the root bus, and the other end of its link is
 * not visible. Below a bridge to conventional PCI two devices are not ends of a link. */
static void paths_with_unknown_links(void **state)
{
	const struct sysfs_fixture *f = *state;

	device(f, NIC, GEN4, GEN5, 16, 16);
	device(f, ENTRY, GEN4, GEN5, 16, 16);
	device(f, ROOT, GEN4, GEN5, 16, 16);
	assert_int_equal(read_below(f, "pci0000:00").seen, 0);
	assert_int_equal(read_below(f, "").seen, 0);
	assert_int_equal(read_below(f, "pci0000:00/" ROOT "/" ENTRY).seen, 0);
	assert_int_equal(read_below(f, ROOT).seen, 0);
	assert_int_equal(read_below(f, "pci0000:00/../0000:00:01.0x").seen, 0);
	/* A volume management device (VMD) begins a root complex of its own. */
	assert_int_equal(read_below(f, "pci0000:00/0000:00:0e.0/pci10000:e0/" ROOT).seen,
			 SETTINGS_PCIE | SETTINGS_PCIE_SEGMENT);
}

/* --- files ------------------------------------------------------------------------------------ */

static void invalid_links_are_unknown(void **state)
{
	static const struct {
		const char *file, *text;
	} bad[] = {
		{"current_link_speed", "Unknown\n"},
		{"current_link_speed", ""},
		{"current_link_speed", "16.0 GT/s PCIe\x1b]0;owned\x07\n"},
		{"max_link_speed", "Unknown speed\n"},
		{"max_link_speed", "4294967296.0 GT/s PCIe\n"},
		{"current_link_width", "0\n"},	/* no link */
		{"current_link_width", "63\n"}, /* a device that does not answer reads as ones */
		{"max_link_width", "255\n"},	/* no such capability */
		{"max_link_width", "x16\n"},
		{"max_link_width", ""},
	};
	const struct sysfs_fixture *f = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char path[256];

		device(f, NIC, GEN4, GEN5, 16, 16);
		device(f, ROOT, GEN4, GEN5, 16, 16);
		assert_true(read_in_root(f).seen & SETTINGS_PCIE);
		snprintf(path, sizeof(path), BUS "%s/%s", i % 2 ? NIC : ROOT, bad[i].file);
		tmptree_remove(f->dir, path);
		assert_false(read_in_root(f).seen & SETTINGS_PCIE);
		tmptree_write(f->dir, path, "%s", bad[i].text);
		assert_false(read_in_root(f).seen & SETTINGS_PCIE);
	}
}

static void a_suspended_device_is_not_woken(void **state)
{
	const struct sysfs_fixture *f = *state;

	device(f, NIC, GEN4, GEN5, 16, 16);
	device(f, ROOT, GEN4, GEN5, 16, 16);
	tmptree_write(f->dir, BUS ROOT "/power/runtime_status", "suspended\n");
	assert_false(read_in_root(f).seen & SETTINGS_PCIE);
	tmptree_write(f->dir, BUS ROOT "/power/runtime_status", "active\n");
	assert_true(read_in_root(f).seen & SETTINGS_PCIE);
}

TEST_GROUP(pcie)
{
#define T(name) cmocka_unit_test_setup_teardown(name, sysfs_fixture_setup, sysfs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(a_card_faster_than_its_slot),	    T(a_slot_faster_than_its_card),
		T(a_link_that_trained_down),	    T(ends_that_disagree),
		T(a_segment_in_the_middle),	    T(between_the_ports_of_a_switch),
		T(the_slowest_of_several),	    T(a_partly_visible_path),
		T(paths_with_unknown_links),	    T(invalid_links_are_unknown),
		T(a_suspended_device_is_not_woken),
	};
#undef T

	return test_group_run(tests, NULL, NULL);
}
