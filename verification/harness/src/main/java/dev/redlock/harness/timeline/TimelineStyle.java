package dev.redlock.harness.timeline;

/** The style sheet of the page. Colours are variables, with one set for light and one for dark. */
final class TimelineStyle {
  private TimelineStyle() {}

  /** The number of colours of holders before they repeat. */
  static final int HOLDER_COLOURS = 6;

  static final String CSS =
      """
      :root {
        --page: #f6f7f9; --card: #ffffff; --ink: #1a2230; --muted: #66728a; --grid: #e3e7ee;
        --lane: #eff2f6; --good: #14804a; --good-soft: #def5e8; --bad: #c22f2f; --bad-soft: #fde7e6;
        --h0: #3b66e0; --h1: #0b968b; --h2: #a54ccb; --h3: #b8691c; --h4: #4f7d12; --h5: #c23f7e;
        --voting: #58b884; --quarantined: #e2a01c; --connecting: #b8c1cf; --paused: #7f8ea6;
        --dead: #d4504c; --rate: #3b66e0; --on: #ffffff;
      }
      @media (prefers-color-scheme: dark) {
        :root {
          --page: #0d1218; --card: #141b24; --ink: #e7ecf3; --muted: #8e9bb0; --grid: #263140;
          --lane: #1c2531; --good: #5fd39a; --good-soft: #123324; --bad: #ff8681;
          --bad-soft: #40191b; --h0: #7698ff; --h1: #35c4b6; --h2: #cd86ec; --h3: #e39a4e;
          --h4: #9ccb52; --h5: #f083b5; --voting: #37895f; --quarantined: #e8ad35;
          --connecting: #4a5669; --paused: #7b8aa3; --dead: #e0625d; --rate: #7698ff;
          --on: #0d1218;
        }
      }
      * { box-sizing: border-box; }
      body { margin: 0; background: var(--page); color: var(--ink);
        font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
      main { max-width: 1280px; margin: 0 auto; padding: 28px 24px 48px; }
      header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; }
      h1 { font-size: 22px; margin: 0; letter-spacing: -.01em; }
      .verdict { margin: 0; padding: 3px 12px; border-radius: 99px; font-weight: 600; }
      .verdict.good { color: var(--good); background: var(--good-soft); }
      .verdict.bad { color: var(--bad); background: var(--bad-soft); }
      .facts { display: flex; flex-wrap: wrap; gap: 6px 34px; margin: 16px 0 18px; }
      .facts dt { color: var(--muted); font-size: 12px; }
      .facts dd { margin: 0; font-size: 20px; font-weight: 600;
        font-variant-numeric: tabular-nums; }
      figure { margin: 0; padding: 12px 8px; background: var(--card); border-radius: 12px;
        border: 1px solid var(--grid); overflow-x: auto; }
      svg { display: block; width: 100%; min-width: 860px; height: auto; }
      .note { color: var(--muted); font-size: 13px; margin: 14px 0 0; max-width: 90ch; }

      svg text { font-size: 12px; fill: var(--ink); font-variant-numeric: tabular-nums; }
      svg .section { font-size: 12px; font-weight: 600; fill: var(--ink); }
      svg .hint, svg .tick { fill: var(--muted); font-size: 11px; }
      svg .tick { text-anchor: middle; }
      svg .scale { fill: var(--muted); font-size: 11px; text-anchor: end; }
      svg .name { text-anchor: end; font-weight: 500; }
      svg .inside { fill: var(--on); font-size: 11px; text-anchor: middle; font-weight: 600; }
      svg .beside { fill: var(--ink); font-size: 11px; text-anchor: middle; font-weight: 600; }
      svg .badge-text { fill: var(--on); font-size: 11px; font-weight: 700; text-anchor: middle; }
      .grid { stroke: var(--grid); stroke-width: 1; }
      .lane { fill: var(--lane); }
      .rate-area { fill: var(--rate); opacity: .16; }
      .rate-line { fill: none; stroke: var(--rate); stroke-width: 1.6; stroke-linejoin: round; }
      .hit { fill: transparent; }
      .hit:hover { fill: var(--ink); opacity: .1; }
      .h0 { fill: var(--h0); } .h1 { fill: var(--h1); } .h2 { fill: var(--h2); }
      .h3 { fill: var(--h3); } .h4 { fill: var(--h4); } .h5 { fill: var(--h5); }
      .bin { shape-rendering: crispEdges; }
      .bin:hover, .hold:hover { filter: brightness(1.25); }
      .hold { stroke: var(--card); stroke-width: .6; }
      .kept { opacity: .34; }
      .overlap { fill: var(--bad); }
      .voting { fill: var(--voting); } .quarantined { fill: var(--quarantined); }
      .connecting { fill: var(--connecting); } .paused { fill: var(--paused); }
      .dead { fill: var(--dead); }
      .hatch { stroke: var(--card); stroke-width: 3; opacity: .26; }
      .hatched { fill: url(#hatch); }
      .hatched, svg text, svg line, .rate-area, .rate-line, .funnel { pointer-events: none; }
      .away { opacity: .2; }
      .fault { stroke: var(--bad); stroke-width: 1; stroke-dasharray: 3 4; opacity: .7; }
      .badge { fill: var(--bad); }
      .where { fill: var(--card); stroke: var(--bad); stroke-width: 2.4; }
      .funnel { fill: var(--ink); opacity: .06; }
      .window { fill: none; stroke: var(--muted); stroke-width: 1; }
      """;
}
