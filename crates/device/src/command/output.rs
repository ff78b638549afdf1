//! What a process prints, as far as it is kept.

use std::collections::VecDeque;
use std::io::{PipeReader, Read};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes that are kept of the beginning and, as many again, of the end: room for any report, and a process that
/// prints without end does not fill the memory.
pub(super) const KEPT: usize = 1 << 20;

/// What a process printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes between the two that were not kept.
    dropped: u64,
}

impl Output {
    fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(KEPT - self.head.len()));
        self.head.extend(first);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..surplus);
        self.dropped += surplus as u64;
    }

    /// What was kept: all of it, or beginning and end.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let (a, b) = self.tail.as_slices();
        [self.head.as_slice(), a, b].concat()
    }

    /// What was kept, as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// Whether all that was printed was kept.
    pub(super) fn is_complete(&self) -> bool {
        self.dropped == 0
    }

    /// Whether nothing but blanks was printed.
    pub(super) fn is_blank(&self) -> bool {
        self.bytes().iter().all(u8::is_ascii_whitespace)
    }

    /// The last lines, for messages.
    pub(super) fn last_lines(&self) -> String {
        const LINES: usize = 20;
        const BYTES: usize = 4 << 10;
        let text = self.text();
        let text = text.trim_end();
        let start = text.ceil_char_boundary(text.len().saturating_sub(BYTES));
        let lines: Vec<&str> = text[start..].lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

/// Reads a pipe in the background; everything, so that a process that prints much does not block.
pub(super) struct Reading {
    kept: Arc<Mutex<Output>>,
    /// Disconnects when all has been read.
    ended: Receiver<()>,
}

impl Reading {
    pub(super) fn start(mut from: PipeReader) -> Self {
        let kept = Arc::new(Mutex::new(Output::default()));
        let (end, ended) = channel::<()>();
        let to = Arc::clone(&kept);
        std::thread::spawn(move || {
            let mut piece = vec![0; 64 << 10];
            while let Ok(length @ 1..) = from.read(&mut piece) {
                to.lock().unwrap_or_else(PoisonError::into_inner).add(&piece[..length]);
            }
            drop(end);
        });
        Self { kept, ended }
    }

    /// What was printed. Call it once the processes have ended: a process that left their group may still hold the
    /// pipe, and is not waited for.
    pub(super) fn finish(self) -> Output {
        let _ = self.ended.recv_timeout(crate::worker::process::POLL);
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_are_kept_and_nothing_twice() {
        let mut output = Output::default();
        (0..5).for_each(|digit| output.add(&vec![b'0' + digit; KEPT / 2]));
        assert!(!output.is_complete());
        let text = output.text();
        assert_eq!(text.len(), 2 * KEPT);
        assert!(text.starts_with('0') && text.ends_with('4'));
        assert_eq!(output.dropped, KEPT as u64 / 2);
    }

    #[test]
    fn a_short_output_is_complete() {
        let mut output = Output::default();
        output.add(b"one\n");
        output.add(b"two \xff\n");
        assert_eq!((output.text().as_str(), output.is_complete()), ("one\ntwo \u{fffd}\n", true));
        assert_eq!(output.last_lines(), "one\ntwo \u{fffd}");
        assert!(!output.is_blank() && Output::default().is_blank());
    }

    #[test]
    fn messages_get_the_last_lines() {
        let mut output = Output::default();
        (0..100).for_each(|line| output.add(format!("line {line}\n").as_bytes()));
        let lines = output.last_lines();
        assert!(lines.starts_with("line 80\n") && lines.ends_with("line 99"), "{lines}");
    }
}
