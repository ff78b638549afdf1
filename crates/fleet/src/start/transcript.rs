//! The output of a process: read as it comes, never waited for, and kept in part.

use rustix::fs::{OFlags, fcntl_setfl};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::process::Child;

/// Number of lines of each stream that are kept, the latest ones.
const LINES: usize = 20;

/// Maximum length of a line that is kept.
const LONGEST: usize = 300;

/// Number of pieces that are read at once at most, so that a process that writes for ever holds nobody up.
const PIECES: usize = 32;

/// The output of a process.
#[derive(Default)]
pub(super) struct Transcript {
    /// Standard output and standard error, as far as they are pipes.
    streams: Vec<Stream>,
}

struct Stream {
    pipe: File,
    /// The line that has no end yet, as far as it is kept.
    unfinished: Vec<u8>,
    lines: VecDeque<String>,
}

impl Transcript {
    /// Takes the pipes of a process.
    pub(super) fn of(child: &mut Child) -> io::Result<Self> {
        let pipes = [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
        let stream = |pipe: OwnedFd| {
            fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
            Ok(Stream { pipe: pipe.into(), unfinished: Vec::new(), lines: VecDeque::new() })
        };
        Ok(Self { streams: pipes.into_iter().flatten().map(stream).collect::<io::Result<_>>()? })
    }

    /// Reads what is there. Calls `hear` with every new line.
    pub(super) fn read(&mut self, mut hear: impl FnMut(&str)) {
        let mut piece = [0; 4096];
        for stream in &mut self.streams {
            for _ in 0..PIECES {
                match stream.pipe.read(&mut piece) {
                    Ok(length) if length > 0 => stream.add(&piece[..length], &mut hear),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    // Nothing is there, or nothing will come any more.
                    _ => break,
                }
            }
        }
    }

    /// Reads what is left of a process that has ended. A line without an end counts, too.
    pub(super) fn read_end(&mut self) {
        self.read(|_| {});
        self.streams.iter_mut().for_each(|stream| stream.finish(&mut |_| {}));
    }

    /// Returns the lines of standard output, of which the last are kept.
    pub(super) fn lines(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.streams.first().into_iter().flat_map(|stream| stream.lines.iter().map(String::as_str))
    }

    /// Returns the latest line, of standard error if there is one.
    pub(super) fn last(&self) -> Option<&str> {
        self.streams.iter().rev().find_map(|stream| stream.lines.back()).map(String::as_str)
    }
}

impl Stream {
    fn add(&mut self, bytes: &[u8], hear: &mut dyn FnMut(&str)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.unfinished.extend(&part[..part.len().min(LONGEST - self.unfinished.len().min(LONGEST))]);
            if part.ends_with(b"\n") {
                self.finish(hear);
            }
        }
    }

    /// Ends the present line. Empty ones are dropped.
    fn finish(&mut self, hear: &mut dyn FnMut(&str)) {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.unfinished)).trim().to_string();
        // A terminal obeys other characters.
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        if line.is_empty() {
            return;
        }
        hear(&line);
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Returns what a script said.
    fn said(script: &str) -> Transcript {
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = Transcript::of(&mut child).unwrap();
        while child.try_wait().unwrap().is_none() {
            said.read(|_| {});
        }
        said.read_end();
        said
    }

    #[test]
    fn the_last_words_are_those_of_an_error_and_may_have_no_end() {
        let said_all = said("echo Welcome; echo; echo 7; printf 'no\\033[31mroute' >&2");
        assert_eq!(
            (said_all.lines().collect::<Vec<_>>(), said_all.last()),
            (vec!["Welcome", "7"], Some("no[31mroute"))
        );
        assert_eq!(said("true").last(), None);
        assert_eq!(said("echo only output").last(), Some("only output"));
    }

    #[test]
    fn a_flood_is_kept_in_part() {
        let flood = said("yes x | head -n 100000; head -c 100000 /dev/zero | tr '\\0' y; echo; echo last");
        let lines: Vec<&str> = flood.lines().collect();
        assert_eq!((lines.len(), lines[LINES - 2].len(), lines[LINES - 1]), (LINES, LONGEST, "last"));
    }

    #[test]
    fn what_still_runs_is_not_waited_for() {
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", "sleep 60 & echo here"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = Transcript::of(&mut child).unwrap();
        child.wait().unwrap();
        said.read_end();
        assert_eq!(said.last(), Some("here"));
    }
}
