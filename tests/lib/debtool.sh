#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# debtool.sh PACKAGE - unpacks a Debian package into a cache without installing it (no services, no changes to the
# machine) and prints the folder. This suffices for single static programs such as Prometheus and node_exporter.
set -euo pipefail
# shellcheck source=apt.sh
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
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
		apt_quiet download "$package" || { apt_quiet update && apt_quiet download "$package"; }
		# Since Debian 13 promtool is a package of its own.
		if [ "$package" = prometheus ] && apt-cache show promtool >/dev/null 2>&1; then apt_quiet download promtool; fi
		for deb in ./*.deb; do dpkg-deb -x "$deb" root; done
	)
	touch "$work/root/.complete"
	rm -rf "$dir"
	mv "$work/root" "$dir"
fi
echo "$dir"
