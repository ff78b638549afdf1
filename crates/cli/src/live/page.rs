//! The page that a browser gets: a report that reloads when there is a newer one.

/// The part of a page that asks for newer ones. It reloads only if there is one and the reader has not
/// touched the page for ten seconds, hands the reader's place and choices to the next page
/// (`reader.js` of the report), asks nothing while nobody looks, and gives up once the run is gone.
const SCRIPT: &str = r#"<script>
(() => {
  const seen = REVISION, name = "tunesmith-live-reader";
  const stored = sessionStorage.getItem(name);
  sessionStorage.removeItem(name);
  // The report returns to the place itself, once its tables are there.
  history.scrollRestoration = "manual";
  if (stored !== null) globalThis.tunesmithReader = { before: JSON.parse(stored) };
  let missed = 0, touched = -Infinity;
  for (const kind of ["pointerdown", "keydown", "wheel"])
    addEventListener(kind, () => { touched = Date.now(); }, { passive: true });
  const ask = async () => {
    try {
      if (!document.hidden) {
        const state = await (await fetch("/state", { cache: "no-store" })).json();
        missed = 0;
        const idle = Date.now() - touched > 10000 && getSelection().isCollapsed;
        if (state.revision !== seen && (idle || !state.running)) {
          const reader = globalThis.tunesmithReader?.now?.();
          if (reader) sessionStorage.setItem(name, JSON.stringify(reader));
          location.reload();
          return;
        }
        if (!state.running) return;
      }
    } catch {
      if (++missed === 5) return;
    }
    setTimeout(ask, 1000);
  };
  setTimeout(ask, 1000);
})();
</script>
"#;

/// The page before the first measurement.
const WAITING: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
    <title>Tunesmith</title></head>\n<body><p>Nothing was measured yet. This page reloads by itself.</p>\n</body></html>\n";

/// Returns the page before the first measurement.
pub(super) fn waiting() -> String {
    reloading(WAITING, 0)
}

/// Returns `report`, a page of HTML, with the part that asks for a newer revision than `revision`.
pub(super) fn reloading(report: &str, revision: u64) -> String {
    let script = SCRIPT.replace("REVISION", &revision.to_string());
    // The end tags of a page may be left out. Scripts of the report may hold their text.
    match report.rfind("</body>") {
        Some(at) => format!("{}{script}{}", &report[..at], &report[at..]),
        None => format!("{report}{script}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_stands_at_the_end_of_the_body() {
        let page = reloading("<body><script>'</body>'</script><p>x</p></body></html>", 7);
        assert!(page.starts_with("<body><script>'</body>'</script><p>x</p><script>"), "{page}");
        assert!(page.ends_with("</script>\n</body></html>") && page.contains("seen = 7,"), "{page}");
        assert!(reloading("<p>x", 1).starts_with("<p>x<script>"));
        assert!(waiting().contains("seen = 0,"));
    }
}
