//! The scripts of an interactive page: plotly.js, our own, and the data.
//!
//! plotly.js and the data are compressed and written in base64, so that no text in them can end the
//! element that holds them. The browser decompresses them.

use super::Form;

#[cfg(feature = "plots")]
mod packing {
    use base64::Engine as _;
    use flate2::{Compression, write::GzEncoder};
    use maud::{Markup, PreEscaped, html};
    use std::io::Write as _;

    /// plotly.js as its project publishes it, compressed by `scripts/plotly`.
    const PLOTLY: &[u8] = include_bytes!("plotly/plotly-cartesian.min.js.gz");

    /// Our script, file by file.
    pub(super) const SCRIPT: [&str; 15] = [
        include_str!("script/data.js"),
        include_str!("script/text.js"),
        include_str!("script/theme.js"),
        include_str!("script/picture.js"),
        include_str!("script/progress.js"),
        include_str!("script/importance.js"),
        include_str!("script/slices.js"),
        include_str!("script/heatmap.js"),
        include_str!("script/parallel.js"),
        include_str!("script/samples.js"),
        include_str!("script/spent.js"),
        include_str!("script/table.js"),
        include_str!("script/copy.js"),
        include_str!("script/reader.js"),
        include_str!("script/main.js"),
    ];

    /// Returns the elements with plotly.js, with `data` in JSON, and with our script.
    pub(in crate::page) fn scripts(data: &str) -> Markup {
        html! {
            script type="text/plain" id="plotly" { (PreEscaped(plotly())) }
            script type="text/plain" id="data" { (PreEscaped(packed(data))) }
            script type="module" { (PreEscaped(SCRIPT.concat())) }
        }
    }

    fn plotly() -> String {
        base64::engine::general_purpose::STANDARD.encode(PLOTLY)
    }

    fn packed(text: &str) -> String {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        // Writing to memory cannot fail.
        let bytes = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).unwrap_or_default();
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }
}

#[cfg(feature = "plots")]
pub(super) use packing::scripts;

/// True if this build has the scripts. Without, every page is a static one.
pub(super) const IS_PRESENT: bool = cfg!(feature = "plots");

/// Returns nothing: this build has no scripts.
#[cfg(not(feature = "plots"))]
pub(super) fn scripts(_: &str) -> maud::Markup {
    maud::html! {}
}

/// Returns the last words of the page about what it carries.
pub(super) fn credit(form: Form) -> &'static str {
    match form {
        Form::Interactive => ". Pictures by plotly.js 4.1.1 (MIT licence, Plotly, Inc.).",
        Form::Static => "",
    }
}

#[cfg(all(test, feature = "plots"))]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn the_library_is_the_published_one_with_its_licence() {
        let packed = include_bytes!("plotly/plotly-cartesian.min.js.gz");
        let mut text = String::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
        let head = &text[..200];
        assert!(head.contains("plotly.js (cartesian - minified) v4.1.1") && head.contains("MIT license"), "{head}");
        assert!(credit(Form::Interactive).contains("4.1.1"));
    }

    #[test]
    fn our_script_does_not_end_its_element_and_loads_nothing() {
        let script = packing::SCRIPT.concat();
        for wrong in ["</script", "<!--", "http:", "https:", "import(", "fetch(", "eval(", "innerHTML"] {
            assert!(!script.contains(wrong), "{wrong}");
        }
    }
}
