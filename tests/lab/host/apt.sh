# shellcheck shell=bash
# What this machine's apt knows: every mirror the lab uses is derived from here, so no host name is written down anywhere.

readonly LAB_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# The Debian mirror this machine uses for its own release. apt itself reads its configuration (one-line and deb822 alike);
# Filtered=false lists sources whose indexes were never downloaded, as on fresh container images.
apt_mirror() {
    apt-get indextargets -o APT::Get::IndexTargets::Filtered=false \
        --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v release="$(host_codename)" '$1 == release && $2 == "main" { print $3; exit }'
}

host_codename() {
    # shellcheck source=/dev/null
    (. /etc/os-release && echo "${VERSION_CODENAME:-}")
}

require_mirror() {
    local mirror
    mirror=$(apt_mirror)
    [[ -n $mirror ]] || die "apt has no 'main' source for $(host_codename || true): the lab needs a Debian host with a working apt"
    echo "$mirror"
}

# The host's proxy and TLS settings, for apts that run with another root (mmdebstrap does not read the host's apt.conf).
apt_acquire_settings() {
    apt-config dump | grep -E '^Acquire::(http|https|ftp|Retries)[:: ]' || true
}

deb_source() { # MIRROR SUITE
    local signed=''
    [[ -r $LAB_KEYRING ]] && signed="[signed-by=$LAB_KEYRING] "
    echo "deb ${signed}$1 $2 main"
}
