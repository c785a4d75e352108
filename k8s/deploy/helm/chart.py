#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the Helm chart from the overlays, so that both have one source.

  chart.py KUBECTL VERSION OUT.tgz

KUBECTL is 1.21 or newer.

The files of this folder are copied; the schema of the values also contains the schema of the configuration file. The DaemonSet, the ServiceAccount and the
objects for monitoring come from `kubectl kustomize`; fields with a key in values.yaml become expressions. The archive is reproducible: every file has the
time SOURCE_DATE_EPOCH, or 0.
"""
import gzip
import io
import json
import os
import re
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
# The release whose objects a group's release uses (templates/_groups.tpl).
OWNER = '{{ include "rocelet.owner" . }}'
NO_GROUP = 'not (include "rocelet.group" .)'
IMAGE = '{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}'

# API servers before 1.30 have no field appArmorProfile; newer ones warn about the annotation.
HAS_PROFILES = 'semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version'
ANNOTATION = "container.apparmor.security.beta.kubernetes.io/rocelet: unconfined"


def render(kubectl, folder):
    done = subprocess.run([kubectl, "kustomize", f"{DEPLOY}/{folder}"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{folder}: {done.stderr}")
    return list(yaml.safe_load_all(done.stdout))


class Template:
    """Turns a manifest into a template: `put` inserts a mark, and `text` replaces each mark by its expression."""

    def __init__(self):
        self.marks = []

    def put(self, expression):
        """Returns the mark for a value, which becomes the expression."""
        self.marks.append((None, expression))
        return f"@@{len(self.marks) - 1}@@"

    def put_block(self, before, *lines):
        """Returns the mark for a key, whose line is replaced by the lines `before` and `lines`, each with the key's indentation."""
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
    """Uses the chart's value of that name if it is set, otherwise the value of the overlay."""
    inner = "  " if isinstance(where[key], (dict, list)) else ""
    where[key] = t.put_block([f"{{{{- if .Values.{key} }}}}"], f"{key}:", f"{inner}{{{{- toYaml .Values.{key} | nindent INDENT }}}}", "{{- else }}",
                             *dump(where[key], key), "{{- end }}")


def with_features(item):
    """An item of a list, if nodeFeatures is set, as the component node-features adds it."""
    return ["{{- if .Values.nodeFeatures }}", *yaml.safe_dump([item], width=100000).rstrip().splitlines(), "{{- end }}"]


def lines_of(value):
    """The lines that append a value of the chart to a list or a mapping."""
    return [f"{{{{- with .Values.{value} }}}}", "{{- toYaml . | nindent INDENT }}", "{{- end }}"]


def with_group(*lines):
    """Lines that only the DaemonSet of a group has, as the component ../groups/canary adds them."""
    return ['{{- with include "rocelet.group" . }}', *lines, "{{- end }}"]


def affinity(t, pod):
    """As or_default; with leaveGroups it also excludes the nodes of groups, as the component ../groups/others does."""
    term, = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    usual = dump(pod["affinity"], "affinity")
    indent = next(len(line) - len(line.lstrip()) for line in usual if line.lstrip().startswith("- key:"))
    assert list(term) == ["matchExpressions"], term
    left = [" " * indent + line for line in ("- key: rocelet.dev/group", "  operator: DoesNotExist")]
    pod["affinity"] = t.put_block(["{{- if .Values.affinity }}"], "affinity:", '  {{- include "rocelet.affinity" . | nindent INDENT }}', "{{- else }}", *usual,
                                  '{{- if include "rocelet.leavesGroups" . }}', *left, "{{- end }}", "{{- end }}")


def strategy(t, spec):
    """As or_default, with a maxUnavailable that fits the value's maxSurge."""
    spec["updateStrategy"] = t.put_block(["{{- if .Values.updateStrategy }}"], "updateStrategy:", '  {{- include "rocelet.updateStrategy" . | nindent INDENT }}', "{{- else }}",
                                         *dump(spec["updateStrategy"], "updateStrategy"), "{{- end }}")


PORT = '{{ include "rocelet.port" . }}'
HAS_PORT = '{{- if include "rocelet.port" . }}'


def listening(t, template):
    """Makes the port a value in the annotations and in the container; returns the daemon's argument for it."""
    annotations, container = template["metadata"]["annotations"], template["spec"]["containers"][-1]
    scraped = {key: annotations.pop(key) for key in list(annotations) if key.startswith("prometheus.io/")}
    assert scraped["prometheus.io/port"] == "9907", scraped
    lines = [line.replace("'9907'", '{{ include "rocelet.port" . | quote }}') for line in yaml.safe_dump(scraped).splitlines()]
    annotations["~listen"] = t.put_block([], HAS_PORT, *lines, "{{- end }}")
    if container.get("ports"):
        port, = container["ports"]
        assert port == {"name": "metrics", "containerPort": 9907}, port
        container["ports"] = t.put_block([], HAS_PORT, *[line.replace("9907", PORT) for line in dump(container["ports"], "ports")], "{{- end }}")
    return ['{{- if kindIs "string" .Values.listen }}', '- {{ printf "--listen=%s" .Values.listen | quote }}', "{{- end }}"]


def named(t, document):
    """Replaces the name rocelet by the name of the release."""
    meta = document["metadata"]
    meta["name"], meta["namespace"] = t.put(NAME), t.put(NAMESPACE)
    if "app.kubernetes.io/name" in meta.get("labels", {}):
        meta["labels"]["app.kubernetes.io/name"] = t.put(OWNER)


def containers_of(t, pod):
    """Iterates over the container that installs the CNI plugin, if there is one, and the daemon's container, which is last."""
    for key in ("initContainers", "containers"):
        for i, container in enumerate(pod.get(key, [])):
            # The first line of a list item cannot be an expression.
            container = pod[key][i] = {"name": container.pop("name"), **container}
            container["image"] = t.put(IMAGE)
            container["imagePullPolicy"] = t.put("{{ .Values.image.pullPolicy }}")
            if container["args"][0].startswith("--install-cni="):
                container["args"] = t.put_block([], *dump(container["args"], "args"), "{{- with .Values.cniLinks }}", "- --link={{ join \",\" . }}", "{{- end }}",
                                                    "{{- if .Values.cniSetAside }}", "- --set-aside", "{{- end }}")
            yield container


def daemonset(document):
    t, spec = Template(), document["spec"]
    pod = spec["template"]["spec"]
    *_, container = containers_of(t, pod)
    named(t, document)
    for labels in (spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]):
        labels["app.kubernetes.io/name"] = t.put(OWNER)
        labels["~group"] = t.put_block([], *with_group("rocelet.dev/group: {{ . | quote }}"))
    listen = listening(t, spec["template"])
    annotations, security = [], container["securityContext"]
    if "appArmorProfile" in security:
        profile = security["appArmorProfile"]
        assert profile == {"type": "Unconfined"}, profile
        security["appArmorProfile"] = t.put_block([f"{{{{- if {HAS_PROFILES} }}}}"], *dump(profile, "appArmorProfile"), "{{- end }}")
        annotations = [f"{{{{- if not ({HAS_PROFILES}) }}}}", ANNOTATION, "{{- end }}"]
    spec["template"]["metadata"]["annotations"]["~"] = t.put_block([], *annotations, *lines_of("podAnnotations"))
    spec["template"]["metadata"]["labels"]["~"] = t.put_block([], *lines_of("podLabels"))
    pod["serviceAccountName"] = t.put(OWNER)
    pod["priorityClassName"] = t.put("{{ .Values.priorityClassName | quote }}")
    for volume in pod["volumes"]:
        if "configMap" in volume:
            volume["configMap"]["name"] = t.put(OWNER)
        if "hostPath" in volume:
            host = volume["hostPath"]
            host["path"] = t.put(f'{{{{ index .Values.hostPaths "{volume["name"]}" | default "{host["path"]}" | quote }}}}')
    assert "securityContext" not in pod
    pod["securityContext"] = t.put_block(["{{- with .Values.seLinuxType }}"], "securityContext:", "  seLinuxOptions:", "    type: {{ . }}", "{{- end }}")
    or_default(t, container, "resources")
    or_default(t, pod, "tolerations")
    affinity(t, pod)
    strategy(t, spec)
    pod["nodeSelector"] = t.put_block(['{{- with include "rocelet.nodeSelector" . }}'], "nodeSelector:", "  {{- . | nindent INDENT }}", "{{- end }}")
    container["env"].append(t.put_block([], *with_group("- name: ROCELET_GROUP", "  value: {{ . | quote }}")))
    pod["imagePullSecrets"] = t.put_block(["{{- with .Values.image.pullSecrets }}"], "imagePullSecrets:", "  {{- toYaml . | nindent INDENT }}", "{{- end }}")
    container["args"] = t.put_block([], *dump(container["args"], "args"), *with_features(f"--features-dir={FEATURES}"), *listen, *lines_of("extraArgs"))
    container["volumeMounts"].append(t.put_block([], *with_features({"name": "features", "mountPath": FEATURES}), *lines_of("extraVolumeMounts")))
    pod["volumes"].append(t.put_block([], *with_features({"name": "features", "hostPath": {"path": FEATURES, "type": "DirectoryOrCreate"}}), *lines_of("extraVolumes")))
    return indented(t.text(document))


def indented(text):
    """Replaces INDENT in `nindent INDENT` by the number of blanks before the expression."""
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
LINKED_RULES = ('{{ with .Values.prometheusRule }}{{ $text := $.Files.Get "files/rules.yaml" }}'
                + "{{ if not .docsUrl }}" + "".join(f"{{{{ $text = regexReplaceAll {json.dumps(pattern)} $text {json.dumps(before.replace('$', '$$') + '${1}' + after)} }}}}"
                                                    for pattern, before, after in rules.SERVED) + "{{ end }}"
                + "".join(f'{{{{ if .{name}Url }}}}{{{{ $text = replace {json.dumps(url + "/")} (printf "%s/" (trimSuffix "/" .{name}Url)) $text }}}}'
                          + (f'{{{{ else }}}}{{{{ $text = regexReplaceAll {json.dumps("(?m)^" + rules.WITHOUT[name])} $text "" }}}}' if name in rules.WITHOUT else "")
                          + "{{ end }}" for name, url in rules.LINKS.items())
                + "{{ $text | indent 2 }}{{ end }}\n")


NEEDS_PORT = '{{- if not (include "rocelet.port" .) }}{{ fail "podMonitor.enabled: there is no port to scrape (listen)" }}{{ end }}\n'


def files_of_monitoring(kubectl):
    """Rules and dashboards contain many double braces, so they are files, which the templates include without evaluating them."""
    docs = {d["kind"]: d for d in render(kubectl, "monitoring")}
    rule, dashboards = docs["PrometheusRule"], render(kubectl, "monitoring/dashboards")[0]
    rule.pop("spec")
    data = dashboards.pop("data")
    yield "templates/podmonitor.yaml", only(f"and .Values.podMonitor.enabled ({NO_GROUP})", NEEDS_PORT + simple(docs["PodMonitor"]))
    yield "templates/prometheusrule.yaml", only(f"and .Values.prometheusRule.enabled ({NO_GROUP})", simple(rule) + "spec:\n" + LINKED_RULES)
    with open(os.path.join(rules.HERE, "rules.yaml"), encoding="utf-8") as f:
        text = yaml.safe_dump(yaml.safe_load(f), width=100000)
    # Links are within single quotes, as in the file.
    yield "files/rules.yaml", re.sub(r"(?m)_url: (?!')(.*)$", lambda found: "_url: '" + found[1].replace("'", "''") + "'", text)
    dashboards["metadata"]["name"] = "rocelet-dashboards"
    t = Template()
    dashboards["metadata"].update(name=t.put(NAME + "-dashboards"), namespace=t.put(NAMESPACE))
    yield "templates/dashboards.yaml", only(f"and .Values.dashboards.enabled ({NO_GROUP})", t.text(dashboards) + 'data:\n{{- range $path, $text := .Files.Glob "files/dashboards/*" }}\n'
                                            '  {{ base $path }}: {{ toString $text | quote }}\n{{- end }}\n')
    for name, text in data.items():
        yield f"files/dashboards/{name}", text


# Keys of docs/reference/config.schema.json that are no options.
POOL_KEYS = {"$schema", "_comment", "groups", "pools", "resourceList", "configList", "mode", "pfNetdevices", "periodicUpdateInterval", "diagnosis"}


def flags_pattern(config):
    """A pattern for flags of the daemon with their values: the options of the configuration, and the options that exist only as flags."""
    switches = [key for key, value in config["properties"].items() if key not in POOL_KEYS and value.get("type") == "boolean"]
    others = [key for key in config["properties"] if key not in POOL_KEYS and key not in switches]
    return f"^--(({'|'.join([*switches, 'strict'])})(=(true|false))?|({'|'.join([*others, 'config', 'group'])})=.*)$"


def values_schema(text):
    """The schema of the values, which contains the schema of the configuration file. Helm reads draft 7, which has no $defs."""
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
    yield "templates/serviceaccount.yaml", only(NO_GROUP, simple(modes["native"]["ServiceAccount"]))
    yield "templates/daemonset.yaml", "".join(only(f'eq (include "rocelet.mode" .) "{mode}"', daemonset(docs["DaemonSet"])) for mode, docs in modes.items())
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
