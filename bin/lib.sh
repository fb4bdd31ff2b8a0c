# shellcheck shell=bash
# The common part of the commands, which source it under "set -euo pipefail": finds Java, builds if necessary, and
# reports errors. Works with bash 3.2.
#
# MVN_ARGS is passed to Maven, for example -o; JAVA_OPTS is passed to the program.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
java=${JAVA_HOME:+$JAVA_HOME/bin/}java

say() { printf '%s: %s\n' "${0##*/}" "$*"; }

# Prints the comment at the top of the command, and ends.
usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
  exit 0
}

# Exit code 2: the program could not start.
fail() {
  say "$*" >&2
  exit 2
}

# Runs Maven and names each module when its build begins. Prints the errors if the build fails.
maven() {
  local log status=0
  command -v mvn >/dev/null || fail "Maven is needed: mvn is not on the PATH"
  log=$(mktemp)
  # shellcheck disable=SC2086 # MVN_ARGS is a list of words
  (cd "$root" && mvn -B -ntp -Dstyle.color=never ${MVN_ARGS:-} "$@") 2>&1 | tee "$log" |
    awk '/^\[INFO\] Building .*\[[0-9]+\/[0-9]+\]$/ {
      module = $3; for (i = 4; i < NF - 1; i++) module = module " " $i
      print "  " $NF " " module; fflush()
    }' >&2 || status=$?
  [ $status -eq 0 ] || grep -vE '^\[(INFO|WARNING)\]' "$log" >&2 || true
  rm -f "$log"
  [ $status -eq 0 ] || fail "the build failed, see above"
}

# property NAME   its value in the root pom
property() { sed -n "s|.*<$1>\(.*\)</$1>.*|\1|p" "$root/pom.xml" | head -n 1; }

# modules ROOT   the modules of a checkout, as its poms have them: artifact id, folder, "published", "bom" or "-", and
# the artifact ids of the modules that it needs; those of its tests only if its programs need test classes
modules() {
  (cd "$1" && sed -n 's|.*<module>\(.*\)</module>.*|\1/pom.xml|p' pom.xml | xargs awk -F'[<>]' '
    function row() { if (id != "") print id, folder, (published ? kind : "-") needs }
    FNR == 1 {
      row()
      folder = FILENAME; sub(/\/pom\.xml$/, "", folder)
      id = needs = need = ""; kind = "published"; published = tests = 0
    }
    /<parent>/, /<\/parent>/ { next }
    /<packaging>pom</ { kind = "bom" }
    /<unpublished>false</ { published = 1 }
    /<skipTestClasses>false</ { tests = 1 }
    /<groupId>/ { ours = $3 == "${redlock.group}" }
    /<artifactId>/ { if (id == "") id = $3; else if (ours) need = " " $3; ours = 0 }
    /<scope>test</ { if (!tests) need = "" }
    /<\/dependency>/ { needs = needs need; need = "" }
    END { row() }')
}

# published ROOT   the artifact ids of the published modules, without the BOM
published() { modules "$1" | awk '$3 == "published" { print $1 }'; }

# home_of ROOT MODULE   the folder of a module in a checkout; prints nothing if the checkout has no such module
home_of() { modules "$1" | awk -v root="$1" -v module="$2" '$1 == module { print root "/" $2 }'; }

# needed MODULE   the folders of the modules that a module needs, and its own as the last
needed() {
  modules "$root" | awk -v module="$1" '
    function add(module, parts, n, i) {
      if (module in seen) return
      seen[module] = 1
      n = split(row[module], parts, " ")
      for (i = 4; i <= n; i++) add(parts[i])
      print parts[2]
    }
    { row[$1] = $0 }
    END { add(module) }'
}

# classes_of MODULE   the classes of the modules that a module needs, and its own, as the start of a class path
classes_of() { needed "$1" | sed "s|.*|$root/&/target/classes:|" | tr -d '\n'; }

# selected MODULE…   the modules as the value of Maven's -pl
selected() { local IFS=,; printf '%s\n' "${*/#/:}"; }

# Describes the inputs of a build: the arguments and the jars. Another profile may have added jars.
made_with() { printf '%s\n' "${MVN_ARGS:-}" "$(ls "$1")"; }

# build MODULE STAMP LIB ARGUMENT…   builds a module, which fills LIB with jars, unless an earlier build did that and
# neither LIB nor the sources have changed since. All commands build with -Dmaven.test.skip=true package: with another
# phase, Maven would compile all modules that they share again.
build() {
  local module=$1 stamp=$2 lib=$3 sources=("$root/pom.xml" "$root/.mvn" "$root/bin/lib.sh" "$0") folder= first=
  shift 3
  while read -r folder; do
    sources+=("$root/$folder/pom.xml")
    [ ! -d "$root/$folder/src/main" ] || sources+=("$root/$folder/src/main")
  done < <(needed "$module")
  sources+=("$(home_of "$root" "$module")/src") # its programs may need test classes
  if [ -e "$stamp" ] && [ -d "$lib" ] && [ "$(cat "$stamp")" = "$(made_with "$lib")" ] &&
    [ -z "$(find "${sources[@]}" -newer "$stamp" -print)" ]; then
    return
  fi
  [ -d "$root/redlock-core/target" ] || first=", some minutes if Maven must fetch its plugins"
  say "building (once, and after changes$first)" >&2
  rm -rf "$lib" "$stamp"
  maven "$@" -pl ":$module" -am -Dmaven.test.skip=true package
  made_with "$lib" >"$stamp"
}

# lettuce_jars DIR LETTUCE NETTY TRANSPORT   fills DIR/lib with the jars of Lettuce and of what it needs,
# with one Netty, and with the native transport of that name, if any: epoll, io_uring or kqueue.
lettuce_jars() {
  local native=
  if [ -n "$4" ]; then
    native="<dependency><groupId>io.netty</groupId><artifactId>netty-transport-native-$4</artifactId>
      <classifier>$(uname -s | sed 's/Linux/linux/;s/Darwin/osx/')-$(uname -m | sed 's/aarch64\|arm64/aarch_64/')</classifier></dependency>"
  fi
  mkdir -p "$1"
  cat >"$1/pom.xml" <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>jars</groupId><artifactId>jars</artifactId><version>1</version>
  <dependencyManagement><dependencies><dependency>
    <groupId>io.netty</groupId><artifactId>netty-bom</artifactId><version>$3.Final</version>
    <type>pom</type><scope>import</scope>
  </dependency></dependencies></dependencyManagement>
  <dependencies>
    <dependency><groupId>io.lettuce</groupId><artifactId>lettuce-core</artifactId><version>$2.RELEASE</version></dependency>
    $native
  </dependencies>
</project>
XML
  # shellcheck disable=SC2086 # MVN_ARGS is a list of words
  (cd "$1" && mvn -B -q -ntp -Dstyle.color=never ${MVN_ARGS:-} \
    org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies "-DoutputDirectory=$1/lib")
}

# Finds a home for each of the JDKs 17, 21 and 25: sets jdks to their numbers and jdk_homes to their homes.
find_jdks() {
  local home major
  jdks=() jdk_homes=()
  for home in ${JAVA_HOME:-} /usr/lib/jvm/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
    [ -x "$home/bin/javac" ] || continue
    major=$("$home/bin/java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
    case " ${jdks[*]-} " in *" $major "*) continue ;; esac
    case $major in 17 | 21 | 25) jdks+=("$major") jdk_homes+=("$home") ;; esac
  done
}

command -v "$java" >/dev/null || fail "JDK 17 or newer is needed: there is no $java"
