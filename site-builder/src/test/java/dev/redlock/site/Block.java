package dev.redlock.site;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A fenced block of a page.
 *
 * @param page the name of the page
 * @param line the line of the page on which the code begins
 * @param language what stands behind the fence; empty for output and commands
 * @param before the last line before the block that has text
 */
record Block(String page, int line, String language, String before, String code) {

  /** All blocks of a page, in their order. */
  static List<Block> of(String page, String markdown) {
    List<Block> blocks = new ArrayList<>();
    StringBuilder code = null;
    String language = "";
    String text = "";
    int from = 0;
    int number = 0;
    for (String line : markdown.split("\n", -1)) {
      number++;
      boolean fence = line.strip().startsWith("```");
      if (fence && code == null) {
        code = new StringBuilder();
        language = line.strip().substring(3).toLowerCase(Locale.ROOT);
        from = number + 1;
      } else if (fence) {
        blocks.add(new Block(page, from, language, text, code.toString().stripIndent()));
        code = null;
      } else if (code != null) {
        code.append(line).append('\n');
      } else if (!line.isBlank()) {
        text = line;
      }
    }
    return blocks;
  }

  String at() {
    return page + ":" + line;
  }
}
