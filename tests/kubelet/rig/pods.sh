# shellcheck shell=bash
# Pods, and what they saw. Each has one container, which writes down its environment and its devices before it does anything else,
# to /run/rig/pods/NAME/{env,dev}, and then waits.

readonly PODS=/run/rig/pods

# Starts a pod without waiting for it.
make_pod() { # NAME [RESOURCE=COUNT..]
    mkdir -p "$PODS/$1"
    pod_manifest "$@" >"/run/rig/$1.json"
    mv "/run/rig/$1.json" "/run/rig/manifests/$1.json"
}

# The container's last argument is how its process is found from outside.
pod_manifest() { # NAME [RESOURCE=COUNT..]
    local request limits=
    for request in "${@:2}"; do limits+="${limits:+, }\"${request%=*}\": \"${request##*=}\""; done
    cat <<EOT
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$1", "namespace": "default"},
 "spec": {"terminationGracePeriodSeconds": 1, "restartPolicy": "Always",
  "containers": [{"name": "main", "image": "$POD_IMAGE", "imagePullPolicy": "Never",
   "command": ["/bin/sh", "-c", "env >/seen/env; ls -l /dev/infiniband >/seen/dev 2>&1; echo started >>/seen/starts; trap exit TERM; while :; do sleep 3600 & wait; done", "rig-pod-$1"],
   "resources": {"limits": {$limits}},
   "volumeMounts": [{"name": "seen", "mountPath": "/seen"}]}],
  "volumes": [{"name": "seen", "hostPath": {"path": "$PODS/$1"}}]}}
EOT
}

remove_pod() { # NAME
    rm -f "/run/rig/manifests/$1.json"
    wait_until "! pod_known $1"
    rm -rf "${PODS:?}/$1"
}

# "NAME PHASE REASON MESSAGE" of each, as the kubelet tells. A pod from a file bears the node's name too.
pods() {
    curl -fsS -m 5 "$KUBELET_URL/pods" | /usr/bin/python3 -c '
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

# The container's first process, seen from the rig.
pod_pid() { # NAME
    pgrep -fx ".* rig-pod-$1" | head -n 1
}

run_pod() { # NAME [RESOURCE=COUNT..]
    make_pod "$@"
    wait_until "pod_started $1"
}

# A variable of the container's environment.
pod_env() { # NAME VARIABLE
    sed -n "s/^$2=//p" "$PODS/$1/env"
}

# The names in its /dev/infiniband, sorted, in one line.
pod_devices() { # NAME
    awk '/^c/ { print $NF }' "$PODS/$1/dev" | sort | xargs
}

# What the kubelet's PodResources service says of a pod: its devices of one resource, sorted, in one line.
pod_resources() { # NAME RESOURCE
    /usr/bin/python3 "$KUBELET_DIR/rig/pod_resources.py" |
        json "' '.join(sorted(i for p in doc for c in p['containers'] for d in c['devices'] if p['name'].removesuffix('-rig') == '$1' and d['resource'] == '$2' for i in d['ids']))"
}
