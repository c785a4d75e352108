#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Uses a function that is bound to vfio-pci, as a program in a pod does: opens its IOMMU group, its device and its configuration space, until
it is killed.

  vfio_user.py GROUP FUNCTION     # writes "open VENDOR:DEVICE" once it has all of them

The numbers are those of linux/include/uapi/linux/vfio.h.
"""
import fcntl, os, struct, sys, time

VFIO_SET_IOMMU, VFIO_GROUP_SET_CONTAINER, VFIO_GROUP_GET_DEVICE_FD, VFIO_DEVICE_GET_REGION_INFO = 0x3B66, 0x3B68, 0x3B6A, 0x3B6C
VFIO_TYPE1_IOMMU, CONFIG_REGION = 1, 7

group_number, function = sys.argv[1:]
container = os.open("/dev/vfio/vfio", os.O_RDWR)
group = os.open(f"/dev/vfio/{group_number}", os.O_RDWR)
fcntl.ioctl(group, VFIO_GROUP_SET_CONTAINER, struct.pack("i", container))
fcntl.ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU)
device = fcntl.ioctl(group, VFIO_GROUP_GET_DEVICE_FD, bytearray(function.encode() + b"\0"))
region = bytearray(struct.pack("IIIIQQ", 32, 0, CONFIG_REGION, 0, 0, 0))
fcntl.ioctl(device, VFIO_DEVICE_GET_REGION_INFO, region)
offset = struct.unpack("IIIIQQ", region)[5]
print("open %04x:%04x" % struct.unpack("HH", os.pread(device, 4, offset)), flush=True)
while True:
    time.sleep(60)
