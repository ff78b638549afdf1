//! A program in a terminal of its own.

#![allow(dead_code, unreachable_pub)] // every test file uses its own part

use indicatif::{InMemoryTerm, TermLike};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// A program in a terminal of its own.
pub struct InTerminal {
    pub child: Child,
    /// The side of the terminal that a person has. It has the settings of the other side, too.
    person: File,
    seen: Vec<u8>,
}

impl InTerminal {
    /// Starts a program in a terminal of 80 columns and 24 rows.
    ///
    /// Takes the command, which holds the program's side as long as it lives.
    pub fn start(mut command: Command) -> Self {
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(Some(&size), None).unwrap();
        let side = || Stdio::from(slave.try_clone().unwrap());
        let child = command.stdin(side()).stdout(side()).stderr(side()).env("TERM", "xterm").spawn().unwrap();
        Self { child, person: File::from(master), seen: Vec::new() }
    }

    /// Reads until `text` stands on the screen.
    pub fn wait_for(&mut self, text: &str) {
        let mut piece = [0; 4096];
        while !self.screen().contains(text) {
            let length = self.person.read(&mut piece).unwrap_or_default();
            assert!(length > 0, "no `{text}`: {}", self.screen());
            self.seen.extend(&piece[..length]);
        }
    }

    /// Returns what a person sees.
    fn screen(&self) -> String {
        let screen = InMemoryTerm::new(ROWS, COLUMNS);
        screen.write_str(&String::from_utf8_lossy(&self.seen)).unwrap();
        screen.contents()
    }

    /// Writes `keys` as a keyboard does.
    pub fn press(&mut self, keys: &str) {
        self.person.write_all(keys.as_bytes()).unwrap();
    }

    /// Returns true if the terminal shows what is typed.
    pub fn echoes(&self) -> bool {
        self.flags().contains(LocalFlags::ECHO)
    }

    /// Waits for the end. Returns the exit code, everything that was written, and true if the terminal
    /// is as it was: it echoes and edits lines.
    pub fn end(mut self) -> (Option<i32>, String, bool) {
        // A terminal that no program has open any more ends with an error.
        let _ = self.person.read_to_end(&mut self.seen);
        let status = self.child.wait().unwrap();
        let restored = self.flags().contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG);
        (status.code(), String::from_utf8_lossy(&self.seen).into_owned(), restored)
    }

    fn flags(&self) -> LocalFlags {
        tcgetattr(self.person.as_fd()).unwrap().local_flags
    }
}

/// Another screen is taken, then the first one is given back, and the cursor is shown.
pub fn gives_the_screen_back(written: &str) -> bool {
    let place = |text: &str| written.rfind(text);
    place("\u{1b}[?1049h").is_some_and(|taken| place("\u{1b}[?1049l").is_some_and(|given| given > taken))
        && place("\u{1b}[?25h").is_some()
}
