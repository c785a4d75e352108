#!/bin/bash
# Builds the kubelet into WORKDIR. A program of its own, called by cache.sh, so that -e holds in every step; a change to it makes a
# new kubelet.
#
# Debian 12's source package holds all of Kubernetes with its vendored modules, so nothing comes from outside Debian's archive.
set -euo pipefail
shopt -s inherit_errexit

KUBELET_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$KUBELET_DIR/host/common.sh"
. "$KUBELET_DIR/host/packages.sh"

readonly GO=golang-1.19
readonly KUBERNETES=1.20.2
readonly NOT_NEEDED=(CHANGELOG api cluster docs logo test) # folders of the source

main() { # WORKDIR
    local work=$1
    open_suite "$work/apt"
    fetch_packages "$work/go" "$GO-go" "$GO-src"
    fetch_source "$work/src/k8s.io"
    shorten_start "$work/src/k8s.io/kubernetes"
    build "$work"
    close_suite
    # Go writes its caches read-only in places.
    chmod -R u+w "$work"/{go,src,cache}
    rm -rf "$work"/{go,src,cache}
}

fetch_source() { # FOLDER: the sources become FOLDER/kubernetes
    local option exclude=()
    for option in "${NOT_NEEDED[@]}"; do exclude+=(--exclude="kubernetes-$KUBERNETES/$option"); done
    mkdir -p "$1"
    cd "$1"
    apt_suite source --download-only kubernetes
    tar -xzf kubernetes_*.orig.tar.gz "${exclude[@]}"
    mv "kubernetes-$KUBERNETES" kubernetes
    rm kubernetes_*
}

# The one change to the source: at every start the statistics part asks five times, a second apart, for a Docker that is not there. Scenarios
# start the kubelet often.
shorten_start() { # SOURCE
    local file=$1/vendor/github.com/google/cadvisor/container/docker/factory.go
    sed -i 's/^const rootDirRetryPeriod .*/const rootDirRetryPeriod = time.Millisecond/' "$file"
    grep -q '^const rootDirRetryPeriod = time.Millisecond' "$file"
}

# GOPATH mode: with modules, this go.mod asks for updates. Without cgo the program runs on any Debian.
build() { # WORKDIR
    export GOROOT=$1/go/usr/lib/go-1.19 GOPATH=$1/gopath GOCACHE=$1/cache GO111MODULE=off GOFLAGS=-trimpath CGO_ENABLED=0
    mkdir -p "$GOPATH"
    ln -s "$1/src" "$GOPATH/src"
    cd "$GOPATH/src/k8s.io/kubernetes"
    nice -n 10 "$GOROOT/bin/go" build -ldflags "-s -w $(version_flags)" -o "$1/kubelet" k8s.io/kubernetes/cmd/kubelet
    rm -r "$GOPATH"
}

# Two packages know the version, and each is linked under its vendored path.
version_flags() {
    local package
    for package in component-base/version client-go/pkg/version; do
        package=k8s.io/kubernetes/vendor/k8s.io/$package
        printf -- '-X %s.gitVersion=v%s -X %s.gitMajor=1 -X %s.gitMinor=20 ' "$package" "$KUBERNETES" "$package" "$package"
    done
}

set -x # the output is a log that is read only when something went wrong
main "$1"
