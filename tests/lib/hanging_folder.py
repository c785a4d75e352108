# SPDX-License-Identifier: Apache-2.0
"""A folder whose file system does not answer: a FUSE mount without a process that serves it (linux/fuse.h). Needs root."""
import ctypes
import os
import tempfile

MNT_DETACH = 2
libc = ctypes.CDLL(None, use_errno=True)


class HangingFolder:
    """hang() covers the folder `path`; every access to it blocks until let_go(), and fails then."""

    def __init__(self):
        self.temp = tempfile.TemporaryDirectory()
        self.path = self.temp.name + "/folder"
        self.fd = -1
        os.mkdir(self.path)

    def hang(self):
        self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0"
        if libc.mount(b"hanging", self.path.encode(), b"fuse", 0, options.encode()) < 0:
            raise OSError(ctypes.get_errno(), "mount of a FUSE file system")
        return self

    def let_go(self):
        if self.fd >= 0:
            os.close(self.fd)
            libc.umount2(self.path.encode(), MNT_DETACH)
        self.fd = -1

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.let_go()
        self.temp.cleanup()
