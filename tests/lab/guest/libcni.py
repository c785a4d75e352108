#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a network list as Multus and libcni do: each plugin's program in turn, with the previous result, Multus' keys and arguments.

  libcni.py add|check|del LIST CONTAINER NETNS DEVICE CNI_PATH

LIST: a file with a list or a single plugin, as NetworkAttachmentDefinitions have it. The result of `add` is kept for the other two beside the
list, as LIST.CONTAINER. Prints the last result; fails with the first error.
"""
import json, os, subprocess, sys


def program(path, kind):
    return next(f"{folder}/{kind}" for folder in path.split(":") if os.access(f"{folder}/{kind}", os.X_OK))


def call(verb, plugin, container, netns, path):
    env = {"CNI_COMMAND": verb.upper(), "CNI_CONTAINERID": container, "CNI_NETNS": netns, "CNI_IFNAME": "net1", "CNI_PATH": path,
           "CNI_ARGS": f"IgnoreUnknown=true;K8S_POD_INFRA_CONTAINER_ID={container}", "PATH": os.environ["PATH"]}
    done = subprocess.run([program(path, plugin["type"])], env=env, input=json.dumps(plugin), capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"{verb} of {plugin['type']}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout) if done.stdout.strip() else None


def main():
    verb, file, container, netns, device, path = sys.argv[1:]
    with open(file) as f:
        network = json.load(f)
    version, name = network["cniVersion"], network["name"]
    plugins = network.get("plugins") or [network]
    cache, result = f"{file}.{container}", None
    if verb != "add":
        with open(cache) as f:
            result = json.load(f)
    for plugin in plugins if verb != "del" else reversed(plugins):
        config = {**plugin, "cniVersion": version, "name": name, "deviceID": device, "pciBusID": device}
        # Before 0.4.0 a DEL has no previous result (libcni/api.go).
        if result is not None and (verb != "del" or version >= "0.4.0"):
            config["prevResult"] = result
        output = call(verb, config, container, netns, path)
        result = output if verb == "add" else result
    if verb == "add":
        with open(cache, "w") as f:
            json.dump(result, f)
    print(json.dumps(result))


main()
