# SPDX-License-Identifier: Apache-2.0
"""A node for checks of the page: the real daemon over a synthetic sysfs tree whose counters are played, with a port of its own, and shared helpers."""
import json
import os
import signal
import socket

import daemon_python
import npm
from diagnosis_python import NAK, OUT_OF_SEQUENCE, TIMEOUTS, Node
from kubelet_python import equal

LOSS = {NAK: 500, OUT_OF_SEQUENCE: 500, TIMEOUTS: 5}
AXE = "axe.run({resultTypes: ['violations']}).then((r) => r.violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary)]))"
LIVE = "document.getElementById('state')?.dataset.state === 'live'"
HERE = os.path.dirname(os.path.abspath(__file__))
checks, only_by_name = [], []


class Run:
    """The other programs: the browser, and the paths of nginx and kubectl."""
    browser = nginx = None
    kubectls = ()


run = Run()


def check(function):
    checks.append(function)
    return function


def figure(function):
    """Takes longer and checks nothing: runs only if it is named."""
    only_by_name.append(function)
    return function


tcp_ports = {}  # {folder of a daemon: port}, the same after a restart
intervals = {}  # {folder of a daemon: sample interval}
plain_command = daemon_python.command


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def command(dir, tree):
    words = plain_command(dir, tree)
    words[words.index("--listen") + 1] = f"127.0.0.1:{tcp_ports.setdefault(dir, free_port())}"
    words[words.index("--sample-interval") + 1] = intervals.setdefault(dir, PageNode.next_interval)
    return words


daemon_python.command = command


class PageNode(Node):
    interval, next_interval = "0.1", None
    scheme, limits = "http", {}

    def __init__(self, **more):
        PageNode.next_interval = self.interval
        super().__init__(diagnosis=self.limits, **more)

    @property
    def port(self):
        return tcp_ports[self.dir]

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}/"

    def __exit__(self, *what):
        if self.process.poll() is None:
            self.wake()  # a stopped process would not end
        return super().__exit__(*what)

    def hang(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def wake(self):
        os.kill(self.process.pid, signal.SIGCONT)


def opened(node, place="", **look):
    """Opens a page; returns when it is live."""
    page = run.browser.page(**look)
    page.go(node.url + place)
    page.until("live", LIVE)
    return page


def altered(node, change, place="", **look):
    """A page that passes the daemon's answers through a JavaScript function (last word of the path, document)."""
    page = run.browser.page(**look)
    page.call("Page.addScriptToEvaluateOnNewDocument", source=f"""(() => {{ const real = window.fetch, change = {change};
        window.fetch = async (address, ...more) => {{ const answer = await real(address, ...more), content = JSON.parse(await answer.text());
            change(new URL(address).pathname.split('/').at(-1), content);
            return {{ok: answer.ok, status: answer.status, text: async () => JSON.stringify(content)}}; }}; }})()""")
    page.go(node.url + place)
    page.until("live", LIVE)
    return page


def axe_script():
    """The script that AXE needs on a page."""
    with open(npm.package(HERE + "/packages", HERE + "/../../build/npm", "axe-core") + "/axe.min.js", encoding="utf-8") as f:
        return f.read()


def silent(page, url):
    """The page had no errors, and sent no requests elsewhere."""
    equal(page.complaints, [])
    strangers = [address for _, address in page.requests if not address.startswith((url, "data:"))]
    equal(strangers, [])


def has(page, text):
    page.until(f"has '{text}'", f"document.body.innerText.includes({json.dumps(text)})")
