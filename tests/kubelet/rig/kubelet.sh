# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The kubelet. Without an API server pods come from a folder of manifests.

# May be set before it is started, for a kubelet with an API server.
NODE_NAME=rig
KUBELET_ADDRESS=127.0.0.1
KUBELET_FLAGS=(--v=4)

KUBELET_PID=
KUBELET_LOG_START=1 # first line of the current kubelet in kubelet.log

readonly KUBELET_URL=http://127.0.0.1:10255
readonly PLUGINS=/var/lib/kubelet/device-plugins

start_kubelet() { # [YAML_LINE..]   added to its configuration
    kubelet_config "$@" >/run/rig/kubelet.yaml
    launch_kubelet
    wait_until 180 "kubelet_ready || ! kill -0 $KUBELET_PID"
    kill -0 "$KUBELET_PID" 2>/dev/null || fail "the kubelet ended at once"
}

# Starts it with the last configuration.
launch_kubelet() {
    touch "$OUT/kubelet.log"
    KUBELET_LOG_START=$(($(wc -l <"$OUT/kubelet.log") + 1))
    # shellcheck disable=SC2046  # words
    "$KUBELET_BIN/kubelet" --config /run/rig/kubelet.yaml $(version_flags) --hostname-override="$NODE_NAME" "${KUBELET_FLAGS[@]}" \
        >>"$OUT/kubelet.log" 2>&1 </dev/null &
    KUBELET_PID=$!
    echo "$KUBELET_PID" >/run/rig/kubelet.pid
}

# The second number of its version: "Kubernetes v1.20.2" is 20.
kubelet_minor() {
    local version
    version=$("$KUBELET_BIN/kubelet" --version)
    [[ $version =~ v1\.([0-9]+) ]] || fail "cannot read the kubelet's version from '$version'"
    echo "${BASH_REMATCH[1]}"
}

# Before 1.27 the runtime's endpoint and resolv.conf are set by flags, from 1.27 on in the configuration.
readonly CONFIGURES_RUNTIME=27
# failCgroupV1 exists since 1.31. Later kubelets start on cgroup v1 only if it is false.
readonly REJECTS_CGROUP_V1=31

version_flags() {
    local minor
    minor=$(kubelet_minor)
    ((minor < CONFIGURES_RUNTIME)) || return 0
    ((minor >= 24)) || echo --container-runtime=remote # the only one since
    echo "--container-runtime-endpoint=unix://$CRI_SOCKET --resolv-conf="
}

version_config() {
    local minor
    minor=$(kubelet_minor)
    ((minor < CONFIGURES_RUNTIME)) || printf '%s\n' "containerRuntimeEndpoint: unix://$CRI_SOCKET" 'resolvConf: ""'
    ((minor < REJECTS_CGROUP_V1)) || echo 'failCgroupV1: false'
}

kubelet_ready() {
    curl -fsS -m 2 -o /dev/null http://127.0.0.1:10248/healthz && [[ -S $PLUGINS/kubelet.sock && -S /var/lib/kubelet/pod-resources/kubelet.sock ]]
}

stop_kubelet() { # [SIGNAL]
    kill -"${1:-TERM}" "$KUBELET_PID"
    wait "$KUBELET_PID" 2>/dev/null || true
}

kubelet_config() { # [YAML_LINE..]
    cat <<EOT
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $KUBELET_ADDRESS
port: 10250
readOnlyPort: 10255
healthzBindAddress: 127.0.0.1
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
staticPodPath: /run/rig/manifests
fileCheckFrequency: 1s
syncFrequency: 1s
cgroupDriver: cgroupfs
cgroupRoot: /$CGROUP
enforceNodeAllocatable: []
failSwapOn: false
makeIPTablesUtilChains: false
volumePluginDir: /var/lib/kubelet/volume-plugins
evictionHard: {memory.available: "50Mi", nodefs.available: "1%", imagefs.available: "1%"}
EOT
    version_config
    (($# == 0)) || printf '%s\n' "$@"
}

# The log of the current kubelet.
kubelet_log() {
    tail -n "+$KUBELET_LOG_START" "$OUT/kubelet.log"
}

# The number of Register calls for that resource to the current kubelet (a plugin in plugins_registry does not call it).
registrations() { # RESOURCE
    curl -fsS -m 60 "$KUBELET_URL/metrics" | awk -v name="kubelet_device_plugin_registration_total{resource_name=\"$1\"}" \
        '$1 == name { n = $2 } END { print n + 0 }'
}

# The time of the last Register call, in seconds since the epoch, by the kubelet's own clock.
registration_time() { # RESOURCE
    local stamp
    stamp=$(kubelet_log | grep "Got registration request.*\"$1\"" | tail -n 1 | cut -d' ' -f2)
    date -d "$stamp" +%s.%N
}

# The number of lists of that resource's devices that the current kubelet has received. With the first, the resource exists.
lists_received() { # RESOURCE
    kubelet_log | grep -cE "State pushed for device plugin $1\$|Processed device updates for resource.*\"$1\"" || true
}

readonly CHECKPOINT=$PLUGINS/kubelet_internal_checkpoint CHECKPOINT_READS=/run/rig/checkpoint-reads

# The kubelet's devices of all resources, from its own checkpoint: {"<resource>": ["<id>", ..]}. A new kubelet writes it with the first list
# it receives.
registered_devices() {
    keep_checkpoint_current
    json 'json.dumps(doc["Data"]["RegisteredDevices"])' <"$CHECKPOINT"
}

# A kubelet collects the checkpoint's content before it waits for its turn to write. If two lists arrive at the same time, the state
# without the second may be written last, and stays until the next list. So if a scenario reads the same checkpoint repeatedly while it
# waits, a stand-in sends the kubelet one more list.
keep_checkpoint_current() {
    local id n=0 last=
    id=$(stat -c %i-%.9Y "$CHECKPOINT" 2>/dev/null) || return 0
    read -r last n 2>/dev/null <"$CHECKPOINT_READS" || true
    [[ $last == "$id" ]] || n=0
    echo "$id $((n + 1))" >"$CHECKPOINT_READS"
    ((n != 40)) || send_one_more_list
}

send_one_more_list() {
    local pid id
    id=$(stat -c %i-%.9Y "$CHECKPOINT")
    /usr/bin/python3 "$KUBELET_DIR/rig/standin.py" test.dev/one-more one >"$OUT/one-more.log" 2>&1 </dev/null &
    pid=$!
    becomes_true 60 "[[ \$(stat -c %i-%.9Y $CHECKPOINT) != $id ]]" || true
    kill "$pid"
    wait "$pid" || true
}

# The device IDs that the kubelet counts as healthy, sorted, in one line.
registered() { # RESOURCE
    registered_devices 2>/dev/null | json "' '.join(sorted(doc.get('$1') or []))" 2>/dev/null
}

n_registered() { # RESOURCE
    registered "$1" | wc -w
}
