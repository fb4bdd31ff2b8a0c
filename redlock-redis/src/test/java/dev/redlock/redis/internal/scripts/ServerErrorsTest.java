package dev.redlock.redis.internal.scripts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeError.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerErrorsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "NO_SCRIPT|NOSCRIPT No matching script. Please use EVAL.",
        "LOADING|LOADING Redis is loading the dataset in memory",
        "BUSY|BUSY Redis is busy running a script. You can only call SCRIPT KILL",
        "READONLY|READONLY You can't write against a read only replica. script: 1f, on"
            + " @user_script:4.",
        "READONLY|ERR Error running script (call to f_1f): @user_script:4: @user_script: 4:"
            + " -READONLY You can't write against a read only replica.",
        "READONLY|MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "OUT_OF_MEMORY|OOM command not allowed when used memory > 'maxmemory'. script: 1f, on"
            + " @user_script:4.",
        "OUT_OF_MEMORY|ERR Error running script (call to f_1f): @user_script:4: @user_script: 4:"
            + " -OOM command not allowed when used memory > 'maxmemory'.",
        "NO_PERMISSION|NOPERM this user has no permissions to run the 'evalsha' command",
        "NO_PERMISSION|NOPERM User app has no permissions to run the 'info' command",
        "NO_PERMISSION|ERR ACL failure in script: User app has no permissions to run the 'time'"
            + " command script: 1f",
        "NO_PERMISSION|ERR Error running script (call to f_1f): @user_script:1: @user_script: 1:"
            + " The user executing the script can't run this command or subcommand",
        "NOT_AUTHENTICATED|NOAUTH Authentication required.",
        "NOT_AUTHENTICATED|WRONGPASS invalid username-password pair or user is disabled.",
        "NOT_AUTHENTICATED|NOAUTH HELLO must be called with the client already authenticated,"
            + " otherwise the HELLO AUTH <user> <pass> option can be used",
        "FOREIGN_KEY|WRONGTYPE Operation against a key holding the wrong kind of value",
        "REPLICAS|NOREPLICAS Not enough good replicas to write.",
        "CLUSTER|MOVED 3999 127.0.0.1:6381",
        "CLUSTER|ASK 3999 127.0.0.1:6381",
        "CLUSTER|TRYAGAIN Multiple keys request during rehashing of slot",
        "CLUSTER|CLUSTERDOWN The cluster is down",
        "CLUSTER|CROSSSLOT Keys in request don't hash to the same slot",
        "MISCONFIGURED|MISCONF Redis is configured to save RDB snapshots, but it is currently not"
            + " able to persist on disk.",
        "UNEXPECTED|ERR something else"
      })
  void message_isClassified(Kind kind, String message) {
    assertThat(ServerErrors.of(message).kind()).isEqualTo(kind);
    assertThat(ServerErrors.of(message).message()).startsWith(message.substring(0, 10));
  }

  /** From 7.2 on the message names the user, whose name may be a word that errors begin with. */
  @ParameterizedTest
  @ValueSource(strings = {"READONLY-app", "MISCONF", "NOREPLICAS", "NOAUTH", "WRONGPASS"})
  void userNamedLikeAnError_deniedInsideTheScript_isNotTakenForThatError(String user) {
    NodeError error =
        ServerErrors.of(
            "ERR ACL failure in script: User "
                + user
                + " has no permissions to run the 'exists' command script: 1f, on @user_script:9.");
    assertThat(error.kind()).isEqualTo(Kind.NO_PERMISSION);
    assertThat(error.notExecuted()).as("the script may have written before").isFalse();
  }

  @Test
  void keyDeniedInsideTheScript_isAMatterOfPermission_andMayComeBehindAWrite() {
    NodeError error =
        ServerErrors.of(
            "ERR The user executing the script can't access at least one of the keys mentioned in"
                + " the command arguments script: 1f, on @user_script:1.");
    assertThat(error.kind()).isEqualTo(Kind.NO_PERMISSION);
    assertThat(error.notExecuted()).isFalse();
    assertThat(ServerErrors.concernsKeys(error)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "NOSCRIPT No matching script. Please use EVAL.",
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL",
        "READONLY You can't write against a read only replica. script: 1f, on @user_script:4.",
        "OOM command not allowed when used memory > 'maxmemory'. script: 1f, on @user_script:4.",
        "ERR Error running script (call to f_1f): @user_script:4: @user_script: 4: -OOM command not"
            + " allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to"
            + " disk. script: 1f, on @user_script:1.",
        "NOREPLICAS Not enough good replicas to write. script: 1f, on @user_script:1.",
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "NOPERM this user has no permissions to access one of the keys used as arguments",
        "NOAUTH Authentication required.",
        "MOVED 3999 127.0.0.1:6381",
        "CLUSTERDOWN The cluster is down"
      })
  void refusalBeforeTheFirstWrite_leavesNoPendingRelease(String message) {
    assertThat(ServerErrors.of(message).notExecuted()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ERR The user executing the script can't run this command or subcommand script: 1f, on"
            + " @user_script:1.",
        "ERR ACL failure in script: User app has no permissions to run the 'time' command script:"
            + " 1f",
        "NOPERM this user has no permissions to access one of the keys used as arguments script:"
            + " 1f, on @user_script:1.",
        "ERR Error running script (call to f_1f): @user_script:1: @user_script: 1: The user"
            + " executing the script can't run this command or subcommand",
        "WRONGTYPE Operation against a key holding the wrong kind of value script: 1f, on"
            + " @user_script:1.",
        "Script attempted to access a non local key in a cluster node script: 1f, on"
            + " @user_script:1.",
        "ERR something else"
      })
  void errorFromInsideTheScript_mayHaveStoredTheKey(String message) {
    assertThat(ServerErrors.of(message).notExecuted()).isFalse();
  }

  @Test
  void placeInTheScript_isNotForPeople() {
    assertThat(
            ServerErrors.of(
                    "OOM command not allowed when used memory > 'maxmemory'."
                        + " script: aabc87fcd96b98ee3624f631d646ac06eecde144, on @user_script:1.")
                .message())
        .isEqualTo("OOM command not allowed when used memory > 'maxmemory'.");
  }

  @Test
  void message_quotesNothingOfTheCommand_andIsShortAndOnOneLine() {
    assertThat(
            ServerErrors.of(
                    "ERR unknown command 'EVALSHA', with args beginning with: 'sha' '2' 'secret'")
                .message())
        .isEqualTo("ERR unknown command 'EVALSHA'");
    assertThat(ServerErrors.of("ERR two\r\nlines").message()).isEqualTo("ERR two lines");
    assertThat(ServerErrors.of("ERR " + "x".repeat(1_000)).message()).hasSize(201);
  }
}
