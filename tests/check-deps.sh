#!/bin/bash
# check-deps.sh - who may include whom (docs/design.md): prints each breach and fails.
#
# Every rule is: files, what they must not include, why.
set -u
cd "$(dirname "$0")/.." || exit 1
breaches=0

# rule FILES-REGEX FORBIDDEN-INCLUDE-REGEX REASON
rule() {
	local found
	found=$(git ls-files --cached --others --exclude-standard '*.c' '*.h' | grep -E "$1" |
		xargs -r grep -nE "^#[[:space:]]*include [<\"]($2)[>\"]" /dev/null)
	[ -z "$found" ] && return
	printf '%s\n    rule: %s\n' "$found" "$3"
	breaches=$((breaches + 1))
}

headers() { # regex of the header names below a folder
	git ls-files --cached --others --exclude-standard "$1/*.h" | sed 's#.*/##; s/\./\\./g' | sort -u | paste -sd'|'
}

except() { # the regex of names $1 without those that follow
	local names=$1
	shift
	echo "$names" | tr '|' '\n' | grep -vxE "($(IFS='|'; echo "$*"))\\\\.h" | paste -sd'|'
}

DAEMON=$(headers daemon)
HW=$(headers hw)
K8S=$(headers k8s)
PURE='^daemon/(model/|attach/ipam_text\.|telemetry/(metrics|page|self_metrics|attach_series|event_series|qp_series|host_series|packet_series|packet_visible|number)\.|serve/(api\w*|event_waiters|order|reply|routes\w*|accept|connections|bucket)\.|ctl/ctl_(args|table|show\w*)\.|capture/)'

rule '^[^/]*/' '\.\./.*' 'no relative includes: a folder sees only what it may'
rule '^include/' "$DAEMON|$HW|$K8S|uv\.h" 'include/ knows nobody'
rule '^k8s/' "$DAEMON|$HW" 'k8s/ knows only include/'
rule '^k8s/(grpc\w*|plugin_wire\w*|proto_budget|pod_list\w*|registration|list_watch|plugin_request|plugin_service|checkpoint|cri_wire|cri_status|cri_event|cri_hints|cri_details)\.' 'uv\.h|log\.h|sys/socket\.h|time\.h' 'protocols are pure: bytes in, bytes out'
rule '^hw/' "$K8S" 'hw/ knows only include/'
rule '^hw/' "$DAEMON|uv\.h|log\.h|libudev\.h" 'hw/ knows only include/, and neither loops nor logs'
rule '^hw/(rtnl\w*|devlink|genl|nldev\w*|announce|nlpoll_kinds|pause|dcb|widen|layout|intern|dictionary\w*|parse|model|host)\.c' 'sys/socket\.h|unistd\.h|fcntl\.h' 'decoders are pure'
rule "$PURE" 'uv\.h|log\.h|sys/socket\.h|libudev\.h|time\.h' 'pure files know no loop, socket, clock or log'
rule '^(hw/[^v]|hw/v[^e]|daemon/|include/)' 'infiniband/verbs\.h' 'only hw/verbs.c and hw/verbs_sniffer.c speak verbs'
rule '^daemon/(model|kernel|telemetry|serve)/' "$K8S" 'the device plugin and the rest meet in daemon/ only'
rule '^daemon/plugin/' 'node\.h|sampler\.h|http\.h|routes\.h|api\w*\.h|metrics\.h' 'the device plugin knows neither the node nor who shows its table'
rule '^daemon/model/' 'node\.h|sampler\.h|http\.h|routes\.h|link_events\.h|uevents\.h|bpf_source\.h' 'model/ is below everything else'
rule '^daemon/attach/(journal_text|record_)' 'uv\.h|log\.h|sys/socket\.h|time\.h|unistd\.h|fcntl\.h' "the journal's text is pure"
rule '^daemon/attach/(journal|record_|steps|attach_|return_|vf_admin|function_files|soft_roce|work)' 'uv\.h|log\.h' 'the steps run on workers: no loop, no log'
rule '^daemon/kernel/' 'node\.h|sampler\.h|http\.h|routes\.h|metrics\.h' 'the kernel edge knows neither wing'
rule '^daemon/telemetry/' 'node\.h|http\.h|routes\.h|link_events\.h|uevents\.h' 'telemetry stands below serve and beside node'
rule '^daemon/(model|kernel|telemetry|serve)/' '(engine|steps|journal|ipam)\.h' 'the engine is seen as values (attach_status.h) and hooks only'
rule '^daemon/attach/' 'node\.h|sampler\.h|http\.h|routes\.h|api\w*\.h|metrics\.h|resources\.h' 'the engine knows neither who shows it nor who asks it'
rule '^daemon/attach/' "$(headers k8s | tr '|' '\n' | grep -v '^cri\\\.h$' | paste -sd'|')" 'of k8s/ the engine knows the runtime only'
rule '^daemon/ctl/(ctl|rocectl|ctl_([^s]|s[^n])\w*)\.' "uv\.h|log\.h|$HW|$K8S|(node|http|routes|api\w*|engine|inventory|page)\.h" 'rocectl knows what the socket says, and nothing of the daemon'
rule '^daemon/ctl/ctl_sniff\.' "uv\.h|log\.h|$(except "$HW" netns_ops packet_socket verbs_sniffer sniff_target sniffed)|$K8S|(node|http|routes|api\w*|engine|inventory|page)\.h" 'of the hardware rocectl sniff knows who tells packets and where'
rule '^daemon/capture/' "unistd\.h|fcntl\.h|$HW|$K8S|$(headers daemon/ctl)|$(headers daemon/model)" 'captures are bytes in, packets and documents out'
rule '^daemon/serve/' 'node\.h|sampler\.h|link_events\.h|uevents\.h|bpf_source\.h' 'serve sees values, not the parts that make them'
rule '^daemon/node\.' 'sampler\.h|http\.h|routes\.h|metrics\.h' 'the wings meet in loop.c only'
rule '^bpf/' '(err|log|model|hw|cleanup)\.h' 'bpf/ knows vmlinux.h and bpf_event.h'

[ $breaches = 0 ] || { echo "$breaches include rules broken" >&2; exit 1; }
