package dev.redlock.proof;

import com.microsoft.z3.Context;
import com.microsoft.z3.Status;
import java.util.Map;

/** Asks Z3 whether the assertions of a script can hold together. */
final class Solver {
  private static final String LIMIT_MILLIS = "20000";

  private Solver() {}

  static Status check(String script) {
    try (Context context = new Context(Map.of("timeout", LIMIT_MILLIS))) {
      com.microsoft.z3.Solver solver = context.mkSolver();
      solver.add(context.parseSMTLIB2String(script, null, null, null, null));
      return solver.check();
    }
  }
}
