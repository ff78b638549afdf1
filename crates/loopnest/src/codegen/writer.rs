//! Lines with indentation.

/// Collects the lines of a program.
#[derive(Debug, Default)]
pub(super) struct Writer {
    lines: Vec<String>,
    depth: usize,
    first: Vec<String>,
}

impl Writer {
    /// Adds a line.
    pub(super) fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.depth)));
    }

    /// Adds a text before all lines. Repeated texts are added once.
    pub(super) fn first(&mut self, text: &str) {
        if !self.first.iter().any(|other| other == text) {
            self.first.push(text.to_string());
        }
    }

    /// Adds a line that begins a block.
    pub(super) fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
    }

    /// Ends the innermost block.
    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// Ends the `count` innermost blocks.
    pub(super) fn close_all(&mut self, count: usize) {
        (0..count).for_each(|_| self.close());
    }

    pub(super) fn text(self) -> String {
        self.first.into_iter().chain(self.lines).map(|line| line + "\n").collect()
    }
}
