//! Knows what the configurations of a simulated problem truly do.

use super::dice::{Dice, share};
use std::sync::OnceLock;
use std::time::Duration;
use tunesmith_core::FailureKind;
use tunesmith_space::{ConfigId, Constraint, Parameter, Space, Values};

/// The truth about all configurations. The tuner must find it out.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    seed: u64,
    /// One configuration in this many misbehaves. 0 means none.
    evil: u64,
}

/// The noise of a launch: the largest share of its time.
pub(super) const NOISE: f64 = 0.005;

/// A deed of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// It computes the right result.
    Right,
    /// It does not compile.
    DoesNotCompile,
    /// The device refuses it.
    IsRefused,
    /// It ends its process while it is loaded.
    DiesWhenLoaded,
    /// It ends its process at this launch, counted from 1.
    Dies(u64),
    /// It ends its process without an error at this launch.
    Exits(u64),
    /// It does not end at this launch.
    Hangs(u64),
    /// It reports a fault of the device at this launch.
    Fails(u64),
    /// Its result is wrong from this launch on.
    IsWrong(u64),
    /// Its result is wrong at this launch alone.
    IsWrongOnce(u64),
    /// Its result is wrong at every second launch.
    IsWrongAtTimes,
    /// It returns the result of its first launch in a process, whatever its inputs are.
    Remembers,
    /// It writes to its input.
    WritesInput,
    /// It writes next to its output.
    WritesBeside,
    /// It forks. Its child goes on in the place of the worker, and replies to later requests.
    Forks,
    /// It writes messages into the worker's connection, with a number that it guessed.
    Talks,
    /// It computes the right result, and spoils its process: the next configuration in it dies.
    Spoils,
    /// Its result is wrong, and it sends messages as the process of its job, in the envelope of its
    /// job.
    Forges(Forgery),
}

/// A forged message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forgery {
    /// The machine has no process left.
    Machine,
    /// The worker is ready for its first job.
    Ready,
    /// The process of the job has ended.
    JobEnded,
    /// The job is done, and its result right. The process then never ends.
    Finished,
    /// The worker cannot go on, and the kernel is not to blame.
    Unfit,
    /// The device is lost.
    Troubled,
    /// The next step, again and again, each before its limit. The process never ends.
    Steps,
    /// The outputs of ever later launches. The process never ends.
    Outputs,
}

const FORGERIES: [Forgery; 8] = [
    Forgery::Machine,
    Forgery::Ready,
    Forgery::JobEnded,
    Forgery::Finished,
    Forgery::Unfit,
    Forgery::Troubled,
    Forgery::Steps,
    Forgery::Outputs,
];

impl Truth {
    /// Creates the truth of a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, evil: Dice::new(seed, "evil").pick(&[0, 2, 2, 3, 5]) }
    }

    /// Returns what a configuration does.
    pub(super) fn deed(&self, config: ConfigId) -> Deed {
        let mut dice = Dice::new(self.seed, &format!("deed {config}"));
        if !dice.once_in(self.evil) {
            return Deed::Right;
        }
        // The untimed launch and three samples always happen.
        let launch = 1 + dice.below(4);
        // An evaluation that is not abandoned has eight launches.
        let any = 1 + dice.below(8);
        let forgery = dice.pick(&FORGERIES);
        dice.pick(&[
            Deed::DoesNotCompile,
            Deed::IsRefused,
            Deed::DiesWhenLoaded,
            Deed::Dies(launch),
            Deed::Exits(launch),
            Deed::Hangs(launch),
            Deed::Fails(launch),
            Deed::IsWrong(1),
            Deed::IsWrong(launch),
            Deed::IsWrongOnce(any),
            Deed::IsWrongAtTimes,
            Deed::Remembers,
            Deed::WritesInput,
            Deed::WritesBeside,
            Deed::Forks,
            Deed::Talks,
            Deed::Spoils,
            Deed::Forges(forgery),
            Deed::Forges(forgery),
        ])
    }

    /// Returns the time of a configuration without noise. Configurations that are wrong are fast,
    /// so that they tempt the tuner.
    pub(super) fn time(&self, config: ConfigId) -> Duration {
        let share = share(&[self.seed, rank(config)]);
        let milliseconds = if self.deed(config).is_right() { 1.0 + 9.0 * share } else { 0.2 + 0.5 * share };
        Duration::from_secs_f64(milliseconds / 1e3)
    }

    /// Returns the time of a configuration's launch, counted from 1, with noise.
    pub(super) fn time_of_launch(&self, config: ConfigId, launch: u64) -> Duration {
        self.time(config).mul_f64(1.0 + NOISE * (2.0 * share(&[self.seed, rank(config), launch]) - 1.0))
    }

    /// Returns true if `one` is faster than `other` at every launch, whatever the noise.
    pub(super) fn is_surely_faster(&self, one: ConfigId, other: ConfigId) -> bool {
        self.time(one).mul_f64(1.0 + NOISE) < self.time(other).mul_f64(1.0 - NOISE)
    }
}

impl Deed {
    /// Returns true if the configuration may win. What it does to its process beside computing
    /// takes nothing from its result.
    pub(super) fn is_right(self) -> bool {
        matches!(self, Self::Right | Self::Spoils | Self::Forks | Self::Talks)
    }

    /// Returns the status that the configuration must get when the outputs of its first `judged` launches
    /// are looked at. Every other deed shows by the fourth launch.
    pub(super) fn status(self, judged: u64) -> Option<FailureKind> {
        match self {
            Self::IsWrong(launch) | Self::IsWrongOnce(launch) if launch > judged => None,
            Self::IsWrongAtTimes if judged < 2 => None,
            // On the data of an evaluation, it is right.
            Self::Remembers => None,
            Self::Right | Self::Spoils | Self::Forks | Self::Talks => None,
            Self::DoesNotCompile => Some(FailureKind::Compile),
            Self::IsRefused => Some(FailureKind::Constraints),
            Self::DiesWhenLoaded
            | Self::Dies(_)
            | Self::Exits(_)
            | Self::Fails(_)
            | Self::WritesBeside
            | Self::Forges(_) => Some(FailureKind::Runtime),
            Self::Hangs(_) => Some(FailureKind::Timeout),
            Self::IsWrong(_) | Self::IsWrongOnce(_) | Self::IsWrongAtTimes | Self::WritesInput => {
                Some(FailureKind::Correctness)
            }
        }
    }
}

/// Returns the rank as a number.
pub(super) fn rank(config: ConfigId) -> u64 {
    config.to_string().parse().unwrap_or_default()
}

/// Returns the space of all simulated problems: 28 configurations.
pub(super) fn space() -> &'static Space {
    static SPACE: OnceLock<Space> = OnceLock::new();
    SPACE.get_or_init(|| {
        let parameter = |name: &str, values: &[i64]| {
            Parameter::new(name, Values::list(values.iter().copied())).expect("a parameter of the simulation is valid")
        };
        let builder = Space::builder()
            .parameter(parameter("TILE", &[8, 16, 32, 64]))
            .parameter(parameter("UNROLL", &[1, 2, 4, 8]))
            .parameter(parameter("PACK", &[0, 1]));
        let constraint = Constraint::parse("TILE * UNROLL <= 256").expect("the constraint of the simulation is valid");
        builder.constraint(constraint).build().expect("the space of the simulation is valid")
    })
}
