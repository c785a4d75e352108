#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds programs of Kubernetes into WORKDIR: build-kubernetes.sh PROGRAM.. WORKDIR. One of its own, called by cache.sh, so that -e holds in
# every step; a change to it makes new programs.
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

main() { # PROGRAM.. WORKDIR
    local work=${*: -1}
    open_suite "$work/apt"
    fetch_packages "$work/go" "$GO-go" "$GO-src"
    fetch_source "$work/src/k8s.io"
    shorten_start "$work/src/k8s.io/kubernetes"
    build "$@"
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

# GOPATH mode: with modules, this go.mod asks for updates. Without cgo the programs run on any Debian.
build() { # PROGRAM.. WORKDIR
    local work=${*: -1} program
    export GOROOT=$work/go/usr/lib/go-1.19 GOPATH=$work/gopath GOCACHE=$work/cache GO111MODULE=off GOFLAGS=-trimpath CGO_ENABLED=0
    mkdir -p "$GOPATH"
    ln -s "$work/src" "$GOPATH/src"
    cd "$GOPATH/src/k8s.io/kubernetes"
    [[ " $* " != *" kube-apiserver "* ]] || generate_openapi "$work"
    for program in "${@:1:$#-1}"; do
        go_build -ldflags "-s -w $(version_flags)" -o "$work/$program" "k8s.io/kubernetes/cmd/$program"
    done
    rm -r "$GOPATH"
}

go_build() {
    nice -n 10 "$GOROOT/bin/go" build "$@"
}

# The API server's description of its types, which the source package leaves to be made.
generate_openapi() { # WORKDIR
    local package=pkg/generated/openapi types
    go_build -o "$1/openapi-gen" k8s.io/kubernetes/vendor/k8s.io/kube-openapi/cmd/openapi-gen
    types=$(grep -RlF '+k8s:openapi-gen=' --include='*.go' --exclude='*_test.go' --exclude-dir={generated,code-generator,sample-apiserver} \
        vendor/k8s.io pkg cmd | xargs dirname | sort -u | sed 's,^,k8s.io/kubernetes/,' | paste -sd ,)
    GOFLAGS='' PATH=$GOROOT/bin:$PATH nice -n 10 "$1/openapi-gen" --logtostderr -i "$types" -p "k8s.io/kubernetes/$package" -O zz_generated.openapi \
        -h hack/boilerplate/boilerplate.generatego.txt --output-base "$1/generated" -r "$1/openapi.violations"
    cp "$1/generated/k8s.io/kubernetes/$package/zz_generated.openapi.go" "$package/"
    rm -r "$1"/{openapi-gen,generated,openapi.violations}
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
main "$@"
