//! Draws a run into a buffer of cells.

mod curve;
mod facts;
mod lists;
mod paint;

use crate::source::{Life, Source};
use crate::view::{Page, View};
use crate::watched::Watched;
use paint::Paint;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Widget};
use tunesmith_report::fitted;

/// Minimum width at which the overview shows the curve beside the leaders.
const WIDE: u16 = 110;

/// Minimum height of a curve. A lower one says nothing.
const CURVE: u16 = 5;

/// Draws the run into `area`. Returns the number of lines that the page can scroll.
pub fn draw(watched: &Watched, source: &Source, view: &View, area: Rect, buffer: &mut Buffer) -> usize {
    let paint = Paint { colour: view.colour };
    let rows =
        Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]);
    let [title, tabs, body, foot] = rows.areas(area);
    draw_title(watched, source, paint, title, buffer);
    draw_tabs(view.page, paint, tabs, buffer);
    let lines = match view.page {
        Page::Overview => {
            draw_overview(watched, source, view, paint, body, buffer);
            0
        }
        Page::Curve => {
            curve::draw(watched, view.over_time, paint, body, buffer);
            0
        }
        Page::Leaders => scrolled(lists::leaders(watched, body.width, paint), view.scroll, body, buffer),
        Page::Failures => scrolled(lists::failures(watched, body.width, paint), view.scroll, body, buffer),
        Page::Run => scrolled(facts::settings(watched, source, body.width, paint), view.scroll, body, buffer),
    };
    draw_foot(source, paint, foot, buffer);
    if view.help {
        draw_help(area, buffer);
    }
    lines
}

/// Returns the run as text, drawn `width` columns wide and `height` lines high.
pub fn text(watched: &Watched, source: &Source, view: &View, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    draw(watched, source, view, area, &mut buffer);
    let line = |row: u16| {
        let cells = (0..width).map(|column| buffer[(column, row)].symbol());
        cells.collect::<String>().trim_end().to_string()
    };
    let lines: Vec<String> = (0..height).map(line).collect();
    format!("{}\n", lines.join("\n").trim_end())
}

fn draw_title(watched: &Watched, source: &Source, paint: Paint, area: Rect, buffer: &mut Buffer) {
    let (state, style) = match &source.life {
        _ if source.is_behind => ("reading", paint.dim()),
        Life::Running => ("running", paint.good()),
        Life::Still | Life::Unknown if watched.finals.is_decided() => ("finished", paint.good()),
        Life::Still => ("not running", paint.strong()),
        Life::Unknown => ("", paint.dim()),
        Life::Deleted => ("deleted", paint.bad()),
        Life::Unreadable { .. } => ("unreadable", paint.bad()),
    };
    let room = usize::from(area.width).saturating_sub(state.len() + 1);
    let device = watched.header.identity.get("device").and_then(|device| device.as_str());
    let device = device.map(|device| format!(" on {device}")).unwrap_or_default();
    let title = fitted(&format!("{}{device}", watched.header.problem), room);
    Line::from(Span::styled(title, paint.strong())).render(area, buffer);
    Line::from(Span::styled(state, style)).right_aligned().render(area, buffer);
}

fn draw_tabs(page: Page, paint: Paint, area: Rect, buffer: &mut Buffer) {
    let all: usize = Page::ALL.iter().map(|page| page.name().len() + 1).sum();
    let line = if all <= usize::from(area.width) {
        let tab = |tab: Page| {
            [Span::styled(tab.name(), if tab == page { paint.chosen() } else { paint.dim() }), Span::raw(" ")]
        };
        Line::from(Page::ALL.into_iter().flat_map(tab).collect::<Vec<_>>())
    } else {
        Line::from(vec![Span::raw("< "), Span::styled(page.name(), paint.chosen()), Span::raw(" >")])
    };
    line.render(area, buffer);
}

fn draw_overview(watched: &Watched, source: &Source, view: &View, paint: Paint, area: Rect, buffer: &mut Buffer) {
    let lines = facts::overview(watched, source, area.width, paint);
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(area.height);
    let [facts, rest] = Layout::vertical([Constraint::Length(height), Constraint::Fill(1)]).areas(area);
    Paragraph::new(lines).render(facts, buffer);
    if rest.height <= CURVE {
        return;
    }
    // A line of distance.
    let rest = Rect { y: rest.y + 1, height: rest.height - 1, ..rest };
    let (curve, leaders) = if rest.width >= WIDE {
        let [curve, _, leaders] =
            Layout::horizontal([Constraint::Fill(3), Constraint::Length(2), Constraint::Fill(2)]).areas(rest);
        (curve, leaders)
    } else {
        let few = if rest.height >= CURVE + 4 { rest.height / 3 } else { 0 };
        let [curve, leaders] = Layout::vertical([Constraint::Fill(1), Constraint::Length(few)]).areas(rest);
        (curve, leaders)
    };
    curve::draw(watched, view.over_time, paint, curve, buffer);
    Paragraph::new(lists::leaders(watched, leaders.width, paint)).render(leaders, buffer);
}

/// Draws the lines from `scroll`. Returns the number of lines that the page can scroll.
fn scrolled(lines: Vec<Line<'static>>, scroll: usize, area: Rect, buffer: &mut Buffer) -> usize {
    let most = lines.len().saturating_sub(usize::from(area.height));
    let shown: Vec<Line<'static>> = lines.into_iter().skip(scroll.min(most)).collect();
    Paragraph::new(shown).render(area, buffer);
    most
}

fn draw_foot(source: &Source, paint: Paint, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let (text, style) = match (&source.life, &source.notice) {
        (Life::Deleted, _) => ("the journal was deleted; what was read stays here".to_string(), paint.bad()),
        (Life::Unreadable { reason }, _) => (reason.clone(), paint.bad()),
        (_, Some(notice)) => (notice.clone(), paint.warning()),
        _ if width < 60 => ("q quit  ? keys".to_string(), paint.dim()),
        _ => ("q quit  ←→ page  ↑↓ scroll  t time or evaluations  ? keys".to_string(), paint.dim()),
    };
    Line::from(Span::styled(fitted_arrows(&text, width), style)).render(area, buffer);
}

/// Returns a text of ours for a place of `width` columns. Its arrows take one column each.
fn fitted_arrows(text: &str, width: usize) -> String {
    if text.chars().count() <= width { text.to_string() } else { fitted(text, width) }
}

/// The keys and their effects.
const KEYS: [(&str, &str); 6] = [
    ("q, Esc", "quit"),
    ("Tab, arrows, 1-5", "another page"),
    ("up, down, PgUp, PgDn", "scroll"),
    ("t", "curve over time"),
    ("Home", "first line"),
    ("?", "these keys"),
];

fn draw_help(area: Rect, buffer: &mut Buffer) {
    let width = 38.min(area.width);
    let height = 8.min(area.height);
    let place = Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height);
    Clear.render(place, buffer);
    let line = |(key, effect): (&str, &str)| Line::from(format!("{key:<21}{effect}"));
    let block = Block::bordered().title(" keys ");
    Paragraph::new(KEYS.map(line).to_vec()).block(block).render(place, buffer);
}
