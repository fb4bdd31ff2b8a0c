package dev.redlock.cli.run;

/**
 * A stand-in for {@code sudo}: a program that may become root, called by a user who may not signal
 * it then.
 */
final class SetUid {
  /**
   * For bash: copies the command to where the other user may read it, and makes the program {@code
   * suid} there. The variable {@code as} begins a command of the other user. Prints a line that
   * begins with {@code needs}, and ends, if this machine cannot have it.
   */
  static final String PREPARE =
      """
      if [ "$(id -u)" != 0 ]; then echo needs root; exit; fi
      for tool in gcc setpriv; do
        if ! command -v $tool >/dev/null; then echo needs $tool; exit; fi
      done
      chmod 755 . ..
      cp "$(dirname "$(command -v redlock)")"/redlock* .
      PATH=$PWD:$PATH
      cat >suid.c <<'C'
      #include <unistd.h>
      int main(int count, char **words) {
        return setgid(0) || setuid(0) || execvp(words[1], words + 1);
      }
      C
      gcc -o suid suid.c
      chmod 4755 suid
      as='setpriv --reuid 65534 --regid 65534 --clear-groups'
      if [ "$($as ./suid id -u)" != 0 ]; then echo needs a file system with set-uid programs; exit; fi
      """;

  private SetUid() {}
}
