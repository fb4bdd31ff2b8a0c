#!/bin/sh
# Makes the users and passwords of the masters, once.
#
#   passwords.sh [FOLDER]
#
# Writes into FOLDER, by default the folder of this script:
#   secrets/users.acl           the users, for each master; it has only hashes of the passwords
#   secrets/USER.password       a random password for each user, readable by the owner only:
#                                 app       takes locks
#                                 operator  takes locks and lists them
#                                 look      shows locks and nodes; changes nothing
#                                 probe     asks for the state of a master; reads no key
#                                 admin     everything
#   secrets/nodes               for the command redlock, as the user operator
#   .env                        for docker compose; it has no password
# Exits with 1 if FOLDER has secrets already.
set -eu

case ${1-} in
  --help)
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
    exit 0
    ;;
esac

folder=${1:-$(dirname "$0")}
folder=$(cd "$folder" && pwd)
secrets=$folder/secrets

say() { printf 'passwords.sh: %s\n' "$*" >&2; }

if [ -e "$secrets" ]; then
  say "$secrets exists. To replace all passwords, remove this folder first."
  exit 1
fi

# The permissions of docs/operations.md, "Access control", and of docs/command.md, "Redis users".
lock='~redlock:* resetchannels -@all +evalsha +eval +get +set +del +time +pttl +pexpire +mget +exists +hmget +hset +zadd +zrange +zrem +zrank +zcard +info +client|tracking +client|caching'

# The passwords have 192 random bits. printf is built into the shell, so no process has a password
# among its arguments.
password() { head -c 24 /dev/urandom | base64 | tr '+/' '-_' | tr -d '\n'; }

hash() {
  if command -v sha256sum >/dev/null; then
    sha256sum
  elif command -v shasum >/dev/null; then
    shasum -a 256
  else
    openssl dgst -sha256 -r
  fi | cut -c 1-64
}

user() { # NAME PERMISSIONS
  text=$(password)
  sum=$(printf %s "$text" | hash)
  if [ ${#text} -ne 32 ] || [ ${#sum} -ne 64 ]; then
    say "cannot make a password: head, base64 and one of sha256sum, shasum and openssl are needed"
    exit 1
  fi
  printf '%s\n' "$text" >"$made/$1.password"
  printf 'user %s reset on #%s %s\n' "$1" "$sum" "$2" >>"$made/users.acl"
}

umask 077
made=$secrets.part
rm -rf "$made"
mkdir "$made"
trap 'rm -rf "$made"' EXIT

echo 'user default reset off' >"$made/users.acl"
user app "$lock"
user operator "$lock +scan"
user look '~redlock:* resetchannels -@all +evalsha +eval +get +time +pttl +mget +exists +hmget +zrange +zcard +info +client|tracking +client|caching +scan'
user probe 'resetchannels -@all +ping +info'
user admin '~* &* +@all'
chmod 644 "$made/users.acl" # A hash of 192 random bits tells nothing.

cat >"$made/nodes" <<END
# For the command redlock: REDLOCK_NODES_FILE=$secrets/nodes
redis://127.0.0.1:6381
redis://127.0.0.1:6382
redis://127.0.0.1:6383
user = operator
password-file = $secrets/operator.password
END

# Root owns what it makes, and no master should run as root.
owner=$(id -u):$(id -g)
if [ "$(id -u)" -eq 0 ]; then
  owner=10001:10001
  chown -R "$owner" "$made"
fi
mv "$made" "$secrets"

if [ ! -e "$folder/.env" ]; then
  cat >"$folder/.env" <<END
# Read by docker compose. compose.yaml lists what else can be set here.
# The masters run as the owner of the secrets. With a rootless engine: 0:0.
REDLOCK_USER=$owner
COMPOSE_PROJECT_NAME=redlock
END
fi
say "made $secrets: keep it out of version control"
