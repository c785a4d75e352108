# SPDX-License-Identifier: Apache-2.0
"""Sends the script on stdin to a machine's agent (guest/agent.py): ask.py ADDRESS PORT. Prints its output; exits with its status."""
import socket, sys


def main(address, port):
    with socket.create_connection((address, int(port))) as connection:
        connection.sendall(sys.stdin.buffer.read())
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile("rb").read()
    status, _, output = answer.partition(b"\n")
    sys.stdout.buffer.write(output)
    return int(status) if status else 255  # the machine has ended meanwhile


sys.exit(main(*sys.argv[1:]))
