#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
# First process of the guest: loads the few modules that reach the root file system and the shared folders, and hands over to init.sh, which
# the host appends to the initrd, so that a change to it needs no new image.

PATH=/bin
export PATH

give_up() {
    echo "lab initrd: $*"
    echo o >/proc/sysrq-trigger
    sleep 60
}

mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys

while read -r module; do
    insmod "/modules/$module" || give_up "cannot load $module"
done </modules/order

# Read-only: init.sh makes it writable once the machine may not be saved any more.
mount -t ext4 -o ro,noatime /dev/vda /root || give_up "no root file system"
mount -t ext4 -o ro,noatime /dev/vdb /root/lib/modules || give_up "no modules"
mount -t tmpfs -o mode=755 run /root/run
cp /init.sh /root/run/

umount /proc
umount /sys
exec switch_root /root /run/init.sh
