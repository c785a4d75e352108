#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# debtool.sh PACKAGE - unpacks a Debian package into a cache without installing it (no services, no changes to the
# machine) and prints the folder. Prometheus and node_exporter are single static programs: that is all they need.
set -euo pipefail
package=${1:?usage: debtool.sh PACKAGE}
cache=${ROCELET_TOOL_CACHE:-/var/cache/rocelet-tools}
dir=$cache/$package

if [ ! -e "$dir/.complete" ]; then
	mkdir -p "$cache"
	work=$(mktemp -d "$cache/.new-XXXXXX")
	trap 'rm -rf "$work"' EXIT
	chmod 755 "$work"
	(
		cd "$work"
		apt-get download -qq "$package" >&2 || { apt-get update -qq >&2 && apt-get download -qq "$package" >&2; }
		# Since Debian 13 promtool is a package of its own.
		if [ "$package" = prometheus ] && apt-cache show promtool >/dev/null 2>&1; then apt-get download -qq promtool >&2; fi
		for deb in ./*.deb; do dpkg-deb -x "$deb" root; done
	)
	touch "$work/root/.complete"
	rm -rf "$dir"
	mv "$work/root" "$dir"
fi
echo "$dir"
