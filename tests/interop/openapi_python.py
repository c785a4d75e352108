#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Validates against the API's own description every document that a unit test renders, and every route of a running daemon.

  openapi_python.py DAEMON MK_SYSFS

python3-jsonschema validates. One line per check, "N passed, N failed" last.

run: {san}/rocelet {san}/bench/mk_sysfs
proves: daemon/api
when: core
"""
import copy
import json
import os
import sys

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
import daemon_python as daemon_judge  # noqa: E402
import openapi  # noqa: E402

GOLDEN = os.path.join(HERE, "../golden")
RENDERED = {"attachments": "attachments", "config": "config", "devices": "devices", "devices_attached": "devices", "diagnosis": "diagnosis", "events": "events",
            "histories": "history", "history": "history", "live": "live", "pods_attached": "pods", "ports": "ports", "qps": "qps"}


def is_a_schema(api):
    for schema in api.document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert api.document["openapi"].startswith("3.1.")


def names_the_ways_to_authenticate(api):
    """Those of the guard, and none: every operation names only schemes that are defined, and a POST is no part of the API."""
    schemes = api.document["components"]["securitySchemes"]
    assert {(s["type"], s["scheme"]) for s in schemes.values()} == {("http", "bearer"), ("http", "basic")}, schemes
    assert [set(way) for way in api.document["security"]] == [set(), {"token"}, {"password"}] and set(schemes) == {"token", "password"}
    assert all(set(path) == {"get"} for path in api.document["paths"].values())


def describes_what_unit_tests_render(api):
    for name, path in RENDERED.items():
        with open(f"{GOLDEN}/api_{name}.json", encoding="utf-8") as f:
            api.check("/api/v1/" + path, 200, f.read())
    with open(f"{GOLDEN}/api_devices.json", encoding="utf-8") as f, open(f"{GOLDEN}/api_settings.json", encoding="utf-8") as settings:
        document, settings = json.load(f), json.load(settings)["settings"]
    ports = [port for device in document["devices"] for rdma in device["rdma"] for port in rdma["ports"]]
    for port in ports:  # with a value for every setting
        port["settings"] = settings
    assert ports
    api.check("/api/v1/devices", 200, json.dumps(document))


def members_of(value, at=()):
    """Every member of every object in a document, as the keys and indexes that lead to it."""
    for key, member in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(value, dict):
            yield (*at, key)
        yield from members_of(member, (*at, key))


def is_strict(api):
    """A document with a missing or an unknown member is invalid: a renderer cannot change without the description."""
    with open(f"{GOLDEN}/api_devices_attached.json", encoding="utf-8") as f:
        document = json.load(f)
    refused = 0
    for *way, last in members_of(document):
        for change in (lambda o: o.pop(last), lambda o: o.update({last: {"of another": ["type"]}}), lambda o: o.update(unknown=1)):
            changed = copy.deepcopy(document)
            where = changed
            for step in way:
                where = where[step]
            change(where)
            try:
                api.check("/api/v1/devices", 200, json.dumps(changed))
            except AssertionError:
                refused += 1
                continue
            assert way and way[-1] == "dscpPriorities", (way, last)  # a map: any names
    assert refused > 100, refused


def is_open_to_clients(api):
    """Later versions may add keys: a client that validates with the document itself accepts them."""
    with open(f"{GOLDEN}/api_devices_attached.json", encoding="utf-8") as f:
        document = json.load(f)
    document["devices"][0].update(added=1)
    openapi.Api(api.document, strict=False).check("/api/v1/devices", 200, json.dumps(document))


def answer_of(daemon, url):
    daemon.get("/api/v1")  # connects
    daemon.connection.request("GET", url)
    answer = daemon.connection.getresponse()
    return answer.status, answer.getheader("Content-Type"), answer.read().decode()


def describes_every_route(api, daemon):
    index = json.loads(daemon.get("/api/v1"))
    paths = [route["path"] for route in index["routes"] if route["path"].startswith("/api/")]
    assert sorted(paths) == sorted(api.document["paths"]), paths
    assert json.loads(daemon.get("/api/v1/openapi.json")) == api.document
    daemon_judge.eventually("a sample is judged", lambda: '"watch"' in daemon.get("/api/v1/ports"))
    port = json.loads(daemon.get("/api/v1/ports"))["ports"][0]
    queries = {"/api/v1/explain": ["device=" + port["device"]], "/api/v1/history": ["", f"port={port['device']}/{port['port']}"], "/api/v1/live": ["", "since=1&events=0"],
               "/api/v1/counters": [f"port={port['device']}/{port['port']}"]}
    for path in paths:
        for query in queries.get(path, [""]):
            status, content, text = answer_of(daemon, path + ("?" + query if query else ""))
            assert status == 200 and content == "application/json", (path, status, text)
            api.check(path, status, text)


def filters_every_list(api, daemon):
    """A filter returns exactly the matching items of the whole list."""
    vf = daemon_judge.VFS[0]
    for url, name, chosen in (("devices?device=" + vf, "devices", lambda d: d["id"] == vf), ("devices?kind=vf", "devices", lambda d: d["kind"] == "vf"),
                              ("devices?namespace=a", "devices", lambda d: False),
                              ("ports?device=" + vf, "ports", lambda p: p["function"] == vf),
                              ("resources?name=" + daemon_judge.ROCE, "resources", lambda r: True), ("resources?name=x", "resources", lambda r: False),
                              ("pods?namespace=a", "pods", lambda p: False),
                              ("doctor?kind=kubelet", "findings", lambda f: f["kind"] == "kubelet"),
                              ("diagnosis?device=" + vf, "ports", lambda p: False)):
        path = "/api/v1/" + url.split("?", maxsplit=1)[0]
        everything = json.loads(daemon.get(path))[name]
        status, _, text = answer_of(daemon, "/api/v1/" + url)
        assert status == 200, (url, text)
        api.check(path, status, text)
        key = next(iter(everything), {}) and ("id" if "id" in everything[0] else "device" if "device" in everything[0] else "name" if "name" in everything[0] else "what")
        if "diagnosis" in url:
            assert all(p in everything for p in json.loads(text)[name]), url
        else:
            assert [e[key] for e in json.loads(text)[name]] == [e[key] for e in everything if chosen(e)], url
    assert json.loads(daemon.get("/api/v1/devices?device=" + vf))["devices"]


def sends_nothing_twice(daemon):
    """A client that has the document gets 304; it gets a new one when that has changed."""
    daemon.get("/api/v1")
    for path in ("/api/v1/openapi.json", "/api/v1/devices", "/api/v1/config"):
        for tag, want in (("", 200), ('"x"', 200), (None, 304), ("*", 304)):
            if tag is None:
                tag = known
            daemon.connection.request("GET", path, headers={"If-None-Match": tag} if tag else {})
            answer = daemon.connection.getresponse()
            body = answer.read()
            assert (answer.status, bool(body)) == (want, want == 200), (path, tag, answer.status)
            known = answer.getheader("ETag")
            assert known and answer.getheader("Cache-Control") == "no-cache", (path, known)
    daemon.connection.request("GET", "/api/v1/devices?kind=vf", headers={"If-None-Match": known})
    answer = daemon.connection.getresponse()
    assert answer.status == 200 and answer.read() and answer.getheader("ETag") != known


def refuses_changes_where_clients_are_not_known(api, daemon):
    """As the description says: except on rocelet.sock, the answer to a POST is 405, as JSON."""
    socket = daemon.dir + "/device-plugins/rocelet-metrics.sock"
    daemon_judge.eventually("the metrics socket", lambda: os.path.exists(socket))
    for path in ("attach", "detach", "doctor/fix"):
        status, text = daemon_judge.curl(daemon, "/api/v1/" + path, "--unix-socket", socket, "--data", "{}")
        assert status == 405, (path, status, text)
        api.check("/api/v1", status, text)


def holds_queries_to_their_description(api, daemon):
    """A value outside an enum, a parameter twice and a required one that is missing are errors, never a list that is empty or of something else."""
    required = set()
    for path, item in api.document["paths"].items():
        for parameter in item["get"]["parameters"]:
            name = parameter["name"]
            if parameter.get("required"):
                required.add((path, name))
                status, _, text = answer_of(daemon, path)
                assert status == 400 and name in text, (path, status, text)
            if "enum" in parameter["schema"]:
                status, _, text = answer_of(daemon, f"{path}?{name}=nothing")
                assert status == 400 and all(word in text for word in (name, *parameter["schema"]["enum"])), (path, name, status, text)
                api.check(path, status, text)
            value = parameter["schema"].get("enum", [parameter.get("example", "x")])[0]
            status, _, text = answer_of(daemon, f"{path}?{name}={value}&{name}={value}")
            assert status == 400 and f"{name} is given more than once" in text, (path, name, status, text)
    assert required == {("/api/v1/explain", "device"), ("/api/v1/counters", "port")}, required


def describes_not_modified(api):
    """304 has no body: without a description of its own it would be read as an error."""
    for path, item in api.document["paths"].items():
        assert set(item["get"]["responses"].get("304", ())) == {"description"}, path


def describes_errors(api, daemon):
    for path in api.document["paths"]:
        status, content, text = answer_of(daemon, path + "?pood=x")
        assert status == 400 and content == "application/json" and "pood" in text, (path, status, text)
        api.check(path, status, text)
    for url, want in (("/api/v1/nothing", 404), ("/api/v1/explain?device=nothing", 404), ("/api/v1/events?limit=x", 400), ("/api/v1/diagnosis?ended=false", 400), ("/api/v1/history?port=x/1", 404)):
        status, content, text = answer_of(daemon, url)
        assert status == want and content == "application/json", (url, status, text)
        api.check("/api/v1", status, text)


def main():
    daemon, mk_sysfs = (os.path.abspath(path) for path in sys.argv[1:3])
    daemon_judge.programs.update(daemon=daemon, mk_sysfs=mk_sysfs)
    api = openapi.served()
    with daemon_judge.Daemon(pools=(daemon_judge.VF_POOL,)) as running:
        everything = ((is_a_schema, api), (names_the_ways_to_authenticate, api), (describes_what_unit_tests_render, api), (is_strict, api), (is_open_to_clients, api), (describes_every_route, api, running), (filters_every_list, api, running), (sends_nothing_twice, running), (describes_errors, api, running), (describes_not_modified, api), (holds_queries_to_their_description, api, running), (refuses_changes_where_clients_are_not_known, api, running))
        for check, *arguments in everything:
            check(*arguments)
            print("ok    ", check.__name__, flush=True)
    print(f"{len(everything)} passed, 0 failed", flush=True)
    os._exit(0)  # a silent kubelet's threads never end


if __name__ == "__main__":
    main()
