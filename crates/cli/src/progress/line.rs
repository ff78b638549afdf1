//! The line of a bar: a function of what it shows, the width of the window, and colour.

use console::truncate_str;
use tunesmith::report::visible;

/// The content of a bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shown {
    /// The share that is done, from 0 to 1, if it is known.
    pub(super) share: Option<f64>,
    /// The number of evaluations, or the name of the phase.
    pub(super) count: String,
    /// The message, the most important piece first.
    pub(super) pieces: Vec<Piece>,
}

/// A part of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    tone: Tone,
    text: String,
}

/// The meaning of a piece, from which its colour follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Quiet,
    Good,
    Bad,
    Warning,
}

impl Piece {
    pub(super) fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into() }
    }
}

impl Tone {
    /// Returns the parameter of SGR, the sequence that sets colours.
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Quiet => Some("2"),
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
            Self::Warning => Some("33"),
        }
    }

    fn painted(self, text: &str, colour: bool) -> String {
        match self.code().filter(|_| colour) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_string(),
        }
    }
}

/// Returns the message without colours.
pub(super) fn plain(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the line for a window of `width` columns. It leaves the last column free, so that no terminal
/// wraps it, and ends with an ellipsis if it is cut. A narrow window has a short bar or none.
pub(super) fn line(shown: &Shown, width: usize, colour: bool) -> String {
    let Some(width) = width.checked_sub(1).filter(|width| *width > 0) else { return String::new() };
    let cells = match width {
        0..30 => 0,
        30..60 => 8,
        60..100 => 16,
        _ => 24,
    };
    let bar = shown.share.filter(|_| cells > 0).map(|share| format!("{} ", bar(share, cells, colour)));
    let piece = |piece: &Piece| piece.tone.painted(&visible(&piece.text).replace(['\n', '\t'], " "), colour);
    let pieces: Vec<String> = shown.pieces.iter().map(piece).collect();
    let text = format!("{}{}  {}", bar.unwrap_or_default(), shown.count, pieces.join(", "));
    truncate_str(text.trim_end(), width, "…").into_owned()
}

fn bar(share: f64, cells: usize, colour: bool) -> String {
    let full = (share.clamp(0.0, 1.0) * cells as f64).round() as usize;
    let paint = |tone: Tone, sign: &str, count: usize| tone.painted(&sign.repeat(count), colour && count > 0);
    format!("{}{}", paint(Tone::Good, "█", full), paint(Tone::Quiet, "░", cells - full))
}

#[cfg(test)]
mod tests {
    use super::*;
    use console::{measure_text_width, strip_ansi_codes};

    fn shown() -> Shown {
        let pieces = [
            (Tone::Quiet, "3.1/s, 53 s left"),
            (Tone::Good, "best so far 1.125 ms"),
            (Tone::Bad, "failed 3 compile"),
            (Tone::Warning, "noise 8 %"),
            (Tone::Plain, "TILE=32,ORDER=行列\u{1b}[2J"),
        ];
        let pieces = pieces.map(|(tone, text)| Piece::new(tone, text)).to_vec();
        Shown { share: Some(0.5), count: "37/74".to_string(), pieces }
    }

    #[test]
    fn a_line_fits_every_width_and_is_cut_with_an_ellipsis() {
        let whole = line(&shown(), 1000, false);
        for width in 0..200 {
            for colour in [false, true] {
                let line = line(&shown(), width, colour);
                assert!(measure_text_width(&line) < width.max(1), "{width}: {line}");
                let text = strip_ansi_codes(&line).into_owned();
                let is_whole = text == strip_ansi_codes(&whole);
                assert!(width < 3 || is_whole || text.ends_with('…'), "{width}: {text}");
            }
        }
    }

    #[test]
    fn a_narrow_window_has_a_short_bar_or_none() {
        let texts = [20, 40, 70, 110].map(|width| line(&shown(), width, false));
        assert_eq!(texts[0], "37/74  3.1/s, 53 s…");
        assert_eq!(texts[1], "████░░░░ 37/74  3.1/s, 53 s left, best…");
        assert!(texts[2].starts_with("████████░░░░░░░░ 37/74  3.1/s"), "{}", texts[2]);
        assert!(texts[3].starts_with(&format!("{}{} 37/74", "█".repeat(12), "░".repeat(12))), "{}", texts[3]);
        let without = Shown { share: None, ..shown() };
        assert!(line(&without, 110, false).starts_with("37/74  3.1/s"));
    }

    #[test]
    fn colours_are_ended_even_if_the_line_is_cut() {
        let texts = [25, 40, 60, 200].map(|width| line(&shown(), width, true));
        for text in &texts {
            let last = text.rfind("\u{1b}[").unwrap();
            assert!(text[last..].starts_with("\u{1b}[0m"), "{text:?}");
        }
        assert!(texts[3].contains("\u{1b}[31mfailed 3 compile\u{1b}[0m"), "{:?}", texts[3]);
        assert!(texts[3].contains("行列\\u{1b}[2J"), "what acts on terminals is shown: {:?}", texts[3]);
        assert!(!line(&shown(), 200, false).contains('\u{1b}'));
    }
}
