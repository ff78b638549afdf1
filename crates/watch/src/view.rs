//! The part of a run that its reader looks at.

/// A key, as far as it means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Letter(char),
    /// The arrow to the left.
    Left,
    /// The arrow to the right.
    Right,
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
    /// To the beginning.
    Home,
    /// The tabulator.
    Tab,
    /// The tabulator with shift.
    BackTab,
    /// Escape.
    Escape,
}

/// A page of the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// The most important facts, the curve and the first leaders.
    #[default]
    Overview,
    /// The curve of the best.
    Curve,
    /// The best configurations.
    Leaders,
    /// Failures by cause.
    Failures,
    /// The settings of the run.
    Run,
}

impl Page {
    /// All pages in their order.
    pub const ALL: [Self; 5] = [Self::Overview, Self::Curve, Self::Leaders, Self::Failures, Self::Run];

    /// Returns its word for commands.
    pub fn word(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Curve => "curve",
            Self::Leaders => "leaders",
            Self::Failures => "failures",
            Self::Run => "run",
        }
    }

    /// Returns its title.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Curve => "Curve",
            Self::Leaders => "Leaders",
            Self::Failures => "Failures",
            Self::Run => "Run",
        }
    }

    fn moved(self, by: usize) -> Self {
        let place = Self::ALL.iter().position(|page| *page == self).unwrap_or_default();
        Self::ALL[(place + by) % Self::ALL.len()]
    }
}

/// The part of a run that its reader looks at: a value that each key updates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The page.
    pub page: Page,
    /// True if curves are drawn over time, false over evaluations.
    pub over_time: bool,
    /// Number of lines above the first one that is shown. Drawing shows the last lines if it is too
    /// large.
    pub scroll: usize,
    /// True if the keys are explained.
    pub help: bool,
    /// True if there is colour.
    pub colour: bool,
}

/// Number of lines that a screen up or down moves.
const SCREEN: usize = 10;

impl View {
    /// Takes a key. Returns false if it ends the view. `lines` is the number of lines that the page can
    /// scroll.
    pub fn press(&mut self, key: Key, lines: usize) -> bool {
        if std::mem::take(&mut self.help) {
            // Any key closes the help.
            return key != Key::Letter('q');
        }
        let scroll = self.scroll.min(lines);
        match key {
            Key::Letter('q') | Key::Escape => return false,
            Key::Letter('?' | 'h') => self.help = true,
            Key::Letter('t') => self.over_time = !self.over_time,
            Key::Letter(digit @ '1'..='5') => self.turn(Page::ALL[digit as usize - '1' as usize]),
            Key::Right | Key::Tab | Key::Letter('l') => self.turn(self.page.moved(1)),
            Key::Left | Key::BackTab => self.turn(self.page.moved(Page::ALL.len() - 1)),
            Key::Down | Key::Letter('j') => self.scroll = (scroll + 1).min(lines),
            Key::Up | Key::Letter('k') => self.scroll = scroll.saturating_sub(1),
            Key::PageDown | Key::Letter(' ') => self.scroll = (scroll + SCREEN).min(lines),
            Key::PageUp => self.scroll = scroll.saturating_sub(SCREEN),
            Key::Home => self.scroll = 0,
            Key::Letter(_) => {}
        }
        true
    }

    fn turn(&mut self, page: Page) {
        (self.page, self.scroll) = (page, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(keys: &[Key]) -> (View, bool) {
        let mut view = View::default();
        let goes_on = keys.iter().all(|key| view.press(*key, 25));
        (view, goes_on)
    }

    #[test]
    fn arrows_and_digits_turn_pages_in_a_circle() {
        assert_eq!(pressed(&[Key::Right]).0.page, Page::Curve);
        assert_eq!(pressed(&[Key::Left]).0.page, Page::Run);
        assert_eq!(pressed(&[Key::Tab, Key::Tab, Key::BackTab]).0.page, Page::Curve);
        assert_eq!(pressed(&[Key::Letter('4')]).0.page, Page::Failures);
        assert_eq!(pressed(&[Key::Right; 5]).0.page, Page::Overview);
    }

    #[test]
    fn scrolling_stays_among_the_lines_and_ends_with_the_page() {
        assert_eq!(pressed(&[Key::Up]).0.scroll, 0);
        assert_eq!(pressed(&[Key::PageDown; 9]).0.scroll, 25);
        assert_eq!(pressed(&[Key::PageDown, Key::PageDown, Key::PageDown, Key::Up]).0.scroll, 24);
        assert_eq!(pressed(&[Key::Down, Key::Down, Key::Right]).0.scroll, 0);
    }

    #[test]
    fn q_ends_the_view_and_any_key_closes_the_help() {
        assert!(!pressed(&[Key::Letter('q')]).1);
        assert!(!pressed(&[Key::Escape]).1);
        let (view, goes_on) = pressed(&[Key::Letter('?')]);
        assert!(goes_on && view.help);
        let (view, goes_on) = pressed(&[Key::Letter('?'), Key::Escape]);
        assert!(goes_on && !view.help);
        assert!(!pressed(&[Key::Letter('?'), Key::Letter('q')]).1);
        assert!(pressed(&[Key::Letter('t')]).0.over_time);
    }
}
