package dev.redlock.site;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Finds links that lead nowhere. Links to other hosts are not followed. */
final class Links {
  private final Path repository;
  private final Map<String, Page> pages;

  Links(Path repository, Map<String, Page> pages) {
    this.repository = repository;
    this.pages = pages;
  }

  /**
   * A sentence for each dead link: a file that does not exist, or an anchor that no heading has.
   */
  List<String> dead() {
    List<String> dead = new ArrayList<>();
    for (Page page : pages.values()) {
      for (String link : page.links()) {
        if (!external(link)) {
          String fault = fault(page, link);
          if (!fault.isEmpty()) {
            dead.add(page.path() + ": " + link + ": " + fault);
          }
        }
      }
    }
    return dead;
  }

  static boolean external(String link) {
    return link.matches("[a-z][a-z0-9+.-]*:.*");
  }

  private String fault(Page page, String link) {
    int hash = link.indexOf('#');
    String file = hash < 0 ? link : link.substring(0, hash);
    String target = resolve(page.path(), file);
    if (target.startsWith("..") || !Files.exists(repository.resolve(target))) {
      return "there is no such file";
    }
    if (hash < 0) {
      return "";
    }
    Page to = pages.get(target);
    if (to == null) {
      return "only pages have anchors";
    }
    return to.anchors().contains(link.substring(hash + 1)) ? "" : "no heading has this anchor";
  }

  /** The path from the root of the repository of a link in a page; the page itself for "". */
  static String resolve(String page, String file) {
    if (file.isEmpty()) {
      return page;
    }
    Path parent = Path.of(page).getParent();
    Path target = parent == null ? Path.of(file) : parent.resolve(file);
    return target.normalize().toString().replace('\\', '/');
  }
}
