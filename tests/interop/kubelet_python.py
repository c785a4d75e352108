#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges k8s/kubelet/kubelet.h with a kubelet made of grpc-python: registration in both modes, restarts, every method of the device plugin API.

  kubelet_python.py PROGRAM            PROGRAM: build/interop/plugin_host
  kubelet_python.py --command COMMAND  any device plugin: {dir} in COMMAND is its kubelet's folder; what needs plugin_host's help is left out

One line per check, "N passed, N failed" last.

run: {san}/interop/plugin_host
proves: k8s/kubelet k8s/rpc
when: core -a_watcher_that_does_not_read_costs_no_memory
when: turns
"""
import glob
import importlib
import os
import shlex
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from concurrent import futures

import grpc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from run_checks import run_checks  # noqa: E402

MIB = 1 << 20
API = "/v1beta1.DevicePlugin/"
SOON = int(os.environ.get("SOON", "120"))  # when to give up: well above what anything takes on a busy machine
HERE = os.path.dirname(os.path.abspath(__file__))
checks = []


def stubs():
    """The messages, by protoc from the project's own .proto files."""
    proto = os.path.join(HERE, "../../k8s/proto")
    out = tempfile.mkdtemp()
    names = ["deviceplugin", "pluginregistration"]
    subprocess.run(["protoc", f"--proto_path={proto}", f"--python_out={out}", *[f"{proto}/{n}.proto" for n in names]], check=True)
    sys.path.insert(0, out)
    return [importlib.import_module(n + "_pb2") for n in names]


dp, pr = stubs()


def check(function):
    """With any plugin."""
    checks.append((function, False))
    return function


def host_check(function):
    """With plugin_host only."""
    checks.append((function, True))
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


def raises(code, function):
    try:
        function()
    except grpc.RpcError as error:
        equal(error.code(), code)
        return error.details()
    raise AssertionError(f"no error, wanted {code}")


# --- the kubelet ------------------------------------------------------------------------------


class Plugin:
    """The kubelet's client of one plugin socket, with a connection of its own."""

    def __init__(self, path, *options):
        self.channel = grpc.insecure_channel("unix:" + path, options=[("grpc.use_local_subchannel_pool", 1), *options])

    def unary(self, path, request, answer, timeout=SOON):
        call = self.channel.unary_unary(path, request_serializer=type(request).SerializeToString, response_deserializer=answer.FromString)
        return call(request, timeout=timeout, wait_for_ready=True)  # as the kubelet, which dials until somebody listens

    def start(self, path, request, answer, timeout=None):
        call = self.channel.unary_unary(path, request_serializer=type(request).SerializeToString, response_deserializer=answer.FromString)
        return call.future(request, timeout=timeout)

    def options(self):
        return self.unary(API + "GetDevicePluginOptions", dp.Empty(), dp.DevicePluginOptions)

    def allocate(self, *containers, timeout=SOON):
        return self.unary(API + "Allocate", allocation(*containers), dp.AllocateResponse, timeout).container_responses

    def pre_start(self, *ids):
        return self.unary(API + "PreStartContainer", dp.PreStartContainerRequest(devices_ids=ids), dp.PreStartContainerResponse)

    def preferred(self, available, must, size):
        one = dp.ContainerPreferredAllocationRequest(available_deviceIDs=available, must_include_deviceIDs=must, allocation_size=size)
        answer = self.unary(API + "GetPreferredAllocation", dp.PreferredAllocationRequest(container_requests=[one]), dp.PreferredAllocationResponse)
        return list(answer.container_responses[0].deviceIDs)

    def watch(self):
        call = self.channel.unary_stream(API + "ListAndWatch", request_serializer=dp.Empty.SerializeToString,
                                         response_deserializer=dp.ListAndWatchResponse.FromString)
        return call(dp.Empty())

    def info(self):
        return self.unary("/pluginregistration.Registration/GetInfo", pr.InfoRequest(), pr.PluginInfo)

    def notify(self, registered, error=""):
        return self.unary("/pluginregistration.Registration/NotifyRegistrationStatus", pr.RegistrationStatus(plugin_registered=registered, error=error),
                          pr.RegistrationStatusResponse)

    def close(self):
        self.channel.close()


def allocation(*containers):
    return dp.AllocateRequest(container_requests=[dp.ContainerAllocateRequest(devices_ids=c) for c in containers])


class Watch(threading.Thread):
    """Reads lists until the stream ends."""

    def __init__(self, plugin):
        super().__init__(daemon=True)
        self.lists, self.times, self.error = [], [], None
        self.call = plugin.watch()
        self.start()

    def run(self):
        try:
            for message in self.call:
                self.lists.append(message.devices)
                self.times.append(time.monotonic())
        except grpc.RpcError as error:
            self.error = error

    def healthy(self):
        return sum(d.health == "Healthy" for d in self.lists[-1]) if self.lists else None


class Kubelet:
    def __init__(self, dir, manner="good"):
        self.dir, self.manner = dir, manner
        self.plugins = os.path.join(dir, "device-plugins")
        self.sock = os.path.join(self.plugins, "kubelet.sock")
        self.requests, self.watches, self.clients = [], {}, {}
        self.server = None

    def register(self, message, context):
        request = dp.RegisterRequest.FromString(message)
        self.requests.append(request)
        if self.manner == "silent":
            time.sleep(3600)
        if self.manner == "unavailable":
            context.abort(grpc.StatusCode.UNAVAILABLE, "starting")
        if self.manner == "refusing":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "unsupported, 100 % \u2013 sorry")
        self.meet(request.resource_name, os.path.join(self.plugins, request.endpoint))
        return dp.Empty().SerializeToString()

    def meet(self, resource, path):
        """What a kubelet does inside of Register."""
        client = Plugin(path)
        self.last_options = client.options()
        self.clients[resource] = client
        self.watches[resource] = Watch(client)

    def start(self):
        for path in glob.glob(self.plugins + "/*"):
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                os.unlink(path)
        service = grpc.method_handlers_generic_handler("v1beta1.Registration", {"Register": grpc.unary_unary_rpc_method_handler(self.register)})
        self.server = grpc.server(futures.ThreadPoolExecutor(8))
        self.server.add_generic_rpc_handlers((service,))
        self.server.add_insecure_port("unix:" + self.sock)
        self.server.start()
        self.started = time.monotonic()
        return self

    def stop(self, dead_file=False):
        self.server.stop(None).wait()
        for client in self.clients.values():
            client.close()
        self.clients, self.watches = {}, {}
        if dead_file:
            with socket.socket(socket.AF_UNIX) as s:
                if os.path.exists(self.sock):
                    os.unlink(self.sock)
                s.bind(self.sock)

    def find(self, path):
        """What the plugin watcher does with a socket in the registry."""
        client = Plugin(path)
        info = client.info()
        self.meet(info.name, info.endpoint or path)
        client.notify(True)
        client.close()
        return info

    def watch(self):
        """The one watch, once its first list is there."""
        eventually("a list", lambda: any(w.lists for w in list(self.watches.values())))
        return next(w for w in self.watches.values() if w.lists)

    def client(self):
        self.watch()
        return next(iter(self.clients.values()))


# --- the plugin -------------------------------------------------------------------------------


class Host:
    """The plugin's process, its kubelet's folder, and the lines it prints."""

    program, command = None, None

    def __init__(self, mode="legacy", *arguments):
        self.temp = tempfile.TemporaryDirectory()
        self.dir = self.temp.name
        os.mkdir(self.dir + "/device-plugins")
        if mode == "registry":
            os.mkdir(self.dir + "/plugins_registry")
        if Host.command:
            command = [part.replace("{dir}", self.dir) for part in shlex.split(Host.command)]
        else:
            command = [Host.program, self.dir, mode, *arguments]
        # What a sanitizer keeps of freed memory is not the plugin's.
        environment = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1")
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.log = [], []
        for stream, lines in ((self.process.stdout, self.lines), (self.process.stderr, self.log)):
            threading.Thread(target=lambda s, l: l.extend(iter_lines(s, l)), args=(stream, lines), daemon=True).start()
        if Host.program:
            self.wait("ready")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def tell(self, line):
        """Says it and returns when it was heard: what comes on a socket may otherwise be read before what came on the pipe."""
        self.say(line)
        self.status()

    def wait(self, start, seconds=SOON):
        """The next line that starts so; it is taken away."""
        def found():
            return any(x.startswith(start) for x in self.lines)
        eventually(f"line {start!r}", found, seconds)
        at = next(i for i, x in enumerate(self.lines) if x.startswith(start))
        return self.lines.pop(at)

    def status(self):
        self.say("status")
        words = self.wait("status").split(maxsplit=11)
        return {"state": int(words[1]), "registrations": int(words[3]), "failures": int(words[5]), "lists": int(words[7]), "watchers": int(words[9]),
                "error": words[11] if len(words) > 11 else ""}

    def socket(self, folder="device-plugins"):
        pattern = f"{self.dir}/{folder}/*_*.sock"
        eventually(pattern, lambda: glob.glob(pattern))
        return glob.glob(pattern)[0]

    def rss(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) * 1024

    def quit(self):
        if self.process.poll() is None:
            if Host.program:
                self.say("quit")
            else:
                self.process.send_signal(signal.SIGTERM)
        if self.process.wait(SOON) != 0:
            raise AssertionError(f"exit {self.process.returncode}: " + "".join(self.log[-20:]))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            self.quit()
        except Exception:
            self.process.kill()
            if kind is None:
                raise
        finally:
            self.temp.cleanup()


def iter_lines(stream, lines):
    for line in stream:
        lines.append(line.rstrip("\n"))
    return []


def start(devices=4, mode="legacy"):
    host = Host(mode)
    if Host.program:
        host.tell(f"devices {devices}")
    return host


def registered(host):
    kubelet = Kubelet(host.dir).start()
    kubelet.watch()
    return kubelet


# --- checks -----------------------------------------------------------------------------------


@check
def it_registers_and_lists():
    with start() as host:
        kubelet = registered(host)
        request = kubelet.requests[0]
        equal(request.version, "v1beta1")
        equal(request.endpoint, request.resource_name.replace("/", "_") + ".sock")
        equal(os.path.basename(host.socket()), request.endpoint)
        equal(request.options, kubelet.last_options)
        assert kubelet.watch().lists[0]
        assert all(d.health == "Healthy" and len(d.ID) <= 63 for d in kubelet.watch().lists[0])
        equal(stat.S_IMODE(os.stat(host.socket()).st_mode), 0o600)
        kubelet.stop()


@host_check
def lists_are_complete_and_only_sent_when_they_differ():
    with start() as host:
        kubelet = registered(host)
        watch = kubelet.watch()
        equal([(d.ID, d.topology.nodes[0].ID) for d in watch.lists[0]], [("dev0", 0), ("dev1", 1), ("dev2", 0), ("dev3", 1)])
        host.say("devices 4")
        host.say("ill 2")
        eventually("an ill device", lambda: watch.healthy() == 3)
        equal([d.health for d in watch.lists[-1]], ["Healthy", "Healthy", "Unhealthy", "Healthy"])
        host.say("devices 0")
        eventually("no device", lambda: len(watch.lists[-1]) == 0)
        equal(len(watch.lists), 3)
        kubelet.stop()


@host_check
def allocate_gives_everything():
    with start() as host:
        kubelet = registered(host)
        both = kubelet.client().allocate(["dev0", "dev1"], ["dev3"])
        equal(len(both), 2)
        equal(dict(both[0].envs), {"DEVICES": "dev0"})
        equal(dict(both[1].annotations), {"example.com/\u00e4": "annotated"})
        equal([(m.container_path, m.host_path, m.read_only) for m in both[0].mounts], [("/run/container", "/run/host", True)])
        equal([(d.container_path, d.host_path, d.permissions) for d in both[0].devices],
              [(f"/dev/example/dev{i}",) * 2 + ("rw",) for i in (0, 1)])
        equal([c.name for c in both[1].cdi_devices], ["example.com/dev=one"])
        kubelet.stop()


@check
def unknown_devices_are_named():
    with start() as host:
        kubelet = registered(host)
        for call in (lambda: kubelet.client().allocate(["no-such-device"]), lambda: kubelet.client().pre_start("no-such-device")):
            try:
                call()
                raise AssertionError("no error")
            except grpc.RpcError as error:
                assert "no-such-device" in error.details(), error.details()
        kubelet.stop()


@host_check
def errors_keep_their_text():
    with start() as host:
        kubelet = registered(host)
        equal(raises(grpc.StatusCode.NOT_FOUND, lambda: kubelet.client().allocate(["x"])), '"x" is no device of example.com/dev \u2013 100 %')
        kubelet.stop()


@check
def an_allocation_may_be_preferred_and_started():
    with start() as host:
        kubelet = registered(host)
        ids = [d.ID for d in kubelet.watch().lists[0]]
        chosen = kubelet.client().preferred(ids, [], 1)
        equal(len(chosen), 1)
        assert chosen[0] in ids
        kubelet.client().allocate(chosen)
        kubelet.client().pre_start(*chosen)
        raises(grpc.StatusCode.INVALID_ARGUMENT, lambda: kubelet.client().preferred(ids, [], len(ids) + 1))
        raises(grpc.StatusCode.INVALID_ARGUMENT, lambda: kubelet.client().preferred(ids, ids, 0))
        kubelet.stop()


@check
def what_is_no_method_is_unimplemented():
    with start() as host:
        kubelet = registered(host)
        text = raises(grpc.StatusCode.UNIMPLEMENTED, lambda: kubelet.client().unary(API + "Frobnicate", dp.Empty(), dp.Empty))
        assert "Frobnicate" in text, text
        raises(grpc.StatusCode.UNIMPLEMENTED, lambda: kubelet.client().info())
        kubelet.stop()


@check
def ids_that_cannot_be_are_refused():
    with start() as host:
        kubelet = registered(host)
        for ids in (["x" * 64], [""], ["x"] * 5000):
            raises(grpc.StatusCode.INVALID_ARGUMENT, lambda: kubelet.client().allocate(ids))
        raw = kubelet.client().channel.unary_unary(API + "Allocate")
        for garbage in (b"\xff\xff\xff\xff", b"\x0a\x05\x0a\x03\xff\xfe\xfd", b"\x0a\x7f"):
            try:
                raw(garbage, timeout=SOON)
                raise AssertionError("no error")
            except grpc.RpcError as error:
                assert error.code() in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.DATA_LOSS, grpc.StatusCode.INTERNAL), error
        try:
            raw(b"\x0a" * (5 * MIB), timeout=SOON)
            raise AssertionError("no error")
        except grpc.RpcError as error:
            equal(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        equal(len(kubelet.requests), 1)
        kubelet.stop()


@check
def an_old_kubelets_authority_is_fine():
    with start() as host:
        kubelet = registered(host)
        old = Plugin(host.socket(), ("grpc.default_authority", host.socket()))
        old.options()
        old.close()
        kubelet.stop()


@host_check
def many_clients_at_once():
    with start() as host:
        kubelet = registered(host)
        clients = [Plugin(host.socket()) for _ in range(8)]
        with futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda i: clients[i % 8].allocate([f"dev{i % 4}"]), range(800)))
        equal([a[0].envs["DEVICES"] for a in answers], [f"dev{i % 4}" for i in range(800)])
        for client in clients:
            client.close()
        kubelet.stop()


@host_check
def a_question_can_be_withdrawn():
    with start() as host:
        kubelet = registered(host)
        host.tell("later")
        call = kubelet.client().start(API + "Allocate", allocation(["dev0"]), dp.AllocateResponse)
        host.wait("waiting")
        call.cancel()
        host.wait("gone")
        call = kubelet.client().start(API + "Allocate", allocation(["dev0"]), dp.AllocateResponse, timeout=2)
        host.wait("waiting")
        raises(grpc.StatusCode.DEADLINE_EXCEEDED, call.result)
        host.wait("gone")
        call = kubelet.client().start(API + "Allocate", allocation(["dev0"]), dp.AllocateResponse)
        host.wait("waiting")
        host.say("answer")
        equal(call.result(SOON).container_responses[0].envs["DEVICES"], "dev0")
        call = kubelet.client().start(API + "Allocate", allocation(["dev0"]), dp.AllocateResponse)
        host.wait("waiting")
        kubelet.stop()
        host.wait("gone")


@host_check
def a_list_of_3_mib_passes():
    with start() as host:
        kubelet = registered(host)
        watch = kubelet.watch()
        host.say("big 40000")
        eventually("40000 devices", lambda: len(watch.lists[-1]) == 40000)
        equal(watch.lists[-1][39999].ID, f"{39999:063d}")
        host.say("big 60000")  # more than a kubelet takes
        eventually("a cut list", lambda: len(watch.lists[-1]) not in (4, 40000))
        assert 40000 < len(watch.lists[-1]) < 60000
        assert watch.error is None
        kubelet.stop()


@host_check
def a_watcher_that_does_not_read_costs_no_memory():
    with start() as host:
        kubelet = registered(host)
        fast = kubelet.watch()
        slow = Plugin(host.socket())
        call = slow.watch()
        host.say("big 20000")
        eventually("the big list", lambda: len(fast.lists[-1]) == 20000)
        host.say("flap 20")
        host.wait("flapped")
        before = host.rss()
        host.say("flap 500")  # 0.8 GB if each were queued; each of them is 1.6 MB for the one who reads, in Python
        host.wait("flapped", 5 * SOON)
        grown = host.rss() - before
        assert grown < 24 * MIB, f"grew by {grown} bytes"
        host.say("devices 3")
        eventually("the last list", lambda: len(fast.lists[-1]) == 3)
        n = 0
        for message in call:
            n += 1
            if len(message.devices) == 3:
                break
        assert n < 60, n
        call.cancel()
        eventually("one watcher", lambda: host.status()["watchers"] == 1)
        slow.close()
        kubelet.stop()


@check
def twenty_restarts():
    with start() as host:
        kubelet, worst = registered(host), 0
        for i in range(20):
            kubelet.stop(dead_file=i % 2 == 1)
            kubelet = Kubelet(host.dir).start()
            eventually("registered", lambda: kubelet.requests)
            kubelet.watch()
            worst = max(worst, kubelet.watch().times[0] - kubelet.started)
        print(f"# worst of 20 restarts: first list {worst * 1000:.0f} ms after the kubelet's socket accepts")
        kubelet.stop()


@check
def a_kubelet_that_dropped_us_gets_us_back():
    with start() as host:
        kubelet = registered(host)
        kubelet.watch().call.cancel()
        eventually("registered again", lambda: len(kubelet.requests) == 2)
        kubelet.stop()


@check
def a_deleted_socket_comes_back():
    with start() as host:
        kubelet = registered(host)
        os.unlink(host.socket())
        eventually("registered again", lambda: len(kubelet.requests) == 2)
        eventually("a socket", lambda: os.path.exists(host.socket()))
        kubelet.client().options()
        kubelet.stop()


@check
def bad_kubelets_are_outlived():
    for manner in ("silent", "unavailable", "refusing"):
        with start() as host:
            bad = Kubelet(host.dir, manner).start()
            eventually("asked", lambda: len(bad.requests) >= (1 if manner == "silent" else 4))
            if manner == "refusing" and Host.program:
                status = host.status()
                equal(status["state"], 2)
                assert "INVALID_ARGUMENT: unsupported, 100 % \u2013 sorry" in status["error"], status
                equal(sum("sorry" in line for line in host.log), 1)  # told once
            if manner == "silent":  # it hangs for ever, and another one starts
                good = registered(host)
                good.stop()
            else:
                bad.manner = "good"
                bad.watch()
                if Host.program:
                    eventually("no error", lambda: host.status()["error"] == "")
            bad.server.stop(None)


@check
def the_registry():
    with start(mode="registry") as host:
        path = host.socket("plugins_registry")
        kubelet = Kubelet(host.dir).start()
        info = kubelet.find(path)
        equal(info.type, "DevicePlugin")
        equal(list(info.supported_versions), ["v1beta1"])
        equal(os.path.basename(path), info.name.replace("/", "_") + ".sock")
        first = kubelet.watch().lists[0]
        kubelet.stop(dead_file=True)
        kubelet = Kubelet(host.dir).start()
        assert os.path.exists(path)  # a starting kubelet finds it where it was
        kubelet.find(path)
        equal(len(kubelet.watch().lists[0]), len(first))
        os.unlink(path)
        eventually("the socket again", lambda: os.path.exists(path))
        kubelet.find(path)
        equal(kubelet.requests, [])
        kubelet.stop()
        equal(sorted(os.listdir(host.dir + "/plugins_registry")), [os.path.basename(path)])


@host_check
def leaving():
    for zero in (False, True):
        with Host("legacy", *(["zero"] if zero else [])) as host:
            host.tell("devices 4")
            kubelet = registered(host)
            watch, path = kubelet.watch(), host.socket()
            host.quit()
            watch.join(SOON)
            equal(len(watch.lists[-1]), 0 if zero else 4)
            assert watch.error is not None
            assert not os.path.exists(path)
            kubelet.stop()


def main():
    if sys.argv[1] == "--command":
        Host.command = sys.argv[2]
    else:
        Host.program = sys.argv[1]
    failed = run_checks([f for f, needs_host in checks if not (needs_host and Host.command)], sys.argv[3:] if Host.command else sys.argv[2:])
    os._exit(failed)  # a silent kubelet's threads never end


if __name__ == "__main__":
    main()
