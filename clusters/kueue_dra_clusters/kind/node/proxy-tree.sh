#!/usr/bin/env bash
# Copy out of a node's root file system ($1) what kube-proxy calls, with the libraries of all of it, into $2.
set -euo pipefail
root=$1 tree=$2
libraries=usr/lib/$(uname -m)-linux-gnu
mkdir -p "$tree/usr/sbin" "$tree/$libraries" "$tree/lib64" "$tree/etc"
cp "$root"/usr/sbin/{xtables-legacy-multi,xtables-nft-multi,nft,conntrack} "$tree/usr/sbin/"
cp -r "$root/$libraries/xtables" "$tree/$libraries/"
cp "$root/etc/protocols" "$tree/etc/" 2>/dev/null || true
# The match modules count too: they are opened at run time, and one of them wants libm.
# shellcheck disable=SC2016 # expanded inside
chroot "$root" sh -c 'ldd /usr/sbin/xtables-legacy-multi /usr/sbin/xtables-nft-multi /usr/sbin/nft /usr/sbin/conntrack \
    /usr/lib/*-linux-gnu/xtables/*.so' | sed -n 's,^\t[^/]*\(/[^ ]*\) (0x.*,\1,p' | sort -u \
    | while read -r library; do
        case $library in
        /lib64/* | /lib/ld-*) install -D "$root$library" "$tree$library" ;;
        *) cp -L "$root$library" "$tree/$libraries/" ;;
        esac
    done
for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
    ln -s xtables-legacy-multi "$tree/usr/sbin/$name"
done
ln -s usr/sbin "$tree/sbin"
[ -e "$tree/lib" ] || ln -s usr/lib "$tree/lib"
