# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What this machine's apt knows: every mirror the lab uses is derived from here, so no host name is written down anywhere.

# shellcheck source=../../lib/apt.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/apt.sh"

readonly LAB_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# The Debian mirror this machine uses for its own release. apt reads its own configuration (one-line and deb822 alike), and the
# downloaded Release files tell Debian's archive from other repositories for the same release.
apt_mirror() {
    apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(CODENAME)|$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' |
        awk -F'|' -v release="$(host_codename)" \
            '$1 == "Debian" && $2 == "Debian" && $3 == release && $4 == "main" && !found++ { print $5 }'
}

host_codename() {
    # shellcheck source=/dev/null
    (. /etc/os-release && echo "${VERSION_CODENAME:-}")
}

require_mirror() {
    local mirror
    mirror=$(apt_mirror)
    if [[ -z $mirror ]]; then # as in a fresh container: nothing was ever downloaded
        apt_quiet update
        mirror=$(apt_mirror)
    fi
    [[ -n $mirror ]] || die "apt knows no Debian mirror with $(host_codename) main: the lab needs a Debian host with a working apt"
    echo "$mirror"
}

# Entries for all that this machine gets Debian from: its release, that one's updates and its security updates.
debian_sources() {
    require_mirror >/dev/null
    # shellcheck disable=SC2016 # apt's
    apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(CODENAME)|$(COMPONENT)|$(REPO_URI)|$(RELEASE)' 'Created-By: Packages' |
        awk -F'|' -v release="$(host_codename)" '
            $1 == "Debian" && $2 ~ /^Debian(-Security)?$/ && $4 == "main" && $3 ~ "^" release "(-updates|-security)?$" { print $5, $6 }' |
        sort -u | while read -r uri release; do deb_source "$uri" "$release"; done
}

# The host's proxy and TLS settings, for apts that run with another root (mmdebstrap does not read the host's apt.conf).
apt_acquire_settings() {
    apt-config dump | grep -E '^Acquire::((https?|ftp)::|Retries )' || true
}

# The settings, for APT_CONFIG, of an apt that knows those suites and none of this machine's: DIR/apt.conf.
private_apt() { # DIR MIRROR SUITE..
    local suite
    mkdir -p "$1"/{sources,lists/partial,cache/archives/partial}
    for suite in "${@:3}"; do deb_source "$2" "$suite"; done >"$1/sources/suites.list"
    cat >"$1/apt.conf" <<END
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$1/sources";
Dir::State::Lists "$1/lists";
Dir::Cache "$1/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
END
}

deb_source() { # MIRROR SUITE
    local signed=''
    [[ -r $LAB_KEYRING ]] && signed="[signed-by=$LAB_KEYRING] "
    echo "deb ${signed}$1 $2 main"
}
