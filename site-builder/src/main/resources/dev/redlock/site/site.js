(function () {
  var pages = document.getElementById("pages");
  var narrow = matchMedia("(max-width: 800px)");
  function fold() { pages.open = !narrow.matches; } // A phone shows the text first.
  fold();
  narrow.addEventListener("change", fold);
  var last = document.querySelector("nav a.here");
  document.querySelectorAll("main h2[id]").forEach(function (heading) {
    var link = document.createElement("a");
    link.className = "section";
    link.href = "#" + heading.id;
    link.textContent = heading.textContent;
    if (last) { last.after(link); last = link; }
  });
})();
(function () {
  var field = document.getElementById("search");
  var results = document.getElementById("results");
  function clean(text) {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
  }
  function score(entry, words) {
    var section = entry[2].toLowerCase();
    var page = entry[1].toLowerCase();
    var text = entry[3].toLowerCase();
    var sum = 0;
    for (var i = 0; i < words.length; i++) {
      var here = 0;
      if (section.indexOf(words[i]) >= 0) here += 20;
      if (page.indexOf(words[i]) >= 0) here += 8;
      var times = text.split(words[i]).length - 1;
      if (times > 0) here += 2 + Math.min(times, 5);
      if (here === 0) return 0; // Every word has to occur.
      sum += here;
    }
    return sum;
  }
  function excerpt(text, word) {
    var at = Math.max(0, text.toLowerCase().indexOf(word) - 50);
    var part = text.substr(at, 150);
    var hit = part.toLowerCase().indexOf(word);
    if (hit < 0) return clean(part);
    return clean(part.substr(0, hit)) + "<mark>" + clean(part.substr(hit, word.length)) + "</mark>" +
      clean(part.substr(hit + word.length));
  }
  function show() {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    results.hidden = words.length === 0;
    var hits = (window.searchIndex || []).map(function (entry) {
      return { entry: entry, score: words.length ? score(entry, words) : 0 };
    }).filter(function (hit) { return hit.score > 0; });
    hits.sort(function (a, b) { return b.score - a.score; });
    results.innerHTML = hits.slice(0, 15).map(function (hit) {
      var e = hit.entry;
      return '<a href="' + up + clean(e[0]) + '">' + clean(e[2]) +
        (e[1] === e[2] ? "" : " · " + clean(e[1])) +
        "<small>" + excerpt(e[3], words[0]) + "</small></a>";
    }).join("") || "<p>Nothing was found.</p>";
  }
  field.addEventListener("input", show);
  window.addEventListener("load", function () {
    var asked = new URLSearchParams(location.search).get("q");
    if (asked) { field.value = asked; show(); }
  });
})();
