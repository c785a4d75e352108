# SPDX-License-Identifier: Apache-2.0
"""Another device plugin for VFs, which calls and answers the kubelet as sriov-network-device-plugin does: sriov_plugin.py RESOURCE PCI_ADDRESS..

It offers its VFs whether another plugin offers them or not, and its list never changes. Calls are printed, one per line.
"""
import json, os, sys
from concurrent import futures

import standin
from standin import FOLDER, grpc, kube_api, m

SYSFS = "/sys/bus/pci/devices"


def numa_node(id):
    with open(f"{SYSFS}/{id}/numa_node", encoding="ascii") as file:
        return int(file.read())


class Plugin(standin.Plugin):
    def __init__(self, resource, ids):
        super().__init__(ids)
        self.variable = "PCIDEVICE_" + resource.replace("/", "_").replace(".", "_").upper()

    def options(self, _request, _context):
        return m["DevicePluginOptions"]()

    def list_and_watch(self, _request, context):
        made = [m["Device"](ID=id, health="Healthy") for id in self.words]
        for device in made:
            if numa_node(device.ID) >= 0:
                device.topology.nodes.add(ID=numa_node(device.ID))
        yield m["ListAndWatchResponse"](devices=made)
        ended = futures.Future()
        context.add_callback(lambda: ended.set_result(None))
        ended.result()

    def allocate(self, request, _context):
        answer = m["AllocateResponse"]()
        for container in request.container_requests:
            ids = list(container.devices_ids)
            print("Allocate", *sorted(ids), flush=True)
            made = answer.container_responses.add()
            made.envs[self.variable] = ",".join(ids)
            made.envs[self.variable + "_INFO"] = json.dumps({id: {"generic": {"deviceID": id}} for id in ids})
        return answer


def main(resource, *ids):
    name = resource.replace("/", "_") + ".sock"
    server = standin.serve(Plugin(resource, ids), os.path.join(FOLDER, name))
    with grpc.insecure_channel(f"unix://{FOLDER}/kubelet.sock") as channel:
        grpc.channel_ready_future(channel).result(timeout=120)
        kube_api.call(channel, "/v1beta1.Registration/Register", m["RegisterRequest"](version="v1beta1", endpoint=name, resource_name=resource), m["Empty"])
    print("registered", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])
