#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Helm chart of the overlays, so that both are one source.

  chart.py KUBECTL VERSION OUT.tgz

KUBECTL is 1.21 or newer.

The files of this folder are taken as they are; the schema of the values also gets that of the configuration file. The DaemonSet, the ServiceAccount and what is for monitoring come from `kubectl kustomize`; of these, what
values.yaml has a key for becomes an expression. Packed the same each time: SOURCE_DATE_EPOCH, or 0, is the time of every file.
"""
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
DEPLOY = os.path.dirname(HERE)
sys.path.insert(0, DEPLOY + "/monitoring")

import rules  # noqa: E402

FEATURES = "/etc/kubernetes/node-feature-discovery/features.d"
MODES = ("observe", "device-plugin", "native", "native-surge", "multus", "multus-uninstall")
NAME, NAMESPACE = "{{ .Release.Name }}", "{{ .Release.Namespace }}"
IMAGE = '{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}'

# API servers before 1.30 have no field appArmorProfile; newer ones warn of the annotation.
HAS_PROFILES = 'semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version'
ANNOTATION = "container.apparmor.security.beta.kubernetes.io/rocelet: unconfined"


def render(kubectl, folder):
    done = subprocess.run([kubectl, "kustomize", f"{DEPLOY}/{folder}"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{folder}: {done.stderr}")
    return list(yaml.safe_load_all(done.stdout))


class Template:
    """Turns a manifest into a template: `put` leaves a mark in it, and `text` has the expression in the mark's place."""

    def __init__(self):
        self.marks = []

    def put(self, expression):
        """For a value: expression stands in its line."""
        self.marks.append((None, expression))
        return f"@@{len(self.marks) - 1}@@"

    def put_block(self, before, *lines):
        """For a key: its line goes, and these come instead, each with the key's indentation; `before` stands in front of it, as it is."""
        self.marks.append((before, lines))
        return f"@@{len(self.marks) - 1}@@"

    def text(self, document):
        out = []
        for line in yaml.safe_dump(document, width=100000, sort_keys=False).replace("{{", '{{ "{{" }}').splitlines():
            start = line.find("@@")
            if start < 0:
                out.append(line)
                continue
            number, tail = line[start + 2:].split("@@", 1)
            before, what = self.marks[int(number)]
            if before is None:
                out.append(line[:start].rstrip("'") + what + tail.lstrip("'"))
            else:
                indent = " " * (len(line) - len(line.lstrip()))
                out += [indent + x if x else x for x in (*before, *what)]
        return "\n".join(out) + "\n"


def dump(value, key):
    return yaml.safe_dump({key: value}, width=100000).rstrip().splitlines()


def or_default(t, where, key):
    """The value of that name if there is one; else what the overlay has."""
    inner = "  " if isinstance(where[key], (dict, list)) else ""
    where[key] = t.put_block([f"{{{{- if .Values.{key} }}}}"], f"{key}:", f"{inner}{{{{- toYaml .Values.{key} | nindent INDENT }}}}", "{{- else }}",
                             *dump(where[key], key), "{{- end }}")


def with_features(item):
    """A list's item, as the component node-features adds it."""
    return ["{{- if .Values.nodeFeatures }}", *yaml.safe_dump([item], width=100000).rstrip().splitlines(), "{{- end }}"]


def lines_of(value):
    """A value's lines, for the end of a list or a mapping."""
    return [f"{{{{- with .Values.{value} }}}}", "{{- toYaml . | nindent INDENT }}", "{{- end }}"]


def named(t, document):
    """What is called rocelet is called as the release is."""
    meta = document["metadata"]
    meta["name"], meta["namespace"] = t.put(NAME), t.put(NAMESPACE)
    if "app.kubernetes.io/name" in meta.get("labels", {}):
        meta["labels"]["app.kubernetes.io/name"] = t.put(NAME)


def containers_of(t, pod):
    """The daemon's, last, and that which installs the CNI plugin."""
    for key in ("initContainers", "containers"):
        for i, container in enumerate(pod.get(key, [])):
            # A list item's first line cannot be an expression's.
            container = pod[key][i] = {"name": container.pop("name"), **container}
            container["image"] = t.put(IMAGE)
            container["imagePullPolicy"] = t.put("{{ .Values.image.pullPolicy }}")
            if container["args"][0].startswith("--install-cni="):
                container["args"] = t.put_block([], *dump(container["args"], "args"), "{{- with .Values.cniLinks }}", "- --link={{ join \",\" . }}", "{{- end }}")
            yield container


def daemonset(document):
    t, spec = Template(), document["spec"]
    pod = spec["template"]["spec"]
    *_, container = containers_of(t, pod)
    named(t, document)
    spec["selector"]["matchLabels"]["app.kubernetes.io/name"] = t.put(NAME)
    spec["template"]["metadata"]["labels"]["app.kubernetes.io/name"] = t.put(NAME)
    annotations, security = [], container["securityContext"]
    if "appArmorProfile" in security:
        profile = security["appArmorProfile"]
        assert profile == {"type": "Unconfined"}, profile
        security["appArmorProfile"] = t.put_block([f"{{{{- if {HAS_PROFILES} }}}}"], *dump(profile, "appArmorProfile"), "{{- end }}")
        annotations = [f"{{{{- if not ({HAS_PROFILES}) }}}}", ANNOTATION, "{{- end }}"]
    spec["template"]["metadata"]["annotations"]["~"] = t.put_block([], *annotations, *lines_of("podAnnotations"))
    spec["template"]["metadata"]["labels"]["~"] = t.put_block([], *lines_of("podLabels"))
    pod["serviceAccountName"] = t.put(NAME)
    pod["priorityClassName"] = t.put("{{ .Values.priorityClassName | quote }}")
    for volume in pod["volumes"]:
        if "configMap" in volume:
            volume["configMap"]["name"] = t.put(NAME)
        if "hostPath" in volume:
            host = volume["hostPath"]
            host["path"] = t.put(f'{{{{ index .Values.hostPaths "{volume["name"]}" | default "{host["path"]}" | quote }}}}')
    assert "securityContext" not in pod
    pod["securityContext"] = t.put_block(["{{- with .Values.seLinuxType }}"], "securityContext:", "  seLinuxOptions:", "    type: {{ . }}", "{{- end }}")
    or_default(t, container, "resources")
    or_default(t, pod, "tolerations")
    or_default(t, pod, "affinity")
    or_default(t, spec, "updateStrategy")
    pod["nodeSelector"] = t.put_block(["{{- with .Values.nodeSelector }}"], "nodeSelector:", "  {{- toYaml . | nindent INDENT }}", "{{- end }}")
    pod["imagePullSecrets"] = t.put_block(["{{- with .Values.image.pullSecrets }}"], "imagePullSecrets:", "  {{- toYaml . | nindent INDENT }}", "{{- end }}")
    container["args"] = t.put_block([], *dump(container["args"], "args"), *with_features(f"--features-dir={FEATURES}"), *lines_of("extraArgs"))
    container["volumeMounts"].append(t.put_block([], *with_features({"name": "features", "mountPath": FEATURES}), *lines_of("extraVolumeMounts")))
    pod["volumes"].append(t.put_block([], *with_features({"name": "features", "hostPath": {"path": FEATURES, "type": "DirectoryOrCreate"}}), *lines_of("extraVolumes")))
    return indented(t.text(document))


def indented(text):
    """`nindent INDENT` gets the number of blanks before its expression."""
    return "\n".join(line.replace("INDENT", str(len(line) - len(line.lstrip()))) for line in text.splitlines()) + "\n"


def simple(document):
    t = Template()
    named(t, document)
    key = {"PodMonitor": "podMonitor", "PrometheusRule": "prometheusRule"}.get(document["kind"])
    if key:
        document["metadata"]["labels"]["~"] = t.put_block([], *lines_of(key + ".labels"))
    if key == "podMonitor":
        endpoint, = document["spec"]["podMetricsEndpoints"]
        endpoint["interval"] = t.put("{{ .Values.podMonitor.interval }}")
        endpoint["~"] = t.put_block([], *lines_of("podMonitor.endpoint"))
        document["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"] = t.put(NAME)
    return indented(t.text(document))


def only(condition, text):
    return f"{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"


# The addresses of rules.yaml (k8s/deploy/monitoring/rules.py) are values of the chart.
LINKED_RULES = ('{{ with .Values.prometheusRule }}{{ $.Files.Get "files/rules.yaml"'
                + "".join(f' | replace {json.dumps(url + "/")} (printf "%s/" (trimSuffix "/" .{name}Url))' for name, url in rules.LINKS.items())
                + " | indent 2 }}{{ end }}\n")


def files_of_monitoring(kubectl):
    """Rules and dashboards are full of double braces: they are files that the templates take in as they are."""
    docs = {d["kind"]: d for d in render(kubectl, "monitoring")}
    rule, dashboards = docs["PrometheusRule"], render(kubectl, "monitoring/dashboards")[0]
    spec, data = rule.pop("spec"), dashboards.pop("data")
    yield "templates/podmonitor.yaml", only(".Values.podMonitor.enabled", simple(docs["PodMonitor"]))
    yield "templates/prometheusrule.yaml", only(".Values.prometheusRule.enabled", simple(rule) + "spec:\n" + LINKED_RULES)
    yield "files/rules.yaml", yaml.safe_dump(spec, width=100000)
    dashboards["metadata"]["name"] = "rocelet-dashboards"
    t = Template()
    dashboards["metadata"].update(name=t.put(NAME + "-dashboards"), namespace=t.put(NAMESPACE))
    yield "templates/dashboards.yaml", only(".Values.dashboards.enabled", t.text(dashboards) + 'data:\n{{- range $path, $text := .Files.Glob "files/dashboards/*" }}\n'
                                            '  {{ base $path }}: {{ toString $text | quote }}\n{{- end }}\n')
    for name, text in data.items():
        yield f"files/dashboards/{name}", text


# Keys of docs/reference/config.schema.json that are no options.
POOL_KEYS = {"$schema", "_comment", "groups", "pools", "resourceList", "configList", "mode", "pfNetdevices", "periodicUpdateInterval", "diagnosis"}


def flags_pattern(config):
    """Flags of the daemon, each with its value: the options of the configuration, and those that are flags only."""
    switches = [key for key, value in config["properties"].items() if key not in POOL_KEYS and value.get("type") == "boolean"]
    others = [key for key in config["properties"] if key not in POOL_KEYS and key not in switches]
    return f"^--(({'|'.join([*switches, 'strict'])})(=(true|false))?|({'|'.join([*others, 'config', 'group'])})=.*)$"


def values_schema(text):
    """The values' schema, with that of the configuration file in it. Helm reads draft 7, which has no $defs."""
    schema = json.loads(text)
    with open(os.path.join(DEPLOY, "../../docs/reference/config.schema.json"), encoding="utf-8") as f:
        config = json.loads(f.read().replace('"#/$defs/', '"#/definitions/'))
    del config["$schema"], config["title"]
    schema["definitions"].update(config.pop("$defs"))
    schema["properties"]["config"] = {**config, "type": ["object", "null"]}
    schema["properties"]["extraArgs"]["items"]["pattern"] = flags_pattern(config)
    return json.dumps(schema, indent=1) + "\n"


def files(kubectl, version):
    for folder, _, names in os.walk(HERE):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), HERE)
            if path != "chart.py" and not name.endswith(".pyc"):
                with open(os.path.join(HERE, path), encoding="utf-8") as f:
                    text = f.read()
                if path == "Chart.yaml":
                    text = text.replace(": VERSION\n", f": {version}\n")
                yield path, values_schema(text) if path == "values.schema.json" else text
    modes = {mode: {d["kind"]: d for d in render(kubectl, "overlays/" + mode)} for mode in MODES}
    yield "templates/serviceaccount.yaml", simple(modes["native"]["ServiceAccount"])
    yield "templates/daemonset.yaml", "".join(only(f'eq .Values.mode "{mode}"', daemonset(docs["DaemonSet"])) for mode, docs in modes.items())
    yield from files_of_monitoring(kubectl)


def main():
    kubectl, version, out = sys.argv[1:]
    when = int(os.environ.get("SOURCE_DATE_EPOCH") or 0)
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, text in sorted(files(kubectl, version)):
            info = tarfile.TarInfo("rocelet/" + path)
            info.size, info.mtime = len(text.encode()), when
            tar.addfile(info, io.BytesIO(text.encode()))
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    with open(out + ".new", "wb") as f:
        f.write(gzip.compress(raw.getvalue(), 9, mtime=0))
    os.rename(out + ".new", out)


if __name__ == "__main__":
    main()
