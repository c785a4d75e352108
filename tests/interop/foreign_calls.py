# SPDX-License-Identifier: Apache-2.0
"""Has a child process make system calls, as a debugger would: its main thread is stopped, executes a `syscall` instruction of its C library with
registers set by us, and continues where it was.

Only general registers are written: debuggers that write all of them fail on processors with more state than they support.
"""
import ctypes
import os
import re
import signal
import struct

# linux/ptrace.h, linux/elf.h
DETACH, SINGLESTEP, GETREGSET, SETREGSET, SEIZE, INTERRUPT, NT_PRSTATUS = 17, 9, 0x4204, 0x4205, 0x4206, 0x4207, 1
RED_ZONE = 512  # below the stack pointer, where no data are
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long


class Machine:
    """struct user_regs_struct: the index of each register, in words."""
    def __init__(self, words, number, arguments, result, pc, sp, instruction, restart):
        self.words, self.number, self.arguments, self.result, self.pc, self.sp = words, number, arguments, result, pc, sp
        self.instruction = instruction
        self.restart = restart  # marks a call as interrupted, to be restarted


MACHINE = {
    # sys/user.h of x86_64: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ..
    "x86_64": Machine(27, 10, (14, 13, 12, 7, 9, 8), 10, 16, 19, b"\x0f\x05", 15),
    # of aarch64: x0 to x30, sp, pc, pstate
    "aarch64": Machine(34, 8, (0, 1, 2, 3, 4, 5), 0, 32, 31, b"\x01\x00\x00\xd4", None),
}[os.uname().machine]


class Registers(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


def ptrace(request, pid, address=None, data=None):
    if LIBC.ptrace(request, pid, address, data) < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"ptrace {request}: {os.strerror(code)}")


def get_registers(pid):
    words = (ctypes.c_ulong * MACHINE.words)()
    ptrace(GETREGSET, pid, NT_PRSTATUS, ctypes.byref(Registers(ctypes.addressof(words), ctypes.sizeof(words))))
    return list(words)


def set_registers(pid, values):
    words = (ctypes.c_ulong * MACHINE.words)(*values)
    ptrace(SETREGSET, pid, NT_PRSTATUS, ctypes.byref(Registers(ctypes.addressof(words), ctypes.sizeof(words))))


def stops(pid):
    """Waits for a stop; False if the process has ended. Leaves its status for its parent to collect."""
    seen = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    if seen.si_code not in (os.CLD_TRAPPED, os.CLD_STOPPED):
        return False
    os.waitid(os.P_PID, pid, os.WSTOPPED)
    return True


def call_instruction(pid, memory):
    """The address of the instruction in the C library."""
    with open(f"/proc/{pid}/maps") as f:
        start, end = next((int(a, 16), int(b, 16)) for a, b in re.findall(r"^(\w+)-(\w+) r-xp .*/libc\.so\.6$", f.read(), re.M))
    memory.seek(start)
    text, step, at = memory.read(end - start), len(MACHINE.instruction) if MACHINE.restart is None else 1, -1
    while (at := text.find(MACHINE.instruction, at + 1)) % step:
        pass
    return start + at


def prepare(memory, registers, number, arguments):
    """Returns the registers for the call; writes strings below the stack."""
    wanted, room = list(registers), registers[MACHINE.sp] - RED_ZONE
    wanted[MACHINE.number] = number
    if MACHINE.restart is not None:
        wanted[MACHINE.restart] = (1 << 64) - 1
    for at, argument in zip(MACHINE.arguments, arguments):
        if isinstance(argument, str):
            text = os.fsencode(argument) + b"\0"
            room -= len(text)
            memory.seek(room)
            memory.write(text)
            argument = room
        wanted[at] = argument % (1 << 64)
    return wanted


def foreign_calls(pid, *wanted):
    """wanted: (NUMBER, ARGUMENT..) each. Returns the results, negative errno for errors; fewer results than calls: one of them has ended the process."""
    answers = []
    ptrace(SEIZE, pid)
    ptrace(INTERRUPT, pid)
    if not stops(pid):
        return answers
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        before, instruction = get_registers(pid), call_instruction(pid, memory)
        for number, *arguments in wanted:
            registers = prepare(memory, before, number, arguments)
            registers[MACHINE.pc] = instruction
            set_registers(pid, registers)
            ptrace(SINGLESTEP, pid)
            if not stops(pid):
                return answers
            answers += struct.unpack("q", struct.pack("Q", get_registers(pid)[MACHINE.result]))
        set_registers(pid, before)
    ptrace(DETACH, pid)
    return answers
