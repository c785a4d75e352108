# SPDX-License-Identifier: Apache-2.0
"""Checks dashboards by Grafana's own types: @grafana/schema of npm, and the compiler of TypeScript."""
import json
import os
import subprocess
import sys
import tempfile

from checks import TOP

sys.path[:0] = [os.path.join(TOP, "daemon/web")]
import npm  # noqa: E402

PACKAGES, UNPACKED = os.path.join(TOP, "tests/ship/packages"), os.path.join(TOP, "build/npm")
PANELS = {"timeseries": "timeseries", "table": "table", "stat": "stat", "state-timeline": "statetimeline"}
# Keys of annotations that belong to the Prometheus plugin, whose types are not published.
OF_PROMETHEUS = ("expr", "titleFormat", "textFormat", "tagKeys")
# The types have enums, JSON has their values.
HEAD = """type Text<T> = T extends string ? `${T}` : T extends number | boolean | null | undefined ? T
	: T extends (infer U)[] ? Text<U>[] : T extends object ? {[K in keyof T]: Text<T[K]>} : T;
type Plain<T> = unknown extends T ? T : Text<T>;
import type {AnnotationQuery, Dashboard, Panel, RowPanel, VariableModel} from '@grafana/schema/dist/types/raw/dashboard/x/types.gen';
"""


def constant(name, kind, value):
    return f"export const {name}: Text<{kind}> = {json.dumps(value)};\n"


def source(dashboard):
    """Checks each part of a union by its own type: the compiler would accept the keys of any of them."""
    text, imported = HEAD, ""
    for plugin in sorted({PANELS[panel["type"]] for panel in dashboard["panels"] if panel["type"] != "row"}):
        imported += f"import type * as {plugin} from '@grafana/schema/dist/types/raw/composable/{plugin}/panelcfg/x/types.gen';\n"
    whole = {**dashboard, "panels": [], "annotations": {"list": []}, "templating": {"list": []}}
    text += imported + constant("whole", "Dashboard", whole)
    for i, query in enumerate(dashboard["annotations"]["list"]):
        text += constant(f"annotation{i}", "AnnotationQuery", {key: value for key, value in query.items() if key not in OF_PROMETHEUS})
    for i, variable in enumerate(dashboard["templating"]["list"]):
        text += constant(f"variable{i}", "VariableModel", variable)
    for i, panel in enumerate(dashboard["panels"]):
        text += constant(f"panel{i}", "RowPanel" if panel["type"] == "row" else "Panel", panel)
        if panel["type"] != "row":
            plugin, custom = PANELS[panel["type"]], panel["fieldConfig"]["defaults"].get("custom")
            text += constant(f"options{i}", f"Partial<{plugin}.Options>", panel["options"])
            text += constant(f"custom{i}", f"Partial<{plugin}.FieldConfig>", custom) if custom else ""
    return text


def complaints(dashboards):
    """The mistakes in {name: dashboard} by Grafana's types."""
    schema, compiler = (npm.package(PACKAGES, UNPACKED, name) for name in ("@grafana/schema", "typescript"))
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(folder + "/node_modules/@grafana")
        os.symlink(schema, folder + "/node_modules/@grafana/schema")
        for name, dashboard in dashboards.items():
            with open(f"{folder}/{name}.ts", "w", encoding="utf-8") as f:
                f.write(source(dashboard))
        done = subprocess.run(["node", compiler + "/lib/tsc.js", "--noEmit", "--strict", "--skipLibCheck", "--preserveSymlinks", "--target", "es2022", "--module", "esnext", "--moduleResolution",
                               "node10", *(name + ".ts" for name in dashboards)], cwd=folder, capture_output=True, text=True, check=False)
        return (done.stdout + done.stderr).splitlines() if done.returncode else []
