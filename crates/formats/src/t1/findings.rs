//! Findings about a kernel's specification.
//!
//! A T1 file is useful even for its space alone. If its kernel cannot be run here, that is not an
//! error of the file but an obstacle. It is shown as a warning and becomes an error once the kernel
//! is to run.

use std::cell::RefCell;
use std::ops::Range;
use tunesmith_spec::{Diagnostic, Level, Messages};

/// The findings so far.
#[derive(Debug)]
pub(super) struct Findings<'a> {
    messages: &'a Messages,
    obstacles: RefCell<Vec<Diagnostic>>,
    notes: RefCell<Vec<Diagnostic>>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(messages: &'a Messages) -> Self {
        Self { messages, obstacles: RefCell::default(), notes: RefCell::default() }
    }

    /// Adds an obstacle: the kernel cannot be run.
    pub(super) fn obstacle(&self, span: Range<usize>, text: impl Into<String>, remedy: Option<String>) {
        let message = self.messages.source.diagnostic(Level::Error, span, text.into(), remedy);
        self.obstacles.borrow_mut().push(message);
    }

    /// Adds a note: the kernel is run without something, or in another way.
    pub(super) fn note(&self, span: Range<usize>, text: impl Into<String>, remedy: Option<String>) {
        let message = self.messages.source.diagnostic(Level::Warning, span, text.into(), remedy);
        self.notes.borrow_mut().push(message);
    }

    pub(super) fn has_obstacles(&self) -> bool {
        !self.obstacles.borrow().is_empty()
    }

    /// Returns the bytes of the file for `inside`, a span of the expression `text` at `span`.
    pub(super) fn place_inside(&self, span: &Range<usize>, text: &str, inside: &Range<usize>) -> Range<usize> {
        self.messages.source.inside(span, text, inside)
    }

    /// Removes all findings. If the language of a kernel is not supported, nothing else matters.
    pub(super) fn clear(&self) {
        self.obstacles.borrow_mut().clear();
        self.notes.borrow_mut().clear();
    }

    /// Shows all findings as warnings, in the order of the file. Returns the obstacles.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let mut obstacles = self.obstacles.into_inner();
        obstacles.sort_by_key(|message| message.span.start);
        let mut all: Vec<&Diagnostic> = obstacles.iter().collect();
        let notes = self.notes.into_inner();
        all.extend(&notes);
        all.sort_by_key(|message| message.span.start);
        for message in all {
            self.messages.warning(message.span.clone(), message.text.clone(), message.remedy.clone());
        }
        obstacles
    }
}
