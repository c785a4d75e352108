# SPDX-License-Identifier: Apache-2.0
"""A minimal device plugin, to test the rig without rocelet: standin.py RESOURCE ID[@NUMA]..

The file /run/rig/standin has the IDs of unhealthy devices. Each container gets /dev/infiniband/<ID> and
STANDIN=<IDs>. Calls are printed, one per line.
"""
import os, sys, time
from concurrent import futures

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
import grpc
import kube_api

FOLDER = "/var/lib/kubelet/device-plugins"
SICK = "/run/rig/standin"
m = kube_api.messages("v1beta1", kube_api.DEVICE_PLUGIN)


def device(word, unhealthy):
    name, _, numa = word.partition("@")
    made = m["Device"](ID=name, health="Unhealthy" if name in unhealthy else "Healthy")
    if numa:
        made.topology.nodes.add(ID=int(numa))
    return made


def read_unhealthy():
    try:
        with open(SICK, encoding="ascii") as file:
            return file.read().split()
    except FileNotFoundError:
        return []


class Plugin:
    def __init__(self, words):
        self.words = words

    def options(self, _request, _context):
        return m["DevicePluginOptions"](pre_start_required=True)

    def list_and_watch(self, _request, context):
        last = None
        while context.is_active():
            unhealthy = read_unhealthy()
            if unhealthy != last:
                yield m["ListAndWatchResponse"](devices=[device(word, unhealthy) for word in self.words])
                last = unhealthy
            time.sleep(0.05)

    def allocate(self, request, _context):
        answer = m["AllocateResponse"]()
        for container in request.container_requests:
            ids = sorted(container.devices_ids)
            print("Allocate", *ids, flush=True)
            made = answer.container_responses.add()
            made.envs["STANDIN"] = ",".join(ids)
            for name in ids:
                path = f"/dev/infiniband/{name}"
                made.devices.add(container_path=path, host_path=path, permissions="rw")
        return answer

    def pre_start(self, request, context):
        print("PreStartContainer", *sorted(request.devices_ids), flush=True)
        for name in request.devices_ids:
            if not os.path.exists(f"/dev/infiniband/{name}"):
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"{name} has no device node")
        return m["Empty"]()


def serve(plugin, path):
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("v1beta1.DevicePlugin", {
        "GetDevicePluginOptions": kube_api.handler(plugin.options, m["Empty"]),
        "ListAndWatch": kube_api.handler(plugin.list_and_watch, m["Empty"], streams=True),
        "Allocate": kube_api.handler(plugin.allocate, m["AllocateRequest"]),
        "PreStartContainer": kube_api.handler(plugin.pre_start, m["PreStartContainerRequest"]),
    }),))
    server.add_insecure_port(f"unix://{path}")
    server.start()
    return server


def main(resource, *words):
    name = resource.replace("/", "_") + ".sock"
    server = serve(Plugin(words), f"{FOLDER}/{name}")
    with grpc.insecure_channel(f"unix://{FOLDER}/kubelet.sock") as channel:
        request = m["RegisterRequest"](version="v1beta1", endpoint=name, resource_name=resource,
                                       options=m["DevicePluginOptions"](pre_start_required=True))
        # The socket may be a stale one of an earlier kubelet.
        grpc.channel_ready_future(channel).result(timeout=120)
        kube_api.call(channel, "/v1beta1.Registration/Register", request, m["Empty"])
    print("registered", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])
