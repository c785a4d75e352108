# SPDX-License-Identifier: Apache-2.0
"""Prints all pods from the kubelet's PodResources service as JSON."""
import json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
import grpc
import kube_api

SOCKET = "unix:///var/lib/kubelet/pod-resources/kubelet.sock"
m = kube_api.messages("v1", kube_api.POD_RESOURCES)

with grpc.insecure_channel(SOCKET) as channel:
    answer = kube_api.call(channel, "/v1.PodResourcesLister/List", m["Empty"](), m["ListPodResourcesResponse"])
print(json.dumps([{"namespace": pod.namespace, "name": pod.name, "containers": [
    {"name": c.name, "devices": [{"resource": d.resource_name, "ids": list(d.device_ids)} for d in c.devices]}
    for c in pod.containers]} for pod in answer.pod_resources]))
