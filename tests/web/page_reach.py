# SPDX-License-Identifier: Apache-2.0
"""The page behind TLS, tokens, passwords and usual proxies."""
import os
import re
import subprocess
import tempfile
import time

from diagnosis_python import PF, TRAFFIC
from guard_python import PASSWORD, TOKEN, Authority, openssl
from kubelet_python import equal, eventually
from nginx import Nginx
from page_node import LIVE, LOSS, PageNode, check, has, opened, run, silent
from prefix_proxy import PrefixProxy

POD = "/api/v1/namespaces/rocelet/pods/rocelet-x:9907/proxy/"
ODD = "/a%20b/%25/%C3%BC/(~);=,+/"
ASKED = "authentication required: a token, or a name and its password"


def file(folder, name, text):
    with open(f"{folder}/{name}", "w", encoding="ascii") as f:
        f.write(text)
    return f"{folder}/{name}"


class GuardedNode(PageNode):
    """A node behind TLS, a token and a password."""
    scheme = "https"

    def __init__(self, *flags):
        self.secrets = tempfile.TemporaryDirectory()
        folder = self.secrets.name
        cert, key = Authority(folder).pair()
        hashed = openssl("passwd", "-6", PASSWORD).stdout.strip()
        self.users = file(folder, "users", f"ann:{hashed}\n")
        guards = ["--auth-token-file", file(folder, "tokens", TOKEN + "\n"), "--basic-auth-file", self.users] if "open" not in flags else []
        super().__init__(flags=["--tls-cert", file(folder, "crt", cert), "--tls-key", file(folder, "key", key), *guards])

    def __exit__(self, *what):
        self.secrets.cleanup()
        return super().__exit__(*what)


def shows_the_verdict(node, url, place=""):
    """A page at that address is live, shows the problem, and leads to the runbook."""
    page = run.browser.page(url + place)
    page.until("live", LIVE)
    has(page, "packet_loss")
    silent(page, url)
    page.run("document.querySelector('.verdict h3 button').click()")
    page.go(page.run("document.querySelector('.verdict a[rel=noopener]').href"))
    page.until("the cause", "document.querySelector('h1 code')?.innerText === 'packet_loss' && location.pathname.endsWith('/runbook/packet_loss')")
    silent(page, url)
    page.close()


class TroubledNode(PageNode):
    def __enter__(self):
        node = super().__enter__()
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        return node


# --- guards -----------------------------------------------------------------------------------


@check
def over_tls():
    with GuardedNode("open") as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        shows_the_verdict(node, node.url)


@check
def a_password_is_required():
    """Without it the page has a message instead of being blank; with it, also in the address, it is live; once it is no longer valid an open page reports that."""
    with GuardedNode() as node:
        node.judged(PF)
        page = run.browser.page()
        page.answer_password_prompts()
        page.go(node.url)
        has(page, ASKED)
        page.close()
        page = run.browser.page()
        page.call("Network.setExtraHTTPHeaders", headers={"Authorization": f"Bearer {TOKEN}"})
        page.go(node.url)
        page.until("live by a token", LIVE)
        silent(page, node.url)
        page.close()
        page = run.browser.page()
        page.answer_password_prompts("ann", PASSWORD)
        page.go(node.url)
        page.until("live by a password", LIVE)
        page.answer_password_prompts()
        file(node.secrets.name, "users", "bob:" + openssl("passwd", "-6", "x").stdout)
        page.until("the banner names what it needs", f"document.getElementById('banner').innerText.includes({ASKED!r})")
        equal(page.run("document.body.dataset.old"), "yes")
        page.close()
        page = run.browser.page(node.url.replace("://", "://bob:x@"))
        page.until("live by a password in its address", LIVE)
        page.close()


# --- proxies ----------------------------------------------------------------------------------


@check
def behind_nginx():
    with TroubledNode() as node:
        for prefix in ("/node-17/", ODD):
            for strips in (True, False):
                with Nginx(run.nginx, f"http://127.0.0.1:{node.port}", prefix, strips) as nginx:
                    shows_the_verdict(node, nginx.url)


@check
def behind_nginx_to_tls():
    """nginx accepts plain text from the browser, and sends requests to the node over TLS with a token."""
    with GuardedNode() as node:
        node.judged(PF)
        with Nginx(run.nginx, f"https://127.0.0.1:{node.port}", "/n/", True, f'proxy_set_header Authorization "Bearer {TOKEN}";') as nginx:
            page = run.browser.page(nginx.url)
            page.until("live", LIVE)
            silent(page, nginx.url)
            page.close()


@check
def behind_kubectl_proxy():
    """kubectl's own proxy, before a stand-in for the API server."""
    with TroubledNode() as node, PrefixProxy(node.port, POD, True) as server:
        for kubectl in run.kubectls:
            environment = dict(os.environ, KUBECONFIG="/dev/null", HOME=node.dir)
            command = [kubectl, "proxy", "--port=0", "--server=" + server.url[:-len(POD)]]
            with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as proxy:
                try:
                    address = re.search(r"127\.0\.0\.1:\d+", proxy.stdout.readline())[0]
                    shows_the_verdict(node, f"http://{address}{POD}")
                    shows_the_verdict(node, f"http://{address}{POD}", "#port/mlx5_0/1")
                finally:
                    proxy.terminate()


@check
def behind_one_that_buffers():
    """It holds back each answer until it is complete, and compresses it again: a verdict appears no later than without."""
    holds = "proxy_buffering on; proxy_buffers 64 64k; proxy_busy_buffers_size 4032k; gzip on; gzip_types *; proxy_http_version 1.1;"
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        with Nginx(run.nginx, f"http://127.0.0.1:{node.port}", "/node-17/", True, holds) as nginx:
            page = run.browser.page(nginx.url)
            page.until("live", LIVE)
            story.play(TRAFFIC, LOSS)
            eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
            began = time.monotonic()
            has(page, "packet_loss")
            took = time.monotonic() - began
            print(f"# behind a proxy that buffers a verdict is on the page {1000 * took:.0f} ms after the daemon has it")
            silent(page, nginx.url)
            page.close()


@check
def behind_one_with_a_short_timeout():
    """A timeout shorter than the page's waiting requests: the page keeps requesting and never shows old state as new."""
    with TroubledNode() as node:
        with Nginx(run.nginx, f"http://127.0.0.1:{node.port}", "/n/", True, "proxy_read_timeout 1s;") as nginx:
            page = opened(node)
            page.close()
            page = run.browser.page(nginx.url)
            page.until("live", LIVE)
            node.hang()
            page.until("the connection is lost", "document.getElementById('state').dataset.state === 'lost'")
            assert "504" in page.text("#banner"), page.text("#banner")
            equal(page.run("document.body.dataset.old"), "yes")
            node.wake()
            page.until("live again", LIVE)
            page.close()
