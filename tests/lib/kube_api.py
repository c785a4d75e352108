# SPDX-License-Identifier: Apache-2.0
"""The kubelet's device APIs for grpc-python. The messages are made from tables at run time, so that neither protoc nor generated
code is needed. Field numbers: k8s.io/kubelet/pkg/apis/{deviceplugin/v1beta1,podresources/v1}/api.proto."""
import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# message: {field: (number, type)}; a type in brackets is repeated, "map" is a map of strings.
DEVICE_PLUGIN = {
    "Empty": {},
    "DevicePluginOptions": {"pre_start_required": (1, "bool"), "get_preferred_allocation_available": (2, "bool")},
    "RegisterRequest": {"version": (1, "string"), "endpoint": (2, "string"), "resource_name": (3, "string"),
                        "options": (4, "DevicePluginOptions")},
    "NUMANode": {"ID": (1, "int64")},
    "TopologyInfo": {"nodes": (1, ["NUMANode"])},
    "Device": {"ID": (1, "string"), "health": (2, "string"), "topology": (3, "TopologyInfo")},
    "ListAndWatchResponse": {"devices": (1, ["Device"])},
    "ContainerAllocateRequest": {"devices_ids": (1, ["string"])},
    "AllocateRequest": {"container_requests": (1, ["ContainerAllocateRequest"])},
    "DeviceSpec": {"container_path": (1, "string"), "host_path": (2, "string"), "permissions": (3, "string")},
    "ContainerAllocateResponse": {"envs": (1, "map"), "devices": (3, ["DeviceSpec"])},
    "AllocateResponse": {"container_responses": (1, ["ContainerAllocateResponse"])},
    "PreStartContainerRequest": {"devices_ids": (1, ["string"])},
}
POD_RESOURCES = {
    "Empty": {},
    "ContainerDevices": {"resource_name": (1, "string"), "device_ids": (2, ["string"])},
    "ContainerResources": {"name": (1, "string"), "devices": (2, ["ContainerDevices"])},
    "PodResources": {"name": (1, "string"), "namespace": (2, "string"), "containers": (3, ["ContainerResources"])},
    "ListPodResourcesResponse": {"pod_resources": (1, ["PodResources"])},
}
FIELD = descriptor_pb2.FieldDescriptorProto
SCALARS = {"string": FIELD.TYPE_STRING, "bool": FIELD.TYPE_BOOL, "int64": FIELD.TYPE_INT64}


def describe(package, message, name, number, kind):
    field = message.field.add(name=name, number=number, label=FIELD.LABEL_OPTIONAL)
    if kind == "map":
        entry = message.nested_type.add(name=name.capitalize() + "Entry")
        entry.options.map_entry = True
        describe(package, entry, "key", 1, "string")
        describe(package, entry, "value", 2, "string")
        kind = [f"{message.name}.{entry.name}"]
    if isinstance(kind, list):
        field.label, kind = FIELD.LABEL_REPEATED, kind[0]
    if kind in SCALARS:
        field.type = SCALARS[kind]
    else:
        field.type, field.type_name = FIELD.TYPE_MESSAGE, f".{package}.{kind}"


def messages(package, table):
    """The message classes of one package, by name."""
    file = descriptor_pb2.FileDescriptorProto(name=f"rig/{package}.proto", package=package, syntax="proto3")
    for name, fields in table.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            describe(package, message, field, number, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    # Newer versions of protobuf have the function, older ones the factory.
    get = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
    return {name: get(pool.FindMessageTypeByName(f"{package}.{name}")) for name in table}


def call(channel, path, request, answer):
    """Makes a unary call. answer: class of the reply."""
    return channel.unary_unary(path, request_serializer=type(request).SerializeToString,
                               response_deserializer=answer.FromString)(request, timeout=10)


def handler(behavior, request, streams=False):
    """A method of a server. behavior: answers it; request: class of the request."""
    make = grpc.unary_stream_rpc_method_handler if streams else grpc.unary_unary_rpc_method_handler
    return make(behavior, request_deserializer=request.FromString,
                response_serializer=lambda answer: answer.SerializeToString())
