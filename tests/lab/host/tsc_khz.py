#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the frequency of this processor's time stamp counter in kHz, for the guest: a kernel that measures it itself on a busy host
once found 180 MHz instead of 2,596, and the guest's time ran fourteen times too fast."""
import ctypes
import mmap
import time

# rdtsc; shl $32, %rdx; or %rdx, %rax; ret
CODE = bytes.fromhex("0f31 48c1e220 4809d0 c3")
page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(CODE)
read_counter = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))


def now():
    """Clock and counter of one moment: of several tries the one with the shortest interruption."""
    tries = []
    for _ in range(50):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        counter = read_counter()
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        tries.append((after - before, before + (after - before) // 2, counter))
    return min(tries)[1:]


t0, c0 = now()
time.sleep(0.05)
t1, c1 = now()
print(round((c1 - c0) * 1e6 / (t1 - t0)))
