#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the dictionary of counters by the kernel's sources of each driver, and makes docs/reference/drivers.md of both.

  drivers_python.py [CHECK...]                   judge; one line per check, "N passed, N failed" last
  drivers_python.py --write                      write docs/reference/drivers.md
  drivers_python.py --extract VERSION=TREE...    write tests/fixtures/drivers/: the names that kernel trees have, of Debian's linux-source-VERSION, unpacked

A fixture has a line for each name and the versions that have it; entries that no tree has ("firmware": ionic's; "mainline" would be kernels that Debian does not have yet) were added manually and are kept. docs/reference/metrics.md, generated from the tables, has the series of each name.

run:
proves: hw/counters docs/reference/drivers.md
when: turns
"""
import os
import re
import subprocess
import sys
import textwrap

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path[:0] = [TOP + "/tests/lib"]
from run_checks import run_checks  # noqa: E402

FIXTURES = TOP + "/tests/fixtures/drivers"
DOC = TOP + "/docs/reference/drivers.md"
IB, NET = "drivers/infiniband/", "drivers/net/ethernet/"
checks = []

# Driver, its column and table in docs/reference/metrics.md ("hw" or "ethtool"), the source of its names, and the arrays that hold them.
DRIVERS = (
    ("mlx5_ib", "mlx5", "hw", IB + "hw/mlx5/counters.c", r"\w+_cnts|\w+_op_cnts"),
    ("bnxt_re", "bnxt_re", "hw", IB + "hw/bnxt_re/hw_counters.c", r"bnxt_re_stat_(?:descs|name)"),
    ("irdma", "irdma", "hw", IB + "hw/irdma/verbs.c", r"irdma_hw_stat_names|irdma_hw_stat_descs"),
    ("hns_roce", "hns", "hw", IB + "hw/hns/hns_roce_main.c", r"hns_roce_port_stats_descs"),
    ("efa", "efa", "hw", IB + "hw/efa/efa_verbs.c", r"efa_(?:device|port)_stats_(?:names|descs)"),
    ("erdma", "erdma", "hw", IB + "hw/erdma/erdma_verbs.c", r"erdma_descs"),
    ("rxe", "rxe", "hw", IB + "sw/rxe/rxe_hw_counters.c", r"rxe_counter_descs"),
    ("mana_ib", "mana", "hw", IB + "hw/mana/counters.c", r"mana_ib_(?:port|device)_stats_desc"),
    ("ionic_rdma", "ionic", "hw", None, None),
    ("mlx5_core", "mlx5_core", "ethtool", NET + "mellanox/mlx5/core/en_stats.c", r"(?:pport|vport|pcie|qcnt|vnic|q|drop)_\w*stats_desc\w*"),
    ("bnxt_en", "bnxt_en", "ethtool", NET + "broadcom/bnxt/bnxt_ethtool.c", r"bnxt_(?:(?:tx_)?port_stats\w*|\wx_\w+_pri)_arr"),
    ("hns3", "hns3", "ethtool", NET + "hisilicon/hns3/hns3pf/hclge_main.c", r"g_mac_stats_string"),
    ("ice", "ice", "ethtool", NET + "intel/ice/ice_ethtool.c", r"ice_gstrings_pf_stats"),
    ("ionic", "ionic", "ethtool", NET + "pensando/ionic/ionic_stats.c", r"ionic_(?:port|lif)_stats_desc"),
)
# Why a name has no family of its own: the first pattern that matches, of all drivers.
WHYS = (
    (r"(In|Out)Segs|RetransSegs|In(Opt|Proto)Errors", "counts TCP, the transport of iWARP"),
    (r"Rdma(Bnd|Inv)|[io]rd limit count", "counts memory windows, keys and read limits"),
    (r"retrans_(bytes|pkts)", "counts SRD, EFA's own protocol"),
    (r"[rt]x_pfc_frames|mac_[rt]x_pfc_pkt_num", "the sum of counters that exist for each priority"),
    (r"mac_[rt]x_.*_xoff_time", "a time whose unit is not documented"),
    (r"late_cached_phc_updates|.*hwtstamp.*", "counts time stamps"),
    (r"lifespan|db_fifo_register", "not a counter"),
    (r"res_.*|.*_op_err|bad_resp_err|local_.*|mem_mgmt_err|mem_mgmt_op_err|unrecoverable_err|recoverable_errors|general_hw_error", "an error that only this vendor counts separately"),
    (r".*(alloc|create|mmap|reg_mr).*err|.*cmds.*|keep_alive_rcvd|resize_cq_cnt", "counts the control path, not traffic"),
    (r"(ip[46]|tcp|iw).*|rxVlanErrors", "counts iWARP or plain IP, so more than RoCE"),
    (r"(tx|rx)_(read_resp|roce_good_(pkts|bytes)|roce_errors|roce_discards)", "a part of what roce_packets_total or the statistics of the netdev count"),
    (r"(rx|tx)_(rc|uc|ud|xrc)_pkt|.*_(mbuf|cqe|mpt|irrl|eqe|eq|ceqe|aeqe).*|.*_recv_cqe.*|.*doorbell.*|.*_pkt", "a part of roce_packets_total: one transport, or one stage of the NIC"),
    (r"cq_(cqe|notify|poe)|rx_buffer|trp_.*|tx_err_pkt|ecn_.*", "counts a stage of the NIC's own pipeline"),
    (r"(send|recv)_(bytes|wrs)|rdma_(read|write)_.*", "a part of roce_bytes_total: SRD, by kind of request"),
    (r"num_qps_recovered|.*_events|received_cnp_count|dup_rx_requests", "a detail of something that another family already counts"),
    (r"req(uester|uestor)?_.*|resp(onder)?_.*|nak_.*|malformed.*", "an error that only this vendor counts separately"),
    (r"ack_deferred|send_err", "counts soft-RoCE's own scheduling"),
    (r"(frames|octets)_.*|(tx|rx)_.*|hw_.*|dma_map_err|tso.*|vlan.*", "counts Ethernet, not RDMA: frames by size, queues, offloads"),
    (r"xdp_.*|mac_.*|pfc_.*|link_.*|module_.*|ch_.*|poll_.*|arfs.*|dev_.*|out_of_buffer|rx\W.*|illegal_bytes.*|.*\.nic|pcie_.*|outbound_.*|total_.*|nic_.*|vport_.*|.*_phy|continuous_.*|"
     r"quota_.*|async_.*|cq_overrun|eth_.*|generated_.*|send_queue_.*|invalid_command|hairpin.*|tpa_.*", "counts Ethernet, not RDMA: frames by size, queues, offloads"),
)


# linux/include/linux/stringify.h
STRINGIFY = "#define __stringify_1(x...) #x\n#define __stringify(x...) __stringify_1(x)"


def check(function):
    checks.append(function)
    return function


# --- names ------------------------------------------------------------------------------------


def expand(source, arrays):
    """The strings of the arrays, with the file's macros put in."""
    texts = []
    for path in (source[:-1] + "h", source):
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                texts.append(re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S))
    text = texts[-1]
    macros = re.findall(r"^#define (?:[^\n]*\\\n)*[^\n]*", "\n".join(texts), re.M)
    bodies = re.findall(r"^(?:static |const )[^=(]*?\b(?:" + arrays + r")\s*\[[^]]*\]\s*=\s*\{.*?^\};", text, re.M | re.S)
    done = subprocess.run(["cpp", "-P", "-w", "-undef", "-"], input="\n".join([STRINGIFY, *macros, *bodies]), capture_output=True, text=True, check=False)
    return set(re.findall(r'"([rt]x_priority_%u_\w+\.nic|link_down_events_phy|rx_bits_phy)"', text)) | {"".join(re.findall(r'"([^"]*)"', parts)) for parts in re.findall(r'(?:"[^"\n]*"\s*)+', done.stdout)}


def numbered(name):
    """The form of the tables: '#' for the number of a priority, class or lane."""
    return re.sub(r"(?<=_)\d(?=_1us_count$)|(?<=_pri_)\d$|(?<=_(?:pri|cos))\d(?=$|_)|(?<=lane_)\d+(?=_phy)|%[du]", "#", name)


def variants(name):
    """mlx5_core has two names for one entry."""
    return [name.replace("%s", word) for word in ("prio#", "global")] if "%s" in name else [name]


def read_fixture(driver):
    with open(f"{FIXTURES}/{driver}.txt", encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return {name: versions.split() for name, versions in lines}


def extract(trees):
    """Keeps the fixture's entries of other versions; a name in one of these trees is no longer marked as mainline only."""
    given = {version for version, _ in trees}
    for driver, _, _, source, arrays in DRIVERS:
        if not source:
            continue
        found = {name: [v for v in versions if v not in given] for name, versions in read_fixture(driver).items()}
        for version, tree in trees:
            path = f"{tree}/{source}"
            names = expand(path, arrays) if os.path.exists(path) else ()
            for name in {numbered(variant) for name in names for variant in variants(name)}:
                found[name] = [v for v in found.get(name, ()) if v != "mainline"] + [version]
        found = {name: sorted(versions, key=lambda v: [int(part) for part in v.split(".") if part.isdigit()]) for name, versions in found.items() if versions}
        if any(versions != ["mainline"] for versions in found.values()):
            with open(f"{FIXTURES}/{driver}.txt", "w", encoding="utf-8") as f:
                f.write(f"# {source}\n" + "".join(f"{name}\t{' '.join(found[name])}\n" for name in sorted(found)))
        print(f"{driver}: {len(found)}")


# --- series of the names ----------------------------------------------------------------------


def table(title):
    """{column: {name: series}} of a table in docs/reference/metrics.md."""
    with open(TOP + "/docs/reference/metrics.md", encoding="utf-8") as f:
        rows = [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in f.read().split(f"### {title}\n")[1].split("\n#")[0].splitlines() if line.startswith("|")]
    heads, rows = rows[0], rows[2:]
    ret = {head: {} for head in heads[1:]}
    for row in rows:
        for head, cell in zip(heads[1:], row[1:]):
            for name in re.findall(r"`([^`]+)`", cell):
                ret[head].setdefault(name, []).append(row[0].strip("`"))
    return ret


def tables():
    return {"hw": table("hw_counters of each RDMA driver"), "ethtool": table("ethtool statistics of the netdev's driver")}


def series_of(known, kind, column, name):
    """A driver may borrow mlx5's names: match_borrowed() in hw/counters/dictionary.c."""
    own = known[kind][column]
    return own.get(name) or own.get(re.sub("^vport_", "", name)) or (known[kind]["mlx5"].get(name, []) if kind == "hw" else [])


def why(name):
    return next((reason for pattern, reason in WHYS if re.fullmatch(pattern, name)), None)


def document():
    known, out = tables(), []
    out.append("# Names of drivers\n\n"
               "This page lists every counter in the sources of the drivers that rocelet reads, in Debian's Linux\n6.1, 6.12 and 7.3. For each it has the family of [metrics.md](metrics.md) that rocelet derives from\nthe counter, or the reason why there is none. The names of ionic's RDMA counters are from its\nfirmware. "
               "`tests/interop/drivers_python.py --write` makes this page from the names in\n`tests/fixtures/drivers/` and from the tables of metrics.md.\n\n"
               "If an hw_counter has no family of its own, it is in `roce_hw_counters_total{name}`. rocelet does not\nread ethtool statistics that have no family. `#` is a number.\n")
    for driver, column, kind, source, _ in DRIVERS:
        names, of = read_fixture(driver), known[kind][column]
        mapped = [name for name in names if series_of(known, kind, column, name)]
        out.append(f"\n## {driver}\n\n{f'`{source}`' if source else 'Its firmware'}{', ethtool' if kind == 'ethtool' else ''}: {len(mapped)} of {len(names)} names have a family.\n\n"
                   "| name | kernels | series, or the reason why there is none |\n|---|---|---|\n")
        out += [f"| `{name}` | {', '.join(names[name])} | {', '.join(f'`{s}`' for s in series_of(known, kind, column, name)) or why(name) or '?'} |\n" for name in names]
        more = sorted(name for name in of if name not in names and not name.startswith("vport_"))
        if more:
            out.append("\n" + textwrap.fill("These names are in the tables of metrics.md, but not in the sources above. They are those of newer kernels, of other generations of the NIC, or of the vendor's own package: " + ", ".join(f"`{name}`" for name in more) + ".", 100, break_long_words=False, break_on_hyphens=False) + "\n")
    return "".join(out)


# --- the judgement ----------------------------------------------------------------------------


@check
def the_page_is_up_to_date():
    with open(DOC, encoding="utf-8") as f:
        assert f.read() == document(), "docs/reference/drivers.md differs: drivers_python.py --write"


@check
def every_name_has_a_family_or_a_reason():
    known = tables()
    missing = [f"{driver}: {name}" for driver, column, kind, _, _ in DRIVERS for name in read_fixture(driver) if not series_of(known, kind, column, name) and not why(name)]
    assert not missing, missing


@check
def every_driver_has_names():
    few = [driver for driver, *_ in DRIVERS if len(read_fixture(driver)) < 10]
    assert not few, few


def main():
    if sys.argv[1:2] == ["--extract"]:
        extract([tree.split("=", 1) for tree in sys.argv[2:]])
    elif sys.argv[1:] == ["--write"]:
        with open(DOC, "w", encoding="utf-8") as f:
            f.write(document())
    else:
        sys.exit(run_checks(checks, sys.argv[1:]))


if __name__ == "__main__":
    main()
