#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Soak test: RDMA devices are added and removed in a synthetic tree while one connection scrapes.

  soak.py WORK-DIR LOG-DIR SCRAPES CHANGES

Once under valgrind (no errors, no leaks, no descriptor left open) and once without, where memory and descriptors are
compared between the middle and the end, each time with the same devices present. A synthetic tree sends no events: the
daemon scans it every 50 ms. A change is complete when /api/v1/devices shows it.
"""
import gzip, http.client, json, os, random, re, shutil, signal, subprocess, sys, time
from bench import TOP, free_port, rss_mb

PFS, VFS = 4, 12  # the PFs stay, the VFs are added and removed
RESCAN_S, SAMPLE_S = 0.05, 0.1
PATIENCE_S = 60
REQUESTS_EACH = 10  # at least, per change
# The heap reaches its final size late, depending on fragmentation: growth of up to 0.15 MB after the middle was observed. A leak
# of 500 bytes per change exceeds this tolerance in the 500 changes in between.
RSS_TOLERANCE_MB = 0.25

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
REQUESTS = [("/metrics", PROMETHEUS, "identity"), ("/api/v1/devices", "application/json", "identity"),
            ("/metrics", OPENMETRICS, "gzip"), ("/metrics", PROMETHEUS, "gzip"), ("/metrics", OPENMETRICS, "identity")]

checks = {"passed": 0, "failed": 0}


def check(ok, what):
    checks["passed" if ok else "failed"] += 1
    print(("ok - " if ok else "not ok - ") + what, flush=True)


class Broken(Exception):
    """The run cannot continue."""


class Tree:
    """A node whose VFs can be added and removed, each copied from a complete template."""

    def __init__(self, root):
        self.template, self.root = f"{root}/template", f"{root}/tree"
        shutil.rmtree(self.root, ignore_errors=True)
        for path, vfs in (self.template, VFS), (self.root, 0):
            subprocess.run([f"{TOP}/build/bench/mk_sysfs", path, str(PFS), str(vfs), "upstream"], check=True,
                           stdout=subprocess.DEVNULL)
        self.base = set(os.listdir(f"{self.root}/class/infiniband"))
        self.vfs = sorted(set(os.listdir(f"{self.template}/class/infiniband")) - self.base)
        self.present = set()

    def links_of(self, name):
        """(path of a symbolic link, its target) of everything that points at the VF, class/infiniband last."""
        rdma = os.readlink(f"{self.template}/class/infiniband/{name}")
        function = rdma.split("/")[-3]
        pf = os.path.basename(os.readlink(f"{self.template}/devices/pci0000:00/{function}/physfn"))
        links = [(f"devices/pci0000:00/{pf}/{entry}", f"../{function}")
                 for entry in os.listdir(f"{self.template}/devices/pci0000:00/{pf}")
                 if entry.startswith("virtfn") and self.target(f"devices/pci0000:00/{pf}/{entry}").endswith(function)]
        links += [(f"class/net/{netdev}", f"../../devices/pci0000:00/{function}/net/{netdev}")
                  for netdev in os.listdir(f"{self.template}/devices/pci0000:00/{function}/net")]
        return function, links + [(f"class/infiniband/{name}", rdma)]

    def target(self, link):
        return os.readlink(f"{self.template}/{link}")

    def add(self, name, rough, pause):
        """rough: it becomes visible before it is complete, as with hardware."""
        function, links = self.links_of(name)
        steps = [lambda: shutil.copytree(f"{self.template}/devices/pci0000:00/{function}",
                                         f"{self.root}/devices/pci0000:00/{function}", symlinks=True)]
        steps += [lambda link=link: os.symlink(link[1], f"{self.root}/{link[0]}") for link in links]
        self.do(reversed(steps) if rough else steps, rough, pause)
        self.present.add(name)

    def remove(self, name, rough, pause):
        """rough: its files are removed before the links to them."""
        function, links = self.links_of(name)
        steps = [lambda link=link: os.unlink(f"{self.root}/{link[0]}") for link in reversed(links)]
        steps += [lambda: shutil.rmtree(f"{self.root}/devices/pci0000:00/{function}")]
        self.do(reversed(steps) if rough else steps, rough, pause)
        self.present.discard(name)

    @staticmethod
    def do(steps, rough, pause):
        for step in steps:
            step()
            if rough:
                pause()

    def names(self):
        return self.base | self.present


class Daemon:
    def __init__(self, name, tree, work, logs, prefix=()):
        self.name, self.log_path = name, f"{logs}/{name}.log"
        self.port, self.log = free_port(), open(self.log_path, "w")
        run = f"{work}/run-{name}"
        os.makedirs(f"{run}/device-plugins")
        self.process = subprocess.Popen(
            [*prefix, f"{TOP}/build/rocelet", "--sysfs-root", tree.root, "--dev-root", run, "--proc-root", run, "--run-dir", run,
             "--kubelet-dir", run, "--listen", f"127.0.0.1:{self.port}", "--rescan-interval", str(RESCAN_S),
             "--sample-interval", str(SAMPLE_S), "--no-bpf"], stdout=self.log, stderr=self.log, env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"})  # as in the image

    def alive(self):
        return self.process.poll() is None

    def fds(self):
        """The smallest of several counts, as a running scan or sample has some more."""
        counts = []
        for _ in range(20):
            counts.append(len(os.listdir(f"/proc/{self.process.pid}/fd")))
            time.sleep(0.003)
        return min(counts)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "none: it had to be killed"

    def log_lines(self, pattern):
        with open(self.log_path) as f:
            return [line for line in f if re.search(pattern, line)]


class Client:
    """Sends all requests over one connection and checks each answer."""

    def __init__(self, daemon):
        self.daemon, self.sent, self.refused, self.bytes, self.bad = daemon, 0, 0, 0, []
        self.connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=PATIENCE_S)
        self.devices, self.page = {}, ""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.connection.connect()
                self.connection.auto_open = 0  # do not reconnect silently if the daemon closes the connection
                break
            except OSError:
                if not daemon.alive() or time.monotonic() > deadline:
                    raise Broken(f"{daemon.name} does not serve")
                time.sleep(0.02)
        while self.get("/readyz", "*/*", "identity")[0] != 200:
            self.refused += 1
            if time.monotonic() > deadline:
                raise Broken(f"{daemon.name} does not become ready")
            time.sleep(0.02)

    def get(self, path, accept, encoding):
        try:
            self.connection.request("GET", path, headers={"Accept": accept, "Accept-Encoding": encoding})
            answer = self.connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as e:
            raise Broken(f"request {self.sent + 1} ({path}): {e!r}")
        self.sent += 1
        self.bytes += len(body)
        if answer.getheader("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        elif encoding == "gzip":
            self.bad.append(f"request {self.sent}: not compressed")
        return answer.status, answer.getheader("Content-Type"), body

    def next(self):
        """Sends the next request of the mix."""
        path, accept, encoding = REQUESTS[self.sent % len(REQUESTS)]
        status, content_type, body = self.get(path, accept, encoding)
        if status != 200 or content_type != accept:
            self.bad.append(f"request {self.sent}: {path}: {status}, {content_type}")
        elif path == "/metrics":
            self.take_page(body.decode(), accept == OPENMETRICS)
        else:
            self.devices = json.loads(body)

    def take_page(self, text, openmetrics):
        if text.endswith("# EOF\n") != openmetrics or "roce_port_info{" not in text or not text.endswith("\n"):
            self.bad.append(f"request {self.sent}: a page that ends in {text[-40:]!r}")
        self.page = text

    def round(self):
        for _ in REQUESTS:
            self.next()

    def rdma_names(self):
        return {r["name"] for d in self.devices["devices"] for r in d.get("rdma", [])}

    def page_names(self):
        return set(re.findall(r'^roce_port_info\{device="([^"]*)"', self.page, re.M))

    def metric(self, name):
        return float(re.search(rf"^{re.escape(name)} (\S+)$", self.page, re.M).group(1))

    def until(self, condition, what):
        """Keeps scraping until the condition holds."""
        deadline = time.monotonic() + PATIENCE_S
        self.round()
        while not condition():
            if time.monotonic() > deadline:
                raise Broken(f"not within {PATIENCE_S} s: {what}")
            time.sleep(0.005)
            self.next()


def settle(client, tree):
    """Waits until the API, the page and the samples agree with the tree."""
    client.until(lambda: client.rdma_names() == tree.names(), f"{sorted(tree.names())} in /api/v1/devices")
    client.round()
    samples = client.metric("rocelet_samples_total")
    client.until(lambda: client.metric("rocelet_samples_total") >= samples + 3 and client.page_names() == tree.names(),
                 "the page of the same devices")


def change(client, tree, rng, rough):
    """Adds or removes one VF and waits until the daemon shows the change."""
    first, absent = client.sent, sorted(set(tree.vfs) - tree.present)
    if absent and (not tree.present or rng.random() < 0.5):
        tree.add(rng.choice(absent), rough, client.round)
    else:
        tree.remove(rng.choice(sorted(tree.present)), rough, client.round)
    client.until(lambda: client.rdma_names() == tree.names() and client.sent >= first + REQUESTS_EACH, "a change")


def remove_all(client, tree):
    """Restores the initial devices, for comparable measurements; returns the number of changes."""
    n = len(tree.present)
    for name in sorted(tree.present):
        tree.remove(name, False, client.round)
        client.until(lambda: client.rdma_names() == tree.names(), "a device removed")
    settle(client, tree)
    return n


def load(daemon, client, tree, scrapes, changes):
    """Runs the load. Returns measurements of the beginning, the middle and the end."""
    rng, done, marks = random.Random(1), 0, []

    def mark():
        marks.append(dict(rss=rss_mb(daemon.process.pid), fds=daemon.fds(), changes=done, scrapes=client.sent))

    settle(client, tree)
    generation = client.devices["generation"]
    # By now resources that grow only on first use, such as the thread pool, have been allocated.
    for end in changes // 10, changes // 2, changes:
        while done + len(tree.present) < end or client.sent < scrapes * end // changes:
            change(client, tree, rng, rough=done % 5 == 4)
            done += 1
        done += remove_all(client, tree)
        mark()
    return marks, done, client.devices["generation"] - generation


def run(daemon, tree, scrapes, changes):
    start = time.monotonic()
    client = Client(daemon)
    marks, done, generations = load(daemon, client, tree, scrapes, changes)
    quiet = client.devices["generation"]
    looks = client.metric('rocelet_rescans_total{kind="devices"}')
    client.until(lambda: client.metric('rocelet_rescans_total{kind="devices"}') >= looks + 10, "ten more scans")
    asked = client.sent
    client.until(lambda: client.metric("rocelet_http_requests_total") >= asked, "the requests to be counted")
    took = time.monotonic() - start
    print(f"# {daemon.name}: {client.sent} scrapes ({client.bytes / 1e6:.0f} MB) on one connection and {done} changes in "
          f"{took:.0f} s, {looks:.0f} scans, {client.metric('rocelet_samples_total'):.0f} samples, inventory generation "
          f"+{generations}")
    for m in marks:
        print(f"# {daemon.name}: after {m['changes']} changes and {m['scrapes']} scrapes: RSS {m['rss']:.2f} MB, "
              f"{m['fds']} descriptors")
    check(client.sent >= scrapes and not client.bad, f"{daemon.name}: every answer was correct" + first(client.bad))
    check(done >= changes, f"{daemon.name}: each of {done} changes was seen in /api/v1/devices")
    # A change counts up to four times: a VF also changes its PF's number, and an incomplete VF is scanned again.
    check(done <= generations <= 4 * done, f"{daemon.name}: the inventory's generation followed them")
    client.round()
    check(client.devices["generation"] == quiet, f"{daemon.name}: the generation does not change without a change")
    check(client.metric("rocelet_http_connections_total") == 1 and client.metric("rocelet_http_errors_total") == client.refused and
          client.metric("rocelet_http_evictions_total") == 0, f"{daemon.name}: it counts one connection and no errors")
    status = daemon.stop()
    check(status == 0, f"{daemon.name}: it ends with status 0 after SIGTERM" + ("" if status == 0 else f", not {status}"))
    bad = daemon.log_lines(r" (error|warn) +\b(?!loop: (link events|uevents): the sysfs root is not this kernel's)")
    check(not bad, f"{daemon.name}: no errors or warnings are logged" + first(bad))
    return marks


def first(list_):
    return f": {len(list_)}, such as {list_[0]!r}" if list_ else ""


def under_valgrind(work, logs, scrapes, changes):
    tree = Tree(f"{work}/valgrind")
    daemon = Daemon("valgrind", tree, work, logs, prefix=[
        "valgrind", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible", "--error-exitcode=99",
        "--track-fds=yes", "--num-callers=30", f"--log-file={logs}/memcheck.log"])
    try:
        run(daemon, tree, scrapes, changes)
    finally:
        if daemon.alive():
            daemon.process.kill()
    with open(f"{logs}/memcheck.log") as f:
        report = f.read()
    errors = re.search(r"ERROR SUMMARY: (\d+) errors", report)
    check(errors is not None and errors.group(1) == "0", "valgrind: no errors, nothing lost")
    open_fds = re.search(r"FILE DESCRIPTORS: (\d+) open \((\d+) std\) at exit", report)
    own = int(open_fds.group(1)) - int(open_fds.group(2)) - report.count("<inherited from parent>") if open_fds else -1
    check(own == 0, f"valgrind: no descriptor is left open" + ("" if own == 0 else f": {own} are"))
    for kind, size in re.findall(r"(definitely lost|indirectly lost|possibly lost|still reachable): ([\d,]+ bytes in [\d,]+ blocks)",
                                 report):
        print(f"# valgrind: {kind}: {size}")


def without_valgrind(work, logs, scrapes, changes):
    tree = Tree(f"{work}/plain")
    daemon = Daemon("plain", tree, work, logs)
    try:
        begin, middle, end = run(daemon, tree, scrapes, changes)
    finally:
        if daemon.alive():
            daemon.process.kill()
    check(end["rss"] <= middle["rss"] + RSS_TOLERANCE_MB,
          f"plain: resident memory does not grow ({begin['rss']:.2f}, {middle['rss']:.2f}, {end['rss']:.2f} MB)")
    check(begin["fds"] == middle["fds"] == end["fds"], f"plain: nor does the number of descriptors ({end['fds']})")


def main():
    work, logs, scrapes, changes = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for part in without_valgrind, under_valgrind:
        try:
            part(work, logs, scrapes, changes)
        except Broken as e:
            check(False, f"{part.__name__}: {e}")
    print(f"{checks['passed']} passed, {checks['failed']} failed")
    sys.exit(checks["failed"] > 0)


if __name__ == "__main__":
    main()
