# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Pods, and the devices that they see. The container of each first writes its environment and its devices to
# /run/rig/pods/NAME/{env,dev}, and then waits.

readonly PODS=/run/rig/pods

# May be set before a pod is created: the first command of its container, whose failure ends the container, and folders of the machine
# that are mounted into it, read-only.
POD_FIRST=:
POD_FOLDERS=()
POD_INIT=''      # RESOURCE=COUNT: an init container requests it, and exits at once
POD_TIMEOUT=30 # seconds for the start and for the end of a pod

# Starts a pod without waiting for it. An argument that begins with [ is its annotation rocelet.dev/networks.
make_pod() { # NAME [RESOURCE=COUNT | ANNOTATION]..
    mkdir -p "$PODS/$1"
    pod_manifest "$@" >"/run/rig/$1.json"
    mv "/run/rig/$1.json" "/run/rig/manifests/$1.json"
}

# Outside, the container's process is found by its last argument.
pod_manifest() { # NAME [RESOURCE=COUNT | ANNOTATION]..
    local name=$1 word limits='' annotations='' mounts='' volumes='' init='' folder
    for word in "${@:2}"; do
        case $word in
            \[*) annotations="\"rocelet.dev/networks\": $(quoted "$word")" ;;
            *) limits+="${limits:+, }\"${word%=*}\": \"${word##*=}\"" ;;
        esac
    done
    for folder in "${POD_FOLDERS[@]}"; do
        mounts+=", {\"name\": \"$(volume_name "$folder")\", \"mountPath\": \"$folder\", \"readOnly\": true}"
        volumes+=", {\"name\": \"$(volume_name "$folder")\", \"hostPath\": {\"path\": \"$folder\"}}"
    done
    [[ -z $POD_INIT ]] || init="{\"name\": \"init\", \"image\": \"$POD_IMAGE\", \"imagePullPolicy\": \"Never\",
   \"command\": [\"/bin/sh\", \"-c\", $(quoted "$POD_INIT_SCRIPT")],
   \"resources\": {\"limits\": {\"${POD_INIT%=*}\": \"${POD_INIT##*=}\"}}, \"volumeMounts\": [{\"name\": \"seen\", \"mountPath\": \"/seen\"}]}"
    cat <<EOT
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$name", "namespace": "default", "annotations": {$annotations}},
 "spec": {"terminationGracePeriodSeconds": 1, "restartPolicy": "Always",
  "initContainers": [$init],
  "containers": [{"name": "main", "image": "$POD_IMAGE", "imagePullPolicy": "Never",
   "command": ["/bin/sh", "-c", $(quoted "$POD_FIRST; $POD_SCRIPT"), "rig-pod-$name"],
   "resources": {"limits": {$limits}},
   "volumeMounts": [{"name": "seen", "mountPath": "/seen"}$mounts]}],
  "volumes": [{"name": "seen", "hostPath": {"path": "$PODS/$name"}}$volumes]}}
EOT
}

readonly POD_INIT_SCRIPT='env >/seen/init_env; busybox ip address show net1 >/seen/init_net 2>&1; exit 0'
readonly POD_SCRIPT='env >/seen/env; ls -l /dev/infiniband >/seen/dev 2>&1; echo started >>/seen/starts; trap exit TERM; while :; do sleep 3600 & wait; done'

# Text of one line as a JSON string.
quoted() { # TEXT
    local text=${1//\\/\\\\}
    echo "\"${text//\"/\\\"}\""
}

volume_name() { # FOLDER
    tr -c 'a-z0-9\n' - <<<"${1#/}"
}

remove_pod() { # NAME
    rm -f "/run/rig/manifests/$1.json"
    wait_until "$POD_TIMEOUT" "! pod_known $1"
    rm -rf "${PODS:?}/$1"
}

# "NAME PHASE REASON MESSAGE" of each, from the kubelet. The name of a pod from a file ends with the node's name.
pods() {
    curl -fsS -m 60 "$KUBELET_URL/pods" | /usr/bin/python3 -c '
import json, sys
for pod in json.load(sys.stdin)["items"] or []:
    status = pod["status"]
    waiting = [c["state"]["waiting"] for c in status.get("containerStatuses", []) if "waiting" in c.get("state", {})]
    words = [status.get("reason"), status.get("message")] + [w.get(k) for w in waiting for k in ("reason", "message")]
    print(pod["metadata"]["name"].removesuffix("-rig"), status.get("phase"), *filter(None, words))'
}

pod_status() { # NAME
    pods | awk -v name="$1" '$1 == name { sub(/^[^ ]+ /, ""); print }'
}

pod_known() { [[ -n $(pod_status "$1") ]]; } # NAME
pod_started() { [[ -s $PODS/$1/starts && -n $(pod_pid "$1") ]]; } # NAME

# The container's first process, by its process id in the rig.
pod_pid() { # NAME
    pgrep -fx ".* rig-pod-$1" | head -n 1
}

run_pod() { # NAME [RESOURCE=COUNT | ANNOTATION]..
    make_pod "$@"
    wait_until "$POD_TIMEOUT" "pod_started $1"
}

# A variable of the container's environment, or the init container's.
pod_env() { # NAME VARIABLE [init_env]
    sed -n "s/^$2=//p" "$PODS/$1/${3:-env}"
}

# The names in its /dev/infiniband, sorted, in one line.
pod_devices() { # NAME
    awk '/^c/ { print $NF }' "$PODS/$1/dev" | sort | xargs
}

# A pod's devices of one resource, from the kubelet's PodResources service, sorted, in one line.
pod_resources() { # NAME RESOURCE
    /usr/bin/python3 "$KUBELET_DIR/rig/pod_resources.py" |
        json "' '.join(sorted(i for p in doc for c in p['containers'] for d in c['devices'] if p['name'].removesuffix('-rig') == '$1' and d['resource'] == '$2' for i in d['ids']))"
}
