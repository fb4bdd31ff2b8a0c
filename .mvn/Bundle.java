import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * Makes the bundle of a release from a directory that Maven has deployed to, and checks what the
 * central repository would refuse. Part of {@code bin/release}:
 *
 * <pre>java .mvn/Bundle.java DEPLOYED GROUP VERSION TIMESTAMP OUT MODULE…</pre>
 *
 * Writes the files to OUT and to OUT.zip. Prints each fault; exit code 1 if there is one.
 */
public final class Bundle {
  private static final Map<String, String> SUMS =
      new TreeMap<>(
          Map.of("md5", "MD5", "sha1", "SHA-1", "sha256", "SHA-256", "sha512", "SHA-512"));

  private static final Set<String> OF_A_POM = Set.of(".pom", "-cyclonedx.json", "-cyclonedx.xml");
  private static final Set<String> OF_A_JAR = Set.of(".jar", "-sources.jar", "-javadoc.jar");

  /** Has no jar. */
  private static final String BOM = "redlock-bom";

  private static final List<String> faults = new ArrayList<>();

  public static void main(String[] args) throws Exception {
    Path deployed = Path.of(args[0]);
    String group = args[1];
    String version = args[2];
    Instant time = Instant.parse(args[3]);
    Path out = Path.of(args[4]);
    Set<String> modules = new TreeSet<>(List.of(args).subList(5, args.length));
    modules.add(BOM);

    Path from = deployed.resolve(group.replace('.', '/'));
    Map<String, byte[]> bundle = new TreeMap<>();
    for (Path file : files(deployed)) {
      String name = deployed.relativize(file).toString().replace('\\', '/');
      boolean derived = name.matches(".*\\.(md5|sha1|sha256|sha512)");
      if (!derived && !file.getFileName().toString().startsWith("maven-metadata")) {
        bundle.put(name, Files.readAllBytes(file));
      }
    }
    Set<String> found = new TreeSet<>();
    if (Files.isDirectory(from)) {
      try (Stream<Path> folders = Files.list(from)) {
        folders.forEach(module -> found.add(module.getFileName().toString()));
      }
    }
    check(found.equals(modules), "modules " + found + ", expected " + modules);

    Set<String> expected = new TreeSet<>();
    for (String module : found) {
      String base =
          group.replace('.', '/') + "/" + module + "/" + version + "/" + module + "-" + version;
      Set<String> endings = new TreeSet<>(OF_A_POM);
      if (!module.equals(BOM)) {
        endings.addAll(OF_A_JAR);
      }
      for (String ending : endings) {
        expected.add(base + ending);
        expected.add(base + ending + ".asc");
      }
      if (bundle.containsKey(base + ".pom")) {
        checkPom(module, group, version, bundle.get(base + ".pom"), modules);
      }
      if (!module.equals(BOM) && bundle.containsKey(base + ".jar")) {
        checkJars(deployed, base);
      }
    }
    Set<String> missing = new TreeSet<>(expected);
    missing.removeAll(bundle.keySet());
    Set<String> superfluous = new TreeSet<>(bundle.keySet());
    superfluous.removeAll(expected);
    check(missing.isEmpty(), "missing: " + missing);
    check(superfluous.isEmpty(), "superfluous: " + superfluous);

    if (!faults.isEmpty()) {
      faults.forEach(fault -> System.err.println("bundle: " + fault));
      System.exit(1);
    }
    write(bundle, time, out);
  }

  private static void check(boolean holds, String fault) {
    if (!holds) {
      faults.add(fault);
    }
  }

  private static List<Path> files(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }

  private static void checkPom(
      String module, String group, String version, byte[] bytes, Set<String> modules)
      throws Exception {
    String text = new String(bytes, UTF_8);
    check(!text.contains("${"), module + ": its pom has an unresolved ${…}");
    check(!text.contains("SNAPSHOT"), module + ": its pom names a snapshot");
    Document pom =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new java.io.ByteArrayInputStream(bytes));
    Element project = pom.getDocumentElement();
    check(group.equals(text(project, "groupId")), module + ": group " + text(project, "groupId"));
    check(module.equals(text(project, "artifactId")), module + ": artifactId");
    check(
        version.equals(text(project, "version")), module + ": version " + text(project, "version"));
    for (String one : List.of("name", "description", "url")) {
      check(!text(project, one).isEmpty(), module + ": its pom has no " + one);
    }
    for (String path :
        List.of(
            "licenses/license/name",
            "licenses/license/url",
            "developers/developer/name",
            "scm/connection",
            "scm/developerConnection",
            "scm/url")) {
      check(!text(project, path.split("/")).isEmpty(), module + ": its pom has no " + path);
    }
    for (String none :
        List.of(
            "parent", "repositories", "pluginRepositories", "distributionManagement", "build")) {
      check(child(project, none) == null, module + ": its pom has a " + none);
    }
    boolean bom = module.equals(BOM);
    check(
        bom == (child(project, "dependencyManagement") != null), module + ": dependencyManagement");
    if (bom) {
      check(text.contains("<artifactId>netty-bom<"), module + ": does not settle Netty");
      for (String other : modules) {
        check(
            other.equals(module) || text.contains("<artifactId>" + other + "<"),
            module + ": lacks " + other);
      }
    }
  }

  private static Node child(Node parent, String name) {
    for (Node at = parent.getFirstChild(); at != null; at = at.getNextSibling()) {
      if (name.equals(at.getNodeName())) {
        return at;
      }
    }
    return null;
  }

  private static String text(Node parent, String... path) {
    Node at = parent;
    for (String name : path) {
      at = at == null ? null : child(at, name);
    }
    return at == null ? "" : at.getTextContent().strip();
  }

  private static void checkJars(Path deployed, String base) throws IOException {
    try (JarFile jar = new JarFile(deployed.resolve(base + ".jar").toFile())) {
      String automatic = jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name");
      boolean named = jar.getEntry("module-info.class") != null || automatic != null;
      check(named, base + ".jar: no module name");
      check(
          jar.stream().noneMatch(entry -> entry.getName().endsWith(".java")),
          base + ".jar: has sources");
    }
    try (JarFile sources = new JarFile(deployed.resolve(base + "-sources.jar").toFile())) {
      check(
          sources.stream().anyMatch(entry -> entry.getName().matches(".*\\.(java|kt)")),
          base + ": no sources");
    }
    try (JarFile javadoc = new JarFile(deployed.resolve(base + "-javadoc.jar").toFile())) {
      check(javadoc.getEntry("index.html") != null, base + ": no Javadoc");
    }
  }

  /** All files with their checksums. The zip holds them in one order, all with the same time. */
  private static void write(Map<String, byte[]> bundle, Instant time, Path out) throws Exception {
    Map<String, byte[]> all = new TreeMap<>(bundle);
    bundle.forEach(
        (name, bytes) -> {
          if (!name.endsWith(".asc")) {
            SUMS.forEach(
                (ending, algorithm) -> all.put(name + "." + ending, sum(algorithm, bytes)));
          }
        });
    try (OutputStream file = Files.newOutputStream(Path.of(out + ".zip"));
        ZipOutputStream zip = new ZipOutputStream(file)) {
      for (Map.Entry<String, byte[]> one : all.entrySet()) {
        ZipEntry entry = new ZipEntry(one.getKey());
        entry.setTimeLocal(LocalDateTime.ofInstant(time, ZoneOffset.UTC));
        zip.putNextEntry(entry);
        zip.write(one.getValue());
        Path target = out.resolve(one.getKey());
        Files.createDirectories(target.getParent());
        Files.write(target, one.getValue());
      }
    }
  }

  private static byte[] sum(String algorithm, byte[] bytes) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance(algorithm).digest(bytes))
          .getBytes(UTF_8);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
