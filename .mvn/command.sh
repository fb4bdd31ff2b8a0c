# shellcheck shell=bash
# What ./demo, ./bench, ./failures, ./matrix and ./simulate share: how they find Java, when they
# build, how they fail. Sourced by them, under "set -euo pipefail"; bash 3.2 will do.
#
# MVN_ARGS goes to Maven, for instance -o; JAVA_OPTS to the program.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
java=${JAVA_HOME:+$JAVA_HOME/bin/}java

say() { printf '%s: %s\n' "${0##*/}" "$*"; }

# Exit code 2: it could not even begin.
fail() {
  say "$*" >&2
  exit 2
}

maven() {
  command -v mvn >/dev/null || fail "Maven is needed: mvn is not on the PATH"
  # shellcheck disable=SC2086 # MVN_ARGS is a list of words
  (cd "$root" && mvn -B -q -ntp -Dstyle.color=never ${MVN_ARGS:-} "$@") >&2 ||
    fail "the build failed, see above"
}

# What a build was made with. Jars of another profile may come to lie beside those of ours.
made_with() { printf '%s\n' "${MVN_ARGS:-}" "$(ls "$1")"; }

# build STAMP LIB SOURCE… -- ARGUMENT…   runs Maven with the arguments, which fill LIB with jars,
# unless that was done and neither LIB nor what it is made of has changed since.
build() {
  local stamp=$1 lib=$2 sources=("$root/pom.xml" "$root/.mvn") first=
  shift 2
  while [ "$1" != -- ]; do
    sources+=("$root/$1")
    shift
  done
  shift
  if [ -e "$stamp" ] && [ -d "$lib" ] && [ "$(cat "$stamp")" = "$(made_with "$lib")" ] &&
    [ -z "$(find "${sources[@]}" -newer "$stamp" -print)" ]; then
    return
  fi
  [ -d "$root/redlock-core/target" ] || first=", some minutes if Maven has to fetch its plugins"
  say "building (once, and after changes$first)" >&2
  rm -rf "$lib" "$stamp"
  maven "$@"
  made_with "$lib" >"$stamp"
}

command -v "$java" >/dev/null || fail "JDK 17 or newer is needed: there is no $java"
