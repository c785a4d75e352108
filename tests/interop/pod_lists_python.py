#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the whole daemon while the kubelet's PodResources fails, hangs or returns large lists.

  pod_lists_python.py DAEMON MK_SYSFS [CHECK...]

The kubelet is made of grpc-python, the lists are encoded by this program. One line per check, "N passed, N failed" last.

run: {san}/rocelet {san}/bench/mk_sysfs
proves: daemon/plugin daemon/pods k8s/kubelet k8s/rpc
when: turns
"""
import json
import os
import re
import sys
import threading
from concurrent import futures

import grpc

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import daemon_python as daemons  # noqa: E402
import kubelet_python as base  # noqa: E402
from daemon_python import ROCE, VFS, Daemon, registered  # noqa: E402
from kubelet_python import MIB, equal, eventually  # noqa: E402

checks = []


def check(function):
    checks.append(function)
    return function


# --- the wire format --------------------------------------------------------------------------


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def devices(resource, id):
    return field(2, field(1, resource) + field(2, id))


def claim(name, *results):
    """DynamicResource; results: (driver, pool, device, bytes of CDI names)."""
    return field(5, field(2, name) + field(3, "train") + b"".join(
        field(4, b"".join(field(1, field(1, "x" * 1000)) for _ in range(cdi // 1000)) + field(2, driver) + field(3, pool) + field(4, device))
        for driver, pool, device, cdi in results))


def pod(name, *parts, namespace="train"):
    return field(1, field(1, name) + field(2, namespace) + field(3, field(1, "main") + b"".join(parts)))


class Lists:
    """The PodResources socket; `answer` decides every answer: bytes, a status, or None: none until it changes."""

    def __init__(self, dir, answer=b""):
        self.answer, self.calls, self.open, self.changed = answer, 0, 0, threading.Condition()
        self.folder = dir + "/pod-resources"
        os.makedirs(self.folder, exist_ok=True)
        handler = grpc.unary_unary_rpc_method_handler(self.list, request_deserializer=lambda b: b, response_serializer=lambda b: b)
        self.server = grpc.server(futures.ThreadPoolExecutor(8), options=[("grpc.max_send_message_length", -1)])
        self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("v1.PodResourcesLister", {"List": handler}),))
        self.server.add_insecure_port(f"unix:{self.folder}/kubelet.sock")
        self.server.start()

    def list(self, _request, context):
        with self.changed:
            self.calls += 1
            self.open += 1
            context.add_callback(self.ended)
            self.changed.wait_for(lambda: self.answer is not None)
        if isinstance(self.answer, grpc.StatusCode):
            context.abort(self.answer, "the status of this check")
        return self.answer

    def ended(self):
        self.open -= 1

    def set_answer(self, answer):
        with self.changed:
            self.answer = answer
            self.changed.notify_all()

    def stop(self):
        self.set_answer(b"")
        self.server.stop(None).wait()


def pods_of(daemon):
    """{device: pod} of the allocation series."""
    found = re.findall(r'rocelet_device_allocated_info\{resource="[^"]*",id="([^"]*)",namespace="[^"]*",pod="([^"]+)"', daemon.get("/metrics"))
    return dict(found)


def labelled(daemon, name):
    """True if the device's own series, too, bear the pod's name."""
    return sum(1 for line in daemon.get("/metrics").splitlines() if line.startswith("roce_") and f'pod="{name}"' in line)


def trouble(daemon):
    return " ".join(f["what"] for f in json.loads(daemon.get("/api/v1/doctor"))["findings"] if "the allocations of pods" in f["what"])


# --- a device changes hands -------------------------------------------------------------------


def changes_hands(fail, waits_for_none=False):
    with Daemon() as daemon:
        lists = Lists(daemon.dir, pod("job-1", devices(ROCE, VFS[0])))
        kubelet = registered(daemon)
        daemons.checkpoint(daemon)
        eventually("job-1", lambda: pods_of(daemon) == {VFS[0]: "job-1"} and labelled(daemon, "job-1"))
        fail(lists)
        kubelet.client().allocate([VFS[0]])
        if waits_for_none:
            equal(lists.open, 1)  # List is still running, and Allocate did not wait for it
        eventually("no label", lambda: pods_of(daemon) == {} and not labelled(daemon, "job-1"))
        eventually("reserved", lambda: daemon.offer(VFS[0])["state"] == "reserved")
        lists.set_answer(pod("job-2", devices(ROCE, VFS[0])))
        eventually("job-2", lambda: pods_of(daemon) == {VFS[0]: "job-2"} and labelled(daemon, "job-2"), 40)
        assert not labelled(daemon, "job-1")
        kubelet.stop()
        lists.stop()


@check
def a_list_that_is_refused():
    for status in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNIMPLEMENTED):
        changes_hands(lambda lists, status=status: lists.set_answer(status))


@check
def a_list_that_hangs():
    changes_hands(lambda lists: lists.set_answer(None), True)


@check
def a_list_that_is_malformed():
    changes_hands(lambda lists: lists.set_answer(b"\xff\xff"))


@check
def a_socket_that_is_gone():
    changes_hands(lambda lists: os.rename(lists.folder + "/kubelet.sock", lists.folder + "/away") or
                  setattr(lists, "set_answer", lambda answer, set_answer=lists.set_answer: (set_answer(answer), os.path.exists(lists.folder + "/away") and os.rename(
                      lists.folder + "/away", lists.folder + "/kubelet.sock"))))


# --- claims -----------------------------------------------------------------------------------


@check
def devices_of_another_driver():
    """dranet names a VF by its address or by its netdev; two containers share a claim; an extended resource is a claim, too."""
    with Daemon() as daemon:
        eventually("devices", lambda: daemon.get("/api/v1/devices"))
        netdev = daemon.device(VFS[1])["netdevs"][0]["name"]
        one = claim("nic", ("dra.net", "node", "pci-" + VFS[0].replace(":", "-").replace(".", "-"), 2000))
        other = claim("job-4-extended-resources-x7k2p", ("dra.net", "node", netdev, 0), ("gpu.example.com", "node", "gpu-0", 2000))
        both = field(3, field(1, "side") + one)
        lists = Lists(daemon.dir, field(1, field(1, "job-3") + field(2, "train") + field(3, field(1, "main") + one) + both) + pod("job-4", other))
        kubelet = registered(daemon)
        daemons.checkpoint(daemon)
        eventually("job-3's", lambda: labelled(daemon, "job-3"))
        eventually("job-4's", lambda: labelled(daemon, "job-4"))
        equal({id: name for id, name in pods_of(daemon).items() if ":" in id}, {VFS[0]: "job-3", VFS[1]: "job-4"})
        # A device that another driver has allocated is not offered.
        eventually("not offered", lambda: daemon.device(VFS[0])["resources"] == [])
        lists.set_answer(b"")
        daemons.checkpoint(daemon)
        eventually("no label", lambda: not labelled(daemon, "job-3") and not labelled(daemon, "job-4"))
        eventually("offered again", lambda: daemon.offer(VFS[0])["state"] == "free")
        kubelet.stop()
        lists.stop()


# --- large lists ------------------------------------------------------------------------------


def peak_kib(daemon):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1))


def large(mib):
    """Mostly claims with CDI names, around one device."""
    some = pod("gpus", claim("gpus", *[("gpu.example.com", "node", f"gpu-{i}", 100000) for i in range(10)]))
    return some * (mib * MIB // len(some)) + pod("job-1", devices(ROCE, VFS[0]))


@check
def lists_of_many_megabytes():
    """Their memory depends on the number of devices, not of bytes."""
    peaks = []
    for mib in (0, 20, 64, 200):
        with Daemon() as daemon:
            answer = large(mib)
            lists = Lists(daemon.dir, answer)
            kubelet = registered(daemon)
            daemons.checkpoint(daemon)
            eventually("job-1", lambda: pods_of(daemon).get(VFS[0]) == "job-1", 60)
            equal(trouble(daemon), "")
            peaks.append(peak_kib(daemon))
            print(f"       a list of {len(answer)} bytes: peak {peaks[-1]} KiB resident", flush=True)
            kubelet.stop()
            lists.stop()
    if "/san/" not in daemons.programs["daemon"]:  # sanitizers keep freed memory
        assert max(peaks) - peaks[0] < 4096, peaks


@check
def a_list_beyond_the_limit():
    """The reason names its size, and the limit."""
    with Daemon() as daemon:
        answer = large(257)
        lists = Lists(daemon.dir, answer)
        kubelet = registered(daemon)
        eventually("the reason", lambda: f"larger than {256 * MIB} bytes: it has {len(answer)}" in trouble(daemon), 60)
        kubelet.stop()
        lists.stop()


def main():
    daemons.programs["daemon"], daemons.programs["mk_sysfs"] = sys.argv[1:3]
    failed = base.run_checks(checks, sys.argv[3:])
    os._exit(failed)


if __name__ == "__main__":
    main()
