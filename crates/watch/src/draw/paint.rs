//! The styles of texts, with colour or without.

use ratatui::style::{Color, Modifier, Style};

/// Chooses styles. Without colour, weight alone tells texts apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub(crate) colour: bool,
}

impl Paint {
    fn of(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// Returns the style of what needs none.
    pub(crate) fn plain(self) -> Style {
        Style::new()
    }

    /// Returns the style of what went well.
    pub(crate) fn good(self) -> Style {
        self.of(Color::Green).add_modifier(Modifier::BOLD)
    }

    /// Returns the style of failures.
    pub(crate) fn bad(self) -> Style {
        self.of(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Returns the style of what needs attention.
    pub(crate) fn warning(self) -> Style {
        self.of(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// Returns the style of curves.
    pub(crate) fn curve(self) -> Style {
        self.of(Color::Cyan)
    }

    /// Returns the style of titles.
    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of the page that is shown.
    pub(crate) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Returns the style of what may be overlooked.
    pub(crate) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }
}
