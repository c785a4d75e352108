# SPDX-License-Identifier: Apache-2.0
"""A usual proxy before a node: it has a prefix, which it strips or leaves, and holds answers back until they are complete."""
import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class PrefixProxy:
    """Used with `with`; .url is the page's address behind it. prefix: "/a b/", as in a request (percent-encoded where necessary)."""

    def __init__(self, port, prefix, strips):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if not self.path.startswith(prefix):
                    self.send_error(404)
                    return
                path = "/" + self.path[len(prefix):] if strips else self.path
                there = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                try:
                    there.request("GET", path, headers={k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")})
                    answer = there.getresponse()
                    body = answer.read()
                except OSError:
                    self.send_error(502)
                    return
                finally:
                    there.close()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "content-length", "transfer-encoding", "date", "server"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # for closed pages
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}{prefix}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
