package dev.redlock.cli.run;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A command that runs under a lock, beside the same command without: what it inherits, which
 * signals it gets, how it ends. Each row is a script for bash, in which {@code $RUN} stands before
 * the command. It runs twice, and must print the same. {@code docs/command.md} says what differs.
 */
@Tag("thorough")
@RedisTest(nodes = 3, locksMayRemain = true)
class TransparencyIT {
  private static final long DEADLINE_SECONDS = 600;

  private static final String WRAPPED = "redlock run --connect 60s --restart-guard OFF a --";

  /** {@code child} writes which signals it gets until the file {@code go} exists. */
  private static final String BEGIN =
      """
      until_true() {
        n=0
        until eval "$1"; do
          n=$((n + 1))
          if [ $n -gt 5000 ]; then echo "gave up: $1"; return 1; fi
          sleep 0.02
        done
      }
      up() { until_true 'grep -q up log'; }
      got() { until_true "grep -q $1 log"; }
      cat >child <<'C'
      #!/bin/sh
      for s in HUP INT QUIT TERM USR1 USR2; do trap "echo $s >>log" $s; done
      echo up >>log
      while [ ! -e go ]; do sleep 0.05 & wait $!; done 2>/dev/null
      echo end >>log
      exit 7
      C
      chmod +x child
      : >log
      """;

  private static final String NEEDS_MOUNT =
      "if ! unshare --mount true; then echo needs root; exit; fi; export RUN\n";

  private static final Map<String, String> ROWS =
      Map.ofEntries(
          Map.entry(
              "descriptors",
              """
              exec 3</etc/passwd 9>nine 12</etc/group 63<child
              $RUN sh -c 'for f in /proc/self/fd/*; do echo "${f##*/} $(readlink /proc/$$/fd/${f##*/})"; done' | sed 's/:.*//' | grep -v '/out$'
              $RUN cat <(echo substituted)
              printf abc | $RUN cat | tr b x
              """),
          Map.entry(
              "closed standard streams",
              """
              look='for n in 0 1 2; do [ -e /proc/self/fd/$n ] || echo no $n >>log; done'
              $RUN sh -c "$look" <&-
              $RUN sh -c "$look" >&-
              $RUN sh -c "$look" 2>&-
              $RUN sh -c "$look" <&- >&- 2>&-
              """),
          Map.entry(
              "environment, arguments",
              """
              show() { tr '\\0' '\\n' | grep -v '^_=\\|^REDLOCK_\\(NAME\\|TOKEN\\|RUN\\)=' | sort; }
              env a.b=c X="
              new" PWD=/nowhere JAVA_TOOL_OPTIONS=-XX:+UseG1GC JDK_JAVA_OPTIONS=-Xmx1m _JAVA_OPTIONS=-Dx=y \\
                JAVA_OPTS=nonsense $RUN cat /proc/self/environ | show
              env -i PATH="$PATH" HOME="$HOME" REDLOCK_NODES="$REDLOCK_NODES" REDLOCK_CACHE="$REDLOCK_CACHE" \\
                JAVA_HOME="$JAVA_HOME" 'e m=x' $RUN cat /proc/self/environ | show
              $RUN cat /proc/self/cmdline "" "a
              b" "$(printf '\\303\\234 \\377')" 2>/dev/null | od -c
              LANG=de_DE.UTF-8 LC_TIME=xx_XX.UTF-8 $RUN /usr/bin/printf '%s\\n' Über.txt
              """),
          Map.entry(
              "variables of bash, as sh too",
              """
              echo 'echo printed by BASH_ENV' >begin
              (exec 12</etc/group; BASH_ENV=$PWD/begin $RUN sh -c 'exit 7'; echo $?)
              echo 'readonly TMOUT=1' >begin; BASH_ENV=$PWD/begin ${RUN:+bash $(command -v redlock) ${RUN#redlock }} sh -c 'exit 7'; echo $?
              ln -s "$(command -v bash)" sh; PATH=$PWD:$PATH
              run=${RUN:+sh $(command -v redlock) ${RUN#redlock }}
              env SHELLOPTS=errexit:noglob:nounset TMOUT=1 $run sh -c 'sleep 3; echo $TMOUT $SHELLOPTS; exit 7' 12</etc/group; echo $?
              """),
          Map.entry(
              "limits, masks, folder",
              """
              umask 027; ulimit -n 77; ulimit -s 4096; trap '' HUP USR1
              $RUN sh -c 'umask; cat /proc/self/limits; pwd -P; readlink /proc/self/cwd; ps -o ppid= -p $$ | tr -d " " | grep -c "^'$$'$"'
              $RUN grep 'Sig[BIC]\\|Threads\\|NoNew\\|Umask\\|Uid\\|Gid\\|Groups\\|Shd\\|Cap' /proc/self/status
              mkdir gone; cd gone; rmdir ../gone
              $RUN readlink /proc/self/cwd 2>/dev/null | sed 's,.*/,,'
              ulimit -v 1000000
              $RUN echo in little memory 2>/dev/null
              """),
          Map.entry(
              "exit codes",
              """
              for c in 'exit 0' 'exit 7' 'exit 143' 'exit 255' 'kill -TERM $$' 'kill -KILL $$' 'kill -SEGV $$'; do
                $RUN sh -c "$c"; echo $?
              done 2>/dev/null
              for c in nothing ./nothing /etc/passwd /etc; do $RUN $c 2>/dev/null; echo $?; done
              """),
          Map.entry(
              "a command that is a Java program",
              """
              port=20000
              while (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; do port=$((20000 + RANDOM % 12000)); done
              jmx=com.sun.management.jmxremote
              for options in -XX:+UseParallelGC -XX:+UseG1GC \\
                "-D$jmx.host=127.0.0.1 -D$jmx.port=$port -D$jmx.authenticate=false -D$jmx.ssl=false"; do
                for name in JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS; do
                  env "$name=-XX:+PrintCommandLineFlags $options" $RUN "$JAVA_HOME/bin/java" -version
                  echo $?
                done
              done 2>&1 | sed "s/$port/PORT/"
              JAVA_TOOL_OPTIONS=-XX:+Nonsense $RUN "$JAVA_HOME/bin/java" -version 2>/dev/null; echo $?
              """),
          Map.entry(
              "full disk",
              NEEDS_MOUNT
                  + """
                  mkdir disk
                  ran() { $RUN sh -c 'echo ran; exit 7'; echo $?; }
                  gone() { until_true '! grep -qs "$PWD/[d]isk/" /proc/[0-9]*/cmdline'; }
                  export -f until_true ran gone
                  for size in 64k 4m; do
                    unshare --mount bash -c "mount -t tmpfs -o size=$size none disk"'
                      head -c 60000 /dev/zero >disk/file
                      export HOME=$PWD/disk TMPDIR=$PWD/disk REDLOCK_CACHE=$PWD/disk
                      ran; ran; gone; ran; gone; ls disk'
                  done
                  unshare --mount bash -c 'mount -t tmpfs none disk
                    ulimit -f 100
                    export REDLOCK_CACHE=$PWD/disk
                    ran; gone; ran; gone'
                  """),
          Map.entry(
              "read-only home",
              NEEDS_MOUNT
                  + """
                  mkdir home
                  unshare --mount bash -c 'mount -t tmpfs -o ro none home
                    unset REDLOCK_CACHE; export HOME=$PWD/home TMPDIR=$PWD/home
                    for n in 1 2; do $RUN sh -c "touch ~/x || echo ran; exit 7"; echo $?; done' 2>&1
                  """),
          Map.entry(
              "set-uid program",
              SetUid.PREPARE
                  + """
                  $as $RUN ./suid sh -c 'id -u; id -g; exit 7'; echo $?
                  $as $RUN ./suid sh -c 'echo up >>log; exec sleep 600' & p=$!
                  up; $as sh -c "kill -s TERM $p" 2>/dev/null; echo $?
                  kill -s TERM $p; wait $p; echo $?
                  """),
          Map.entry(
              "jobserver of make",
              """
              printf 'all: a b\\na b:\\n\\t+@$(RUN) $(MAKE) -s x$@\\nxa xb:\\n\\t@echo x\\n' >Makefile
              export RUN
              make -s -j2 2>&1
              """),
          Map.entry("signals to the child", signals("$p")),
          Map.entry("signals to the group", signals("-- -$p")),
          Map.entry(
              "signals that end the child",
              """
              set -m
              for s in TERM INT HUP KILL; do
                $RUN sh -c 'echo up >>log; exec sleep 600' & p=$!
                up; kill -s $s $p; wait $p; echo $?
                : >log
              done 2>/dev/null
              """),
          Map.entry(
              "timeout",
              """
              for how in '' --foreground '-s INT'; do
                timeout $how 3 $RUN sh -c 'echo up >>log; exec sleep 600'; echo $?
                : >log
              done
              timeout 600 $RUN ./child & p=$!
              # A timeout that has not run since its fork does not know its child, and passes nothing on.
              up; until_true "ps -o stat= -p $p | grep -q ^S"; kill -TERM $p; got TERM; touch go; wait $p; echo $?
              sort -u log; rm log
              """),
          Map.entry(
              "nohup, background",
              """
              nohup $RUN ./child >/dev/null 2>&1 & p=$!
              up; kill -HUP $p; kill -USR1 $p; got USR1; touch go; wait $p; echo $?
              rm go log; : >log
              $RUN ./child & p=$!
              up; kill -INT $p; kill -USR1 $p; got USR1; touch go; wait $p; echo $?
              """),
          Map.entry(
              "TERM to all processes, as to a control group",
              """
              exec 2>/dev/null # Processes end meanwhile.
              helpers() {
                for d in /proc/[0-9]*; do
                  if tr '\\0' ' ' 2>/dev/null <$d/cmdline | grep -q "redlock.child=$1 \\| _watch $1 "; then echo ${d#/proc/}; fi
                done
              }
              set -m
              $RUN ./child & p=$!
              up; kill -s TERM -- -$p $(helpers $p); got TERM; touch go; wait $p; echo $?
              cat log; : >log
              $RUN sh -c 'echo up >>log; exec sleep 600' & p=$!
              up; kill -s TERM -- -$p $(helpers $p); wait $p; echo $?
              """),
          Map.entry(
              "process of a container with an init",
              """
              unshare="unshare --pid --fork --kill-child --mount-proc"
              if ! $unshare true; then echo needs root; exit; fi
              export -f until_true up got
              export RUN
              $unshare bash -c '
                $RUN ./child & p=$!
                up; kill -TERM $p; got TERM; touch go; wait $p; echo $?'
              """),
          Map.entry(
              "stop and continue",
              """
              set -m
              $RUN ./child & p=$!
              up; kill -STOP $p; until_true "ps -o stat= -p $p | grep -q T"; kill -CONT $p
              touch go; wait $p; echo $?
              """),
          // By exec, the command leads the session. Some shells stay above it, die by a key
          // themselves, and their end sends HUP to the command.
          Map.entry(
              "keys of a terminal",
              """
              for key in '\\003 INT' '\\034 QUIT'; do
                set -- $key
                (up; printf $1; got $2; touch go; got end) | script -qec "exec $RUN ./child" /dev/null | tr -d '\\r'
                echo ${PIPESTATUS[@]}
                cat log; : >log; rm -f go
              done
              """),
          Map.entry(
              "suspended at a terminal, and fg",
              """
              (echo "$RUN ./child; echo code \\$? >>log"
                up; sleep 0.2; printf '\\032'
                until_true 'grep -q "code 148" log'
                echo 'fg; echo code $? >>log'
                touch go; got end; until_true 'grep -q "code 7" log'; echo exit) |
                script -qec "bash --norc -i" /dev/null >/dev/null
              """),
          Map.entry(
              "suspended at a terminal, and bg",
              """
              (echo "$RUN ./child; echo code \\$? >>log"
                up; sleep 0.2; printf '\\032'
                until_true 'grep -q "code 148" log'
                echo 'bg; kill -s USR1 %1'
                got USR1; touch go; got end
                echo 'wait %1; echo code $? >>log'; until_true 'grep -q "code 7" log'; echo exit) |
                script -qec "bash --norc -i" /dev/null >/dev/null
              """),
          Map.entry(
              "terminal that hangs up",
              """
              exec 2>/dev/null # bash says which process was killed.
              setsid script -qec "exec $RUN ./child" /dev/null >/dev/null & p=$!
              up; kill -KILL $p; got HUP; touch go; got end
              wait $p; echo $?
              """));

  @TempDir Path folder;

  private static String signals(String target) {
    return """
        set -m
        for s in HUP INT QUIT TERM USR1 USR2; do
          $RUN ./child & p=$!
          up; kill -s $s TARGET; got $s; touch go; wait $p; echo $?
          cat log; : >log; rm go
        done 2>/dev/null
        """
        .replace("TARGET", target);
  }

  static Stream<Arguments> rowsAndJavas() {
    return Installed.javaHomes().stream()
        .flatMap(java -> ROWS.keySet().stream().sorted().map(row -> Arguments.of(row, java)));
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("rowsAndJavas")
  void commandUnderALock_isLikeOneWithout(String row, String java, RedisNodes nodes)
      throws Exception {
    assumeThat(Files.exists(Path.of("/proc/self/status"))).as("a Linux system").isTrue();
    String text = ROWS.get(row);
    String direct = printed(text, "", java, nodes);
    assumeThat(direct).as(row).doesNotContain("needs ");
    assertThat(printed(text, WRAPPED, java, nodes)).isEqualTo(direct).doesNotContain("gave up");
  }

  private String printed(String text, String run, String java, RedisNodes nodes) throws Exception {
    Path here = folder.resolve("here");
    delete(here);
    Files.createDirectory(here);
    Path out = folder.resolve("out");
    List<String> bash = List.of("bash", "--norc", "-c", BEGIN + "RUN='" + run + "'\n" + text);
    ProcessBuilder builder =
        Installed.process(folder, java, bash)
            .directory(here.toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile());
    builder.environment().put("REDLOCK_NODES", String.join(",", nodes.uris()));
    Process process = builder.start();
    if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      throw new AssertionError("still runs: " + Files.readString(out, ISO_8859_1));
    }
    Path log = here.resolve("log");
    return Files.readString(out, ISO_8859_1)
        + "exit code "
        + process.exitValue()
        + "\n"
        + (Files.exists(log) ? Files.readString(log, ISO_8859_1) : "");
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> all = Files.list(folder)) {
        for (Path each : new ArrayList<>(all.toList())) {
          Files.delete(each);
        }
      }
      Files.delete(folder);
    }
  }
}
