//! The plan of a simulated run: its settings, and the faults that its seed chooses.

use super::dice::Dice;
use super::disk::{Ills, Meddling};
use super::line::Weather;
use super::world::Fate;
use std::time::Duration;
use tunesmith_core::judge::finals::Finals;
use tunesmith_core::{Judging, Stop};

/// The settings of a run, the same in all its lives.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) seed: u64,
    pub(super) strategy: &'static str,
    pub(super) budget: u64,
    pub(super) room: usize,
    pub(super) judging: Judging,
    /// True if each configuration has a process of its own.
    pub(super) forks: bool,
}

/// The faults of one life of the tuner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) fate: Fate,
    pub(super) ills: Ills,
    /// One measurement in this many ends with an error of the device. 0 means none. Only the oracle
    /// breaks; workers have faults of their own.
    pub(super) breaks: u64,
    pub(super) weather: Weather,
}

impl Trouble {
    /// Returns true if innocent configurations may fail: their messages are lost, or someone ends
    /// their process.
    pub(super) fn blames_innocents(&self) -> bool {
        self.weather == Weather::Foul || self.fate.worker_killed_at.is_some()
    }
}

/// The extent of a run without faults. Faults are chosen within it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) steps: u64,
    /// The steps of its workers. 0 if it has none.
    pub(super) worker_steps: u64,
    pub(super) accesses: u64,
    pub(super) bytes: usize,
}

/// Cheap strategies of every kind: with and without memory, with one and with many requests in
/// flight.
const STRATEGIES: [&str; 8] =
    ["random", "annealing", "genetic", "hill_climbing", "tabu", "differential_evolution", "exhaustive", "bandit"];

impl Settings {
    /// Draws the settings of a seed.
    pub(super) fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(seed, "settings");
        let finals = Finals { most: 3, floor: Duration::from_millis(300), ..Finals::default() };
        let plain = Judging { finals: Some(finals), ..Judging::nothing() };
        let judging = dice.pick(&[0, 1, 2]);
        Self {
            seed,
            strategy: dice.pick(&STRATEGIES),
            budget: 4 + dice.below(14),
            room: usize::try_from(1 + dice.below(4)).unwrap_or(1),
            forks: dice.once_in(2),
            judging: match judging {
                0 => Judging { finals: Some(finals), ..Judging::default() },
                1 => plain,
                _ => Judging::nothing(),
            },
        }
    }

    /// Returns the stop condition.
    pub(super) fn stop(&self) -> Stop {
        Stop::evaluations(self.budget)
    }
}

/// Draws the faults of a run's lives. The last life is spared.
pub(super) fn troubles(seed: u64, extent: Extent) -> Vec<Trouble> {
    let mut dice = Dice::new(seed, "troubles");
    let lives = 1 + dice.below(3);
    let mut troubles: Vec<Trouble> = (0..lives).map(|_| trouble(&mut dice, extent)).collect();
    troubles.push(Trouble::default());
    troubles
}

/// Draws the end of a life that goes on with a finished run: a kill or an interrupt.
pub(super) fn ends(seed: u64, extent: Extent) -> Trouble {
    let mut dice = Dice::new(seed, "ends");
    let at = Some(1 + dice.below(extent.steps));
    let fate = match dice.once_in(2) {
        true => Fate { killed_at: at, ..Fate::default() },
        false => Fate { interrupted_at: at, ..Fate::default() },
    };
    Trouble { fate, ..Trouble::default() }
}

fn trouble(dice: &mut Dice, extent: Extent) -> Trouble {
    let mut trouble = Trouble::default();
    match dice.below(12) {
        0..4 => trouble.fate.killed_at = Some(1 + dice.below(extent.steps)),
        4 => trouble.fate.interrupted_at = Some(1 + dice.below(extent.steps)),
        5 => trouble.ills.at = Some(1 + dice.below(extent.accesses)),
        6 => trouble.ills.every = Some(2 + dice.below(extent.accesses)),
        7 => trouble.ills.room = Some(usize::try_from(dice.below(extent.bytes as u64 + 1)).unwrap_or_default()),
        9 | 10 => {
            // Each line of a journal needs at least three accesses: a status, and a write.
            let asked = 1 + dice.below(extent.accesses / 3);
            trouble.ills.meddling = Some((asked, dice.pick(&[Meddling::Deletes, Meddling::Cuts])));
        }
        8 => trouble.breaks = 1 + dice.below(2 * extent.accesses),
        _ => {
            trouble.fate.killed_at = Some(1 + dice.below(extent.steps));
            trouble.ills.at = Some(1 + dice.below(extent.accesses));
        }
    }
    trouble.ills.tears = dice.once_in(2);
    if extent.worker_steps > 0 {
        trouble.weather = dice.pick(&[Weather::Clear, Weather::Late, Weather::Foul]);
        match dice.below(4) {
            0 => trouble.fate.worker_killed_at = Some(1 + dice.below(extent.worker_steps)),
            1 => trouble.fate.refuses_processes = 2 + dice.below(20),
            _ => {}
        }
    }
    trouble
}
