{{- /* The value `mode`, which has no default: `helm upgrade --set listen=:9917` resets the other values to those of the chart, and a default would
give the nodes another mode, with other permissions or without devices. */}}
{{- define "rocelet.mode" -}}
{{- if not .Values.mode -}}
{{- fail "set mode: observe (metrics only), device-plugin, native, native-surge, multus or multus-uninstall (helm show values). In an upgrade, --reuse-values keeps the release's values" -}}
{{- end -}}
{{- .Values.mode -}}
{{- end }}

{{- /* The value `updateStrategy`. Kubernetes sets a missing maxUnavailable to 1, and refuses it beside maxSurge. */}}
{{- define "rocelet.updateStrategy" -}}
{{- $strategy := deepCopy .Values.updateStrategy -}}
{{- $rolling := $strategy.rollingUpdate | default dict -}}
{{- if not (regexMatch "^0*%?$" (toString ($rolling.maxSurge | default ""))) -}}
{{- if ne .Values.mode "native-surge" -}}
{{- fail (printf "updateStrategy.rollingUpdate.maxSurge: two daemons run on a node only in mode native-surge, not in mode %s" .Values.mode) -}}
{{- end -}}
{{- if not (regexMatch "^0*%?$" (toString ($rolling.maxUnavailable | default ""))) -}}
{{- fail "updateStrategy.rollingUpdate: maxUnavailable must be 0 if maxSurge is set" -}}
{{- end -}}
{{- $_ := set $rolling "maxUnavailable" ($rolling.maxUnavailable | default 0) -}}
{{- end -}}
{{- toYaml $strategy -}}
{{- end }}
