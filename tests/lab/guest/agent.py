# SPDX-License-Identifier: Apache-2.0
"""Runs scripts received over a cluster's network, each in a bash of its own: agent.py ADDRESS PORT.

A client sends one script and shuts its half down; it receives the exit status in a line, and the output. Processes that a script leaves in the
background keep running.
"""
import socketserver, subprocess, sys, tempfile


class Script(socketserver.StreamRequestHandler):
    def handle(self):
        script = self.rfile.read()
        # A file instead of a pipe: processes in the background may keep it open for ever.
        with tempfile.TemporaryFile() as output:
            status = subprocess.run(["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False).returncode
            output.seek(0)
            self.wfile.write(b"%d\n" % status + output.read())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server((sys.argv[1], int(sys.argv[2])), Script).serve_forever()
