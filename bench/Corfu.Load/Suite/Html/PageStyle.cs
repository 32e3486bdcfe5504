namespace Corfu.Load.Suite.Html;

/// <summary>The page's style sheet, light and dark.</summary>
internal static class PageStyle
{
    public const string Css = """
        :root {
          color-scheme: light dark;
          --paper: #fff; --ink: #1d2330; --soft: #5a6475; --grid: #d9dee7; --muted: #8b94a3; --bad: #b3261e;
          --c0: #1f5fbf; --c1: #c25a00; --c2: #1b7f4d; --c3: #8a3ab9; --c4: #b0305c; --c5: #00808a; --c6: #7a6a00;
          --c7: #4b5563;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #12161e; --ink: #e4e8ef; --soft: #a2acbb; --grid: #333c4a; --muted: #8a94a4; --bad: #ff8a80;
            --c0: #6ea8ff; --c1: #ffa24d; --c2: #5fd39a; --c3: #cf9bf5; --c4: #ff85ab; --c5: #4fd1d9; --c6: #e0cc4d;
            --c7: #b6c0cf;
          }
        }
        body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
        main { max-width: 1320px; margin: 0 auto; padding: 24px; }
        h1 { font-size: 26px; margin: 0 0 12px; }
        h2 { font-size: 19px; margin: 36px 0 6px; }
        h2 code { font-size: 13px; font-weight: normal; color: var(--soft); margin-left: 6px; }
        p { max-width: 100ch; margin: 6px 0 12px; }
        a { color: var(--c0); }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 12px 0; }
        dt { color: var(--soft); }
        dd { margin: 0; overflow-wrap: anywhere; }
        .note { border-left: 4px solid var(--c1); padding-left: 12px; }
        .failed { color: var(--bad); }
        section { border-top: 1px solid var(--grid); }
        .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr));
          gap: 12px 24px; }
        figure { margin: 8px 0; max-width: 640px; }
        figcaption { font-weight: 600; font-size: 14px; }
        svg { width: 100%; height: auto; display: block; }
        .legend { display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 13px; margin: 4px 0 0; }
        .legend span { white-space: nowrap; }
        .legend i { display: inline-block; width: 22px; margin-right: 6px; vertical-align: middle;
          border-top: 3px solid; }
        .legend i.dashed { border-top-style: dashed; }
        .table { overflow-x: auto; margin: 12px 0; }
        td small { display: block; color: var(--soft); font-size: 11px; }
        td { vertical-align: top; }
        table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
        th, td { text-align: right; padding: 3px 7px; border-bottom: 1px solid var(--grid); white-space: nowrap; }
        th { color: var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; }
        th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }

        """;
}
