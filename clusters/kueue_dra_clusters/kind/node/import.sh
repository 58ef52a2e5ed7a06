#!/usr/bin/env bash
# Import the images in $2 into the containerd of a node's root file system ($1), where kubeadm looks for them.
# Run in a mount and pid namespace of its own: everything that it mounts and starts ends with it.
set -euo pipefail
root=$1 images=$2
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mkdir "$root/tmp/images"
mount --bind "$images" "$root/tmp/images"
chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euo pipefail -c '
    containerd >/tmp/containerd.log 2>&1 &
    for _ in $(seq 150); do ctr version >/dev/null 2>&1 && break; sleep 0.1; done
    for archive in /tmp/images/*.tar; do
        ctr --namespace=k8s.io images import --label=io.cri-containerd.pinned=pinned --all-platforms --no-unpack --digests "$archive"
    done
    kill %1
    wait || true
'
