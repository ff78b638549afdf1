//! Draws the cells of a terminal as a picture.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;

/// The size of a cell in pixels.
const CELL: (f64, f64) = (8.4, 18.0);
/// The edge around the cells in pixels.
const EDGE: f64 = 10.0;

/// The colours of a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    pub(crate) name: &'static str,
    background: &'static str,
    text: &'static str,
    green: &'static str,
    red: &'static str,
    yellow: &'static str,
    cyan: &'static str,
}

pub(crate) const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        background: "#ffffff",
        text: "#1f2328",
        green: "#1a7f37",
        red: "#cf222e",
        yellow: "#7d4e00",
        cyan: "#0b6e7f",
    },
    Theme {
        name: "dark",
        background: "#0d1117",
        text: "#e6edf3",
        green: "#3fb950",
        red: "#ff7b72",
        yellow: "#d29922",
        cyan: "#39c5cf",
    },
];

impl Theme {
    fn colour(self, colour: Color) -> &'static str {
        match colour {
            Color::Green => self.green,
            Color::Red => self.red,
            Color::Yellow => self.yellow,
            Color::Cyan => self.cyan,
            Color::Reset => self.text,
            other => panic!("the picture has no {other}"),
        }
    }
}

/// Returns the cells as an SVG. Neighbours of one style are one text, as wide as its cells in any
/// font.
pub(crate) fn svg(cells: &Buffer, theme: Theme) -> String {
    let (columns, rows) = (usize::from(cells.area.width), usize::from(cells.area.height));
    let (width, height) = (columns as f64 * CELL.0 + 2.0 * EDGE, rows as f64 * CELL.1 + 2.0 * EDGE);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" \
         font-size=\"14\" fill=\"{}\">\n<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{}\"/>\n",
        theme.text, theme.background
    );
    for (row, line) in cells.content.chunks(columns).enumerate() {
        let mut column = 0;
        for run in line.chunk_by(|a, b| a.style() == b.style()) {
            text += &drawn(run, (column, row), theme);
            column += run.len();
        }
    }
    text + "</svg>\n"
}

/// Returns neighbours of one style, without the blanks around them.
fn drawn(run: &[Cell], (column, row): (usize, usize), theme: Theme) -> String {
    let is_reversed = run[0].modifier.contains(Modifier::REVERSED);
    let symbols: String = run.iter().map(Cell::symbol).collect();
    let shown = if is_reversed { &symbols[..] } else { symbols.trim() };
    if shown.is_empty() {
        return String::new();
    }
    let blanks = if is_reversed { 0 } else { symbols.chars().take_while(|letter| *letter == ' ').count() };
    let left = EDGE + (column + blanks) as f64 * CELL.0;
    let (top, width) = (EDGE + row as f64 * CELL.1, shown.chars().count() as f64 * CELL.0);
    let colour = theme.colour(run[0].fg);
    let mut text = String::new();
    if is_reversed {
        let height = CELL.1;
        _ = writeln!(
            text,
            "<rect x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{colour}\"/>"
        );
    }
    let fill = if is_reversed { theme.background } else { colour };
    let weight = if run[0].modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let opacity = if run[0].modifier.contains(Modifier::DIM) { " fill-opacity=\"0.75\"" } else { "" };
    let shown = shown.replace('&', "&amp;").replace('<', "&lt;").replace(' ', "\u{a0}");
    let base = top + 0.72 * CELL.1;
    _ = writeln!(
        text,
        "<text x=\"{left:.1}\" y=\"{base:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
         fill=\"{fill}\"{weight}{opacity}>{shown}</text>"
    );
    text
}
