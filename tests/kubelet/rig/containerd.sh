# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# containerd with one image, made here: a static busybox. The pods have isolated networks of their own.

# Programs beside the kubelet come first: KUBELET_DIR may have its own.
export PATH=$KUBELET_BIN:$RUNTIME_ROOT/usr/bin:$RUNTIME_ROOT/usr/sbin:/usr/sbin:/usr/bin:/sbin:/bin

readonly CRI_SOCKET=/run/containerd/containerd.sock
readonly POD_IMAGE=localhost/busybox:1
CONTAINERD_PID=

start_containerd() {
    containerd_config >/run/rig/containerd.toml
    cni_config >/run/rig/cni/10-rig.conflist
    launch_containerd &
    CONTAINERD_PID=$!
    /usr/bin/python3 "$KUBELET_DIR/rig/image.py" "$RUNTIME_ROOT/bin/busybox" "$POD_IMAGE" /run/rig/image.tar
    containerd_answers
    ctr --namespace k8s.io images import /run/rig/image.tar >/dev/null
    rm /run/rig/image.tar
}

launch_containerd() {
    exec containerd --config /run/rig/containerd.toml >>"$OUT/containerd.log" 2>&1 </dev/null
}

containerd_answers() {
    until ctr version >/dev/null 2>&1; do
        kill -0 "$CONTAINERD_PID" # fails if it has exited
        sleep 0.05
    done
}

# restrict_oom_score_adj: without CAP_SYS_RESOURCE, as in many containers, runc could not lower a score and no pod would start.
containerd_config() {
    cat <<EOT
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$POD_IMAGE"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$RUNTIME_ROOT/usr/lib/cni"
    conf_dir = "/run/rig/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "$(command -v runc)"
      SystemdCgroup = false
EOT
}

cni_config() {
    cat <<EOT
{"cniVersion": "1.0.0", "name": "rig", "plugins": [{"type": "bridge", "bridge": "rig0", "isGateway": true, "ipMasq": false,
 "ipam": {"type": "host-local", "dataDir": "/var/lib/cni", "ranges": [[{"subnet": "10.244.77.0/24"}]]}}]}
EOT
}
