#!/usr/bin/env bash
# Make a Debian root file system ($1) a node of kind's: kind's own files ($2), our programs and manifests ($3).
# kubeadm's version is $4. Run as root; changes nothing outside $1.
set -euo pipefail
root=$1 files=$2 ours=$3 version=$4

inside() { chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_OFFLINE=1 "$@"; }

# What nobody reads in a node.
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/*
rm -f "$root"/etc/{fstab,hostname,resolv.conf}
: >"$root/etc/machine-id"

# kind's files; they come without modes, for a module cache keeps none.
cp -r --no-preserve=mode,ownership "$files/." "$root/"
rm -f "$root/usr/local/bin/clean-install"
chmod 755 "$root/kind" "$root/kind/bin" "$root"/kind/bin/* "$root/usr/local/bin/entrypoint"

# Units: only those of a node.
rm -f "$root"/usr/lib/systemd/system/{multi-user,local-fs,basic}.target.wants/* "$root"/etc/systemd/system/*.wants/*
rm -f "$root"/usr/lib/systemd/system/sockets.target.wants/*{udev,initctl}*
rm -f "$root/usr/lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service"
install -D /dev/stdin "$root/etc/systemd/journald.conf.d/kind.conf" <<<$'[Journal]\nReadKMsg=no'
inside systemctl -q enable kubelet.service containerd.service undo-mount-hacks.service
inside systemctl -q mask systemd-binfmt.service

# Debian has these elsewhere than kind's files look for them.
ln -sf /usr/bin/{containerd,ctr,containerd-shim-runc-v2} "$root/usr/local/bin/"
mkdir -p "$root/etc/kubernetes/manifests" "$root/opt/cni" "$root/kind/manifests"
cp -a "$root/usr/lib/cni" "$root/opt/cni/bin"

# Kubernetes, the pod network and the storage class.
install -m 755 "$ours"/bin/* "$root/usr/bin/"
install -m 644 "$ours"/manifests/* "$root/kind/manifests/"
printf %s "$version" >"$root/kind/version"

# containerd 1.7 hands out no CDI devices unless told to; and where CAP_SYS_RESOURCE is missing nobody may lower an
# oom_score_adj. The kubelet refuses cgroup v1 unless told not to; on v2 the flag means nothing.
config=$root/etc/containerd/config.toml
sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true\n  enable_cdi = true/' "$config"
grep -q 'enable_cdi = true' "$config" || { echo "kind's containerd configuration is not as expected" >&2; exit 1; }
sed -i '/^KUBELET_EXTRA_ARGS=/s/[[:space:]]*$/ --fail-cgroupv1=false/' "$root/etc/default/kubelet"
inside ctr oci spec \
    | jq '.hooks.createContainer += [{path: "/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' \
    >"$root/etc/containerd/cri-base.json"
