#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges k8s/cri/cri.h with a container runtime made of grpc-python: lists, details, events of either kind, restarts.

  cri_python.py PROGRAM      PROGRAM: build/interop/cri_watch

One line per check, "N passed, N failed" last.

run: {san}/interop/cri_watch
proves: k8s/cri k8s/rpc
when: core
"""
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from concurrent import futures

import grpc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import kube_api
from run_checks import run_checks

PROGRAM = sys.argv[1]
SOON = 120  # timeout in seconds, far above what any step needs on a busy machine
HINTED = 25  # without an event, cri.c lists every 30 s
NETWORKS = "rocelet.dev/networks"
# k8s.io/cri-api/pkg/apis/runtime/v1/api.proto, containerd's api/services/events/v1/events.proto. The value of an Any is an encoded message:
# here one with an id.
M = kube_api.messages("runtime.v1", {
    "Empty": {},
    "VersionResponse": {"version": (1, "string"), "runtime_name": (2, "string"), "runtime_version": (3, "string"),
                        "runtime_api_version": (4, "string")},
    "Metadata": {"name": (1, "string"), "uid": (2, "string"), "namespace": (3, "string"), "attempt": (4, "int64")},
    "PodSandbox": {"id": (1, "string"), "metadata": (2, "Metadata"), "state": (3, "int64"), "created_at": (4, "int64"), "labels": (5, "map"),
                   "annotations": (6, "map"), "runtime_handler": (7, "string")},
    "ListPodSandboxResponse": {"items": (1, ["PodSandbox"])},
    "StatusRequest": {"pod_sandbox_id": (1, "string"), "verbose": (2, "bool")},
    "Options": {"network": (1, "int64"), "pid": (2, "int64")},
    "Namespaces": {"options": (2, "Options")},
    "Linux": {"namespaces": (1, "Namespaces")},
    "PodSandboxStatus": {"id": (1, "string"), "metadata": (2, "Metadata"), "state": (3, "int64"), "linux": (6, "Linux"), "labels": (7, "map"),
                         "annotations": (8, "map")},
    "StatusResponse": {"status": (1, "PodSandboxStatus"), "info": (2, "map"), "timestamp": (4, "int64")},
    "ContainerEvent": {"container_id": (1, "string"), "container_event_type": (2, "int64"), "created_at": (3, "int64"),
                       "pod_sandbox_status": (4, "PodSandboxStatus")},
    "SubscribeRequest": {"filters": (1, ["string"])},
    "Subject": {"id": (1, "string")},
    "Any": {"type_url": (1, "string"), "value": (2, "Subject")},
    "Envelope": {"namespace": (2, "string"), "topic": (3, "string"), "event": (4, "Any")},
})
checks = []


def check(function):
    checks.append(function)
    return function


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"found {found!r}, wanted {wanted!r}")


def eventually(what, condition, seconds=SOON):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.002)


class Runtime:
    """A runtime on one socket. sandboxes: {id: (namespace, pod, ready, netns or None for the node's, annotations)}."""

    def __init__(self, name="containerd", version="1.7.24", events=True):
        self.dir = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.dir.name, "cri.sock")
        self.name, self.version, self.has_events = name, version, events
        self.sandboxes, self.padding, self.listeners, self.filters = {}, "", [], []
        self.statuses = []
        self.start()

    def start(self):
        def unary(function, request="Empty"):
            return kube_api.handler(function, M[request])

        self.server = grpc.server(futures.ThreadPoolExecutor(16))
        self.server.add_generic_rpc_handlers((
            grpc.method_handlers_generic_handler("runtime.v1.RuntimeService", {
                "Version": unary(lambda q, c: M["VersionResponse"](version="0.1.0", runtime_name=self.name, runtime_version=self.version)),
                "ListPodSandbox": unary(lambda q, c: self.list()),
                "PodSandboxStatus": unary(self.status, "StatusRequest"),
                "GetContainerEvents": kube_api.handler(self.events, M["Empty"], streams=True)}),
            grpc.method_handlers_generic_handler("containerd.services.events.v1.Events", {
                "Subscribe": kube_api.handler(self.events, M["SubscribeRequest"], streams=True)})))
        self.server.add_insecure_port("unix:" + self.path)
        self.server.start()

    def stop(self):
        for listener in self.listeners:
            listener.put(None)
        self.listeners = []
        self.server.stop(None).wait()

    def list(self):
        return M["ListPodSandboxResponse"](items=[
            M["PodSandbox"](id=i, metadata=M["Metadata"](name=pod, uid="u-" + i[:8], namespace=namespace, attempt=1), state=not ready,
                            created_at=time.time_ns(), labels={"a": "b"}, annotations={**notes, "padding": self.padding})
            for i, (namespace, pod, ready, netns, notes) in list(self.sandboxes.items())])

    def status(self, request, context):
        self.statuses.append(request.pod_sandbox_id)
        if not request.verbose or request.pod_sandbox_id not in self.sandboxes:
            context.abort(grpc.StatusCode.NOT_FOUND, "an error occurred when try to find sandbox: not found \u2013 100 %")
        netns, notes = self.sandboxes[request.pod_sandbox_id][3:]
        network = [] if netns is None else [{"type": "network", "path": netns}]
        info = {"pid": 7, "runtimeSpec": {"linux": {"namespaces": [{"type": "pid"}, *network]}}}
        return M["StatusResponse"](info={"info": json.dumps(info)}, timestamp=1, status=M["PodSandboxStatus"](
            id=request.pod_sandbox_id, annotations=notes,
            linux=M["Linux"](namespaces=M["Namespaces"](options=M["Options"](network=2 if netns is None else 0, pid=1)))))

    def events(self, request, context):
        if not self.has_events:
            return
        if isinstance(request, M["SubscribeRequest"]):
            self.filters = list(request.filters)
        mine = queue.Queue()
        self.listeners.append(mine)
        while (event := mine.get()) is not None:
            yield event

    def send(self, event):
        for listener in self.listeners:
            listener.put(event)

    def envelope(self, topic, i):
        self.send(M["Envelope"](namespace="k8s.io", topic=topic,
                                event=M["Any"](type_url="containerd.events.X", value=M["Subject"](id=i))))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.dir.cleanup()


class Watch:
    """cri_watch and its output."""

    def __init__(self, runtime):
        self.lines = []
        self.process = subprocess.Popen([PROGRAM, runtime.path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.split()[1:])

    def sandboxes(self):
        """{id: [namespace, pod, uid, state, netns, networks]}"""
        found = {}
        for what, *words in list(self.lines):
            if what == "sandbox":
                found[words[0]] = words[1:]
            elif what == "gone":
                found.pop(words[0], None)
        return found

    def has(self, what):
        return any(line[0] == what for line in list(self.lines))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        equal(self.process.wait(SOON), 0)
        self.reader.join(SOON)


A, B, H = "a" * 64, "b" * 64, "h" * 64
SANDBOXES = {A: ("ml", "train-0", True, "/run/netns/cni-a", {NETWORKS: "[{\"resource\":\"\u00e4\"}]", "z": "y"}),
             B: ("ml", "train-1", False, "/run/netns/cni-b", {}), H: ("kube-system", "proxy", True, None, {})}


@check
def lists_and_details():
    with Runtime() as runtime:
        runtime.sandboxes = dict(SANDBOXES)
        with Watch(runtime) as watch:
            eventually("three sandboxes", lambda: len(watch.sandboxes()) == 3)
            equal(watch.sandboxes(), {
                A: ["ml", "train-0", "u-aaaaaaaa", "ready", "/run/netns/cni-a", "[{\"resource\":\"\u00e4\"}]"],
                B: ["ml", "train-1", "u-bbbbbbbb", "ended", "/run/netns/cni-b", "-"],
                H: ["kube-system", "proxy", "u-hhhhhhhh", "ready", "host", "-"]})
            equal(sorted(runtime.statuses), [A, B, H])
            equal(watch.lines[0], ["known", "containerd", "1.7.24,", "events:", "containerd"])


@check
def ten_megabytes():
    with Runtime() as runtime:
        runtime.padding = "x" * 50000
        runtime.sandboxes = {"%064d" % i: ("n", f"p{i}", True, f"/run/netns/{i}", {}) for i in range(200)}
        with Watch(runtime) as watch:
            eventually("200 sandboxes", lambda: len(watch.sandboxes()) == 200)


@check
def events_of_containerd():
    with Runtime() as runtime, Watch(runtime) as watch:
        eventually("a subscription", lambda: runtime.listeners)
        assert "namespace==k8s.io" in runtime.filters[0], runtime.filters
        time.sleep(1.5)  # the requests of the first second would find it without the event that is tested
        runtime.sandboxes = dict(SANDBOXES)
        runtime.envelope("/tasks/start", A)
        eventually("the event causes a list", lambda: len(watch.sandboxes()) == 3, HINTED)
        runtime.envelope("/tasks/exit", A)
        runtime.sandboxes[A] = ("ml", "train-0", False, "/run/netns/cni-a", {})
        eventually("its end", lambda: watch.sandboxes()[A][3] == "ended", HINTED)
        del runtime.sandboxes[A]
        runtime.envelope("/containers/delete", A)
        eventually("it is removed", lambda: A not in watch.sandboxes(), HINTED)
        equal(runtime.statuses.count(A), 1)


@check
def events_of_cri_o():
    with Runtime("cri-o", "1.31.2") as runtime, Watch(runtime) as watch:
        eventually("a subscription", lambda: runtime.listeners)
        time.sleep(1.5)  # as above
        runtime.sandboxes = dict(SANDBOXES)
        runtime.send(M["ContainerEvent"](container_id=A, container_event_type=1))
        eventually("the event causes a list", lambda: len(watch.sandboxes()) == 3, HINTED)


@check
def no_events():
    with Runtime("cri-o", "1.31.2", events=False) as runtime, Watch(runtime) as watch:
        eventually("it is known", lambda: watch.has("known"))
        runtime.sandboxes = dict(SANDBOXES)
        eventually("it is listed all the same", lambda: len(watch.sandboxes()) == 3)


@check
def a_restart():
    with Runtime() as runtime:
        runtime.sandboxes = dict(SANDBOXES)
        with Watch(runtime) as watch:
            eventually("three sandboxes", lambda: len(watch.sandboxes()) == 3)
            eventually("a subscription", lambda: runtime.listeners)
            runtime.stop()
            del runtime.sandboxes[B]
            runtime.start()
            eventually("one is removed", lambda: len(watch.sandboxes()) == 2)
            eventually("a subscription", lambda: runtime.listeners)
            assert not watch.has("unknown")
            equal(sorted(runtime.statuses), [A, B, H])


def main():
    os._exit(run_checks(checks, sys.argv[2:]))


if __name__ == "__main__":
    main()
