//! Reads the journal of a run and keeps its state.

use crate::source::{Life, Source};
use crate::watched::Watched;
use std::path::Path;
use tunesmith_store::{FleetReport, Follow, Growth, StoreError};

/// A run that is watched by its journal.
#[derive(Debug)]
pub struct Watcher {
    follow: Follow,
    watched: Watched,
    source: Source,
}

impl Watcher {
    /// Opens the journal at `path`. Its lines are read later.
    ///
    /// # Errors
    /// The file cannot be read, or is no journal.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let follow = Follow::open(path)?;
        let (path, life) = (path.to_path_buf(), Life::Unknown);
        let source = Source { path, life, is_behind: true, notice: None, fleet: None };
        Ok(Self { watched: Watched::new(follow.header()), follow, source })
    }

    /// Returns the state of the run.
    pub fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Returns the state of the file.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Reads at most `most` of the lines that were added. Returns true if anything changed.
    ///
    /// Nothing that happens to the file is an error: [`Source`] tells it, and the next reading tries
    /// again.
    pub fn read(&mut self, most: usize) -> bool {
        let before = (self.source.clone(), self.watched.lines());
        match self.follow.read(most, |gained| self.watched.add(&gained)) {
            Ok(Growth::Complete) => self.settle(false),
            Ok(Growth::More) => self.settle(true),
            Ok(Growth::Deleted) => {
                self.source.life = Life::Deleted;
                self.source.is_behind = false;
            }
            Ok(Growth::Restarted { how }) => self.restart(&how),
            Err(error) => {
                self.source.life = Life::Unreadable { reason: error.to_string() };
                self.source.is_behind = false;
            }
        }
        self.watched.set_repeated(self.follow.repeated());
        before != (self.source.clone(), self.watched.lines())
    }

    /// Reads all lines that are there now.
    pub fn read_all(&mut self) {
        loop {
            self.read(usize::MAX);
            if !self.source.is_behind {
                return;
            }
        }
    }

    fn restart(&mut self, how: &str) {
        self.watched = Watched::new(self.follow.header());
        self.source.notice = Some(format!("the journal {how}; it is read from its beginning"));
        self.source.is_behind = true;
    }

    fn settle(&mut self, is_behind: bool) {
        self.source.is_behind = is_behind;
        if !is_behind {
            // A state that cannot be read is as good as none: the journal has all measurements.
            self.source.fleet = FleetReport::read(&self.source.path).ok().flatten();
            self.source.life = match self.follow.is_written() {
                Some(true) => Life::Running,
                Some(false) => Life::Still,
                None => Life::Unknown,
            };
        }
    }
}
