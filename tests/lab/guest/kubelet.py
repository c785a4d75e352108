# SPDX-License-Identifier: Apache-2.0
"""A kubelet's view of one resource, with grpc-python, for programs in the guest; run as a program, a kubelet's socket that
accepts registrations: kubelet.py FILE writes each as a line to FILE."""
import os, sys, threading, time
from concurrent import futures

sys.path.insert(0, "/rocelet/lib")
import grpc
import kube_api

FOLDER = "/var/lib/kubelet/device-plugins"
m = kube_api.messages("v1beta1", kube_api.DEVICE_PLUGIN)


def socket_of(resource):
    return f"{FOLDER}/{resource.replace('/', '_')}.sock"


class List:
    """The last list of a resource; `arrived` is the time of its arrival."""

    def __init__(self, resource):
        self.lock, self.doc, self.arrived, self.got = threading.Lock(), {}, None, threading.Event()
        channel = grpc.insecure_channel(f"unix://{socket_of(resource)}")
        self.stream = channel.unary_stream("/v1beta1.DevicePlugin/ListAndWatch",
                                           request_serializer=m["Empty"].SerializeToString)(m["Empty"]())
        threading.Thread(target=self.watch, daemon=True).start()
        if not self.got.wait(30):
            sys.exit(f"no list of {resource}")

    def watch(self):
        for body in self.stream:  # bytes: parsed only after the time is taken
            arrived = time.time()
            devices = m["ListAndWatchResponse"].FromString(body).devices
            with self.lock:
                self.arrived = arrived
                self.doc = {kind: {d.ID for d in devices if (d.health == "Healthy") == (kind == "healthy")}
                            for kind in ("healthy", "unhealthy")}
            self.got.set()

    def read(self):
        with self.lock:
            return self.doc


def main(path):
    os.makedirs(FOLDER, exist_ok=True)

    def register(request, _context):
        with open(path, "a", encoding="ascii") as file:
            file.write(f"{request.resource_name} {request.endpoint} {request.version}\n")
        return m["Empty"]()

    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        "v1beta1.Registration", {"Register": kube_api.handler(register, m["RegisterRequest"])}),))
    server.add_insecure_port(f"unix://{FOLDER}/kubelet.sock")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main(sys.argv[1])
