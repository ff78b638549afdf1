//! A terminal whose bar leaves nothing behind when the window changes its width.

use indicatif::TermLike;
use std::io;

/// Keeps the cursor at the beginning of the bar, and clears everything from there to the end of the
/// screen.
///
/// A window that becomes narrower wraps the line of the bar into several rows. Some terminals do, and
/// others cut it: nobody can tell how many rows there are. But the cursor stays at the beginning of the
/// line in either case, and nothing is below it.
#[derive(Clone, Debug)]
pub(super) struct Anchored<T>(pub(super) T);

impl<T: TermLike> TermLike for Anchored<T> {
    fn width(&self) -> u16 {
        self.0.width()
    }

    fn height(&self) -> u16 {
        self.0.height()
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    /// Writes `text`, but not the blanks with which a line is filled: they would wrap, too.
    fn write_str(&self, text: &str) -> io::Result<()> {
        if text.bytes().all(|byte| byte == b' ') { Ok(()) } else { self.0.write_str(text) }
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.write_str("\r\u{1b}[J")
    }

    fn flush(&self) -> io::Result<()> {
        self.0.write_str("\r")?;
        self.0.flush()
    }
}
