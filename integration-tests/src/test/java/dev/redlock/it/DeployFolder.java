package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A copy of the folder {@code deploy}, in which {@code passwords.sh} has run. */
record DeployFolder(Path path) {

  /** The folder of the repository. */
  static Path ours() {
    Path root = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(root.resolve(".mvn"))) {
      root = root.getParent();
    }
    return root.resolve("deploy");
  }

  static DeployFolder copiedTo(Path folder) throws IOException, InterruptedException {
    try (Stream<Path> files = Files.walk(ours())) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path name = ours().relativize(file);
        if (!name.startsWith("secrets") && !name.startsWith(".env")) { // Those of a developer.
          Path to = folder.resolve(name.toString());
          Files.createDirectories(to.getParent());
          Files.copy(file, to, java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
        }
      }
    }
    DeployFolder copy = new DeployFolder(folder);
    Ran made = copy.makePasswords();
    assertThat(made.status()).as(made.said()).isZero();
    return copy;
  }

  Ran makePasswords() throws IOException, InterruptedException {
    return Ran.of(path, Map.of(), List.of("sh", path.resolve("passwords.sh").toString()));
  }

  Path secret(String name) {
    return path.resolve("secrets").resolve(name);
  }

  String password(String user) throws IOException {
    return Files.readString(secret(user + ".password")).strip();
  }
}
