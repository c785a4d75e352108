#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Acts as a container runtime: sends one CNI request to the daemon, prints the answer as one line of JSON.

  cni_driver.py COMMAND CONTAINER IFNAME [--netns PATH] [--pod NAMESPACE/NAME] [--config JSON] [--leave DIR] [--hang-up SECONDS]

--config: keys beside cniVersion, name and type, which may be replaced. --leave: writes the request as a file, as rocelet-cni does when
no daemon answers. --hang-up: closes the connection after that time. Fails when the answer is an error.
"""
import argparse, http.client, json, os, socket, sys

SOCKET = "/run/rocelet/rocelet.sock"


class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(SOCKET)


def request_of(args):
    config = {"cniVersion": "1.1.0", "name": "fast", "type": "sriov", **json.loads(args.config)}
    request = {"command": args.command, "containerID": args.container, "ifname": args.ifname, "path": "/opt/cni/bin", "config": config}
    if args.netns:
        request["netns"] = args.netns
    if args.pod:
        namespace, name = args.pod.split("/")
        request["args"] = f"IgnoreUnknown=true;K8S_POD_NAMESPACE={namespace};K8S_POD_NAME={name};K8S_POD_INFRA_CONTAINER_ID={args.container}"
    return json.dumps(request)


def leave(folder, text):
    written = os.path.join(folder, f".{os.getpid()}")
    with open(written, "w", encoding="utf-8") as f:
        f.write(text)
    os.rename(written, os.path.join(folder, f"del-{os.getpid()}"))


def main():
    parser = argparse.ArgumentParser()
    for name in ("command", "container", "ifname"):
        parser.add_argument(name)
    parser.add_argument("--netns")
    parser.add_argument("--pod")
    parser.add_argument("--config", default="{}")
    parser.add_argument("--leave")
    parser.add_argument("--hang-up", type=float)
    args = parser.parse_args()
    text = request_of(args)
    if args.leave:
        leave(args.leave, text)
        return 0
    connection = Unix("localhost", timeout=args.hang_up or 60)
    connection.request("POST", "/api/v1/cni", text)
    try:
        reply = connection.getresponse()
    except TimeoutError:
        return 3
    body = reply.read().decode()
    print(body)
    return 0 if reply.status == 200 and "error" not in json.loads(body) else 1


sys.exit(main())
