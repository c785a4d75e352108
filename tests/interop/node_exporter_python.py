#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges --compat node_exporter: Debian's prometheus-node-exporter and the daemon read the same trees, and each node_infiniband_* series of the one is a series of the other with
the same labels and value.

  node_exporter_python.py DAEMON NODE_EXPORTER [CHECK...]

NODE_EXPORTER is prometheus-node-exporter, as tests/lib/debtool.sh unpacks it. Debian's has no series of hw_counters/; for those, the names of the newest collector are listed below. One
line per check, "N passed, N failed" last.

run: {san}/rocelet {exporter}/usr/bin/prometheus-node-exporter
proves: hw/counters daemon/metrics
when: turns
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
from run_checks import run_checks  # noqa: E402
from suggest_python import SOON, equal, until  # noqa: E402

programs = {}
checks = []

# Files of counters/ and counters_ext/ in current and former versions of linux/drivers/infiniband/core/sysfs.c.
COUNTERS = """excessive_buffer_overrun_errors link_downed link_error_recovery local_link_integrity_errors multicast_rcv_packets multicast_xmit_packets
port_rcv_constraint_errors port_rcv_data port_rcv_errors port_rcv_packets port_rcv_remote_physical_errors port_rcv_switch_relay_errors port_xmit_constraint_errors port_xmit_data
port_xmit_discards port_xmit_packets port_xmit_wait symbol_error unicast_rcv_packets unicast_xmit_packets VL15_dropped port_rcv_discards""".split()
COUNTERS_EXT = """port_multicast_rcv_packets port_multicast_xmit_packets port_rcv_data_64 port_rcv_packets_64 port_unicast_rcv_packets port_unicast_xmit_packets port_xmit_data_64
port_xmit_packets_64""".split()
# hw_counters/ of mlx5, and their names in the newest collector, without node_infiniband_.
HW_COUNTERS = {
    "duplicate_request": "duplicate_requests_packets_total",
    "implied_nak_seq_err": "implied_nak_seq_errors_total",
    "local_ack_timeout_err": "local_ack_timeout_errors_total",
    "np_cnp_sent": "np_cnp_packets_sent_total",
    "np_ecn_marked_roce_packets": "np_ecn_marked_roce_packets_received_total",
    "out_of_buffer": "out_of_buffer_drops_total",
    "out_of_sequence": "out_of_sequence_packets_received_total",
    "packet_seq_err": "packet_sequence_errors_total",
    "req_cqe_error": "req_cqes_errors_total",
    "req_cqe_flush_error": "req_cqes_flush_errors_total",
    "req_remote_access_errors": "req_remote_access_errors_total",
    "req_remote_invalid_request": "req_remote_invalid_request_errors_total",
    "resp_cqe_error": "resp_cqes_errors_total",
    "resp_cqe_flush_error": "resp_cqes_flush_errors_total",
    "resp_local_length_error": "resp_local_length_errors_total",
    "resp_remote_access_errors": "resp_remote_access_errors_total",
    "rnr_nak_retry_err": "rnr_nak_retry_packets_received_total",
    "roce_adp_retrans": "roce_adp_retransmits_total",
    "roce_adp_retrans_to": "roce_adp_retransmits_timeout_total",
    "roce_slow_restart": "roce_slow_restart_used_total",
    "roce_slow_restart_cnps": "roce_slow_restart_cnps_total",
    "roce_slow_restart_trans": "roce_slow_restart_total",
    "rp_cnp_handled": "rp_cnp_packets_handled_total",
    "rp_cnp_ignored": "rp_cnp_ignored_packets_received_total",
    "rx_atomic_requests": "rx_atomic_requests_total",
    "rx_dct_connect": "rx_dct_connect_requests_total",
    "rx_icrc_encapsulated": "rx_icrc_encapsulated_errors_total",
    "rx_read_requests": "rx_read_requests_total",
    "rx_write_requests": "rx_write_requests_total",
}


def check(function):
    checks.append(function)
    return function


class Node:
    """A tree of InfiniBand devices, which both programs read."""

    def __init__(self):
        self.temp = tempfile.TemporaryDirectory()
        self.dir = self.temp.name
        for folder in ("sys/class/net", "sys/bus/pci/devices", "dev/infiniband", "proc", "kubelet/device-plugins"):
            os.makedirs(f"{self.dir}/{folder}")

    def put(self, path, text):
        path = f"{self.dir}/sys/class/infiniband/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"{text}\n")

    def device(self, name, fw="1.2.3", **texts):
        for file, text in dict(texts, fw_ver=fw, node_type="1: CA").items():
            self.put(f"{name}/{file}", text)

    def port(self, device, port=1, state="4: ACTIVE", phys="5: LinkUp", rate="100 Gb/sec (4X EDR)"):
        where = f"{device}/ports/{port}"
        for file, text in (("state", state), ("phys_state", phys), ("rate", rate), ("link_layer", "Ethernet")):
            self.put(f"{where}/{file}", text)
        os.makedirs(f"{self.dir}/sys/class/infiniband/{where}/counters", exist_ok=True)
        return where

    def counters(self, where, names, first, folder="counters"):
        """Each counter gets a distinct value."""
        for i, name in enumerate(names):
            self.put(f"{where}/{folder}/{name}", first + 7 * i)

    def daemon(self):
        with open(f"{self.dir}/c.json", "w", encoding="utf-8") as f:
            f.write("{}")
        roots = [f"--{name}-root={self.dir}/{place}" for name, place in (("sysfs", "sys"), ("dev", "dev"), ("proc", "proc"))]
        folders = [f"--{name}-dir={self.dir}/{name}" for name in ("run", "state", "kubelet")]
        process = subprocess.Popen([programs["daemon"], "--config", f"{self.dir}/c.json", *roots, *folders, "--listen", "", "--sample-interval", "0.1",
                                    "--port-counters", "--compat", "node_exporter"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return process, ["--unix-socket", f"{self.dir}/run/rocelet.sock", "http://rocelet/metrics"]

    def exporter(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % s.getsockname()[1]
        process = subprocess.Popen([programs["exporter"], "--collector.disable-defaults", "--collector.infiniband", f"--path.sysfs={self.dir}/sys", f"--web.listen-address={address}"],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return process, [f"http://{address}/metrics"]


def scrape(started, wanted=()):
    """The node_exporter series of a program, as {(name, labels): value}, once its collector reports success and the wanted series exist: rocelet publishes a 0 that
    it has read twice."""
    process, where = started
    found = {}

    def ready():
        done = subprocess.run(["curl", "-s", "--noproxy", "*", *where], capture_output=True, timeout=SOON, check=False)
        found.clear()
        for name, labels, value in re.findall(r"^(node_infiniband_\w+|node_scrape_collector_success)\{(.*)\} (\S+)$", done.stdout.decode(), re.M):
            found[name, tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)))] = float(value)
        return any(name == "node_scrape_collector_success" for name, _ in found) and all(key in found for key in wanted)
    try:
        until("the collector's result on the page", ready)
        return found
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(SOON)


def value(found, name, device, port="1"):
    return found.get((f"node_infiniband_{name}", (("device", device), ("port", port))))


def same(node):
    """Compares the two programs' series; returns those of rocelet."""
    theirs = scrape(node.exporter())
    assert len(theirs) > 3, theirs
    ours = scrape(node.daemon(), theirs)
    equal({key: ours.get(key) for key in theirs}, theirs)
    return ours


@check
def every_counter_of_two_generations():
    node = Node()
    node.device("mlx4_0", fw="2.31.5050", board_id="SM_1141000001000", hca_type="MT4099")
    for port in (1, 2):
        where = node.port("mlx4_0", port, rate="40 Gb/sec (4X QDR)")
        node.counters(where, COUNTERS, 1000 * port)
        node.counters(where, COUNTERS_EXT, 5000 * port, "counters_ext")
    ours = same(node)
    equal(len([name for name, _ in ours if name.startswith("node_infiniband_legacy_")]), 2 * len(COUNTERS_EXT))
    equal(value(ours, "legacy_data_received_bytes_total", "mlx4_0"), 4 * (5000 + 7 * COUNTERS_EXT.index("port_rcv_data_64")))


@check
def states_and_rates():
    """NOP is 0, and every state has a series."""
    node = Node()
    states = (("0: NOP", "0: <unknown>"), ("1: DOWN", "3: Disabled"), ("2: INIT", "4: PortConfigurationTraining"), ("3: ARMED", "5: LinkUp"), ("5: ACTIVE_DEFER", "6: LinkErrorRecovery"))
    for i, (state, phys) in enumerate(states):
        node.device(f"rocep{i}s0", board_id="X")
        node.port(f"rocep{i}s0", 1, state, phys, ("2.5 Gb/sec (1X SDR)", "10 Gb/sec (4X SDR)", "56 Gb/sec (4X FDR)", "400 Gb/sec (4X NDR)", "800 Gb/sec (8X NDR)")[i])
    ours = same(node)
    equal([value(ours, "state_id", f"rocep{i}s0") for i in range(5)], [0, 1, 2, 3, 5])
    equal(value(ours, "rate_bytes_per_second", "rocep0s0"), 312500000)


@check
def long_texts():
    """Broadcom's hca_type has 38 characters."""
    node = Node()
    node.device("bnxt_re0", fw="231.2.64.0", board_id="P2100G", hca_type="Broadcom NetXtreme-C/E RoCE Driver HCA")
    node.port("bnxt_re0")
    node.device("hfi1_0", fw="1.27.0", board_id='Intel "Omni-Path" HFI Adapter 100 Series, 1 Port, PCIe x16 with \\ and more', hca_type="0" * 64)
    node.port("hfi1_0")
    ours = same(node)
    assert ("node_infiniband_info", (("board_id", "P2100G"), ("device", "bnxt_re0"), ("firmware_version", "231.2.64.0"),
                                     ("hca_type", "Broadcom NetXtreme-C/E RoCE Driver HCA"))) in ours, ours


@check
def values_that_are_no_numbers_have_no_series():
    node = Node()
    node.device("i40iw0", board_id="I40IW Board ID", hca_type="I40IW")
    where = node.port("i40iw0", rate="10 Gb/sec (4X SDR)")
    for name in COUNTERS:
        node.put(f"{where}/counters/{name}", "N/A (no PMA)")
    ours = same(node)
    equal(value(ours, "port_data_received_bytes_total", "i40iw0"), None)


@check
def a_node_without_rdma():
    """The collector has no series."""
    node = Node()
    theirs, ours = scrape(node.exporter()), scrape(node.daemon())
    equal(ours, theirs)
    equal(list(ours.values()), [0])


@check
def hw_counters_under_the_names_of_the_newest_collector():
    node = Node()
    node.device("mlx5_0", board_id="MT_0000000838", hca_type="MT4129")
    where = node.port("mlx5_0")
    node.counters(where, COUNTERS, 100)
    node.counters(where, HW_COUNTERS, 20000, "hw_counters")
    node.put(f"{where}/hw_counters/lifespan", "12500")
    ours = same(node)
    equal({name: value(ours, name, "mlx5_0") for name in HW_COUNTERS.values()}, {name: 20000 + 7 * i for i, name in enumerate(HW_COUNTERS.values())})
    equal(value(ours, "lifespan_seconds", "mlx5_0"), 12)
    # Identity, two states, rate, lifespan, and all of both folders.
    equal(len([name for name, _ in ours if name.startswith("node_infiniband_")]), 5 + len(COUNTERS) + len(HW_COUNTERS))


# The counters of node_exporter's own fixture: two generations of names on three ports, some of which lack counters. File, series, then what the collector reports of
# mlx4_0/1, mlx4_0/2 and i40iw0/1; None: that port has no such file, or the file has "N/A (no PMA)". Files of octets count words.
OWN_FIXTURE = (
    ("counters_ext/port_rcv_data_64", "legacy_data_received_bytes_total", 18527668, 18527668, None),
    ("counters_ext/port_xmit_data_64", "legacy_data_transmitted_bytes_total", 14933760, 14933760, None),
    ("counters_ext/port_multicast_rcv_packets", "legacy_multicast_packets_received_total", 93, 93, None),
    ("counters_ext/port_multicast_xmit_packets", "legacy_multicast_packets_transmitted_total", 16, 16, None),
    ("counters_ext/port_rcv_packets_64", "legacy_packets_received_total", 0, 0, None),
    ("counters_ext/port_xmit_packets_64", "legacy_packets_transmitted_total", 0, 0, None),
    ("counters_ext/port_unicast_rcv_packets", "legacy_unicast_packets_received_total", 61148, 61148, None),
    ("counters_ext/port_unicast_xmit_packets", "legacy_unicast_packets_transmitted_total", 61239, 61239, None),
    ("counters/link_downed", "link_downed_total", 0, 0, 0),
    ("counters/link_error_recovery", "link_error_recovery_total", 0, 0, 0),
    ("counters/multicast_rcv_packets", "multicast_packets_received_total", 93, 0, None),
    ("counters/multicast_xmit_packets", "multicast_packets_transmitted_total", 16, 0, None),
    ("counters/port_rcv_constraint_errors", "port_constraint_errors_received_total", 0, None, 0),
    ("counters/port_xmit_constraint_errors", "port_constraint_errors_transmitted_total", 0, None, 0),
    ("counters/port_rcv_data", "port_data_received_bytes_total", 18527668, 0, 0),
    ("counters/port_xmit_data", "port_data_transmitted_bytes_total", 14933760, 0, 0),
    ("counters/port_rcv_discards", "port_discards_received_total", 0, None, None),
    ("counters/port_xmit_discards", "port_discards_transmitted_total", 5, None, 0),
    ("counters/port_rcv_errors", "port_errors_received_total", 0, None, 0),
    ("counters/port_rcv_packets", "port_packets_received_total", 6825908347, None, 0),
    ("counters/port_xmit_packets", "port_packets_transmitted_total", 6235865, None, 0),
    ("counters/port_xmit_wait", "port_transmit_wait_total", 4294967295, None, 0),
    ("counters/unicast_rcv_packets", "unicast_packets_received_total", 61148, 0, None),
    ("counters/unicast_xmit_packets", "unicast_packets_transmitted_total", 61239, 0, None),
)
PORTS_OF_FIXTURE = (("mlx4_0", "1"), ("mlx4_0", "2"), ("i40iw0", "1"))


@check
def the_51_series_of_its_own_fixture():
    node, wanted = Node(), {}
    node.device("mlx4_0", fw="2.31.5050", board_id="SM_1141000001000", hca_type="MT4099")
    node.device("i40iw0", fw="0.2", board_id="I40IW Board ID", hca_type="I40IW")
    for i, (device, port) in enumerate(PORTS_OF_FIXTURE):
        where = node.port(device, int(port), phys="5: LinkUp", rate="40 Gb/sec (4X QDR)" if device == "mlx4_0" else "10 Gb/sec (4X)")
        for file, name, *values in OWN_FIXTURE:
            if values[i] is not None:
                node.put(f"{where}/{file}", values[i] // 4 if "data" in file else values[i])
                wanted[name, device, port] = values[i]
            elif device == "i40iw0":
                node.put(f"{where}/{file}", "N/A (no PMA)")
    ours = same(node)
    equal(len(wanted), 51)
    equal({(name, *at): value(ours, name, *at) for _, name, *_ in OWN_FIXTURE for at in PORTS_OF_FIXTURE if value(ours, name, *at) is not None}, wanted)
    # And those of newer collectors: two of identity, and two states and a rate of each port.
    equal(len([name for name, _ in ours if name.startswith("node_infiniband_")]), 51 + 2 + 3 * 3)
    equal({v for (name, _), v in ours.items() if name == "node_scrape_collector_success"}, {1})


def main():
    programs["daemon"], programs["exporter"] = (os.path.abspath(path) for path in sys.argv[1:3])
    sys.exit(run_checks(checks, sys.argv[3:]))


if __name__ == "__main__":
    main()
