#!/bin/sh
# Runs a deployment: a Debian with its nginx and PostgreSQL, and two instances by the unit. It is made in /var/tmp/vestibule-try,
# booted by systemd-nspawn, and stopped with Ctrl-C. It has the address 10.213.0.2 and answers https://hub.example.com there;
# alice and bob sign in with "correct horse battery staple".
#
# Needed, as root on Debian: apt-get install debootstrap systemd-container; and npm ci.
set -eu
deploy=$(dirname "$(readlink -f "$0")")
work=/var/tmp/vestibule-try
machine=$work/machine
mkdir -p "$work"
exec 9> "$work/lock"
flock --nonblock 9 || { echo 'It is running already.' >&2; exit 1; }

# A Debian, kept for the next time without what is installed below.
if [ ! -e "$work/debian.tar" ]; then
  debootstrap --variant=minbase \
    --include=systemd-sysv,dbus,ca-certificates,libatomic1,nginx-light,postgresql,openssl,curl \
    bookworm "$machine"
  tar -C "$machine" -cf "$work/debian.tar" .
fi
rm -rf "$machine"
mkdir "$machine"
tar -C "$machine" -xf "$work/debian.tar"

# Node, here the one of this repository, and the package.
install -m 755 "$deploy/../node_modules/node/bin/node" "$machine/usr/local/bin/node"
(cd "$deploy/.." && npm pack --pack-destination "$work")
npm install --prefix "$machine/opt/vestibule" "$work"/vestibule-portal-*.tgz

# What the unit reads.
etc=$machine/etc
install -d "$etc/vestibule"
echo PUBLIC_URL=https://hub.example.com > "$etc/vestibule/environment"
echo '{ "trustedProxies": ["127.0.0.1"] }' > "$etc/vestibule/vestibule.config.json"
(
  umask 077
  password=$(openssl rand -hex 24)
  echo "postgres://vestibule:$password@localhost:5432/vestibule" > "$etc/vestibule/database-url"
  openssl rand -base64 32 > "$etc/vestibule/vestibule-secret"
  openssl rand -base64 24 > "$etc/vestibule/metrics-token"
  echo 'smtp://localhost:25?starttls=off' > "$etc/vestibule/smtp-url"
)
cp "$deploy/systemd/vestibule@.service" "$etc/systemd/system/"
cp "$deploy/systemd/vestibule" "$machine/usr/local/bin/"

# nginx, with a second instance and a certificate.
cp "$deploy/nginx/vestibule-protected.conf" "$deploy/nginx/vestibule-open.conf" "$etc/nginx/"
sed 's/^\( *server 127.0.0.1:\)8080\(.*\)/&\n\18081\2/' "$deploy/nginx/vestibule.conf" > "$etc/nginx/conf.d/vestibule.conf"
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=hub.example.com -addext subjectAltName=DNS:hub.example.com \
  -keyout "$etc/ssl/private/hub.key" -out "$etc/ssl/certs/hub.pem" 2> /dev/null

# A hub, and the network.
cat > "$etc/systemd/system/hub.service" << 'UNIT'
[Service]
ExecStart=/usr/local/bin/node -e "require('http').createServer((q, a) => a.end('The hub, for ' + q.headers['x-vestibule-user'])).listen(3000, '127.0.0.1')"
[Install]
WantedBy=multi-user.target
UNIT
cat > "$etc/systemd/network/10-host0.network" << 'NETWORK'
[Match]
Name=host0
[Network]
Address=10.213.0.2/30
NETWORK
systemctl --root "$machine" --quiet enable systemd-networkd

ip link show vestibule-try > /dev/null 2>&1 || ip link add vestibule-try type bridge
ip address replace 10.213.0.1/30 dev vestibule-try
ip link set vestibule-try up
boot() {
  systemd-nspawn --machine=vestibule-try --directory="$machine" --keep-unit --register=no \
    --network-bridge=vestibule-try --boot > "$work/console" 2>&1 < /dev/null &
  nspawn=$!
}
boot
trap 'kill $nspawn; wait $nspawn; exit' INT TERM
in_machine() { nsenter --target "$(pgrep -P $nspawn)" --mount --uts --ipc --net --pid --cgroup --root --wd -- "$@"; }
until in_machine systemctl is-system-running --wait > /dev/null 2>&1; do sleep 1; done

password=$(sed 's/.*vestibule:\(.*\)@.*/\1/' "$etc/vestibule/database-url")
in_machine su postgres -c "psql -c \"create role vestibule login password '$password'\""
in_machine su postgres -c 'createdb --owner=vestibule vestibule'
in_machine systemctl enable --now hub vestibule@8080 vestibule@8081
in_machine systemctl restart nginx
in_machine vestibule customer add acme
for name in alice bob; do
  echo 'correct horse battery staple' |
    in_machine vestibule user add $name --email $name@acme.example --customer acme --password-stdin
done
echo ready

# It ends with 133 to be started again, after `reboot` in the machine.
until wait $nspawn; do
  [ $? = 133 ] || exit 1
  boot
done
