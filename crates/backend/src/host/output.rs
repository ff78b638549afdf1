//! Keeps a process's output, up to a limit.

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The number of bytes kept of the beginning, and again of the end. This is room for any report,
/// and an endless output does not fill the memory.
pub(crate) const KEPT: usize = 1 << 20;

/// The marker written into a pipe behind everything that a command printed. The end of the pipe
/// itself is no sign, because a process that left the command's group may hold the pipe open.
const END: &[u8] = b"\0\xff\0tunesmith: end of output\0\xff\0";

/// The output of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// The number of bytes dropped between beginning and end.
    dropped: u64,
}

impl Output {
    fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(KEPT - self.head.len()));
        self.head.extend(first);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(KEPT + END.len());
        self.tail.drain(..surplus);
        self.dropped += surplus as u64;
    }

    /// Returns true if the end marker was read, and removes it.
    fn take_end(&mut self) -> bool {
        let last = self.head.iter().chain(&self.tail).rev().take(END.len());
        let is_end = last.eq(END.iter().rev());
        if is_end {
            let in_tail = self.tail.len().min(END.len());
            self.tail.truncate(self.tail.len() - in_tail);
            self.head.truncate(self.head.len() - (END.len() - in_tail));
        }
        is_end
    }

    /// Returns the kept bytes: the whole output, or its beginning and end.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (a, b) = self.tail.as_slices();
        [self.head.as_slice(), a, b].concat()
    }

    /// Returns the kept bytes as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// Returns the kept lines as text. Of an output that was cut, the lines next to the gap are left out,
    /// because they may be parts of lines: a part of a number is another number.
    pub(crate) fn whole_lines(&self) -> String {
        if self.is_complete() {
            return self.text();
        }
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let is_end = |byte: &u8| *byte == b'\n';
        let head = &self.head[..self.head.iter().rposition(is_end).map_or(0, |at| at + 1)];
        let tail = &tail[tail.iter().position(is_end).map_or(tail.len(), |at| at + 1)..];
        String::from_utf8_lossy(&[head, tail].concat()).into_owned()
    }

    /// Returns the first `bytes` bytes as text.
    pub(crate) fn first(&self, bytes: usize) -> String {
        String::from_utf8_lossy(&self.head[..self.head.len().min(bytes)]).into_owned()
    }

    /// Returns true if the whole output was kept.
    pub(crate) fn is_complete(&self) -> bool {
        self.dropped == 0
    }

    /// Returns true if the output is blank.
    pub(crate) fn is_blank(&self) -> bool {
        self.bytes().iter().all(u8::is_ascii_whitespace)
    }

    /// Returns the last lines, for messages.
    pub(crate) fn last_lines(&self) -> String {
        const LINES: usize = 20;
        const BYTES: usize = 4 << 10;
        let text = self.text();
        let text = text.trim_end();
        let start = text.ceil_char_boundary(text.len().saturating_sub(BYTES));
        let lines: Vec<&str> = text[start..].lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

/// Reads a pipe in the background. It reads everything, so that a process that prints much does not
/// block.
pub(crate) struct OutputReader {
    kept: Arc<Mutex<Output>>,
    /// The pipe for writing the end marker.
    to: PipeWriter,
    /// Disconnects when everything has been read.
    ended: Receiver<()>,
}

impl OutputReader {
    /// Creates a pipe and reads it. The returned writer feeds the pipe.
    pub(crate) fn start() -> io::Result<(Self, PipeWriter)> {
        let (from, to) = io::pipe()?;
        let theirs = to.try_clone()?;
        let kept = Arc::new(Mutex::new(Output::default()));
        let (end, ended) = channel::<()>();
        let output = Arc::clone(&kept);
        std::thread::Builder::new().spawn(move || {
            read_all(from, &output);
            drop(end);
        })?;
        Ok((Self { kept, to, ended }, theirs))
    }

    /// Returns the output. Call it after the processes have ended.
    pub(crate) fn finish(mut self) -> Output {
        /// Time limit for the end marker. A process that left the group and goes on printing may
        /// hide the marker. Its output is of no interest.
        const PATIENCE: Duration = Duration::from_secs(10);
        // The marker fits into one atomic write. The write fails only without a reader, and there
        // is one.
        let _ = self.to.write_all(END);
        drop(self.to);
        let _ = self.ended.recv_timeout(PATIENCE);
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn read_all(mut from: PipeReader, kept: &Mutex<Output>) {
    let mut piece = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.add(&piece[..length]);
        if kept.take_end() {
            return;
        }
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
        assert_eq!(text.len(), 2 * KEPT + END.len());
        assert!(text.starts_with('0') && text.ends_with('4'));
        assert_eq!(output.dropped, (KEPT / 2 - END.len()) as u64);
    }

    #[test]
    fn lines_next_to_a_gap_are_left_out() {
        let mut output = Output::default();
        output.add(b"cost 1234\n");
        output.add(&vec![b'7'; KEPT - 10]);
        output.add(&vec![b'8'; KEPT + END.len()]);
        assert!(output.is_complete() && output.whole_lines().len() > 2 * KEPT);
        output.add(b"9\ncost 12\n");
        assert!(!output.is_complete());
        assert_eq!(output.whole_lines(), "cost 1234\ncost 12\n");
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
    fn the_end_is_found_wherever_pieces_and_kept_parts_meet() {
        for length in [0, 10, KEPT - 3, KEPT, KEPT + 5, 2 * KEPT] {
            let mut output = Output::default();
            output.add(&vec![b'x'; length]);
            output.add(&END[..7]);
            assert!(!output.take_end());
            output.add(&END[7..]);
            assert!(output.take_end() && output.is_complete(), "{length}");
            assert_eq!(output.bytes(), vec![b'x'; length]);
        }
    }

    #[test]
    fn a_pipe_that_someone_holds_open_is_read_to_its_end() {
        let (reading, mut writer) = OutputReader::start().unwrap();
        writer.write_all(b"all of it").unwrap();
        assert_eq!(reading.finish().text(), "all of it");
        drop(writer);
    }

    #[test]
    fn messages_get_the_last_lines() {
        let mut output = Output::default();
        (0..100).for_each(|line| output.add(format!("line {line}\n").as_bytes()));
        let lines = output.last_lines();
        assert!(lines.starts_with("line 80\n") && lines.ends_with("line 99"), "{lines}");
    }
}
