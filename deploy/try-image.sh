#!/bin/sh
# Builds the image as `vestibule`, where no registry of images is: on a Debian made here, with the Node of this repository.
# Needed, as root on Debian: apt-get install debootstrap podman buildah runc; and npm.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
base=/var/tmp/vestibule-try/base
if [ ! -e "$base/usr/local/bin/npm" ]; then
  rm -rf "$base"
  debootstrap --variant=minbase --include=ca-certificates,libatomic1 bookworm "$base"
  install -m 755 node_modules/node/bin/node "$base/usr/local/bin/node"
  npm install --global --prefix "$base/usr/local" npm
  # A network whose proxy opens TLS has a certificate authority of its own.
  cp /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/"
fi
tar -C "$base" -c . | podman import --change ENV=NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt - vestibule-base
podman build --isolation chroot --format docker --build-arg BASE=localhost/vestibule-base -f deploy/docker/Dockerfile -t vestibule .
