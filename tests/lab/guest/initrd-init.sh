#!/bin/busybox sh
# shellcheck shell=dash
# First process of the guest: loads the few modules that reach the root file system and the shared folders,
# and hands over to init.sh, which comes from the checkout and so never needs a new image.

PATH=/bin
export PATH

give_up() {
    echo "lab initrd: $*"
    echo o >/proc/sysrq-trigger
    sleep 60
}

share() { # TAG FOLDER [OPTION]
    mount -t 9p -o "trans=virtio,version=9p2000.L,msize=262144${3:+,$3}" "$1" "/root/rocelet/$2" || give_up "no share $1"
}

mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys

while read -r module; do
    insmod "/modules/$module" || give_up "cannot load $module"
done </modules/order

mount -t ext4 -o noatime /dev/vda /root || give_up "no root file system"
mount -t ext4 -o ro,noatime /dev/vdb /root/lib/modules || give_up "no modules"
share lab lab ro
share build build ro
share lib lib ro
share out out

umount /proc
umount /sys
exec switch_root /root /rocelet/lab/guest/init.sh
