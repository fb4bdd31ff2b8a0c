package dev.redlock.site;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The web site: all pages of the repository as HTML, with a search and the Javadoc. It loads
 * nothing from other hosts, and can be opened from the disk.
 */
public final class Site {
  private static final String SOURCE = ".md";

  /** The pages of this folder are a group of the menu. */
  private static final String DECISIONS = "docs/decisions";

  /** The script that gives code its colours, in the jar of the version in the pom. */
  private static final String COLOURS =
      "/META-INF/resources/webjars/highlightjs/11.10.0/highlight.min.js";

  /** Groups of the menu; other pages follow under "More". */
  private static final Map<String, List<String>> MENU = new LinkedHashMap<>();

  static {
    MENU.put(
        "Begin",
        List.of("docs/first-project", "README", "docs/choosing", "docs/tutorial", "docs/recipes"));
    MENU.put(
        "Use",
        List.of(
            "docs/safety",
            "docs/options",
            "docs/spring",
            "docs/vertx",
            "docs/cluster",
            "docs/migrating"));
    MENU.put(
        "Operate",
        List.of("docs/operations", "docs/runbooks", "docs/command", "docs/observability"));
    MENU.put(
        "Understand",
        List.of("docs/algorithm", "docs/architecture", "docs/glossary", "docs/benchmarks"));
  }

  private final Path repository;
  private final Map<String, Page> pages;

  private Site(Path repository, Map<String, Page> pages) {
    this.repository = repository;
    this.pages = pages;
  }

  /**
   * Builds the site.
   *
   * @param args the root of the repository, and the folder to fill
   */
  public static void main(String[] args) throws IOException {
    Path out = Path.of(args[1]);
    Site site = read(Path.of(args[0]));
    List<String> dead = site.deadLinks();
    dead.forEach(link -> System.err.println("site: dead link: " + link));
    int sections = site.write(out);
    System.out.printf(
        "site: %d pages, %d sections in the index, %d dead links: %s%n",
        site.pages.size(), sections, dead.size(), out.resolve("index.html"));
    System.exit(dead.isEmpty() ? 0 : 1);
  }

  /** Reads the pages of the root folder, of docs, and of the decisions. */
  static Site read(Path repository) throws IOException {
    Map<String, Page> pages = new TreeMap<>();
    for (String folder : List.of("", "docs", DECISIONS)) {
      try (Stream<Path> files = Files.list(repository.resolve(folder))) {
        for (Path file : files.filter(f -> f.toString().endsWith(SOURCE)).toList()) {
          String path = repository.relativize(file).toString().replace('\\', '/');
          pages.put(path, Page.parse(path, Files.readString(file)));
        }
      }
    }
    return new Site(repository, pages);
  }

  List<String> deadLinks() {
    return new Links(repository, pages).dead();
  }

  /** Writes all pages, and what they show, and returns the number of sections in the index. */
  int write(Path out) throws IOException {
    SearchIndex index = new SearchIndex();
    for (Page page : pages.values()) {
      String url = url(page.path());
      index.add(page, url);
      Path file = out.resolve(url);
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.writeString(file, html(page));
    }
    Files.writeString(out.resolve("search-index.js"), index.script());
    Files.writeString(out.resolve("highlight.js"), resource(COLOURS));
    copyFiles(out);
    return index.size();
  }

  /** The README is the first page; the others keep their folder. */
  private static String url(String path) {
    return path.equals("README.md")
        ? "index.html"
        : path.substring(0, path.length() - SOURCE.length()) + ".html";
  }

  private String html(Page page) {
    String up = "../".repeat(Path.of(page.path()).getNameCount() - 1);
    return resource("page.html")
        .replace("${title}", HtmlPage.escape(page.title()))
        .replace("${style}", resource("site.css"))
        .replace("${menu}", menu(page, up))
        .replace("${up}", up)
        .replace("${script}", resource("site.js"))
        .replace("${body}", HtmlPage.body(page, link -> target(page, link, up)));
  }

  private String menu(Page current, String up) {
    StringBuilder menu = new StringBuilder();
    Map<String, Page> rest = new TreeMap<>(pages);
    MENU.forEach(
        (group, names) -> {
          menu.append("<h2>").append(group).append("</h2>\n");
          for (String name : names) {
            Page page = rest.remove(name + SOURCE);
            if (page != null) {
              item(menu, page, current, up);
            }
          }
        });
    Predicate<Page> isDecision = page -> page.path().startsWith(DECISIONS + "/");
    menu.append("<h2>Decisions</h2>\n");
    rest.values().stream().filter(isDecision).forEach(page -> item(menu, page, current, up));
    menu.append("<h2>More</h2>\n");
    rest.values().stream()
        .filter(isDecision.negate())
        .forEach(page -> item(menu, page, current, up));
    return menu.append("<a href=\"")
        .append(up)
        .append("javadoc/index.html\">Javadoc</a>\n")
        .toString();
  }

  private static void item(StringBuilder menu, Page page, Page current, String up) {
    String label = page.title().replaceFirst(":.*", "");
    menu.append("<a href=\"").append(up).append(url(page.path())).append('"');
    menu.append(page.path().equals(current.path()) ? " class=\"here\">" : ">");
    menu.append(HtmlPage.escape(label)).append("</a>\n");
  }

  /** Pages become HTML; other files of the repository are copied to the same place. */
  private String target(Page page, String link, String up) {
    if (Links.external(link) || link.startsWith("#")) {
      return link;
    }
    int hash = link.indexOf('#');
    String path = Links.resolve(page.path(), hash < 0 ? link : link.substring(0, hash));
    String anchor = hash < 0 ? "" : link.substring(hash);
    return up + (pages.containsKey(path) ? url(path) : path) + anchor;
  }

  private void copyFiles(Path out) throws IOException {
    for (Page page : pages.values()) {
      for (String link : page.links()) {
        String path =
            Links.external(link) ? "" : Links.resolve(page.path(), link.replaceFirst("#.*", ""));
        Path from = repository.resolve(path);
        if (!path.isEmpty() && !pages.containsKey(path) && !path.startsWith("..")) {
          copy(from, out.resolve(path));
        }
      }
    }
  }

  /** A folder becomes a list of its files, which are copied with it. */
  private static void copy(Path from, Path to) throws IOException {
    if (Files.isRegularFile(from)) {
      Files.createDirectories(to.toAbsolutePath().getParent());
      Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
    } else if (Files.isDirectory(from)) {
      Files.createDirectories(to);
      StringBuilder list = new StringBuilder("<!DOCTYPE html><meta charset=\"utf-8\"><ul>\n");
      try (Stream<Path> files = Files.list(from)) {
        for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
          Files.copy(file, to.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
          String name = HtmlPage.escape(file.getFileName().toString());
          list.append("<li><a href=\"").append(name).append("\">").append(name).append("</a>\n");
        }
      }
      Files.writeString(to.resolve("index.html"), list.append("</ul>\n"));
    }
  }

  private static String resource(String name) {
    try (InputStream in = Site.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the resource " + name + " is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
