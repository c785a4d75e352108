#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges how one daemon hands its node to the next, with a kubelet made of grpc-python.

  hand_over_python.py DAEMON MK_SYSFS [CHECK...]

It judges what the kubelet sees: one list that it watches until the successor has registered, never without devices. One line per
check, "N passed, N failed" last.

run: {san}/rocelet {san}/bench/mk_sysfs
proves: daemon/compose k8s/kubelet daemon/plugin
when: turns
"""
import contextlib
import fcntl
import http.server
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import grpc  # noqa: E402

import daemon_python as daemons  # noqa: E402
import kubelet_python as base  # noqa: E402
from daemon_python import ROCE, VFS, Unix, command, registered  # noqa: E402
from kubelet_python import SOON, Kubelet, Plugin, Watch, equal, eventually  # noqa: E402

checks = []


def check(function):
    checks.append(function)
    return function


def as_pod(name):
    return {"POD_NAMESPACE": "rocelet", "POD_NAME": name} if name else {}


class Daemon(daemons.Daemon):
    def __init__(self, pod="old", **arguments):
        super().__init__(environment=as_pod(pod), **arguments)


class Successor:
    """Another daemon in the folders of a first one."""

    def __init__(self, first, pod="new", flags=("--take-over",)):
        self.dir = first.dir
        self.process = subprocess.Popen([*command(first.dir, first.dir), *flags], env=dict(os.environ, **as_pod(pod)), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.log = []
        threading.Thread(target=lambda: base.iter_lines(self.process.stderr, self.log), daemon=True).start()

    def logged(self, text):
        return any(text in line for line in self.log)

    def quit(self):
        self.process.send_signal(signal.SIGTERM)
        equal(self.process.wait(SOON), 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def logged(daemon, text):
    return any(text in line for line in daemon.log)


def sockets_of(process):
    folder, found = f"/proc/{process.pid}/fd", 0
    for fd in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):  # closed since
            found += os.readlink(f"{folder}/{fd}").startswith("socket:")
    return found


def is_lingering(daemon):
    return logged(daemon, "handed over to")


def take_over(first, kubelet, pod="new"):
    """Returns when the successor has sent its list to those that watch the first daemon's list."""
    watch = kubelet.watches[ROCE]
    n = len(watch.lists)
    successor = Successor(first, pod)
    eventually("its list", lambda: len(watch.lists) > n)
    return successor


class NewerKubelet(Kubelet):
    """Like 1.25 and later (pkg/kubelet/cm/devicemanager/plugin/v1beta1, runClient): a client is kept under its resource's name, and when *any* list
    of that name ends, the client that has that name then is closed and its devices are unhealthy. Pods arrive all the time."""

    def __init__(self, dir):
        super().__init__(dir)
        self.lock, self.allocatable, self.least, self.admitted, self.refused, self.open = threading.Lock(), 0, None, 0, [], True

    def meet(self, resource, path):
        client = Plugin(path)
        self.last_options = client.options()
        with self.lock:
            self.clients[resource] = client
        watch = self.watches[resource] = Watch(client)
        threading.Thread(target=self.run_client, args=(resource, watch), daemon=True).start()
        eventually("a list", lambda: watch.lists or not watch.is_alive())

    def run_client(self, resource, watch):
        noted = 0
        while watch.is_alive() or noted < len(watch.lists):
            if noted < len(watch.lists):
                noted = len(watch.lists)
                self.note(watch.healthy())
            watch.join(0.001)
        with self.lock:
            client = self.clients.pop(resource, None) if self.open else None
        if client:
            client.close()
            self.note(0)

    def note(self, n):
        with self.lock:
            self.allocatable = n
            if self.least is not None:
                self.least = min(self.least, n)

    def admit(self):
        """A pod that requests one device; a failure here fails the pod for good."""
        with self.lock:
            client, n = self.clients.get(ROCE), self.allocatable
        try:
            if not client or n == 0:
                raise AssertionError("no healthy devices present")
            call = client.channel.unary_unary(base.API + "Allocate", request_serializer=lambda m: m.SerializeToString(),
                                              response_deserializer=base.dp.AllocateResponse.FromString)
            call(base.allocation([VFS[0]]), timeout=SOON)
            self.admitted += 1
        except Exception as e:  # pylint: disable=broad-except
            self.refused.append(str(e))

    def keep_admitting(self):
        def run():
            while self.open:
                self.admit()
        self.least = self.allocatable
        self.pods = threading.Thread(target=run)
        self.pods.start()

    def has_kept(self, n):
        """Stops the pods: none was refused, and the devices were allocatable all the time."""
        self.open = False
        self.pods.join(SOON)
        equal((self.refused, self.least), ([], n))

    def sync(self, path):
        """The plugin watcher's reconciler: another file at the path is another plugin; the old one is unregistered first, by its name."""
        if os.stat(path).st_ino != self.found:
            self.found = os.stat(path).st_ino
            with self.lock:
                client = self.clients.pop(ROCE, None)
            if client:
                client.close()
                self.note(0)
            self.find(path)


def hand_on(old, kubelet, pod):
    """A successor takes over the node and answers for pods."""
    new = Successor(old, pod)
    eventually("handed over", lambda: is_lingering(old))
    admitted = kubelet.admitted
    eventually("pods are admitted", lambda: kubelet.admitted > admitted + 5 or kubelet.refused)
    return new


@check
def an_unscanned_registry_stays_unused():
    """The predecessor has found that the kubelet does not scan the registry."""
    with Daemon(mode="registry", flags=("--take-over",)) as old:
        kubelet = daemons.registered(old)
        n = len(kubelet.requests)
        with take_over(old, kubelet) as new:
            old.quit()
            assert kubelet.watches[ROCE].is_alive()
            equal((len(kubelet.requests), os.listdir(old.dir + "/plugins_registry")), (n, []))
            kubelet.stop()
            new.quit()


@check
def newer_kubelets_keep_the_devices():
    with Daemon(flags=("--take-over",)) as old:
        kubelet = NewerKubelet(old.dir).start()
        eventually("registered", lambda: kubelet.allocatable == 2)
        kubelet.keep_admitting()
        with hand_on(old, kubelet, "new") as new:
            old.quit()
            with hand_on(new, kubelet, "newest") as newest:
                new.quit()
                admitted = kubelet.admitted
                eventually("pods are admitted", lambda: kubelet.admitted > admitted + 5 or kubelet.refused)
                kubelet.has_kept(2)
                kubelet.stop()
                newest.quit()


@check
def newer_kubelets_keep_the_devices_of_the_registry():
    with Daemon(mode="registry") as old:
        path = old.socket("plugins_registry")
        kubelet = NewerKubelet(old.dir).start()
        kubelet.found = os.stat(path).st_ino
        kubelet.find(path)
        eventually("registered", lambda: kubelet.allocatable == 2)
        kubelet.keep_admitting()
        with hand_on(old, kubelet, "new") as new:
            old.quit()
            kubelet.sync(path)
            kubelet.has_kept(2)
            kubelet.stop()
            new.quit()


@check
def the_kubelet_never_loses_the_list():
    with Daemon() as old:
        kubelet = registered(old)
        watch, client = kubelet.watches[ROCE], kubelet.clients[ROCE]
        with take_over(old, kubelet) as new:
            equal([[(d.ID, d.health) for d in devices] for devices in watch.lists], [[(id, "Healthy") for id in VFS]] * 2)
            eventually("handed over", lambda: is_lingering(old) and logged(old, "pod rocelet/new requests"))
            eventually("the old daemon has no socket open", lambda: sockets_of(old.process) == 0)
            assert old.process.poll() is None  # its supervisor would restart it
            old.quit()
            equal((len(client.allocate([VFS[0]])), len(kubelet.requests), watch.is_alive()), (1, 1, True))
            kubelet.stop()
            new.quit()


@check
def its_socket_is_always_there():
    """In the registry, a socket that is removed or replaced removes the resource from the kubelet."""
    with Daemon(mode="registry") as old:
        kubelet = Kubelet(old.dir).start()
        path = old.socket("plugins_registry")
        kubelet.find(path)
        first, other, done = os.stat(path).st_ino, [], threading.Event()

        def check_socket():
            while not done.is_set():
                if not os.path.exists(path) or os.stat(path).st_ino != first:
                    other.append(path)
        checker = threading.Thread(target=check_socket)
        checker.start()
        kubelet.watch()
        with take_over(old, kubelet) as new:
            old.quit()
            equal([d.ID for d in kubelet.watch().lists[-1]], VFS)
            equal(kubelet.clients[ROCE].info().name, ROCE)
            done.set()
            checker.join()
            equal(other, [])
            kubelet.stop()
            new.quit()
        assert not os.path.exists(path)


@check
def no_socket_of_the_other_registration_is_left():
    """The old socket stays while the successor runs: with it the kubelet would remove the successor's resource."""
    with Daemon(mode="registry") as old:
        kubelet = Kubelet(old.dir).start()
        path = old.socket("plugins_registry")
        kubelet.find(path)
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as foreign, \
                Successor(old, flags=("--take-over", "--registration", "legacy")) as new:
            eventually("handed over", lambda: is_lingering(old))
            eventually("registered", lambda: kubelet.requests and kubelet.watches[ROCE].lists)
            old.quit()
            assert os.path.exists(path)
            kubelet.stop()
            new.quit()
            assert not os.path.exists(path)
            # A socket in use by another process is not removed.
            foreign.bind(path)
            foreign.listen()
            with Successor(old, flags=("--registration", "legacy")) as third:
                eventually("serves", lambda: os.path.exists(old.socket("device-plugins")))
                third.quit()
            assert os.path.exists(path)
        os.unlink(path)


@check
def the_successor_sends_a_changed_list():
    with Daemon() as old:
        kubelet = registered(old)
        watch = kubelet.watches[ROCE]
        with take_over(old, kubelet) as new:
            old.link("ens1v0", False)
            eventually("an unhealthy device", lambda: watch.healthy() == 1)
            kubelet.stop()
            new.quit()


@check
def a_daemon_that_has_handed_over_does_not_take_over_again():
    with Daemon() as old:
        kubelet = registered(old)
        with take_over(old, kubelet) as new:
            old.process.kill()
            with Successor(old, pod="old", flags=("--take-over", "--lock-wait", "1")) as again:
                equal(again.process.wait(SOON), 3)
                assert again.logged("pod rocelet/old has already handed this node over"), again.log
            assert new.process.poll() is None
            equal(len(kubelet.requests), 1)
            kubelet.stop()
            new.quit()
        old.process.returncode = 0  # this check killed it


@check
def the_third_takes_over_from_the_second():
    with Daemon() as old:
        kubelet = registered(old)
        with take_over(old, kubelet) as new:
            with take_over(old, kubelet, "newest") as newest:
                eventually("handed over", lambda: new.logged("handed over to rocelet/newest"))
                new.quit()
                old.quit()
                kubelet.stop()
                newest.quit()


@check
def a_successor_that_dies_leaves_the_node_to_the_next_start():
    with Daemon() as old:
        kubelet = registered(old)
        watch = kubelet.watches[ROCE]
        with take_over(old, kubelet) as new:
            new.process.kill()
            watch.join(SOON)
            equal(old.process.wait(SOON), 0)
            assert logged(old, "is not locked any more"), old.log
            with Successor(old, "old") as again:
                eventually("registered again", lambda: kubelet.watches[ROCE] is not watch and kubelet.watches[ROCE].lists)
                kubelet.stop()
                again.quit()


@check
def allocations_during_the_hand_over_are_answered():
    """The kubelet sets no deadline for Allocate, and fails the pod for good if that fails. The first daemon has not answered yet: it waits for a pod list
    from a kubelet that does not answer."""
    with Daemon() as old:
        pods = daemons.PodResources(old.dir)
        kubelet = registered(old)
        client = kubelet.clients[ROCE]
        pods.held = [("default", "first", "main", ROCE, VFS[0])]
        daemons.checkpoint(old)
        eventually("the first pod is known", lambda: old.value(f'rocelet_resource_allocated{{resource="{ROCE}"}}') == 1)
        pods.hanging.set()
        answer = client.start(base.API + "Allocate", base.allocation([VFS[0]]), base.dp.AllocateResponse)
        eventually("the pod list is requested", lambda: pods.waiting)
        with take_over(old, kubelet) as new:
            eventually("handed over", lambda: is_lingering(old))
            old.quit()
            pods.held = []
            pods.hanging.clear()
            equal(len(answer.result(SOON).container_responses), 1)
            kubelet.stop()
            new.quit()
        pods.stop()


@check
def a_successor_that_does_not_register_loses_the_list():
    """It hangs, or has other resources: a device that no daemon serves must not stay healthy."""
    with Daemon() as old:
        kubelet = registered(old)
        watch = kubelet.watches[ROCE]
        with open(old.dir + "/other.json", "w", encoding="ascii") as f:
            json.dump({"pools": [dict(daemons.VF_POOL, resourceName="other")]}, f)
        with Successor(old, flags=("--take-over", "--config", old.dir + "/other.json")) as new:
            eventually("the other resource", lambda: "rocelet.dev/other" in kubelet.watches)
            watch.join(SOON)
            assert not watch.is_alive() and old.process.poll() is None
            kubelet.stop()
            new.quit()


@check
def a_daemon_with_nothing_to_offer_does_not_take_over():
    for text in ('{"pools": [{"resourceName": "bad name", "selectors": {}}]}', '{"pools": [', '{"lock-wait": "x"}'):
        with Daemon() as old:
            kubelet = registered(old)
            with open(old.dir + "/config.json", "w", encoding="ascii") as f:
                f.write(text)
            eventually("refused", lambda: old.value('rocelet_config_reloads_total{result="failed"}') == 1)
            with Successor(old, flags=("--take-over", "--lock-wait", "1")) as new:
                equal(new.process.wait(SOON), 3)
                assert new.logged("not requesting this node"), new.log
            assert kubelet.watch().is_alive() and not is_lingering(old)
            equal(len(kubelet.client().allocate([VFS[0]])), 1)
            kubelet.stop()


@check
def sighup_ends_no_daemon():
    """Neither a daemon that waits for the lock nor one that has handed over reads its configuration again."""
    with Daemon() as old:
        kubelet = registered(old)
        with Successor(old, pod="waiting", flags=("--lock-wait", "600")) as waiting:
            eventually("waiting", lambda: waiting.logged("waiting 600 s"))
            waiting.process.send_signal(signal.SIGHUP)
            waiting.process.send_signal(signal.SIGTERM)
            equal(waiting.process.wait(SOON), -signal.SIGTERM)
        with take_over(old, kubelet) as new:
            eventually("handed over", lambda: is_lingering(old))
            old.process.send_signal(signal.SIGHUP)
            old.quit()
            kubelet.stop()
            new.quit()


@check
def no_daemon_to_take_over_from():
    with Daemon(flags=("--take-over",)) as alone:
        kubelet = registered(alone)
        equal([d.ID for d in kubelet.watch().lists[0]], VFS)
        kubelet.stop()


@check
def without_the_option_it_waits_until_the_first_one_exits():
    with Daemon() as old:
        kubelet = registered(old)
        with Successor(old, flags=("--lock-wait", "1")) as second:
            equal(second.process.wait(SOON), 3)
        assert kubelet.watch().is_alive() and not is_lingering(old)
        kubelet.stop()


class OlderVersion(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Owns the folder and its socket; answers 404 to a hand-over request."""

    daemon_threads = True


class Refuse(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.requested.append(self.path)
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

    def address_string(self):
        return ""


@check
def an_older_version_is_waited_for():
    with Daemon() as old:
        kubelet = registered(old)
        old.quit()
        run = old.dir + "/run"
        folder = os.open(run, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        older = OlderVersion(run + "/rocelet.sock", Refuse)
        older.requested = []
        threading.Thread(target=older.serve_forever, daemon=True).start()
        with Successor(old, flags=("--take-over", "--lock-wait", "600")) as new:
            eventually("logged", lambda: new.logged("its version cannot hand this node over"))
            equal(older.requested, ["/api/v1/hand-over"])
            older.shutdown()
            older.server_close()
            os.close(folder)
            eventually("registered", lambda: len(kubelet.requests) == 2)
            equal(older.requested, ["/api/v1/hand-over"])
            kubelet.stop()
            new.quit()


@check
def malformed_requests_change_nothing():
    with Daemon() as old:
        kubelet = registered(old)
        for body in ("x", "[]", '{"pod": 5}', '{"pod": "a/b/c"}', '{"pod": ""}', '{"pod": "a\\u0000b/c"}', '{"pods": "a/b"}', '{"pod": "' + "a" * 9000 + '"}'):
            connection = Unix(old.dir + "/run/rocelet.sock")
            connection.request("POST", "/api/v1/hand-over", body)
            answer = connection.getresponse()
            assert (answer.status, "error" in json.loads(answer.read())) == (400, True), body
        assert kubelet.watch().is_alive() and not logged(old, "requests this node")
        kubelet.stop()


if __name__ == "__main__":
    daemons.programs.update(daemon=sys.argv[1], mk_sysfs=sys.argv[2])
    sys.exit(base.run_checks(checks, sys.argv[3:]))
