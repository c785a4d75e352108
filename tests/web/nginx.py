# SPDX-License-Identifier: Apache-2.0
"""A real nginx before a node, with a usual configuration."""
import os
import shutil
import socket
import subprocess
import tempfile
import time
from urllib.parse import unquote

PATIENCE = 60
CONFIGURATION = """daemon off;
master_process off;
pid %(folder)s/pid;
error_log %(folder)s/log;
events {}
http {
    access_log off;
    client_body_temp_path %(folder)s/body;
    proxy_temp_path %(folder)s/proxy;
    fastcgi_temp_path %(folder)s/fastcgi;
    uwsgi_temp_path %(folder)s/uwsgi;
    scgi_temp_path %(folder)s/scgi;
    server {
        listen 127.0.0.1:%(port)d;
        location ^~ "%(place)s" {
            proxy_pass %(to)s;
            %(more)s
        }
    }
}
"""


class Nginx:
    """Used with `with`; .url is the page's address behind it. prefix: as in a request. strips: removes it from requests to the node."""

    def __init__(self, program, to, prefix, strips, more=""):
        self.folder = tempfile.mkdtemp(prefix="nginx-")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        text = CONFIGURATION % {"folder": self.folder, "port": port, "place": unquote(prefix), "to": to + ("/" if strips else ""), "more": more}
        with open(self.folder + "/conf", "w", encoding="utf-8") as f:
            f.write(text)
        self.process = subprocess.Popen([program, "-e", self.folder + "/log", "-p", self.folder, "-c", self.folder + "/conf"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{port}{prefix}"
        self.wait(port)

    def wait(self, port):
        deadline = time.monotonic() + PATIENCE
        while True:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    return
            if self.process.poll() is not None or time.monotonic() > deadline:
                with open(self.folder + "/log", encoding="utf-8") as f:
                    raise AssertionError("nginx does not serve: " + f.read())
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)
