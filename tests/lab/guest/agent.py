# SPDX-License-Identifier: Apache-2.0
"""Runs scripts that come over the network of a cluster, each in a bash of its own: agent.py ADDRESS PORT.

A connection brings one script and shuts its half down; it gets the exit status in a line, and all that was printed. What a script leaves in the
background lives on.
"""
import socketserver, subprocess, sys, tempfile


class Script(socketserver.StreamRequestHandler):
    def handle(self):
        script = self.rfile.read()
        # A file and no pipe: what stays in the background may have it open for ever.
        with tempfile.TemporaryFile() as output:
            status = subprocess.run(["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False).returncode
            output.seek(0)
            self.wfile.write(b"%d\n" % status + output.read())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server((sys.argv[1], int(sys.argv[2])), Script).serve_forever()
