#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the diagnosis of the running daemon: stories are played into the counter files of a synthetic sysfs tree; series, API, events and rocectl must report the problem.

  diagnosis_python.py DAEMON MK_SYSFS ROCECTL [CHECK...]

One line per check, "N passed, N failed" last.

run: {san}/rocelet {san}/bench/mk_sysfs {san}/rocectl
proves: daemon/diagnosis daemon/metrics daemon/api hw/counters
when: core -marks_at_a_receiver_are_congestion_in_the_fabric -a_near_miss_is_silent -exhausted_retries_mean_a_peer_that_is_gone -a_card_that_has_lost_its_lanes -counters_that_start_over_are_no_verdict -a_replayed_recording_gives_the_same_verdict -a_card_without_its_driver -bursts_within_a_second_are_found -limits_are_followed
when: turns
"""
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
import daemon_python  # noqa: E402
from daemon_python import HOLD, Daemon, PodResources, checkpoint, registered, write  # noqa: E402
from kubelet_python import SOON, equal, eventually  # noqa: E402
from run_checks import run_checks  # noqa: E402

checks = []
ROCECTL = None
# Shorter than the defaults, to be fast; the unit tests of the engine judge hold and release times.
QUICK = {"settle_seconds": 0, "warming_seconds": 1, "hold_seconds": 1, "release_seconds": 1, "release_link_seconds": 1, "release_storm_seconds": 1,
         "release_idle_seconds": 1, "clear_seconds": 1}
PF, OTHER_PF, VF = "mlx5_0", "mlx5_1", "mlx5_2"
VF_FUNCTION = "0000:18:00.1"
POOL = {"resourceName": "roce", "selectors": {"isRdma": True, "pfNames": ["ens1np0"]}, "hold": HOLD}


def check(function):
    checks.append(function)
    return function


# --- a port with traffic ---------------------------------------------------------------------

# A 400G port that receives and sends 4 GB/s in packets of 4 KiB; port_*_data counts words of 4 bytes.
TRAFFIC = {"counters/port_rcv_data": 1e9, "counters/port_xmit_data": 1e9, "counters/port_rcv_packets": 1e6, "counters/port_xmit_packets": 1e6}
CE, CNP_SENT = "hw_counters/np_ecn_marked_roce_packets", "hw_counters/np_cnp_sent"
CNP_HANDLED = "hw_counters/rp_cnp_handled"
NAK, OUT_OF_SEQUENCE = "hw_counters/packet_seq_err", "hw_counters/out_of_sequence"
TIMEOUTS, RETRIES = "hw_counters/local_ack_timeout_err", "hw_counters/req_transport_retries_exceeded"


class Story:
    """Moves the counters of one port by rates (a second, or functions of the time) until it is closed: the files always hold the counts of
    the moment."""

    def __init__(self, sys, device):
        self.port = f"{sys}/class/infiniband/{device}/ports/1/"
        self.lock, self.rates, self.ends = threading.Lock(), {}, False
        self.values = {f"{folder}/{name}": 0.0 for folder in ("counters", "hw_counters") for name in os.listdir(self.port + folder) if name != "lifespan"}
        self.files = {name: os.open(self.port + name, os.O_WRONLY) for name in self.values}
        self.last = time.monotonic()
        for name in self.values:
            os.ftruncate(self.files[name], 0)
            self.put(name)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def put(self, name):
        """Always the same length: a concurrent reader gets the old value or the new one."""
        os.pwrite(self.files[name], b"%018d\n" % int(self.values[name]), 0)

    def advance(self):
        now = time.monotonic()
        for name, rate in self.rates.items():
            self.values[name] += (rate(now) if callable(rate) else rate) * (now - self.last)
            self.put(name)
        self.last = now

    def run(self):
        while not self.ends:
            with self.lock:
                self.advance()
            time.sleep(0.01)

    def play(self, *rates):
        with self.lock:
            self.advance()
            self.rates = {name: rate for part in rates for name, rate in part.items()}

    def jump(self, name, by):
        with self.lock:
            self.values[name] += by
            self.put(name)

    def reset(self):
        """The driver was reloaded."""
        with self.lock:
            for name in self.values:
                self.values[name] = 0.0
                self.put(name)

    def state(self, text, physical):
        write(self.port + "state", text + "\n")
        write(self.port + "phys_state", physical + "\n")

    def close(self):
        self.ends = True
        self.thread.join()
        for file in self.files.values():
            os.close(file)


# --- the daemon -------------------------------------------------------------------------------


class Node(Daemon):
    def __init__(self, diagnosis=None, flags=(), **more):
        self.stories, self.keys = {}, {"diagnosis": {**QUICK, **(diagnosis or {})}, **more}
        super().__init__(text=self.text(), flags=flags)

    def command(self):
        return [*super().command(), "--port-counters", "--state-dir", self.dir + "/state"]

    def text(self):
        return json.dumps({"pools": [POOL], **self.keys}, indent=1)

    def configure_keys(self, **keys):
        self.keys = keys
        write(self.dir + "/config.json", self.text())

    def __exit__(self, *what):
        for story in self.stories.values():
            story.close()
        return super().__exit__(*what)

    def story(self, device):
        self.stories[device] = Story(self.dir + "/sys", device)
        return self.stories[device]

    def diagnosis(self, query=""):
        text = self.get("/api/v1/diagnosis" + query)
        return json.loads(text) if text else {"verdicts": [], "undecided": [], "ports": [], "notTheNetwork": []}

    def verdict(self, device, cause):
        return next((v for v in self.diagnosis()["verdicts"] if (v["device"], v["cause"]) == (device, cause)), None)

    def watch(self, device):
        return next((p["watch"] for p in self.diagnosis()["ports"] if p["device"] == device), None)

    def judged(self, device):
        eventually(f"{device} is judged", lambda: self.watch(device) == "judged")

    def samples(self):
        """The number of samples; 0 before the first."""
        return self.value("rocelet_samples_total") or 0

    def judge_more(self, n):
        """Waits for n more samples."""
        target = self.samples() + n
        eventually(f"{n} samples", lambda: self.samples() >= target)

    def series(self, family="roce_diagnosis"):
        """{(device, cause): (value, labels)}"""
        found = re.findall(rf'^{family}\{{(.*)\}} (\S+)$', self.get("/metrics"), re.M)
        labels = [(dict(re.findall(r'(\w+)="([^"]*)"', text)), float(value)) for text, value in found]
        return {(l["device"], l["cause"]): (value, l) for l, value in labels}

    def onsets(self, cause):
        return self.value(f'roce_diagnosis_onsets_total{{cause="{cause}"}}')

    def events(self, reason, cause):
        events = json.loads(self.get("/api/v1/events"))["events"]
        return [e for e in events if e["reason"].startswith(reason) and cause in e["message"]]

    def rocectl(self, *words):
        return subprocess.run([ROCECTL, "--socket", self.dir + "/run/rocelet.sock", "diagnose", *words], capture_output=True, text=True, timeout=SOON)

    def restart(self):
        """Kills the daemon and starts it again."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(SOON)
        self.connection = None
        os.unlink(self.dir + "/run/rocelet.sock")
        self.process = subprocess.Popen(self.command(), env=dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1"), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.log = []
        threading.Thread(target=lambda p: daemon_python.base.iter_lines(p.stderr, self.log), args=(self.process,), daemon=True).start()


MARKED = {CE: 5e4, CNP_SENT: 2e4}  # of 1e6 packets a second: 5 %


# --- stories ----------------------------------------------------------------------------------


@check
def marks_at_a_receiver_are_congestion_in_the_fabric():
    with Node() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        equal(node.series(), {})
        equal(node.onsets("fabric_congestion"), 0)
        story.play(TRAFFIC, MARKED)
        eventually("a verdict", lambda: node.verdict(PF, "fabric_congestion"))
        verdict = node.verdict(PF, "fabric_congestion")
        equal((verdict["port"], verdict["netdev"], verdict["function"], verdict["severity"]), (1, "ens1np0", "0000:18:00.0", "warning"))
        evidence = {e["name"]: e for e in verdict["evidence"]}
        assert any(e["threshold"] == 0.01 and 0.01 < e["value"] < 0.1 for e in evidence.values()), evidence
        equal(verdict["firstMoved"], "roce_ecn_ce_received_packets_total")
        assert "<h1" in node.get(verdict["runbook"]), verdict["runbook"]
        value, labels = node.series()[PF, "fabric_congestion"]
        equal(value, 2)
        # The onset's series has the labels of the verdict's and the time in the API.
        at, labels_of_onset = node.series("roce_diagnosis_onset_timestamp_seconds")[PF, "fabric_congestion"]
        equal(labels_of_onset, labels)
        equal(int(at), int(datetime.datetime.fromisoformat(verdict["onset"].replace("Z", "+00:00")).timestamp()))
        equal(node.onsets("fabric_congestion"), 1)
        equal(node.onsets("packet_loss"), 0)
        onset, = node.events("DiagnosisOnset", "fabric_congestion")
        equal((onset["type"], onset["device"], onset["count"]), ("Warning", "0000:18:00.0", 1))
        result = node.rocectl()
        equal(result.returncode, 4)
        assert result.stdout.startswith(f"warning: {PF}/1 (ens1np0): fabric_congestion, since 20"), result.stdout
        for word in ("first moved: roce_ecn_ce_received_packets_total", "(limit 1 %)", "advice: ", "ruled out if: ", " cannot be judged: ", "(why: rocectl diagnose --undecided)"):
            assert word in result.stdout, (word, result.stdout)
        assert "CANNOT BE DECIDED" not in result.stdout and "CANNOT BE DECIDED" in node.rocectl("--undecided").stdout
        equal(json.loads(node.rocectl("-o", "json").stdout)["verdicts"][0]["cause"], "fabric_congestion")
        # Another device has no verdict; an unknown device is an error.
        said = node.rocectl("--since", "1h")  # of a time, open verdicts are listed, too
        equal(said.returncode, 4)
        assert re.search(r"^open .* warning +mlx5_0/1 +fabric_congestion  open ", said.stdout, re.M) and "rocectl: rocelet has run since " in said.stderr, said
        said = node.rocectl("mlx5_1", "--since", "1h")
        equal((said.returncode, said.stdout), (1, ""))
        equal(node.rocectl("mlx5_1").returncode, 0)
        equal(node.rocectl("ens1np0").returncode, 4)
        equal(node.rocectl("eth9").returncode, 1)
        # No verbs device can be opened here: the RoCE MTU follows from the netdev's 9000.
        equal({p["activeMtu"] for p in json.loads(node.get("/api/v1/ports"))["ports"]}, {4096})
        # While it goes on, further samples add neither events nor onsets.
        node.judge_more(20)
        equal((len(node.events("DiagnosisOnset", "")), node.events("DiagnosisOnset", "")[0]["count"], node.onsets("fabric_congestion")), (1, 1, 1))
        story.play(TRAFFIC)
        eventually("its end", lambda: node.series() == {})
        equal(node.series("roce_diagnosis_onset_timestamp_seconds"), {})
        end, = node.events("DiagnosisEnd", "fabric_congestion")
        equal((end["type"], end["count"]), ("Normal", 1))
        assert "is over" in end["message"], end
        equal(node.onsets("fabric_congestion"), 1)
        equal(node.rocectl().returncode, 0)


@check
def a_near_miss_is_silent():
    with Node() as node:
        story = node.story(PF)
        # Marks below the limit, answered; packets out of order now and then; one NAK in ten million.
        story.play(TRAFFIC, {CE: 5e3, CNP_SENT: 2e3, OUT_OF_SEQUENCE: 2, NAK: 0.1})
        node.judged(PF)
        node.judge_more(60)
        equal((node.diagnosis()["verdicts"], node.series(), node.events("Diagnosis", "")), ([], {}, []))
        result = node.rocectl(PF)
        equal(result.returncode, 0)
        assert result.stdout.startswith("no problems "), result.stdout


@check
def naks_are_packet_loss():
    with Node() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        story.play(TRAFFIC, {NAK: 500, OUT_OF_SEQUENCE: 500, TIMEOUTS: 5})
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        eventually("it is critical", lambda: node.series()[PF, "packet_loss"][0] == 3)
        equal(set(node.series()), {(PF, "packet_loss")})
        result = node.rocectl()
        equal(result.returncode, 5)
        assert "roce_sequence_nak_received_total" in result.stdout, result.stdout
        equal(node.onsets("packet_loss"), 1)  # an escalation is no onset


@check
def exhausted_retries_mean_a_peer_that_is_gone():
    with Node() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        story.jump(RETRIES, 3)
        eventually("a verdict", lambda: node.verdict(PF, "peer_gone"))
        v = node.verdict(PF, "peer_gone")
        assert ms_of(v["onset"]) <= ms_of(v["lastSeen"]), (v["onset"], v["lastSeen"])
        assert "roce_transport_retries_exceeded_total" in [e["name"] for e in node.verdict(PF, "peer_gone")["evidence"]]


@check
def a_link_that_goes_down():
    with Node() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        story.play()
        story.state("1: DOWN", "3: Disabled")
        eventually("a verdict", lambda: node.verdict(PF, "link_flap"))
        assert {(e["name"], e["value"]) for e in node.verdict(PF, "link_flap")["evidence"]} >= {("roce_port_state", 1)}
        equal(set(node.series()), {(PF, "link_flap")})
        story.state("4: ACTIVE", "5: LinkUp")
        eventually("its end", lambda: node.events("DiagnosisEnd", "link_flap"))


class Pods:
    """The kubelet's pods on VFs of the first PF."""

    def __init__(self, node, *names):
        self.pods = PodResources(node.dir)
        self.pods.held = [("train", name, "main", "rocelet.dev/roce", f"0000:18:00.{i + 1}") for i, name in enumerate(names)]
        self.kubelet = registered(node)
        checkpoint(node)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kubelet.stop()
        self.pods.stop()


DOWN, UP = ("1: DOWN", "3: Disabled"), ("4: ACTIVE", "5: LinkUp")


@check
def a_pods_port_that_goes_down_alone():
    """By its VF link state, or inside the pod: its PF keeps its link, and no counter shows it."""
    with Node({"settle_seconds": 5, "port_off_seconds": 2}) as node, Pods(node, "llm-0"):
        story, unused = node.story(VF), node.story("mlx5_3")
        story.play(TRAFFIC)
        node.judged(VF)
        eventually("its pod is known", lambda: any(p["held"] for p in node.diagnosis()["ports"] if p["device"] == VF))
        story.play()
        went_down = time.time()
        story.state(*DOWN)
        unused.state(*DOWN)  # no pod has it
        eventually("a verdict", lambda: node.verdict(VF, "port_off"))
        v = node.verdict(VF, "port_off")
        equal((v["severity"], v["pods"], v["podCount"], v["causedBy"]), ("warning", [{"namespace": "train", "name": "llm-0"}], 1, []))
        assert abs(ms_of(v["onset"]) / 1000 - went_down) < 2, (v["onset"], went_down)
        assert "ip link set PF vf N state" in v["advice"], v["advice"]
        equal({e["name"]: e["word"] for e in v["evidence"]}["roce_port_state"], "down")
        equal({key: labels["pod"] for key, (_, labels) in node.series().items()}, {(VF, "port_off"): "llm-0"})
        onset, = node.events("DiagnosisOnset", "port_off")
        equal((onset["type"], onset["pod"]), ("Warning", "llm-0"))
        equal((node.rocectl().returncode, node.rocectl("--pod", "train/llm-0").returncode), (4, 4))
        # A restarted rocelet still knows that the port was up before.
        node.link(v["netdev"], False)
        node.restart()
        eventually("the verdict again", lambda: (node.verdict(VF, "port_off") or {}).get("severity") == "warning")
        story.state(*UP)
        eventually("its end", lambda: node.events("DiagnosisEnd", "port_off"))
        end, = node.events("DiagnosisEnd", "port_off")
        assert re.search(r"port_off is over, lasted \d+ s; at its worst, down for: \d.* s; pods: train/llm-0$", end["message"]), end
        ended, = [e for e in json.loads(node.get("/api/v1/live"))["ended"] if e["cause"] == "port_off"]
        equal((ended["causedBy"], ended["endedAs"]), ([], "cleared"))
        equal(node.series(), {})


@check
def a_noisy_neighbour_has_victims():
    """Every face names both: the pod that causes it, and the pod that shares the port with it, of which no counter shows anything."""
    with Node() as node, Pods(node, "llm-0", "llm-1"):
        for device in (PF, VF, "mlx5_4"):
            node.story(device).play(TRAFFIC)
        for device in (PF, VF, "mlx5_4"):
            node.judged(device)

        def run(*words):
            return subprocess.run([ROCECTL, "--socket", node.dir + "/run/rocelet.sock", *words], capture_output=True, text=True, timeout=SOON)

        eventually("the pods are known", lambda: sum(p["held"] for p in node.diagnosis()["ports"]) == 2)
        node.stories[VF].play({name: 10 * rate for name, rate in TRAFFIC.items()}, {CE: 6e5, CNP_SENT: 2e5})
        eventually("a verdict", lambda: node.verdict(PF, "noisy_neighbour"))
        node.judge_more(3)
        v = node.verdict(PF, "noisy_neighbour")
        equal((v["causedBy"], v["pods"], v["podCount"]), ([{"namespace": "train", "name": "llm-0"}], [{"namespace": "train", "name": "llm-1"}], 1))
        labels = 'device="mlx5_0",port="1",cause="noisy_neighbour",role="'
        found = re.findall(rf'^roce_diagnosis_pod_info\{{{labels}(\w+)",namespace="train",pod="(\S+)"\}} 1$', node.get("/metrics"), re.M)
        equal(sorted(found), [("affected", "llm-1"), ("cause", "llm-0")])
        equal(run("pods", "--no-headers", "--columns", "pod,health,causes").stdout.split(), ["train/llm-0", "warning", "(PF)", "noisy_neighbour", "train/llm-1", "warning", "(PF)", "noisy_neighbour"])
        equal(run("ports", "--no-headers", "--columns", "health,causes", "--pod", "llm-0").stdout.split(), ["warning", "(PF)", "noisy_neighbour"])
        for pod in ("llm-0", "llm-1"):
            said = run("explain", pod).stdout
            assert "Yes: " in said and "caused by train/llm-0 (noisy_neighbour of its PF, warning)" in said, said
            said = run("diagnose", "--pod", pod)
            equal((pod, said.returncode), (pod, 4))
            assert "    affected: train/llm-1\n    caused by: train/llm-0\n" in said.stdout, said.stdout
            assert any(e["reason"] == "DiagnosisOnset" and "noisy" in e["message"] for e in json.loads(node.get(f"/api/v1/events?pod=train/{pod}"))["events"]), pod
        assert "train/llm-1, by train/llm-0" in run("status").stdout, run("status").stdout
        node.stories[VF].play(TRAFFIC)
        eventually("its end", lambda: node.events("DiagnosisEnd", "noisy_neighbour is over"))
        ended = next(e for e in node.diagnosis("?ended=1&pod=llm-0")["ended"] if e["cause"] == "noisy_neighbour")
        equal((ended["causedBy"], ended["pods"]), (v["causedBy"], v["pods"]))
        assert "train/llm-1, by train/llm-0" in run("diagnose", "--ended").stdout, run("diagnose", "--ended").stdout


@check
def one_cable_is_one_verdict():
    with Node({"settle_seconds": 5, "port_off_seconds": 2}) as node, Pods(node, "llm-0", "llm-1"):
        ports = [node.story(device) for device in (PF, VF, "mlx5_4")]
        for story in ports:
            story.play(TRAFFIC)
        for device in (PF, VF, "mlx5_4"):
            node.judged(device)
        eventually("the pods are known", lambda: sum(p["held"] for p in node.diagnosis()["ports"]) == 2)
        node.judge_more(60)  # until their links are judged
        for story in ports:
            story.play()
        for story in ports[1:]:
            story.state(*DOWN)
        node.link("ens1np0", False)
        ports[0].state(*DOWN)
        eventually("a verdict with both pods", lambda: len((node.verdict(PF, "link_flap") or {"pods": []})["pods"]) == 2)
        node.judge_more(3)
        equal((set(node.series()), len(node.diagnosis()["verdicts"])), ({(PF, "link_flap")}, 1))
        v = node.verdict(PF, "link_flap")
        equal((sorted(p["name"] for p in v["pods"]), v["podCount"]), (["llm-0", "llm-1"], 2))
        equal({e["device"] for e in node.events("DiagnosisOnset", "link_flap")}, {"0000:18:00.0"})
        labels = 'device="mlx5_0",port="1",cause="link_flap",role="affected",namespace="train",pod='
        equal(sorted(re.findall(rf'^roce_diagnosis_pod_info\{{{labels}"(\S+)"\}} 1$', node.get("/metrics"), re.M)), ["llm-0", "llm-1"])
        equal([x["device"] for pod in ("llm-0", "train/llm-1") for x in node.diagnosis(f"?pod={pod}")["verdicts"]], [PF, PF])
        equal((v["severity"], v["nodeAction"]), ("critical", "drain"))
        evidence = {e["name"]: e for e in v["evidence"]}
        equal((evidence["times the link went down in 12 h"]["value"], evidence["roce_port_state"]["word"], evidence["roce_port_state"]["threshold"]),
              (1, "down", None))
        # The cable is back, one VF is not.
        node.link("ens1np0", True)
        ports[0].state(*UP)
        ports[1].state(*UP)
        eventually("that VF's own verdict", lambda: node.verdict("mlx5_4", "port_off"))
        eventually("the end of the cable's", lambda: set(node.series()) == {("mlx5_4", "port_off")})
        # It was critical, and remains so in the past.
        ended, = [e for e in node.diagnosis("?ended=1")["ended"] if e["cause"] == "link_flap"]
        equal((ended["severity"], ended["level"], ended["nodeAction"]), ("critical", 3, "drain"))
        # Pulled again, it explains that one, too, which therefore has not ended.
        node.link("ens1np0", False)
        ports[0].state(*DOWN)
        eventually("the VF's verdict is explained", lambda: node.events("DiagnosisEnd", "port_off"))
        end, = node.events("DiagnosisEnd", "port_off")
        assert "mlx5_4 port 1: port_off is now explained by link_flap of mlx5_0; pods: train/llm-1" in end["message"], end
        equal([e["explainedBy"] for e in json.loads(node.get("/api/v1/live"))["ended"] if e["cause"] == "port_off"], ["link_flap"])
        equal([e for e in node.diagnosis("?ended=1")["ended"] if e["cause"] == "port_off"], [])


@check
def one_congestion_is_one_verdict():
    """Marks on a PF and on the VFs of its pods: one problem, one series, and each cause once in every list."""
    with Node() as node, Pods(node, "llm-0", "llm-1"):
        for device in (PF, VF, "mlx5_4"):
            node.story(device).play(TRAFFIC)
        for device in (PF, VF, "mlx5_4"):
            node.judged(device)

        def run(*words):
            return subprocess.run([ROCECTL, "--socket", node.dir + "/run/rocelet.sock", *words], capture_output=True, text=True, timeout=SOON)

        eventually("the pods are known", lambda: sum(p["held"] for p in node.diagnosis()["ports"]) == 2)
        for device in (PF, VF, "mlx5_4"):
            node.stories[device].play(TRAFFIC, MARKED)
        eventually("one verdict", lambda: set(node.series()) == {(PF, "fabric_congestion")})
        equal(sorted(p["name"] for p in node.verdict(PF, "fabric_congestion")["pods"]), ["llm-0", "llm-1"])
        assert "1 problem: 1 warning" in run("status").stdout, run("status").stdout
        equal(run("pods", "--no-headers", "--columns", "pod,causes").stdout.split(), ["train/llm-0", "fabric_congestion", "train/llm-1", "fabric_congestion"])
        # Without that of the PF, each VF has its own.
        node.stories[PF].play(TRAFFIC)
        eventually("their own", lambda: set(node.series()) == {(VF, "fabric_congestion"), ("mlx5_4", "fabric_congestion")})


class SevenVfs(Node):
    """One PF with more VFs than pods in the text of an event."""

    @staticmethod
    def make(dir):
        daemon_python.make_tree(dir)
        shutil.rmtree(dir + "/sys")
        subprocess.run([daemon_python.programs["mk_sysfs"], dir + "/sys", "1", "7", "upstream"], env=dict(os.environ, BUS="1"), check=True, stdout=subprocess.DEVNULL)


@check
def an_event_belongs_to_each_of_its_pods():
    """Also to those that its text only counts."""
    names = [f"llm-{i}" for i in range(7)]
    with SevenVfs() as node, Pods(node, *names):
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        eventually("the pods are known", lambda: sum(p["held"] for p in node.diagnosis()["ports"]) == len(names))
        story.play()
        node.link("ens1np0", False)
        story.state(*DOWN)
        eventually("a verdict", lambda: (node.verdict(PF, "link_flap") or {"podCount": 0})["podCount"] == len(names))
        onset, = node.events("DiagnosisOnset", "link_flap")
        equal(sorted(p["name"] for p in onset["pods"]), names)
        assert "and 1 more" in onset["message"], onset
        for name in names:
            found = json.loads(node.get(f"/api/v1/events?pod=train/{name}"))["events"]
            assert any(e["reason"] == "DiagnosisOnset" for e in found), name


@check
def a_link_that_goes_down_does_not_wait_for_the_next_sample():
    interval = 200  # longer than anything is waited for
    with Node({**{key: 2 * interval for key in QUICK}, "settle_seconds": 0}, flags=["--sample-interval", str(interval)]) as node:
        story = node.story(PF)
        eventually("a sample", lambda: node.diagnosis()["ports"])
        story.state("1: DOWN", "3: Disabled")
        eventually("a verdict", lambda: node.verdict(PF, "link_flap"))


@check
def an_address_that_returns_under_another_index():
    with Node() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        story.play()
        gid = open(story.port + "gids/3").read()
        for name in ("gids", "gid_attrs/types", "gid_attrs/ndevs"):
            os.rename(f"{story.port}{name}/3", f"{story.port}{name}/5")
        story.state("1: DOWN", "3: Disabled")
        eventually("a verdict", lambda: node.verdict(PF, "link_flap"))
        story.state("4: ACTIVE", "5: LinkUp")
        eventually("the remark", lambda: "another GID index" in ((node.verdict(PF, "link_flap") or {}).get("remark") or ""))
        assert gid == open(story.port + "gids/5").read()
        equal(node.onsets("link_flap"), 1)


# --- settings of ports -------------------------------------------------------------------------


def put_in_slot(sys, function, slot, width):
    """Below a port of the root complex, both of which could do 16 lanes."""
    bus, devices = sys + "/bus/pci/devices/", sys + "/devices/pci0000:00/"
    if not os.path.isdir(devices + slot):
        os.mkdir(devices + slot)
        os.symlink("../" + function, f"{devices}{slot}/{function}")
        os.symlink(f"../../../devices/pci0000:00/{slot}", bus + slot)
        os.unlink(bus + function)
        os.symlink(f"../../../devices/pci0000:00/{slot}/{function}", bus + function)
    for end in (slot, function):
        for name, text in (("current_link_speed", "16.0 GT/s PCIe"), ("max_link_speed", "16.0 GT/s PCIe"), ("current_link_width", width), ("max_link_width", 16)):
            write(f"{bus}{end}/{name}", f"{text}\n")


def is_undecided(node, device, cause):
    return any((u["device"], u["cause"]) == (device, cause) for u in node.diagnosis()["undecided"])


@check
def a_card_that_has_lost_its_lanes():
    with Node() as node:
        sys = node.dir + "/sys"
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        assert is_undecided(node, PF, "pcie_degraded")
        put_in_slot(sys, "0000:18:00.0", "0000:00:01.0", 8)
        eventually("a verdict", lambda: node.verdict(PF, "pcie_degraded"))
        evidence = {e["name"]: e for e in node.verdict(PF, "pcie_degraded")["evidence"]}
        equal((evidence["PCIe lanes"]["value"], evidence["PCIe lanes"]["threshold"]), (8, 16))
        equal(node.series()[PF, "pcie_degraded"][0], 2)
        put_in_slot(sys, "0000:18:00.0", "0000:00:01.0", 16)
        eventually("its end", lambda: node.events("DiagnosisEnd", "pcie_degraded"))
        assert "is over" in node.events("DiagnosisEnd", "pcie_degraded")[0]["message"]
        assert not is_undecided(node, PF, "pcie_degraded")
        os.unlink(sys + "/bus/pci/devices/0000:18:00.0/current_link_width")
        eventually("it cannot be decided", lambda: is_undecided(node, PF, "pcie_degraded"))


# --- pods of devices --------------------------------------------------------------------------


@check
def a_pod_is_named_with_its_device():
    with Node() as node:
        pods = PodResources(node.dir)
        pods.held = [("train", "job-7", "main", "rocelet.dev/roce", VF_FUNCTION)]
        kubelet = registered(node)
        checkpoint(node)
        story = node.story(VF)
        story.play(TRAFFIC)
        node.judged(VF)
        story.play(TRAFFIC, MARKED)
        eventually("a verdict", lambda: node.verdict(VF, "fabric_congestion"))
        equal(node.verdict(VF, "fabric_congestion")["pods"], [{"namespace": "train", "name": "job-7"}])
        value, labels = node.series()[VF, "fabric_congestion"]
        equal((value, labels["namespace"], labels["pod"], labels["container"], labels["port"]), (2, "train", "job-7", "main", "1"))
        onset, = node.events("DiagnosisOnset", "fabric_congestion")
        equal((onset["namespace"], onset["pod"], onset["device"]), ("train", "job-7", VF_FUNCTION))
        for pod, status in (("job-7", 4), ("train/job-7", 4), ("other/job-7", 1), ("job-8", 1)):
            equal((pod, node.rocectl("--pod", pod).returncode), (pod, status))
        equal(node.rocectl("--pod", "job-8").stderr, "rocectl: job-8 has no device on this node; did you mean train/job-7?\n")
        assert "affected: train/job-7" in node.rocectl("--pod", "job-7").stdout
        equal({p["device"] for p in node.diagnosis("?pod=train/job-7")["ports"]}, {VF})
        kubelet.stop()
        pods.stop()


@check
def a_pod_whose_device_is_unhealthy():
    """Its port is active and no counter moves: every face that names the pod or its port has the device's health, since when, and the pod."""
    metric = "rocelet_device_unhealthy_onset_timestamp_seconds"
    with Node() as node, Pods(node, "llm-0", "llm-1"):
        for device in (PF, VF, "mlx5_4"):
            node.story(device).play(TRAFFIC)
        for device in (VF, "mlx5_4"):
            node.judged(device)

        def run(*words):
            return subprocess.run([ROCECTL, "--socket", node.dir + "/run/rocelet.sock", *words], capture_output=True, text=True, timeout=SOON)

        def port(device):
            return next(p for p in json.loads(node.get("/api/v1/ports"))["ports"] if p["device"] == device)

        def pod(name):
            return next(p for p in json.loads(node.get("/api/v1/pods"))["pods"] if p["name"] == name)["containers"][0]["devices"][0]

        eventually("the pods are well", lambda: (port(VF)["health"], pod("llm-0")["health"]) == ("ok", "ok"))
        equal(run("pods", "--no-headers", "--columns", "pod,health,causes").stdout.split(), ["train/llm-0", "ok", "-", "train/llm-1", "ok", "-"])
        before = time.time()
        node.link("ens1v0", False)
        eventually("it is unhealthy", lambda: pod("llm-0")["health"] == "critical")
        trouble, = port(VF)["troubles"]
        equal(pod("llm-0")["troubles"], [trouble])
        equal((trouble["kind"], trouble["word"], trouble["severity"], trouble["orEarlier"]), ("device", "link_down", "critical", False))
        assert abs(ms_of(trouble["since"]) / 1000 - before) < 2, (trouble, before)
        equal((port("mlx5_4")["health"], pod("llm-1")["troubles"]), ("ok", []))
        offer = node.offer(VF_FUNCTION)
        equal((offer["unhealthySince"], offer["orEarlier"]), (trouble["since"], False))
        labels = f'resource="rocelet.dev/roce",id="{VF_FUNCTION}",namespace="train",pod="llm-0",container="main"'
        eventually("the metric", lambda: abs((node.value(f"{metric}{{{labels}}}") or 0) - ms_of(trouble["since"]) / 1000) < 0.01)
        equal(len(re.findall(f"^{metric}{{", node.get("/metrics"), re.M)), 1)
        equal(run("pods", "--no-headers", "--columns", "pod,health,causes").stdout.split(), ["train/llm-0", "critical", "link_down", "train/llm-1", "ok", "-"])
        equal(run("ports", "--no-headers", "--columns", "health,causes", "--pod", "llm-0").stdout.split(), ["critical", "link_down"])
        since = f"link_down, since {trouble['since'][:19]}Z ("
        for words in (("diagnose", "--pod", "train/llm-0"), ("diagnose", "llm-0"), ("diagnose", VF), ("diag",)):
            said = run(*words)
            equal((words, said.returncode), (words, 5))
            for text in (f"critical: {VF_FUNCTION} (mlx5_2, ens1v0): {since}", "affected: train/llm-0\n", "advice: Its PF has a link"):
                assert text in said.stdout, (words, text, said.stdout)
            assert "no problems " not in said.stdout, said.stdout
        equal(run("diagnose", "--pod", "llm-1").returncode, 0)
        eventually("an event", lambda: any(e["reason"] == "Unhealthy" for e in json.loads(node.get("/api/v1/events?pod=train/llm-0"))["events"]))
        assert "Unhealthy  train/llm-0  0000:18:00.1  the device of rocelet.dev/roce is unhealthy: link_down" in run("diagnose", "llm-0").stdout
        assert "crit: link_down" in run("top").stdout, run("top").stdout
        for words in (("explain", VF), ("explain", "llm-0"), ("devices", "--device", VF), ("doctor",)):
            assert f"link_down since {trouble['since'][:19]}Z" in run(*words).stdout, (words, run(*words).stdout)
        said = run("node-problem", "rdma")
        equal((said.returncode, said.stdout), (1, f"link_down (critical) of {VF_FUNCTION}\n"))
        # What no device has is a pod, or the nearest name.
        said = run("diagnose", "lm-0")
        equal((said.returncode, said.stderr), (1, "rocectl: this node has no device lm-0, and no pod with that name has a device; did you mean train/llm-0?\n"))
        assert "did you mean ens1v" in run("explain", "ens1v00").stderr, run("explain", "ens1v00").stderr
        node.link("ens1v0", True)
        eventually("it is healthy again", lambda: (port(VF)["health"], pod("llm-0")["troubles"]) == ("ok", []))
        eventually("the end of it", lambda: any(e["reason"] == "Healthy" for e in json.loads(node.get("/api/v1/events?pod=train/llm-0"))["events"]))
        eventually("no metric", lambda: f"{metric}{{" not in node.get("/metrics"))
        # Another start judges it first when it is unhealthy already.
        node.link("ens1v0", False)
        eventually("unhealthy", lambda: pod("llm-0")["health"] == "critical")
        node.restart()
        eventually("it may be older", lambda: re.search(r'"word":"link_down"[^}]*"orEarlier":true', node.get("/api/v1/pods") or ""))
        assert re.search(r"link_down, since \S+Z or earlier \(", run("diagnose", "llm-0").stdout), run("diagnose", "llm-0").stdout


# --- what is no reason for a verdict, or none any more -----------------------------------------


@check
def a_restart_is_warming_and_never_healthy():
    with Node({"warming_seconds": 600}) as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        eventually("it is watched", lambda: node.watch(PF) == "warming")
        node.restart()
        eventually("it is watched again", lambda: node.watch(PF) is not None)
        equal({p["watch"] for p in node.diagnosis()["ports"]}, {"warming"})
        node.judge_more(10)
        result = node.rocectl()
        equal(result.returncode, 0)
        assert result.stdout.startswith("no verdict yet\n"), result.stdout
        assert "watched for too short a time to be called healthy: mlx5_0/1" in result.stdout and "no problems " not in result.stdout, result.stdout
        equal(node.diagnosis()["notTheNetwork"], [])
        # A problem that has lasted since before the start is found, too.
        story.play(TRAFFIC, MARKED)
        eventually("a verdict", lambda: node.verdict(PF, "fabric_congestion"))


def remove_rdma(node, device):
    os.unlink(f"{node.dir}/sys/class/infiniband/{device}")
    for folder, folders, _files in os.walk(node.dir + "/sys/devices"):
        if device in folders and folder.endswith("/infiniband"):
            shutil.rmtree(f"{folder}/{device}")


@check
def a_card_without_its_driver():
    with Node() as node:
        function = os.path.basename(os.path.realpath(f"{node.dir}/sys/class/infiniband/{OTHER_PF}/device"))
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        driver = f"{node.dir}/sys/bus/pci/devices/{function}/driver"
        to = os.readlink(driver)
        remove_rdma(node, OTHER_PF)
        os.unlink(driver)
        eventually("a verdict on the function", lambda: node.verdict(function, "nic_stuck"))
        equal((node.series()[function, "nic_stuck"][0], node.verdict(PF, "nic_stuck")), (3, None))
        assert "no RDMA device" in json.dumps(node.verdict(function, "nic_stuck"))
        os.symlink(to, driver)
        eventually("its end", lambda: node.events("DiagnosisEnd", "nic_stuck"))


@check
def a_device_that_vanishes_closes_its_verdict():
    with Node({"hold_seconds": 600}) as node:
        story = node.story(VF)
        story.play(TRAFFIC)
        node.judged(VF)
        story.play(TRAFFIC, MARKED)
        eventually("a verdict", lambda: (VF, "fabric_congestion") in node.series())
        story.close()
        del node.stories[VF]
        remove_rdma(node, VF)
        eventually("its end", lambda: node.series() == {})
        end, = node.events("DiagnosisEnd", "fabric_congestion")
        assert "over, the port was removed, lasted " in end["message"], end
        equal(end["device"], VF_FUNCTION)
        equal((node.watch(VF), node.verdict(VF, "fabric_congestion")), (None, None))
        node.judge_more(5)
        equal(len(node.events("DiagnosisEnd", "")), 1)


@check
def counters_that_start_over_are_no_verdict():
    with Node() as node:
        story = node.story(PF)
        story.play(TRAFFIC, {CE: 5e3, CNP_SENT: 2e3})
        node.judged(PF)
        for _ in range(3):
            story.reset()
            node.judge_more(5)
        eventually("the resets are counted", lambda: next(p["resets"] for p in node.diagnosis()["ports"] if p["device"] == PF) >= 1)
        node.judge_more(20)
        equal((node.diagnosis()["verdicts"], node.events("Diagnosis", "")), ([], []))


# --- recordings ---------------------------------------------------------------------------------


def ms_of(utc):
    return round(1000 * datetime.datetime.fromisoformat(utc.replace("Z", "+00:00")).timestamp())


@check
def a_replayed_recording_gives_the_same_verdict():
    with Node() as node:
        pods = PodResources(node.dir)
        pods.held = [("train", "job-7", "main", "rocelet.dev/roce", VF_FUNCTION)]
        kubelet = registered(node)
        checkpoint(node)
        story = node.story(VF)
        story.play(TRAFFIC)
        node.judged(VF)
        file = node.dir + "/node.jsonl"
        started = time.time()
        recorder = subprocess.Popen([ROCECTL, "--socket", node.dir + "/run/rocelet.sock", "diagnose", "--record", "4", "--write", file],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        eventually("it is recorded", lambda: os.path.exists(file) and len(open(file).readlines()) > 5)
        story.play(TRAFFIC, MARKED)
        eventually("a verdict", lambda: node.verdict(VF, "fabric_congestion"))
        live = node.verdict(VF, "fabric_congestion")
        out, err = recorder.communicate(timeout=SOON)
        equal((recorder.returncode, out), (0, ""))
        lines = [json.loads(line) for line in open(file)]
        equal(err, f"rocectl: {len(lines) - 1} samples\n")
        equal(lines[0]["thresholds"]["hold_seconds"], 1)
        assert started - 1 < lines[0]["start"] < time.time(), (started, lines[0])
        equal(lines[1]["t"], 0)
        assert 4 <= lines[-1]["t"] < 60, lines[-1]["t"]
        # Unchanged members are recorded once.
        first, last = ({p["device"]: p for p in line["ports"]}[VF] for line in (lines[1], lines[-1]))
        equal((first["pods"], "pods" in last, "values" in last), ([{"namespace": "train", "name": "job-7", "ended": False}], False, True))
        result = subprocess.run([ROCECTL, "diagnose", "-o", "json", "--replay", file], capture_output=True, text=True, timeout=SOON)
        equal((result.returncode, result.stderr), (4, ""))  # as diagnose on the live node
        opened = [e["verdict"] for e in json.loads(result.stdout)["events"] if e["event"] == "opened"]
        equal([(v["device"], v["cause"], v["pods"], v["firstMoved"]) for v in opened], [(VF, live["cause"], live["pods"], live["firstMoved"])])
        # From two clocks, each truncated to milliseconds.
        assert abs(ms_of(opened[0]["onset"]) - ms_of(live["onset"])) <= 1, (opened[0]["onset"], live["onset"])
        # To standard output; then wrong command lines.
        short = node.rocectl("--record", "1")
        equal(short.returncode, 0)
        assert json.loads(short.stdout.splitlines()[0])["scenario"] == "recorded"
        for words in (["--record", "0"], ["--record", "x"], ["--record", "1", VF], ["--record", "1", "--replay", file], ["--write", file]):
            equal((words, node.rocectl(*words).returncode), (words, 2))
        equal(node.rocectl("--record", "1", "--write", "/dev/null/x").returncode, 1)
        kubelet.stop()
        pods.stop()
    away = subprocess.run([ROCECTL, "--socket", "/nonexistent.sock", "diagnose", "--record", "1"], capture_output=True, text=True, timeout=SOON)
    equal((away.returncode, away.stdout), (3, ""))


# --- the configuration ------------------------------------------------------------------------


@check
def bursts_within_a_second_are_found():
    """Half of the packets are marked for 400 ms of each 2 s: samples see a tenth of them."""
    with Node({"burst_reads": 5000, "burst_seconds": 60}) as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)

        def series(name, device):
            return node.value(f'{name}{{device="{device}",port="1"}}')

        equal(series("roce_ecn_ce_peak_ratio", PF), None)
        story.play(TRAFFIC, {CE: lambda now: 5e5 if now % 2 < 0.4 else 0})
        eventually("a peak", lambda: (series("roce_ecn_ce_peak_ratio", PF) or 0) > 0.4)
        # Most windows had no marks; ports and signals without burst reads have no series.
        eventually("windows", lambda: (series("roce_ecn_ce_window_ratio_count", PF) or 0) >= 40, 3 * SOON)
        buckets = [node.value(f'roce_ecn_ce_window_ratio_bucket{{device="{PF}",port="1",le="{le}"}}') for le in ("0.0", "0.25", "1.0", "+Inf")]
        equal(buckets, sorted(buckets))
        assert buckets[0] > buckets[3] / 2, buckets
        mean = series("roce_ecn_ce_window_ratio_sum", PF) / series("roce_ecn_ce_window_ratio_count", PF)
        assert mean < 0.25, mean
        equal(series("roce_ecn_ce_peak_ratio", VF), None)
        equal(node.value(f'roce_pfc_pause_peak_ratio{{device="{PF}",port="1",direction="sent"}}'), None)
        # Without a budget there are no more burst reads.
        node.configure_keys(diagnosis={**QUICK, "burst_reads": 0})
        eventually("it is in use", lambda: json.loads(node.get("/api/v1/config"))["diagnosis"]["burst_reads"] == 0)
        node.judge_more(2)
        read = node.value("rocelet_burst_reads_total")
        assert read > 20, read
        node.judge_more(8)
        equal(node.value("rocelet_burst_reads_total"), read)


@check
def limits_are_followed():
    with Node() as node:
        story = node.story(PF)
        story.play(TRAFFIC, {CE: 5e3, CNP_SENT: 2e3})
        node.judged(PF)
        node.judge_more(20)
        equal(node.diagnosis()["verdicts"], [])
        node.configure_keys(**{"diagnosis": {**QUICK, "ce_share_warning": 0.002}, "expect-congestion-control": "dcqcn"})
        eventually("a verdict", lambda: node.verdict(PF, "fabric_congestion"))
        config = json.loads(node.get("/api/v1/config"))
        equal((config["diagnosis"]["ce_share_warning"], config["expect-congestion-control"]), (0.002, "dcqcn"))
        # A wrong value changes nothing; the log names its line.
        for key, value, why in (("ce_share_warnin", 1, 'unknown key, did you mean "ce_share_warning"?'), ("ce_share_warning", "1", "is not a number"),
                                ("ce_share_warning", 2, "2 is not between 0 and 1"), ("release_seconds", 0.1, "0.1 is not between 1 and 3600")):
            node.configure_keys(diagnosis={**QUICK, key: value})
            line = 1 + next(i for i, text in enumerate(node.text().splitlines()) if f'"{key}"' in text)
            sentence = f'/config.json:{line}: "diagnosis.{key}": {why}, keeping the configuration in use'
            eventually(sentence, lambda: any(sentence in entry for entry in node.log))
            equal(json.loads(node.get("/api/v1/config"))["diagnosis"]["ce_share_warning"], 0.002)
        for text, why in (('{"diagnosis": []}', 'config.json:1: "diagnosis": is not an object'), ('{"diagnosis": {"hold_seconds": NaN}}', "config.json:1: "),
                          ('{"expect-congestion-control": "ecn"}', "'ecn' is none of unknown, dcqcn, pfc_only, lossy")):
            write(node.dir + "/config.json", text)
            eventually(why, lambda: any(why in entry for entry in node.log))
        assert node.verdict(PF, "fabric_congestion")


@check
def a_window_has_two_samples():
    with Node() as node:
        def check_config(text, *flags):
            write(node.dir + "/other.json", text)
            command = [daemon_python.programs["daemon"], "--config", node.dir + "/other.json", *flags, "--print-config"]
            return subprocess.run(command, capture_output=True, text=True, timeout=SOON)

        short = '{\n "sample-interval": 30,\n "diagnosis": {\n  "hold_seconds": 1,\n  "release_seconds": 40}}'
        result = check_config(short)
        equal(result.returncode, 2)
        assert 'other.json:5: "diagnosis.release_seconds": 40 is less than twice the sample-interval' in result.stderr, result.stderr
        equal(check_config(short, "--sample-interval", "20").returncode, 0)
        # Defaults follow the interval, and the printed configuration is valid input.
        printed = check_config("{}", "--sample-interval", "30")
        equal((json.loads(printed.stdout)["diagnosis"]["stale_source_seconds"], json.loads(printed.stdout)["diagnosis"]["hold_seconds"]), (60, 60))
        equal(check_config(printed.stdout).stdout, printed.stdout)
        longest = check_config("{}", "--sample-interval", "3600")
        equal(check_config(longest.stdout).stdout, longest.stdout)


@check
def a_verdict_does_not_affect_readiness():
    with Node() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        story.play(TRAFFIC, {NAK: 500})
        eventually("it is critical", lambda: node.series().get((PF, "packet_loss"), (0,))[0] == 3)
        # Not ready only because no kubelet runs on this node.
        _status, text = daemon_python.curl(node, "/readyz")
        assert "the kubelet" in text and "packet_loss" not in text, text


def main():
    global ROCECTL
    daemon_python.programs["daemon"], daemon_python.programs["mk_sysfs"], ROCECTL = sys.argv[1:4]
    failed = run_checks(checks, sys.argv[4:])
    os._exit(failed)  # a kubelet's threads never end


if __name__ == "__main__":
    main()
