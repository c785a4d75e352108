#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The TCP listener behind TLS, tokens and passwords, as curl, openssl and Python's own TLS see it, with Secrets as the kubelet mounts and replaces them.

  guard_python.py DAEMON [PART...]

One line per check, "N passed, N failed" last.

run: {build}/rocelet
proves: daemon/http daemon/config
when: core
"""
import base64
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

SOON = 60
TOKEN, NEXT_TOKEN, PASSWORD = "a-token-of-some-length", "the-next-token-is-another", "right horse"
counts = {True: 0, False: 0}


def check(what, holds):
    counts[bool(holds)] += 1
    print("ok -" if holds else "not ok -", what, flush=True)


def becomes(condition):
    deadline = time.monotonic() + SOON
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def openssl(*args, text=None):
    return subprocess.run(["openssl", *args], input=text, capture_output=True, text=True, timeout=SOON, check=False)


class Authority:
    """Signs certificates for 127.0.0.1."""

    def __init__(self, folder):
        self.folder = folder
        self.n = 0
        self.pem = folder + "/ca.pem"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder + "/ca.key", "-out", self.pem, "-subj", "/CN=lab", "-days", "9",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def pair(self, when=("-days", "9"), kind=("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")):
        self.n += 1
        base = f"{self.folder}/{self.n}"
        openssl("req", *kind, "-nodes", "-keyout", base + ".key", "-out", base + ".csr", "-subj", f"/CN=node-{self.n}")
        with open(base + ".ext", "w", encoding="ascii") as f:
            f.write("subjectAltName=IP:127.0.0.1\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n")
        openssl("x509", "-req", "-in", base + ".csr", "-CA", self.pem, "-CAkey", self.folder + "/ca.key", "-CAcreateserial", *when, "-extfile",
                base + ".ext", "-out", base + ".pem")
        with open(base + ".pem", encoding="ascii") as cert, open(base + ".key", encoding="ascii") as key:
            return cert.read(), key.read()

    def expired(self):
        has_dates = "-not_after" in openssl("x509", "-help").stderr  # since OpenSSL 3.4, which refuses an end before the beginning
        return self.pair(("-not_before", "20200101000000Z", "-not_after", "20200102000000Z") if has_dates else ("-days", "-1"))


class Secret:
    """A mounted Secret: file names are links through ..data, which the kubelet replaces."""

    def __init__(self, folder, **files):
        self.folder, self.n, self.names = folder, 0, set()
        os.mkdir(folder)
        if files:
            self.replace(**files)

    def replace(self, **files):
        self.n += 1
        version = f"..version{self.n}"
        os.mkdir(f"{self.folder}/{version}")
        for name, text in files.items():
            with open(f"{self.folder}/{version}/{name}", "w", encoding="ascii") as f:
                f.write(text)
        os.symlink(version, self.folder + "/..data_tmp")
        os.rename(self.folder + "/..data_tmp", self.folder + "/..data")
        for name in set(files) - self.names:
            os.symlink(f"..data/{name}", f"{self.folder}/{name}")
        self.names |= set(files)

    def path(self, name):
        return f"{self.folder}/{name}"


class Daemon:
    def __init__(self, folder, *flags, config="{}", port=None):
        self.folder = tempfile.mkdtemp(dir=folder)
        self.socket = self.folder + "/run/rocelet.sock"
        with open(self.folder + "/config.json", "w", encoding="ascii") as f:
            f.write(config)
        os.mkdir(self.folder + "/sys")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = port or s.getsockname()[1]
        self.log_file = self.folder + "/log"
        with open(self.log_file, "wb") as f:
            self.process = subprocess.Popen(self.command(*flags), stdout=f, stderr=f, stdin=subprocess.DEVNULL)
        if not becomes(lambda: os.path.exists(self.socket) or self.process.poll() is not None) or self.process.poll() is not None:
            raise AssertionError("the daemon does not serve: " + self.log())

    def command(self, *flags):
        return [sys.argv[1], "--config", self.folder + "/config.json", "--sysfs-root", self.folder + "/sys", "--run-dir", self.folder + "/run", "--kubelet-dir",
                self.folder, "--state-dir", self.folder + "/state", "--no-bpf", "--listen", f"127.0.0.1:{self.port}", *flags]

    def log(self):
        with open(self.log_file, encoding="utf-8") as f:
            return f.read()

    def logs(self, *words):
        return becomes(lambda: any(all(w in line for w in words) for line in self.log().splitlines()))

    def curl(self, path, *args, scheme="http"):
        """The status, 0 without an answer, and the body."""
        done = subprocess.run(["curl", "-sS", "-m", str(SOON), "-w", "\n%{http_code}", *args, f"{scheme}://127.0.0.1:{self.port}{path}"], capture_output=True,
                              text=True, check=False)
        body, _, status = done.stdout.rpartition("\n")
        return int(status), body

    def over_socket(self, path, *args):
        done = subprocess.run(["curl", "-sS", "-m", str(SOON), *args, "--unix-socket", self.socket, "http://localhost" + path], capture_output=True, text=True,
                              check=False)
        return done.stdout

    def is_closed(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) != 0


@contextlib.contextmanager
def daemon(folder, *flags, **more):
    d = Daemon(folder, *flags, **more)
    try:
        yield d
    finally:
        status = end(d)
        check("the daemon exits with 0", status == 0)
        if status:
            print(d.log())


def end(d):
    d.process.send_signal(signal.SIGTERM)
    return d.process.wait(SOON)


def subject(d, *flags):
    output = openssl("s_client", "-connect", f"127.0.0.1:{d.port}", "-servername", "x", *flags, text="")
    found = re.search(r"subject=.*?CN ?= ?(\S+)", output.stdout)
    return found[1] if found else None


def tls(folder):
    ca = Authority(folder)
    cert, key = ca.pair()
    secret = Secret(folder + "/tls", crt=cert, key=key)
    flags = ("--tls-cert", secret.path("crt"), "--tls-key", secret.path("key"))
    with daemon(folder, *flags) as d, socket.create_connection(("127.0.0.1", d.port), SOON) as half:
        half.sendall(client_hello()[:100])
        check("TLS: half a ClientHello does not keep the daemon from exiting", end(d) == 0)
    with daemon(folder, "--request-timeout", "2", *flags) as d:
        def get(path, *args):
            return d.curl(path, "--cacert", ca.pem, *args, scheme="https")
        check("TLS: curl verifies the certificate and gets an answer", get("/healthz") == (200, "ok\n"))
        check("TLS: the unix socket is unaffected", d.over_socket("/healthz") == "ok\n")
        check("TLS: plain text is not answered", d.curl("/healthz")[0] == 0)
        check("TLS: 1.3 and 1.2 are supported", get("/healthz", "--tlsv1.3")[0] == 200 and get("/healthz", "--tls-max", "1.2")[0] == 200)
        check("TLS: 1.1 is rejected", subject(d, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0") is None)
        check("TLS: the error for a long path is sent over TLS", get("/" + "x" * 5000) == (414, "a path and its query have at most 4096 bytes\n"))
        check("TLS: a page that is compressed, and one that waits", get("/api/v1/config", "--compressed")[0] in (200, 503))
        check("TLS: many requests on one connection", keeps_alive(d, ca))
        check("TLS: no admin requests", get("/api/v1/attach", "-d", "{}")[0] == 405)
        unfinished(d, get)
        noise(d)
        check("TLS: after garbage and half handshakes requests are answered", get("/healthz")[0] == 200)

        first = subject(d)
        secret.replace(**dict(zip(("crt", "key"), ca.pair(kind=("-newkey", "rsa:2048")))))
        check("a new certificate is in use", becomes(lambda: subject(d) not in (None, first)) and get("/healthz")[0] == 200)
        second, other = subject(d), ca.pair()
        secret.replace(crt=other[0], key=key)
        check("a key of another certificate is logged", d.logs("error", secret.path("crt"), "keeping the previous ones"))
        check("and reported by doctor", becomes(lambda: '"listen"' in d.over_socket("/api/v1/doctor")))
        check("the previous pair stays in use", subject(d) == second and get("/healthz")[0] == 200)
        secret.replace(crt="no certificate\n", key="no key\n")
        check("garbage is logged", d.logs("error", "crt: ", "keeping"))
        os.unlink(secret.path("..data"))
        check("a removed Secret is logged", d.logs("error", "No such file", "keeping"))
        check("the previous pair still stays in use", subject(d) == second)
        expired = ca.expired()
        secret.replace(crt=expired[0], key=expired[1])
        check("an expired certificate is logged", d.logs("error", "the certificate has expired", "keeping the previous ones"))
        check("and reported by doctor and /readyz", all("the certificate has expired" in d.over_socket(path) for path in ("/api/v1/doctor", "/readyz")))
        check("the previous pair stays in use even so", subject(d) == second and get("/healthz")[0] == 200)
        secret.replace(crt=other[0], key=other[1])
        check("and is replaced by the next valid one", becomes(lambda: subject(d) not in (None, second)) and get("/healthz")[0] == 200)


def keeps_alive(d, ca):
    context = ssl.create_default_context(cafile=ca.pem)
    context.verify_flags |= ssl.VERIFY_X509_STRICT  # the default since Python 3.13
    connection = http.client.HTTPSConnection("127.0.0.1", d.port, context=context, timeout=SOON)
    for _ in range(20):
        connection.request("GET", "/")
        if connection.getresponse().read()[:9] != b"<!DOCTYPE":
            return False
    connection.close()
    return True


def client_hello():
    """A ClientHello of Python's TLS."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="x").do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()


def cpu_seconds(d):
    with open(f"/proc/{d.process.pid}/stat", encoding="ascii") as f:
        return sum(int(n) for n in f.read().rpartition(")")[2].split()[11:13]) / os.sysconf("SC_CLK_TCK")


def goes_on(s):
    """True while the server keeps the connection open."""
    s.setblocking(False)
    try:
        return s.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True


def unfinished(d, get):
    """Stalled handshakes: other requests are answered meanwhile, and the server closes them in time."""
    hello = client_hello()
    for name, text in (("a byte", hello[:1]), ("half a ClientHello", hello[:100]), ("a whole ClientHello", hello)):
        with socket.create_connection(("127.0.0.1", d.port), SOON) as s:
            s.sendall(text)
            before, began = cpu_seconds(d), time.monotonic()
            check(f"TLS: {name} and silence: the unix socket and others are served meanwhile",
                  d.over_socket("/healthz") == "ok\n" and get("/healthz") == (200, "ok\n") and goes_on(s))
            s.settimeout(SOON)
            while s.recv(4096):
                pass
            took = time.monotonic() - began
            check(f"TLS: {name} and silence: closed after --request-timeout, without busy waiting", cpu_seconds(d) - before < took / 2)


def noise(d):
    held = []
    for i in range(60):
        s = socket.create_connection(("127.0.0.1", d.port), SOON)
        s.sendall((b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", os.urandom(500))[i % 3])
        if i % 2:
            s.close()
        else:
            held.append(s)
    for s in held:
        s.close()


def expired_at_the_start(folder):
    ca = Authority(folder)
    secret = Secret(folder + "/tls", **dict(zip(("crt", "key"), ca.expired())))

    def expires(d):
        return int((re.search(r"^rocelet_tls_certificate_expires_seconds (\d+)$", d.over_socket("/metrics"), re.M) or "00")[1])
    with daemon(folder, "--tls-cert", secret.path("crt"), "--tls-key", secret.path("key")) as d:
        check("an expired certificate at the start is logged and used", d.logs("warn", "has expired") and becomes(lambda: subject(d) == f"node-{ca.n}"))
        check("and reported by doctor, /readyz and a gauge", becomes(lambda: 0 < expires(d) < time.time()) and
              all("has expired" in d.over_socket(path) for path in ("/api/v1/doctor", "/readyz")))
        secret.replace(**dict(zip(("crt", "key"), ca.pair())))
        check("until there is a new certificate", becomes(lambda: expires(d) > time.time() + 86400) and
              not any("has expired" in d.over_socket(path) for path in ("/api/v1/doctor", "/readyz")))


def wrong_at_the_start(folder):
    ca = Authority(folder)
    cert, key = ca.pair()
    secret = Secret(folder + "/late")
    os.chmod(secret.folder, 0o700)
    flags = ("--tls-cert", secret.path("crt"), "--tls-key", secret.path("key"))
    with daemon(folder, *flags) as d:
        check("no certificate: logged", d.logs("error", secret.path("crt"), "serving nothing over TCP"))
        check("no certificate: nothing is served, not even plain text", d.is_closed())
        check("no certificate: the unix socket is served", d.over_socket("/healthz") == "ok\n")
        logged = d.log().count("serving nothing")
        secret.replace(crt=cert, key=ca.pair()[1])
        check("a mismatched pair: logged", d.logs("error", " and ", "serving nothing over TCP"))
        check("a mismatched pair: nothing is served", d.is_closed() and d.log().count("serving nothing") > logged)
        secret.replace(crt=cert, key=key)
        check("a valid pair later: served", becomes(lambda: d.curl("/healthz", "--cacert", ca.pem, scheme="https")[0] == 200))
    for name, flags, words in [("tls-cert without tls-key", flags[:2], "tls-cert is given without tls-key"), ("tls-key without tls-cert", flags[2:],
                                                                                                            "tls-key is given without tls-cert")]:
        with daemon(folder, *flags) as d:
            check(f"{name}: logged, and nothing is served over TCP", d.logs("error", words) and d.is_closed())
            done = subprocess.run([*d.command(*flags), "--check-config"], capture_output=True, text=True, check=False)
            check(f"{name}: --check-config reports it, too", done.returncode != 0 and words in done.stderr)


def busy(folder):
    """A port in use by another process for a while, with and without a token."""
    secret = Secret(folder + "/secret", tokens=f"{TOKEN}\n")
    bearer = ("-H", f"Authorization: Bearer {TOKEN}")
    for name, flags in (("open", ()), ("guarded", ("--auth-token-file", secret.path("tokens")))):
        with socket.create_server(("127.0.0.1", 0)) as other, daemon(folder, *flags, port=other.getsockname()[1]) as d:
            sentence = f"cannot listen on 127.0.0.1:{d.port}: Address already in use"
            check(f"a busy port, {name}: logged", d.logs("error", sentence, "retrying"))
            check(f"a busy port, {name}: reported by /readyz", becomes(lambda: d.over_socket("/readyz") == f"not ready: nothing is served over TCP: {sentence}\n"))
            found = [f for f in json.loads(d.over_socket("/api/v1/doctor"))["findings"] if f["object"] == "listen"]
            check(f"a busy port, {name}: reported by doctor, with the right help", len(found) == 1 and found[0]["what"] == sentence and "file" not in found[0]["help"])
            other.close()
            check(f"a busy port, {name}: served once it is free", becomes(lambda: d.curl("/", *bearer)[0] == 200))
            check(f"a busy port, {name}: with the configured access", (d.curl("/")[0] == 401) == bool(flags))
            check(f"a busy port, {name}: logged once, and not reported any more", d.log().count("cannot listen") == 1 and '"listen"' not in d.over_socket("/api/v1/doctor") and
                  "TCP" not in d.over_socket("/readyz"))


def without_a_file(folder):
    """The configuration file, which may have had TLS or token options, cannot be read."""
    secret = Secret(folder + "/secret", tokens=f"{TOKEN}\n")
    bearer = ("-H", f"Authorization: Bearer {TOKEN}")
    for name, text in (("empty", ""), ("no JSON", '{"a": {"password": "hunter2}}'), ("of a wrong type", '{"tls-cert": 5}'), ("with a misspelt guard", '{"auth-token_file": "/x"}')):
        with daemon(folder, config=text) as d:
            check(f"a file that is {name}: it observes, and /readyz has the reason", becomes(lambda: "is rejected" in d.curl("/readyz")[1]))
            check(f"a file that is {name}: only the kubelet's probes are answered",
                  d.curl("/healthz") == (200, "ok\n") and all(d.curl(path)[0] == 503 and "configuration file was rejected" in d.curl(path)[1]
                                                             for path in ("/", "/metrics", "/api/v1/config", "/healthz/", "/nowhere")))
            check(f"a file that is {name}: its content is not exposed",
                  not any("hunter2" in exposed for exposed in (d.log(), d.curl("/readyz")[1], d.over_socket("/api/v1/doctor"), d.over_socket("/api/v1/events"))))
            check(f"a file that is {name}: the unix socket is unaffected", d.over_socket("/")[:9] == "<!DOCTYPE" and "rocelet_config_ok" in d.over_socket("/metrics"))
        with daemon(folder, "--auth-token-file", secret.path("tokens"), config=text) as d:
            check(f"a file that is {name}, guards that are flags: these hold", d.curl("/")[0] == 401 and d.curl("/", *bearer)[0] == 200)


def basic(name, password):
    return ("-u", f"{name}:{password}")


def access(folder):
    hashes = openssl("passwd", "-6", PASSWORD).stdout.strip()
    secret = Secret(folder + "/auth", tokens=f"# of Prometheus\n{TOKEN}\n", users=f"ann:{hashes}\n")
    with daemon(folder, "--auth-token-file", secret.path("tokens"), "--basic-auth-file", secret.path("users")) as d:
        def get(*args, path="/"):
            return d.curl(path, *args)[0]
        bearer = ("-H", f"Authorization: Bearer {TOKEN}")
        check("a token is accepted", get(*bearer) == 200)
        check("a request without credentials is rejected, with both schemes in the answer", get() == 401 and "WWW-Authenticate: Basic" in d.curl("/", "-i")[1] and
              "WWW-Authenticate: Bearer" in d.curl("/", "-i")[1])
        check("another token is rejected", get("-H", f"Authorization: Bearer {TOKEN}x") == 401 and get("-H", "Authorization: Bearer x") == 401)
        for path in ("/metrics", "/api/v1/config", "/api/v1/events", "/nowhere", "/healthz/", "//healthz", "/%68ealthz/../metrics"):
            check(f"{path} is closed", get("--path-as-is", path=path) == 401)
        check("the kubelet's probes are open", get(path="/healthz") == 200 and get(path="/readyz") in (200, 503))
        check("the unix socket is unaffected", d.over_socket("/")[:9] == "<!DOCTYPE")
        check("a right password is accepted", get(*basic("ann", PASSWORD)) == 200)
        check("and again", all(get(*basic("ann", PASSWORD)) == 200 for _ in range(5)))
        check("a wrong password and a wrong name are rejected", get(*basic("ann", "wrong")) == 401 and get(*basic("bob", PASSWORD)) == 401)
        check("admin requests are rejected even with a token", get(*bearer, "-d", "{}", path="/api/v1/attach") == 405)
        flood(d)
        check("after a flood of wrong passwords the token is accepted at once", get(*bearer) == 200)

        secret.replace(tokens=f"{TOKEN}\n{NEXT_TOKEN}\n", users=f"ann:{hashes}\n")
        check("a token is added", becomes(lambda: get("-H", f"Authorization: Bearer {NEXT_TOKEN}") == 200) and get(*bearer) == 200)
        secret.replace(tokens=f"{NEXT_TOKEN}\n", users=f"ann:{openssl('passwd', '-6', 'new').stdout.strip()}\n")
        check("the old token is rejected once it is removed", becomes(lambda: get(*bearer) == 401))
        check("the old password is rejected, although it was verified before", get(*basic("ann", PASSWORD)) == 401 and get(*basic("ann", "new")) == 200)
        secret.replace(tokens="short\n", users="ann:plain\n")
        check("wrong files are logged, with the line", d.logs("error", "tokens:1:", "keeping the previous ones"))
        check("and change nothing", get("-H", f"Authorization: Bearer {NEXT_TOKEN}") == 200 and get() == 401)
        check("no secret is in the log or the configuration", not any(s in d.log() + d.over_socket("/api/v1/config") for s in (TOKEN, NEXT_TOKEN, PASSWORD,
                                                                                                                           hashes)))
    empty = Secret(folder + "/empty", tokens="\n")
    with daemon(folder, "--auth-token-file", empty.path("tokens")) as d:
        check("with a file without a token nothing is served", d.logs("error", "it has no entries", "serving nothing") and d.is_closed())


def flood(d):
    """Many wrong passwords at once: some are checked, the others get 503."""
    header = base64.b64encode(b"ann:guess").decode()
    held = []
    for _ in range(30):
        s = socket.create_connection(("127.0.0.1", d.port), SOON)
        s.sendall(f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {header}\r\nConnection: close\r\n\r\n".encode())
        held.append(s)
    statuses = []
    for s in held:
        answer = b""
        while (piece := s.recv(65536)):
            answer += piece
        statuses.append(answer[9:12])
        s.close()
    check("a flood of wrong passwords: each is answered, none is accepted", set(statuses) <= {b"401", b"503"})


def status_of(d, source, name, password):
    """The status of one request from that address."""
    connection = http.client.HTTPConnection("127.0.0.1", d.port, timeout=SOON, source_address=(source, 0))
    connection.request("GET", "/", headers={"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()})
    status = connection.getresponse().status
    connection.close()
    return status


def answered(*request):
    """The status of the first request that gets an answer: the daemon rejects too many new connections per second."""
    end = time.monotonic() + SOON
    while True:
        try:
            return status_of(*request)
        except (OSError, http.client.HTTPException):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def guessers(folder):
    """Guessed passwords from some addresses do not lock out users at other addresses."""
    slow = subprocess.run(["perl", "-e", 'print crypt($ARGV[0], q($6$rounds=100000$saltsalt))', PASSWORD], capture_output=True, text=True, check=True).stdout
    names = [f"user{i}" for i in range(8)]
    secret = Secret(folder + "/auth", users="".join(f"{name}:{slow}\n" for name in names))
    with daemon(folder, "--basic-auth-file", secret.path("users")) as d:
        over, guessed = threading.Event(), []

        def guess(source):
            while not over.is_set():
                with contextlib.suppress(OSError, http.client.HTTPException):  # too many connections
                    guessed.append(status_of(d, source, "user0", "guess"))
        threads = [threading.Thread(target=guess, args=(f"127.0.0.{2 + i % 2}",)) for i in range(6)]
        for t in threads:
            t.start()
        try:
            check("guessing: some are checked", becomes(lambda: 401 in guessed and 503 in guessed))
            check("guessing: right passwords are accepted at the first attempt", [answered(d, "127.0.0.1", name, PASSWORD) for name in names] == [200] * len(names))
            secret.replace(users="".join(f"{name}:{slow}\n" for name in names + ["new"]))
            check("guessing: a new user is accepted, and the others still", becomes(lambda: answered(d, "127.0.0.1", "new", PASSWORD) == 200) and
                  all(answered(d, "127.0.0.1", name, PASSWORD) == 200 for name in names))
        finally:
            over.set()
            for t in threads:
                t.join()
        check("guessing: no guess was accepted", set(guessed) <= {401, 503})


def prometheus(folder):
    """A real Prometheus scrapes over TLS with a token, also after certificate and token were replaced; with another token it is rejected."""
    tools = subprocess.run([os.path.join(os.path.dirname(__file__), "../lib/debtool.sh"), "prometheus"], capture_output=True, text=True, check=True).stdout.strip()
    ca = Authority(folder)
    cert, key = ca.pair()
    secret = Secret(folder + "/tls", crt=cert, key=key, tokens=f"{TOKEN}\n")
    Secret(folder + "/its", good=TOKEN, bad="some-other-token-of-its-own")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with daemon(folder, "--tls-cert", secret.path("crt"), "--tls-key", secret.path("key"), "--auth-token-file", secret.path("tokens")) as d:
        jobs = [{"job_name": name, "scheme": "https", "tls_config": {"ca_file": ca.pem}, "authorization": {"credentials_file": f"{folder}/its/{name}"},
                 "static_configs": [{"targets": [f"127.0.0.1:{d.port}"]}]} for name in ("good", "bad")]
        with open(folder + "/prometheus.yml", "w", encoding="ascii") as f:
            json.dump({"global": {"scrape_interval": "1s"}, "scrape_configs": jobs}, f)
        with open(folder + "/prometheus.log", "wb") as log:
            process = subprocess.Popen([tools + "/usr/bin/prometheus", "--config.file", folder + "/prometheus.yml", "--storage.tsdb.path", folder + "/data",
                                        "--web.listen-address", f"127.0.0.1:{port}"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

        def value(expression):
            done = subprocess.run(["curl", "-sSf", "-m", str(SOON), "--data-urlencode", "query=" + expression, f"http://127.0.0.1:{port}/api/v1/query"],
                                  capture_output=True, text=True, check=False)
            results = json.loads(done.stdout)["data"]["result"] if done.stdout else []
            return results[0]["value"][1] if results else None
        try:
            check("Prometheus scrapes over TLS, with its token", becomes(lambda: value('up{job="good"}') == "1") and
                  int(value('scrape_samples_scraped{job="good"}')) > 20)
            check("with another token it is rejected", becomes(lambda: value('up{job="bad"}') == "0"))
            samples = value('rocelet_samples_total{job="good"}')
            cert, key = ca.pair()
            secret.replace(crt=cert, key=key, tokens=f"{NEXT_TOKEN}\n{TOKEN}\n")
            check("another certificate is in use", becomes(lambda: subject(d) == f"node-{ca.n}"))
            check("and Prometheus goes on", becomes(lambda: float(value('rocelet_samples_total{job="good"}') or 0) > float(samples)))
        finally:
            process.terminate()
            process.wait(SOON)


def main():
    with tempfile.TemporaryDirectory() as temp:
        parts = (tls, expired_at_the_start, wrong_at_the_start, busy, without_a_file, access, guessers, prometheus)
        for i, part in enumerate([p for p in parts if p.__name__ in sys.argv[2:]] or parts):
            os.mkdir(f"{temp}/{i}")
            part(f"{temp}/{i}")
    print(f"{counts[True]} passed, {counts[False]} failed")
    sys.exit(counts[False] > 0)


if __name__ == "__main__":
    main()
