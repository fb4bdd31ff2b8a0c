package dev.redlock.cli;

import picocli.CommandLine.IVersionProvider;

/** The version of the jar. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    String version = Version.class.getPackage().getImplementationVersion();
    return new String[] {"redlock " + (version == null ? "(not built as a jar)" : version)};
  }
}
