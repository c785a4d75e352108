# SPDX-License-Identifier: Apache-2.0
"""An Ethernet switch between virtual machines, whose ports can have a rate, a delay and congestion.

    switch.py run CONTROL PORT_SOCKET..           ports 0, 1, ..: the other ends of QEMU's "-netdev dgram"
    switch.py ask CONTROL set PORT KEY=VALUE..    settings of frames leaving there: rate=BIT/S delay=S mark=BYTES limit=BYTES; "off" resets them
    switch.py ask CONTROL counters PORT           frames that left there, marked ones among them, and dropped ones

It is a program because the kernels of many hosts have neither netem nor RED. Frames wait at the port they leave by: each needs its time at the port's
rate, and then the delay. With more than `mark` bytes waiting before it, an ECN-capable frame gets CE; a frame that would exceed `limit` is
dropped. QEMU binds PORT_SOCKET.vm and sends to PORT_SOCKET.
"""
import collections, selectors, socket, struct, sys, time

FRAME_MAX = 65536
WITHOUT = {"rate": float("inf"), "delay": 0.0, "mark": float("inf"), "limit": float("inf")}
VLAN_TAGS = (b"\x81\x00", b"\x88\xa8")
IPV4, IPV6 = b"\x08\x00", b"\x86\xdd"


class Port:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.setblocking(False)
        self.peer = path + ".vm"
        self.connected = False
        self.settings = dict(WITHOUT)
        self.queue = collections.deque()  # (time to send, frame)
        self.waiting = 0  # bytes in it
        self.last_bit = 0.0  # when the rate allows the next frame
        self.left = self.marked = self.dropped = 0

    def set(self, words):
        for word in words:
            key, _, value = word.partition("=")
            if word == "off":
                self.settings = dict(WITHOUT)
            elif key in WITHOUT:
                self.settings[key] = float(value)
            else:
                raise ValueError(f"no setting {word}")

    def put(self, frame, now):
        if self.waiting + len(frame) > self.settings["limit"]:
            self.dropped += 1
            return
        marked = congestion_experienced(frame) if self.waiting > self.settings["mark"] else None
        if marked:
            self.marked += 1
        self.last_bit = max(self.last_bit, now) + len(frame) * 8 / self.settings["rate"]
        due = self.last_bit + self.settings["delay"]
        if self.queue:  # never before the previous frame, which may have had other settings
            due = max(due, self.queue[-1][0])
        self.queue.append((due, marked or frame))
        self.waiting += len(frame)

    def due_in(self, now):
        return max(0.0, self.queue[0][0] - now) if self.queue else None

    def send_due(self, now):
        """Returns false if the machine accepts no more for now."""
        while self.queue and self.queue[0][0] <= now:
            frame = self.queue[0][1]
            try:
                if not self.connected:
                    self.socket.connect(self.peer)
                    self.connected = True
                self.socket.send(frame)
                self.left += 1
            except BlockingIOError:
                return False
            except OSError:  # the machine does not run yet, or no longer
                self.connected = False
                self.dropped += 1
            self.queue.popleft()
            self.waiting -= len(frame)
        return True


def congestion_experienced(frame):
    """The frame with its ECN field set to CE; None if its sender is not ECN-capable (RFC 3168, section 5)."""
    at = 12
    while frame[at : at + 2] in VLAN_TAGS:
        at += 4
    kind, ip = frame[at : at + 2], at + 2
    out = bytearray(frame)
    if kind == IPV4 and len(frame) >= ip + 20:
        ecn = frame[ip + 1] & 3
        out[ip + 1] |= 3
        # RFC 1624, equation 3, for a field that grows by 3 - ecn.
        total = (~struct.unpack_from("!H", frame, ip + 10)[0] & 0xFFFF) + 3 - ecn
        struct.pack_into("!H", out, ip + 10, ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
    elif kind == IPV6 and len(frame) >= ip + 40:
        ecn = frame[ip + 1] >> 4 & 3
        out[ip + 1] |= 0x30
    else:
        return None
    return bytes(out) if ecn in (1, 2) else None


class Switch:
    def __init__(self, control, paths):
        self.ports = [Port(path) for path in paths]
        self.where = {}  # MAC -> port
        self.selector = selectors.DefaultSelector()
        for port in self.ports:
            self.selector.register(port.socket, selectors.EVENT_READ, port)
        self.control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.control.bind(control)
        self.control.listen()
        self.selector.register(self.control, selectors.EVENT_READ)

    def run(self):
        while True:
            self.turn()

    def turn(self):
        now, wait = time.monotonic(), None
        for port in self.ports:
            events, due = selectors.EVENT_READ, None
            if port.send_due(now):
                due = port.due_in(now)
            else:
                events |= selectors.EVENT_WRITE
            self.selector.modify(port.socket, events, port)
            wait = due if wait is None else wait if due is None else min(wait, due)
        for key, events in self.selector.select(wait):
            if key.fileobj is self.control:
                self.answer()
            elif events & selectors.EVENT_READ:
                self.receive(key.data)

    def receive(self, source):
        for _ in range(64):  # then the other ports' turn
            try:
                frame = source.socket.recv(FRAME_MAX)
            except BlockingIOError:
                return
            if len(frame) >= 14:
                self.forward(source, frame, time.monotonic())

    def forward(self, source, frame, now):
        to, sender = frame[:6], frame[6:12]
        if not sender[0] & 1:
            self.where[sender] = source
        port = self.where.get(to)
        for port in [port] if port else self.ports:
            if port is not source:
                port.put(frame, now)

    def answer(self):
        connection, _ = self.control.accept()
        with connection, connection.makefile("rw") as file:
            try:
                command, port, *words = file.readline().split()
                port = self.ports[int(port)]
                if command == "set":
                    port.set(words)
                    print(port.settings, file=file)
                elif command == "counters":
                    print(port.left, port.marked, port.dropped, file=file)
                else:
                    raise ValueError(f"no command {command}")
            except (ValueError, IndexError) as error:
                print("error:", error, file=file)


def ask(control, words):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(control)
        connection.sendall(" ".join(words).encode() + b"\n")
        answer = connection.makefile().read().strip()
    print(answer)
    return answer.startswith("error:")


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        sys.exit(ask(sys.argv[2], sys.argv[3:]))
    Switch(sys.argv[2], sys.argv[3:]).run()
