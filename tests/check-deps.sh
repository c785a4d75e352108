#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-deps.sh - the allowed includes between folders (docs/concepts/folders.md): prints each breach and fails.
#
# A folder may include those before it in its line, and no others. A file with "Pure" in its first comment, or in its header's, may include no
# loop, socket, clock or log.
set -u
cd "$(dirname "$0")/.." || exit 1
breaches=0
sources() {
	git ls-files --cached --others --exclude-standard | grep '\.[ch]$' | while read -r f; do [ -e "$f" ] && echo "$f"; done
}

# Printed lines are breaches of the rule.
rule() { # REASON
	local found
	found=$(cat)
	[ -z "$found" ] && return
	printf '%s\n    rule: %s\n' "$found" "$1"
	breaches=$((breaches + 1))
}

# Every #include of ours: "FILE:LINE FOLDER FOLDER-OF-THE-HEADER HEADER"; "-" for a header outside of the tree.
# shellcheck disable=SC2016 # awk's
INCLUDES=$(sources | xargs awk '
	FNR == 1 { folder = FILENAME; sub("/[^/]*$", "", folder) }
	/^#[ \t]*include [<"]/ {
		split($0, parts, "[<>\"]")
		file[++n] = FILENAME ":" FNR; from[n] = folder; what[n] = parts[2]
	}
	FNR == 1 && FILENAME ~ /\.h$/ { header = FILENAME; sub(".*/", "", header); where[header] = folder }
	END { for (i = 1; i <= n; i++) print file[i], from[i], (what[i] in where ? where[what[i]] : "-"), what[i] }')

# includes FROM-FOLDER TO-FOLDER HEADER (regular expressions of the whole name)
includes() {
	awk -v from="^($1)\$" -v to="^($2)\$" -v header="^(${3:-.*})\$" '$2 ~ from && $3 ~ to && $4 ~ header { print $1 ": " $4 }' <<<"$INCLUDES"
}

# Each folder of the line may include itself and those before it; the first line with the folder counts.
declare -A JUDGED
line() { # FOLDER..
	local known='-' folder
	for folder; do
		known+="|$folder"
		[ -z "${JUDGED[$folder]:-}" ] || continue
		JUDGED[$folder]=1
		awk -v from="$folder" -v to="^($known)\$" '$2 == from && $3 !~ to { print $1 ": " $4 " of " $3 }' <<<"$INCLUDES" |
			rule "$folder may only include what is below it: ${known#-|}"
	done
}

HW='hw hw/netlink hw/ops hw/counters hw/scan hw/settings hw/sniff'
SUBJECTS='daemon/privileges daemon/diagnosis daemon/config daemon/inventory daemon/pods daemon/pools daemon/events daemon/packets daemon/qp
	daemon/attach/journal daemon/attach/ipam daemon/attach/steps daemon/attach daemon/plugin daemon/cni
	daemon/metrics daemon/http daemon/web daemon/api'
# shellcheck disable=SC2086 # lists of words
{
	line include $HW
	line include include/loop k8s/rpc k8s/cri k8s/kubelet
	line include daemon/diagnosis
	line include daemon/client k8s/cni
	line include include/loop $HW k8s/rpc k8s/cri k8s/kubelet $SUBJECTS
	line include hw hw/ops hw/sniff daemon/config daemon/capture daemon/diagnosis daemon/client daemon/ctl
	line include include/loop $HW k8s/rpc k8s/cri k8s/kubelet $SUBJECTS daemon/client k8s/cni daemon/ctl daemon/compose daemon
}

includes '.*' '.*' '\.\./.*' | rule 'no relative includes: they would bypass the order of folders'
includes 'daemon/(metrics|http|api)' 'k8s/(cri|kubelet)|daemon/(attach.*|plugin|cni)' | rule 'folders that show the engine and the plugin only include their values'
includes 'daemon/(inventory|pools|events|packets|qp|attach.*)' 'k8s/.*' | rule 'data from Kubernetes are passed as values'
includes '(include|hw.*|daemon/attach/(steps|journal))' '.*' '(uv|log|libudev|due|job)\.h' | grep -v '^include/log\.h' |
	rule 'contracts, hw/ and code of workers have neither a loop nor a log'
includes '(include|daemon.*|hw|hw/(netlink|ops|counters))' '.*' 'infiniband/verbs\.h' | rule 'verbs are spoken in hw/scan and hw/sniff'
includes 'bpf' 'include' | grep -v ': bpf_event\.h$\|: roce_\w*\.h$\|: netdev_inside\.h$' | rule 'bpf/ shares only records and decoders with the daemon'

PURE=$(sources | xargs awk 'FNR == 1 { begun = open = 0 } !begun && !/SPDX-License-Identifier/ { begun = 1; open = /^\/\*/ } open && /Pure/ { print FILENAME; open = 0 } /\*\// { open = 0 }' | sed 's/\.[ch]$//' | sort -u)
for stem in $PURE; do
	ls "$stem".[ch] 2>/dev/null
done | xargs grep -nE '^#[[:space:]]*include [<"]((uv|log|due|job|sys/socket|libudev|time)\.h)[>"]' /dev/null |
	rule 'pure files include no loop, socket, clock or log'

[ $breaches = 0 ] || { echo "$breaches include rules broken" >&2; exit 1; }
