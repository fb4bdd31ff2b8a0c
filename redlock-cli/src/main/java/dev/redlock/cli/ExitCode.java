package dev.redlock.cli;

/** The exit codes, where there is one those of {@code sysexits.h}. */
public final class ExitCode {
  public static final int OK = 0;

  /** The answer is no: no such lock, or a doctor's finding. */
  public static final int NO = 1;

  /** EX_USAGE: the command line is wrong. */
  public static final int USAGE = 64;

  /** EX_UNAVAILABLE: too few nodes. */
  public static final int TOO_FEW_NODES = 69;

  /** EX_SOFTWARE: a defect of this program. */
  public static final int DEFECT = 70;

  /** EX_OSERR: the system refused something, as to listen on a port. */
  public static final int SYSTEM = 71;

  /** EX_IOERR: the output could not be written. */
  public static final int OUTPUT = 74;

  /** EX_TEMPFAIL: another client holds the lock. */
  public static final int HELD = 75;

  private ExitCode() {}
}
