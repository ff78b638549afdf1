//! What there is to say about a kernel's specification.
//!
//! A T1 file is worth reading for its space alone: whatever keeps the kernel from being run here is
//! no error of the file but an obstacle, shown as a warning, which becomes an error once somebody
//! wants the kernel to run.

use crate::diagnostic::Messages;
use crate::{Diagnostic, Level, tree};
use std::cell::RefCell;
use std::ops::Range;

/// Collects what is found.
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

    /// Reports something that keeps the kernel from being run.
    pub(super) fn obstacle(&self, span: Range<usize>, text: impl Into<String>, remedy: Option<String>) {
        let message = self.messages.source.diagnostic(Level::Error, span, text.into(), remedy);
        self.obstacles.borrow_mut().push(message);
    }

    /// Reports something that the kernel is run without, or in another way.
    pub(super) fn note(&self, span: Range<usize>, text: impl Into<String>, remedy: Option<String>) {
        let message = self.messages.source.diagnostic(Level::Warning, span, text.into(), remedy);
        self.notes.borrow_mut().push(message);
    }

    pub(super) fn has_obstacles(&self) -> bool {
        !self.obstacles.borrow().is_empty()
    }

    /// Works as [`tree::place_inside`] does.
    pub(super) fn place_inside(&self, span: &Range<usize>, text: &str, inside: &Range<usize>) -> Range<usize> {
        tree::place_inside(&self.messages.source.text, span, text, inside.clone())
    }

    /// Forgets everything: of a kernel in a language that is not compiled nothing else matters.
    pub(super) fn clear(&self) {
        self.obstacles.borrow_mut().clear();
        self.notes.borrow_mut().clear();
    }

    /// Shows everything as warnings, in the order of the file; gives the obstacles.
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
