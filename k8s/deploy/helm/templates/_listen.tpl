{{- /* The address of metrics, page and API: the value `listen`, otherwise "listen" of the configuration. "": none. */}}
{{- define "rocelet.listen" -}}
{{- range .Values.extraArgs -}}
{{- if hasPrefix "--listen=" . -}}
{{- fail "extraArgs has --listen, which the scrape job would not follow: set the value listen" -}}
{{- end -}}
{{- end -}}
{{- if kindIs "string" .Values.listen -}}{{ .Values.listen }}
{{- else if hasKey (.Values.config | default dict) "listen" -}}{{ .Values.config.listen }}
{{- else -}}:9907
{{- end -}}
{{- end }}

{{- /* Its port; "" if there is none. */}}
{{- define "rocelet.port" -}}
{{- include "rocelet.listen" . | regexFind ":[0-9]+$" | trimPrefix ":" -}}
{{- end }}
