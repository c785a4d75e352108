#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Cost of a scrape and of a sample: rocelet against prometheus-node-exporter, over the same trees, in one run.

  bench.py NODE_EXPORTER [BAR]      BAR: minimum ratio of CPU time for a scrape like Prometheus's, on the large node

CPU is the process's run time from schedstat (nanoseconds, all threads), latency that of one keep-alive connection on
loopback, opens is counted by strace in 10 scrapes.
"""
import glob, http.client, os, re, shutil, signal, socket, subprocess, sys, tempfile, time, urllib.request

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRAPES, WARM_UP = 300, 10
FRESH, FRESH_S = 100, 0.2


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_ns(pid):
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path) as f:
            total += int(f.read().split()[0])
    return total


def rss_mb(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024


class Server:
    def __init__(self, name, argv, port):
        self.name, self.port = name, port
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(argv, stdout=self.log, stderr=self.log, env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"})  # as in the image

    def wait(self, path):
        """Waits until the path answers 200: both servers need a moment for their first sample."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                c.request("GET", path)
                if c.getresponse().status == 200:
                    return self
            except OSError:
                time.sleep(0.02)
        self.log.seek(0)
        sys.exit(f"{self.name} does not answer:\n{self.log.read().decode()[-2000:]}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(20) not in (0, -signal.SIGTERM, 143):
            self.log.seek(0)
            sys.exit(f"{self.name} exited with an error:\n{self.log.read().decode()[-2000:]}")


def scrape(connection, gzip):
    connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip" if gzip else "identity"})
    return len(connection.getresponse().read())


def measure(server, gzip=False):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    pid, times = server.process.pid, []
    for _ in range(WARM_UP):
        size = scrape(connection, gzip)
    cpu = cpu_ns(pid)
    for _ in range(SCRAPES):
        start = time.perf_counter()
        scrape(connection, gzip)
        times.append((time.perf_counter() - start) * 1000)
    cpu = (cpu_ns(pid) - cpu) / SCRAPES / 1e6
    times.sort()
    return dict(cpu=cpu, p50=times[len(times) // 2], p99=times[int(len(times) * 0.99)], rss=rss_mb(pid), body=size)


def first_thread_ns(pid):
    """Run time of rocelet's serving thread; other threads take samples, with or without scrapes."""
    with open(f"/proc/{pid}/schedstat") as f:
        return int(f.read().split()[0])


def measure_fresh(server, spent_ns):
    """CPU time (ms) of a scrape like Prometheus's: compressed, and with a new sample each time."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers, seen = {"Accept-Encoding": "gzip", "Accept": "application/openmetrics-text"}, set()
    cpu = 0
    for _ in range(FRESH):
        time.sleep(FRESH_S)  # one sample interval
        cpu -= spent_ns(server.process.pid)
        connection.request("GET", "/metrics", headers=headers)
        seen.add(connection.getresponse().read())
        time.sleep(0.005)  # work after the answer belongs to the scrape, too
        cpu += spent_ns(server.process.pid)
    return cpu / len(seen) / 1e6


def opens_per_scrape(server):
    with tempfile.NamedTemporaryFile("r") as out:
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-e", "trace=open,openat", "-o", out.name,
                                   "-p", str(server.process.pid)], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while not traced(server.process.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for _ in range(10):
            scrape(connection, False)
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        return sum("open" in line for line in out) / 10


def traced(pid):
    with open(f"/proc/{pid}/status") as f:
        return "TracerPid:\t0\n" not in f.read()


def rocelet(tree, run, interval):
    port = free_port()
    return Server("rocelet", [f"{TOP}/build/rocelet", "--sysfs-root", tree, "--listen", f"127.0.0.1:{port}",
                              "--run-dir", run, "--kubelet-dir", run, "--sample-interval", str(interval), "--no-bpf"], port).wait("/readyz")


def node_exporter(program, tree):
    port = free_port()
    return Server("node_exporter", [program, "--collector.disable-defaults", "--collector.infiniband",
                                    f"--path.sysfs={tree}", f"--web.listen-address=127.0.0.1:{port}"], port).wait("/metrics")


def row(name, m, opens):
    print(f"{name:26} {m['cpu']:9.3f} {m['p50']:8.2f} {m['p99']:8.2f} {m['rss']:7.1f} {m['body']:9d} {opens:8.1f}")


def sampling_cpu(tree, run, seconds=20):
    """Share of one core for a sample every second, without scrapes."""
    server = rocelet(tree, run, 1)
    time.sleep(3)  # skip the start; afterwards the daemon only samples
    cpu = cpu_ns(server.process.pid)
    time.sleep(seconds)
    cpu = (cpu_ns(server.process.pid) - cpu) / (seconds * 1e9)
    rss = rss_mb(server.process.pid)
    server.stop()
    return cpu * 100, rss


def series(server, name):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=20) as answer:
        return float(re.search(rf"^{name} (\S+)$", answer.read().decode(), re.M).group(1))


def bursts_cost(tree, run, seconds=20):
    """Share of a core, and reads of single ports per second, while half of the PFs always receive marked packets."""
    sys.path[:0] = [f"{TOP}/tests/interop"]
    import diagnosis_python
    devices = [f"mlx5_{i}" for i in range(4)]
    stories = [diagnosis_python.Story(tree, device) for device in devices]
    server = rocelet(tree, run, 1)
    for story in stories:
        story.play(diagnosis_python.TRAFFIC, diagnosis_python.MARKED)
    deadline = time.monotonic() + 60
    while series(server, "rocelet_burst_reads_total") == 0 and time.monotonic() < deadline:
        time.sleep(0.1)
    cpu, reads = cpu_ns(server.process.pid), series(server, "rocelet_burst_reads_total")
    time.sleep(seconds)
    reads = (series(server, "rocelet_burst_reads_total") - reads) / seconds
    cpu = (cpu_ns(server.process.pid) - cpu) / (seconds * 1e9)
    server.stop()
    for story in stories:
        story.close()
    return cpu * 100, reads


def compare(exporter, pfs, vfs, work):
    tree, run = f"{work}/{pfs + vfs}", f"{work}/run{pfs + vfs}"
    os.makedirs(run)
    subprocess.run([f"{TOP}/build/bench/mk_sysfs", tree, str(pfs), str(vfs)], check=True, stdout=subprocess.DEVNULL)
    print(f"\n{pfs + vfs} RDMA devices ({pfs} PFs, {vfs} VFs), {SCRAPES} scrapes")
    print(f"{'':26} {'CPU ms':>9} {'p50 ms':>8} {'p99 ms':>8} {'RSS MB':>7} {'body':>9} {'opens':>8}")
    peer = node_exporter(exporter, tree)
    theirs = measure(peer)
    row("node_exporter", theirs, opens_per_scrape(peer))
    row("node_exporter, gzip", measure(peer, True), 0)
    their_fresh = measure_fresh(peer, cpu_ns)
    peer.stop()
    mine = rocelet(tree, run, 3600)
    ours = measure(mine)
    row("rocelet", ours, opens_per_scrape(mine))
    row("rocelet, gzip", measure(mine, True), 0)
    mine.stop()
    mine = rocelet(tree, run, FRESH_S)
    fresh = measure_fresh(mine, first_thread_ns)
    mine.stop()
    cpu, rss = sampling_cpu(tree, run)
    print(f"as Prometheus asks (gzip, a new sample each time): {fresh:.3f} ms CPU, {their_fresh / fresh:.0f} times less than node_exporter's {their_fresh:.1f}")
    print(f"ratio: {theirs['cpu'] / ours['cpu']:.0f} times less CPU per scrape, p50 {theirs['p50'] / ours['p50']:.0f} times shorter")
    print(f"sampling every second: {cpu:.2f} % of one core, RSS {rss:.1f} MB")
    cpu, reads = bursts_cost(tree, run)
    print(f"with marks on four ports: {cpu:.2f} % of one core, {reads:.1f} reads of single ports a second")
    return their_fresh / fresh


def main():
    exporter, bar = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 0
    work = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        compare(exporter, 8, 0, work)
        if compare(exporter, 8, 128, work) < bar:
            sys.exit(f"CPU time is not {bar:.0f} times less than node_exporter's")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
