{{- /* A release for the nodes of one group (docs/tasks/groups.md#with-helm). The values of an older release may lack these keys. */}}

{{- /* The group of this release; "": none, the release is for the nodes without a group. */}}
{{- define "rocelet.group" -}}
{{- $group := .Values.group | default dict -}}
{{- if and $group.name (eq ($group.release | default "rocelet") .Release.Name) -}}
{{- fail "group.release is this release itself: a group is a second release beside it" -}}
{{- end -}}
{{- if and $group.name (contains "\"rocelet.dev/group\"" (.Values.affinity | toJson)) -}}
{{- fail "affinity has a rule for rocelet.dev/group, which group.name replaces: leave that rule out" -}}
{{- end -}}
{{- $group.name | default "" -}}
{{- end }}

{{- /* The release whose ConfigMap, ServiceAccount and PodMonitor the DaemonSet uses. */}}
{{- define "rocelet.owner" -}}
{{- if include "rocelet.group" . -}}{{ .Values.group.release | default "rocelet" }}{{- else -}}{{ .Release.Name }}{{- end -}}
{{- end }}

{{- define "rocelet.leavesGroups" -}}
{{- if and .Values.leaveGroups (not (include "rocelet.group" .)) -}}true{{- end -}}
{{- end }}

{{- define "rocelet.nodeSelector" -}}
{{- $selector := deepCopy (.Values.nodeSelector | default dict) -}}
{{- with include "rocelet.group" . -}}{{- $_ := set $selector "rocelet.dev/group" . -}}{{- end -}}
{{- if .Values.mofedWait -}}{{- $_ := set $selector "network.nvidia.com/operator.mofed.wait" "false" -}}{{- end -}}
{{- if $selector -}}{{ toYaml $selector }}{{- end -}}
{{- end }}

{{- /* The value `affinity`. With leaveGroups each of its node selector terms, or a new one, also excludes the nodes of groups. */}}
{{- define "rocelet.affinity" -}}
{{- $affinity := deepCopy .Values.affinity -}}
{{- if include "rocelet.leavesGroups" . -}}
{{- $node := $affinity.nodeAffinity | default dict -}}
{{- $required := $node.requiredDuringSchedulingIgnoredDuringExecution | default dict -}}
{{- $terms := list -}}
{{- range $required.nodeSelectorTerms | default (list (dict)) -}}
{{- $left := append (.matchExpressions | default list) (dict "key" "rocelet.dev/group" "operator" "DoesNotExist") -}}
{{- $terms = append $terms (set (deepCopy .) "matchExpressions" $left) -}}
{{- end -}}
{{- $_ := set $required "nodeSelectorTerms" $terms -}}
{{- $_ := set $node "requiredDuringSchedulingIgnoredDuringExecution" $required -}}
{{- $_ := set $affinity "nodeAffinity" $node -}}
{{- end -}}
{{- toYaml $affinity -}}
{{- end }}
