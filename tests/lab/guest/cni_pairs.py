#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the CNI plugin for many sandboxes at once, as a runtime does: each sandbox waits for a free VF, as if the kubelet allocated it, then calls ADD and DEL.

  cni_pairs.py PLUGIN CNI_PATH PAIRS DEVICE...

PAIRS: number of sandboxes, each with a network namespace, pair-N, which exists. A VF is allocated again as soon as its DEL has succeeded.
Prints the seconds that all took, and the longest ADD and DEL in milliseconds; fails with a line for each ADD, DEL or interface that is wrong.
"""
import concurrent.futures, json, os, queue, subprocess, sys, time


def plugin(program, path, command, number, config):
    env = {"CNI_COMMAND": command, "CNI_CONTAINERID": f"pair{number}", "CNI_NETNS": f"/run/netns/pair-{number}", "CNI_IFNAME": "net1", "CNI_PATH": path}
    began = time.monotonic()
    done = subprocess.run([program], env=env, input=json.dumps(config), capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"pair {number}: {command} of {config['deviceID']} after {time.monotonic() - began:.1f} s: {done.stdout}{done.stderr}")
    return done.stdout, (time.monotonic() - began) * 1000


def inside(number, address, mac):
    """The sandbox's interface is the one in the result."""
    shown = subprocess.run(["nsenter", f"--net=/run/netns/pair-{number}", "ip", "-json", "address", "show", "dev", "net1"], capture_output=True, text=True)
    link = json.loads(shown.stdout or "[{}]")[0]
    addresses = [f"{a['local']}/{a['prefixlen']}" for a in link.get("addr_info", [])]
    if address not in addresses or link.get("address") != mac or "UP" not in link.get("flags", []):
        raise RuntimeError(f"pair {number}: {address} {mac} is not what its namespace has: {link or shown.stderr}")


def pair(number, program, path, free):
    address, device = f"10.9.{number}.1/24", free.get()
    config = {"cniVersion": "1.1.0", "name": "fast", "type": "rocelet-cni", "deviceID": device, "vlan": 100 + number, "runtimeConfig": {"ips": [address]}}
    output, add_ms = plugin(program, path, "ADD", number, config)
    inside(number, address, json.loads(output)["interfaces"][0]["mac"])
    _, del_ms = plugin(program, path, "DEL", number, config)
    free.put(device)
    return add_ms, del_ms


def main():
    program, path, n, devices = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    free = queue.Queue()
    for device in devices:
        free.put(device)
    began, times, failed = time.monotonic(), [], 0
    pool = concurrent.futures.ThreadPoolExecutor(n)
    for future in concurrent.futures.as_completed([pool.submit(pair, i, program, path, free) for i in range(n)]):
        try:
            times.append(future.result())
        except Exception as e:
            failed += 1
            print(e, flush=True)
            if failed == len(devices):  # each failure keeps its VF: none is left, so the other threads would wait for ever
                os._exit(1)
    if failed:
        return 1
    print(f"{time.monotonic() - began:.1f} {max(t[0] for t in times):.0f} {max(t[1] for t in times):.0f}")
    return 0


sys.exit(main())
