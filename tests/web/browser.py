# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, controlled over a pipe by its DevTools protocol: pages, their requests, their errors, and pictures of them."""
import base64
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

PATIENCE = int(os.environ.get("PAGE_PATIENCE", "120"))
FLAGS = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
         "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--hide-scrollbars", "--mute-audio", "--disable-dev-shm-usage",
         "--disable-features=Translate,OptimizationHints,MediaRouter", "--ignore-certificate-errors", "--password-store=basic", "about:blank"]


class Browser:
    """Used with `with`: one process, with a profile of its own that is removed with it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="web-")
        from_us, to_browser = os.pipe()
        from_browser, to_us = os.pipe()
        command = ["bash", "-c", f'exec chromium "$@" 3<&{from_us} 4>&{to_us}', "chromium", f"--user-data-dir={self.folder}", *FLAGS]
        environment = dict(os.environ, HOME=self.folder, XDG_CONFIG_HOME=self.folder, XDG_CACHE_HOME=self.folder)
        self.process = subprocess.Popen(command, pass_fds=(from_us, to_us), env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(from_us)
        os.close(to_us)
        self.out, self.input = os.fdopen(to_browser, "wb", 0), os.fdopen(from_browser, "rb", 0)
        self.lock, self.last, self.answers, self.pages = threading.Lock(), 0, {}, {}
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *what):
        try:
            self.call("Browser.close")
            self.process.wait(PATIENCE)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, 9)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def read(self):
        """Messages end with a zero byte."""
        rest = b""
        while True:
            piece = self.input.read(1 << 16)
            if not piece:
                break
            *whole, rest = (rest + piece).split(b"\0")
            for text in whole:
                self.take(json.loads(text))
        for answer in list(self.answers.values()):
            answer.put({"error": {"message": "the browser has ended"}})

    def take(self, message):
        if "id" in message:
            if message["id"] in self.answers:
                self.answers[message["id"]].put(message)
        elif message.get("sessionId") in self.pages:
            self.pages[message["sessionId"]].on_event(message["method"], message["params"])

    def send(self, method, session, params, answer=None):
        with self.lock:
            self.last += 1
            if answer:
                self.answers[self.last] = answer
            message = {"id": self.last, "method": method, "params": params, **({"sessionId": session} if session else {})}
            self.out.write(json.dumps(message).encode() + b"\0")
            return self.last

    def call(self, method, session=None, **params):
        answer = queue.Queue()
        number = self.send(method, session, params, answer)
        try:
            found = answer.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"{method}: the browser does not answer") from None
        del self.answers[number]
        if "error" in found:
            raise AssertionError(f"{method}: {found['error']['message']}")
        return found["result"]

    def page(self, url=None, width=1280, height=900, dark=False):
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        self.pages[session] = page
        for domain in ("Page", "Runtime", "Network", "Log", "Audits"):
            page.call(domain + ".enable")
        page.look(width, height, dark)
        if url:
            page.go(url)
        return page


class Page:
    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        self.complaints, self.requests, self.bytes, self.loaded = [], [], {}, threading.Event()

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def send(self, method, **params):
        """Like call, but does not wait for the answer."""
        self.browser.send(method, self.session, params)

    def answer_password_prompts(self, name=None, password=None):
        """Answers password prompts from now on; without arguments cancels them."""
        self.person = {"response": "ProvideCredentials", "username": name, "password": password} if name else {"response": "CancelAuth"}
        self.call("Fetch.enable", handleAuthRequests=True)

    def on_event(self, method, params):
        if method == "Page.loadEventFired":
            self.loaded.set()
        elif method == "Network.requestWillBeSent":
            self.requests.append((params["requestId"], params["request"]["url"]))
        elif method == "Network.loadingFinished":
            self.bytes[params["requestId"]] = params["encodedDataLength"]
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(params["args"])[:500])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Fetch.requestPaused":
            self.send("Fetch.continueRequest", requestId=params["requestId"])
        elif method == "Fetch.authRequired":
            self.send("Fetch.continueWithAuth", requestId=params["requestId"], authChallengeResponse=self.person)
        elif method == "Audits.issueAdded" and params["issue"]["code"] == "ContentSecurityPolicyIssue":
            self.complaints.append(json.dumps(params["issue"])[:500])

    def look(self, width, height, dark=False):
        """Returns when a page that is open has drawn itself at this width."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.run("new Promise((done) => document.hidden ? done() : requestAnimationFrame(() => requestAnimationFrame(done)))")

    def go(self, url):
        self.loaded.clear()
        answer = self.call("Page.navigate", url=url)
        if answer.get("errorText"):
            raise AssertionError(f"{url}: {answer['errorText']}")
        if "loaderId" in answer and not self.loaded.wait(PATIENCE):
            raise AssertionError(f"{url} does not load")

    def run(self, expression):
        """The value of an expression, or of its promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression[:200]}: {answer['exceptionDetails'].get('exception', {}).get('description', answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def until(self, what, expression):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = self.run(f"!!({expression})")
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"never {what}: {expression}; the page says\n" + str(self.run("document.body.innerText"))[:3000])

    def text(self, selector="body"):
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def key(self, key, code=None, number=0, text=None):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=number, **({"text": text} if text else {}))

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.pages.pop(self.session, None)
