#!/bin/sh
# Says whether a Redis or Valkey master can serve Redlock. Needs redis-cli or valkey-cli.
#
#   ready.sh [-h HOST] [-p PORT] [-u USER] [-f FILE] [-g SECONDS] [-m PERCENT] [-t SECONDS]
#            [-w SECONDS | -a] [-- OPTIONS OF REDIS-CLI]
#
#   -h HOST     127.0.0.1 by default
#   -p PORT     6379 by default
#   -u USER     the user; it needs +info. Without it: the default user
#   -f FILE     the password is the first line of this file. Without it: REDISCLI_AUTH
#   -g SECONDS  the age from which clients count its votes again: the guard time, and some seconds for
#               the clients to connect. 35 by default: max(maxLeaseTime, 5 s) + 2 s, and 3 s
#   -m PERCENT  the master is full if it uses so much of maxmemory; 90 by default
#   -t SECONDS  how long it may take to answer; 3 by default
#   -w SECONDS  asks each second until the master is ready, for so long
#   -a          only: does it answer? A master that is young, full or loading is alive, and so is one
#               that rejects the password: a restart would not help
#
# Exits with 0 if the master is ready. Otherwise prints one sentence that says why not, and exits with
# 1; with 64 if it was called in a wrong way.
set -u

case ${1-} in
  --help)
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
    exit 0
    ;;
esac

host=127.0.0.1 port=6379 user='' file='' guard=35 full=90 patience=3 wait=0 alive=''

wrong() {
  printf 'ready.sh: %s\n' "$*" >&2
  exit 64
}

number() { # OPTION TEXT
  case $2 in
    '' | *[!0-9]* | 0?* | ??????????*) wrong "$1 must be a whole number, and is '$2'" ;;
  esac
}

while getopts h:p:u:f:g:m:t:w:a option; do
  case $option in
    h) host=$OPTARG ;;
    p) number -p "$OPTARG" && port=$OPTARG ;;
    u) user=$OPTARG ;;
    f) file=$OPTARG ;;
    g) number -g "$OPTARG" && guard=$OPTARG ;;
    m) number -m "$OPTARG" && full=$OPTARG ;;
    t) number -t "$OPTARG" && patience=$OPTARG ;;
    w) number -w "$OPTARG" && wait=$OPTARG ;;
    a) alive=yes ;;
    *) wrong "the comment at the top of this script lists the options" ;;
  esac
done
shift $((OPTIND - 1))

cli=$(command -v redis-cli || command -v valkey-cli) || wrong "neither redis-cli nor valkey-cli is on the PATH"
limit=''
if command -v timeout >/dev/null; then
  limit="timeout $patience"
fi

# The password goes through the environment: every user of the machine can read arguments.
if [ -n "$file" ]; then
  [ -r "$file" ] || wrong "cannot read the password file $file"
  IFS= read -r REDISCLI_AUTH <"$file" || [ -n "$REDISCLI_AUTH" ] || wrong "the password file $file is empty"
  export REDISCLI_AUTH
fi
if [ -n "$user" ]; then
  set -- --user "$user" "$@"
fi

# The value of a field of INFO; empty without it.
field() { printf '%s\n' "$info" | sed -n "s/^$1://p" | head -n 1 | tr -d '\r'; }

first_line() { printf '%s\n' "$info" | head -n 1; }

# Prints why the master is not ready. Prints nothing if it is.
fault() {
  info=$($limit "$cli" -h "$host" -p "$port" "$@" INFO 2>&1)
  status=$?
  case $info in
    *role:*) ;;
    *'Could not connect'* | *'onnection refused'*)
      echo "it does not answer: $(first_line)"
      return
      ;;
    *)
      if [ $status -eq 124 ] || [ $status -eq 143 ]; then # coreutils, busybox
        echo "it does not answer within $patience s"
        return
      fi
      case $info in
        *WRONGPASS* | *'invalid password'*) error="it rejects the user or the password" ;;
        *NOAUTH*) error="it wants a password" ;;
        *NOPERM*) error="the user needs the permission +info" ;;
        *LOADING* | *BUSY* | *'max number of clients'*) error="it answers: $(first_line)" ;;
        '') error="it closed the connection" alive='' ;;
        *) error="it answers: $(first_line)" alive='' ;;
      esac
      [ -n "$alive" ] || echo "$error"
      return
      ;;
  esac
  [ -z "$alive" ] || return

  role=$(field role) uptime=$(field uptime_in_seconds) policy=$(field maxmemory_policy)
  used=$(field used_memory) most=$(field maxmemory)
  case $uptime/$used/$most in
    *[!0-9/]* | /* | *//* | */)
      echo "its INFO does not show its age and its memory"
      return
      ;;
  esac
  if [ "$(field loading)" = 1 ]; then
    echo "it is loading its data"
  elif [ "$role" != master ]; then
    echo "it is a $role of another server, and must be a master"
  elif [ "$(field cluster_enabled)" = 1 ]; then
    echo "it is a node of a cluster, and must be a master of its own"
  elif [ "$policy" != noeviction ]; then
    echo "its maxmemory-policy is $policy, and must be noeviction"
  elif [ "$most" -gt 0 ] && [ "$used" -ge $((most * full / 100)) ]; then
    echo "it is full: it uses $used of $most bytes, and the limit is $full %"
  elif [ "$uptime" -lt "$guard" ]; then
    echo "it is too young: it started $uptime s ago, and the guard time is $guard s"
  fi
}

end=$(($(date +%s) + wait))
while :; do
  why=$(fault "$@" 2>/dev/null) # where the shell of busybox says that "timeout" ended a process
  [ -n "$why" ] || exit 0
  [ "$(date +%s)" -lt $end ] || break
  sleep 1
done
printf 'ready.sh: the master %s:%s is not ready: %s\n' "$host" "$port" "$why"
exit 1
