// SPDX-License-Identifier: Apache-2.0
/* dictionary.c - metric families, rows that are the same for all vendors, and the look-up in all
 * tables. Pure. */
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "dictionary_rows.h"
#include "label.h"

/* --- families --------------------------------------------------------------------------------- */

static const struct family dict_families[N_FAMILIES] = {
#define X(id, name, type, help) [F_##id] = {name, help, METRIC_##type},
	ROCE_FAMILIES(X)
#undef X
		[F_COMPAT_STATE_ID] = {"node_infiniband_state_id",
				       "Port state by its InfiniBand number; 4: active.",
				       METRIC_GAUGE},
	[F_COMPAT_PHYSICAL_STATE_ID] = {"node_infiniband_physical_state_id",
					"Physical port state by its InfiniBand number; 5: link up.",
					METRIC_GAUGE},
	[F_COMPAT_RATE] = {"node_infiniband_rate_bytes_per_second", "Rate of the link.",
			   METRIC_GAUGE},
	[F_COMPAT_LIFESPAN] =
		{"node_infiniband_lifespan_seconds",
		 "hw_counters/lifespan in whole seconds, truncated as by node_exporter.",
		 METRIC_GAUGE},
	[F_COMPAT_INFO] = {"node_infiniband_info", "Firmware and board of the device.",
			   METRIC_GAUGE},
#define X(vendor, name, unit)                                                                      \
	[F_HW_##vendor] = {"node_infiniband_" name,                                                \
			   "hw_counters/" #vendor ", under node_exporter's name.",                 \
			   METRIC_COUNTER},
	COMPAT_HW(X)
#undef X
#define X(vendor, name, unit)                                                                      \
	[F_PORT_##vendor] = {"node_infiniband_" name,                                              \
			     "counters/" #vendor ", under node_exporter's name.", METRIC_COUNTER},
		COMPAT_PORT(X)
#undef X
#define X(vendor, name, unit)                                                                      \
	[F_EXT_##vendor] = {"node_infiniband_" name,                                               \
			    "counters_ext/" #vendor ", under node_exporter's name.",               \
			    METRIC_COUNTER},
			COMPAT_PORT_EXT(X)
#undef X
};

#define X(vendor, name, unit) {#vendor, F_HW_##vendor, "", UNIT_##unit, 0, 0, false},
static const struct row compat_hw[] = {COMPAT_HW(X)};
#undef X
#define X(vendor, name, unit) {#vendor, F_PORT_##vendor, "", UNIT_##unit, 0, 0, false},
static const struct row compat_port[] = {COMPAT_PORT(X)};
#undef X
#define X(vendor, name, unit) {#vendor, F_EXT_##vendor, "", UNIT_##unit, 0, 0, false},
static const struct row compat_port_ext[] = {COMPAT_PORT_EXT(X)};
#undef X

static const struct row_table dict_compat_rows[N_DICT_PLACES] = {
	[DICT_HW] = ROWS(compat_hw),
	[DICT_PORT] = ROWS(compat_port),
	[DICT_PORT_EXT] = ROWS(compat_port_ext),
};

/* Data in 4-byte words: port_rcv_data, port_xmit_data, linux/drivers/infiniband/core/sysfs.c. */
static const struct row port_rows[] = {
	MEASURED("port_rcv_data", BYTES, RX, WORDS, 2),
	MEASURED("port_xmit_data", BYTES, TX, WORDS, 2),
	MEASURED("port_rcv_packets", PACKETS, RX, ONE, 2),
	MEASURED("port_xmit_packets", PACKETS, TX, ONE, 2),
};

static const struct row pause_rows[] = {
	MEASURED("rx_frames", PAUSE_FRAMES, RX, ONE, 2),
	MEASURED("tx_frames", PAUSE_FRAMES, TX, ONE, 2),
};

/* The frame counts are live with bnxt only; for other drivers the caller omits them. */
static const struct row dcb_rows[] = {
	MEASURED("indications#", PFC_FRAMES, RX ",priority=\"#\"", ONE, 0),
	MEASURED("requests#", PFC_FRAMES, TX ",priority=\"#\"", ONE, 0),
	MEASURED("enabled#", PFC_ENABLED, "priority=\"#\"", ONE, 0),
};

static const struct row netdev_rows[] = {
	MEASURED("rx_bytes", BYTES, RX, ONE, 3),
	MEASURED("tx_bytes", BYTES, TX, ONE, 3),
};

/* Tables of places whose names do not depend on the vendor; empty for the others. */
static const struct row_table dict_common_rows[N_DICT_PLACES] = {
	[DICT_PORT] = ROWS(port_rows),
	[DICT_PAUSE] = ROWS(pause_rows),
	[DICT_DCB] = ROWS(dcb_rows),
	[DICT_NETDEV] = ROWS(netdev_rows),
};

/* --- names of sources ------------------------------------------------------------------------- */

const char *source_name(enum source source)
{
	switch (source) {
	case SOURCE_NETLINK:
		return "netlink";
	case SOURCE_SYSFS:
		return "sysfs";
	case SOURCE_ETHTOOL:
		return "ethtool";
	case SOURCE_PAUSE:
		return "pause";
	case SOURCE_DCB:
		return "dcb";
	case SOURCE_NETDEV:
		return "netdev";
	case N_SOURCES:
		break;
	}
	return "";
}

/* --- vendors ---------------------------------------------------------------------------------- */

static const struct {
	const char *driver;
	enum nic nic;
} drivers[] = {
	{"mlx5", NIC_MLX5},
	{"mlx5_core", NIC_MLX5},
	{"mlx5_ib", NIC_MLX5},
	{"bnxt_re", NIC_BNXT},
	{"bnxt_en", NIC_BNXT},
	{"irdma", NIC_IRDMA},
	{"ice", NIC_IRDMA},
	{"i40e", NIC_IRDMA},
	{"idpf", NIC_IRDMA},
	{"hns", NIC_HNS},
	{"hns3", NIC_HNS},
	{"hns_roce", NIC_HNS},
	{"hns_roce_hw_v2", NIC_HNS},
	{"hns-roce-hw-v2", NIC_HNS},
	{"ionic", NIC_IONIC},
	{"ionic_rdma", NIC_IONIC},
	{"mana", NIC_MANA},
	{"mana_ib", NIC_MANA},
	{"rxe", NIC_RXE},
	{"rdma_rxe", NIC_RXE},
	{"siw", NIC_SIW},
	{"efa", NIC_EFA},
	{"erdma", NIC_ERDMA},
};

static const struct {
	uint16_t vendor;
	enum nic nic;
} vendors[] = {
	{0x15b3, NIC_MLX5},  {0x14e4, NIC_BNXT}, {0x8086, NIC_IRDMA}, {0x19e5, NIC_HNS},
	{0x1dd8, NIC_IONIC}, {0x1414, NIC_MANA}, {0x1d0f, NIC_EFA},   {0x1ded, NIC_ERDMA},
};

enum nic dict_nic(const char *driver, uint16_t pci_vendor)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(drivers[i].driver, driver))
			return drivers[i].nic;
	for (size_t i = 0; pci_vendor && i < ARRAY_SIZE(vendors); i++)
		if (vendors[i].vendor == pci_vendor)
			return vendors[i].nic;
	return NIC_UNKNOWN;
}

bool dict_is_software(enum nic nic)
{
	return nic == NIC_RXE || nic == NIC_SIW;
}

/* --- names and labels ------------------------------------------------------------------------- */

static bool name_ok(const char *name)
{
	size_t n = strnlen(name, DICT_NAME_MAX + 1);

	if (!n || n > DICT_NAME_MAX)
		return false;
	for (; *name; name++)
		if (*name < ' ' || *name > '~')
			return false;
	return true;
}

/* Matches a row's name; *ret_number is the number matched by '#', "" if the row has none. */
static bool row_matches(const char *pattern, const char *name, char ret_number[3])
{
	size_t digits = 0;

	ret_number[0] = '\0';
	for (; *pattern && *pattern != '#'; pattern++, name++)
		if (*pattern != *name)
			return false;
	if (!*pattern)
		return !*name;
	while (digits < 2 && name[digits] >= '0' && name[digits] <= '9') {
		ret_number[digits] = name[digits];
		digits++;
	}
	ret_number[digits] = '\0';
	return digits && !strcmp(pattern + 1, name + digits);
}

static void put_labels(char *dst, const char *labels, const char *number)
{
	const char *hash = strchr(labels, '#');

	if (hash)
		snprintf(dst, DICT_LABELS_MAX, "%.*s%s%s", (int)(hash - labels), labels, number,
			 hash + 1);
	else
		snprintf(dst, DICT_LABELS_MAX, "%s", labels);
}

static size_t match_table(const struct row_table *t, const char *name, struct meaning *ret)
{
	size_t n = 0;
	char number[3];

	for (size_t i = 0; i < t->n && n < DICT_MEANINGS; i++) {
		const struct row *row = &t->rows[i];

		if (!row_matches(row->name, name, number))
			continue;
		ret[n].family = &dict_families[row->family];
		ret[n].unit = row->unit;
		ret[n].rank = row->rank;
		ret[n].alias = row->alias;
		ret[n].wraps32 = row->wraps32;
		ret[n].monotonic = ret[n].family->type == METRIC_COUNTER;
		put_labels(ret[n++].labels, row->labels, number);
	}
	return n;
}

/* Matches a table that is searched after `precede` other tables: its aliases rank below theirs. */
static size_t match_after(const struct row_table *t, unsigned precede, const char *name,
			  struct meaning *ret)
{
	size_t n = match_table(t, name, ret);

	for (size_t i = 0; i < n; i++)
		ret[i].alias += precede * N_ALIASES;
	return n;
}

/* Matches the vendor's own table. For an unknown vendor, searches all tables and uses the first
 * match. */
static size_t match_vendor(const struct row_table *tables, enum nic nic, const char *name,
			   struct meaning *ret)
{
	size_t n = 0;

	if (nic != NIC_UNKNOWN)
		return match_table(&tables[nic], name, ret);
	for (unsigned i = 0; i < N_NICS && !n; i++)
		n = match_after(&tables[i], i, name, ret);
	return n;
}

/* Matches mlx5's names for another vendor: out-of-tree drivers often use them, but not mlx5's
 * 32-bit width. If a driver has the same counter under its own name, too, that one takes
 * precedence. */
static size_t match_borrowed(enum nic nic, const char *name, struct meaning *ret)
{
	size_t n = 0;

	if (nic != NIC_UNKNOWN && nic != NIC_MLX5)
		n = match_after(&dict_hw_rows[NIC_MLX5], 1, name, ret);
	for (size_t i = 0; i < n; i++)
		ret[i].wraps32 = false;
	return n;
}

static size_t pass_through(enum family_id family, const char *label, const char *name,
			   struct meaning *ret)
{
	int n = snprintf(ret->labels, sizeof(ret->labels), "%s=\"", label);

	/* Keeps room for the closing quote. */
	if (!label_escape(ret->labels + n, sizeof(ret->labels) - n - 1, name))
		return 0;
	strcat(ret->labels, "\"");
	ret->family = &dict_families[family];
	ret->unit = UNIT_ONE;
	ret->rank = ret->alias = 0;
	ret->wraps32 = ret->monotonic = false;
	return 1;
}

/* True for files in hw_counters/ that are not counters: the lifetime of cached readings in ms, and
 * a raw register. */
static bool not_a_counter(const char *name)
{
	return !strcmp(name, "lifespan") || !strcmp(name, "db_fifo_register");
}

static size_t lookup_hw(enum nic nic, const char *name, struct meaning *ret)
{
	size_t n = match_vendor(dict_hw_rows, nic, name, ret);

	if (!n && not_a_counter(name))
		return 0;
	if (!n)
		n = match_borrowed(nic, name, ret);
	return n ? n : pass_through(F_HW_COUNTER, "name", name, ret);
}

static size_t lookup_hw_device(enum nic nic, const char *name, struct meaning *ret)
{
	size_t n = match_vendor(dict_hw_device_rows, nic, name, ret);

	if (!n && not_a_counter(name))
		return 0;
	return n ? n : pass_through(F_HW_COUNTER, "name", name, ret);
}

/* Looks up a file of counters/. Every counter is also exported under the kernel's name. */
static size_t lookup_port(const char *name, struct meaning *ret)
{
	size_t n = match_table(&dict_common_rows[DICT_PORT], name, ret);

	return n + pass_through(F_PORT_COUNTER, "name", name, ret + n);
}

size_t dict_lookup(enum dict_place place, enum nic nic, const char *name,
		   struct meaning ret[DICT_MEANINGS])
{
	if (!name_ok(name))
		return 0;
	switch (place) {
	case DICT_HW:
		return lookup_hw(nic, name, ret);
	case DICT_HW_DEVICE:
		return lookup_hw_device(nic, name, ret);
	case DICT_PORT:
		return lookup_port(name, ret);
	case DICT_ETHTOOL:
		return match_vendor(dict_ethtool_rows, nic, name, ret);
	case DICT_PAUSE:
	case DICT_DCB:
	case DICT_NETDEV:
		return match_table(&dict_common_rows[place], name, ret);
	case DICT_RESOURCE:
		return pass_through(F_RESOURCES, "kind", name, ret);
	case DICT_OPTIONAL:
		return pass_through(F_OPTIONAL_ENABLED, "name", name, ret);
	case DICT_PORT_EXT: /* duplicates counters/; only node_exporter has separate names */
	case N_DICT_PLACES:
		break;
	}
	return 0;
}

size_t dict_lookup_compat(enum dict_place place, const char *name, struct meaning *ret)
{
	struct meaning all[DICT_MEANINGS];

	if (place >= N_DICT_PLACES || !match_table(&dict_compat_rows[place], name, all))
		return 0;
	*ret = all[0];
	/* The names are mlx5's, so its register width applies. */
	if (place == DICT_HW && match_table(&dict_hw_rows[NIC_MLX5], name, all))
		ret->wraps32 = all[0].wraps32;
	return 1;
}

/* --- iteration -------------------------------------------------------------------------------- */

const struct family *dict_compat_gauge(enum dict_compat_gauge which)
{
	return &dict_families[F_COMPAT_STATE_ID + which];
}

const struct family *dict_bytes_family(void)
{
	return &dict_families[F_BYTES];
}

const struct family *dict_family(size_t index)
{
	return index < N_FAMILIES ? &dict_families[index] : NULL;
}

size_t dict_family_index(const struct family *f)
{
	return f - dict_families;
}

static bool row_at(const struct row_table *t, size_t *index, struct dict_row *ret)
{
	const struct row *row;

	if (*index >= t->n) {
		*index -= t->n;
		return false;
	}
	row = &t->rows[*index];
	ret->name = row->name;
	ret->family = &dict_families[row->family];
	ret->labels = row->labels;
	ret->unit = row->unit;
	ret->rank = row->rank;
	ret->alias = row->alias;
	ret->wraps32 = row->wraps32;
	return true;
}

bool dict_row(size_t index, struct dict_row *ret)
{
	static const struct {
		enum dict_place place;
		const struct row_table *tables;
	} by_vendor[] = {
		{DICT_HW, dict_hw_rows},
		{DICT_HW_DEVICE, dict_hw_device_rows},
		{DICT_ETHTOOL, dict_ethtool_rows},
	};

	for (size_t i = 0; i < ARRAY_SIZE(by_vendor); i++)
		for (ret->nic = 0; ret->nic < N_NICS; ret->nic++)
			if (row_at(&by_vendor[i].tables[ret->nic], &index, ret)) {
				ret->place = by_vendor[i].place;
				return true;
			}
	ret->nic = NIC_UNKNOWN;
	for (ret->place = 0; ret->place < N_DICT_PLACES; ret->place++)
		if (row_at(&dict_common_rows[ret->place], &index, ret))
			return true;
	return false;
}
