//! The source of evaluations.

use crate::{CompileLimit, Error, Failure, Interrupt, Measurement, Request};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// Answers requests: a live device, a recording or a function.
///
/// An evaluator may answer requests in any order, and may prepare later requests (compile them) while it measures
/// an earlier one. Unless it answers in the order submitted, each [`Completion`] names its request. A configuration that fails is a
/// completion with a failure. An [`Error`] means that no later request can be answered either.
///
/// ```
/// # use tunesmith_core::*;
/// /// Every configuration takes one millisecond.
/// #[derive(Default)]
/// struct Constant(std::collections::VecDeque<Request>);
/// impl Evaluator for Constant {
///     fn submit(&mut self, request: Request) -> Result<(), Error> {
///         self.0.push_back(request);
///         Ok(())
///     }
///     fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
///         let measurement = Measurement { times_ms: vec![1.0], ..Measurement::default() };
///         Ok(self.0.pop_front().map(|_| Completion { measurement, ..Completion::default() }))
///     }
/// }
/// ```
pub trait Evaluator {
    /// Accepts a request. Returns at once: it may start work in the background but does not wait
    /// for it.
    fn submit(&mut self, request: Request) -> Result<(), Error>;

    /// Waits for a request that was submitted and not yet returned: the oldest, or the one that the
    /// completion names. Returns `None` if `interrupt` was raised meanwhile: the requests in flight
    /// are then dropped without a measurement. The tuner calls this only while a request is
    /// outstanding.
    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error>;

    /// Waits until it is known which request [`next`](Self::next) would measure, and returns it. The tuner sets bars and
    /// bounds for it, and [keeps its start](crate::Store::keep_start). Returns `None` if the evaluator does not know
    /// before, or if `interrupt` was raised meanwhile. The tuner then takes the oldest request for the next one.
    ///
    /// The default does not know.
    fn upcoming(&mut self, interrupt: &Interrupt) -> Result<Option<Request>, Error> {
        let _ = interrupt;
        Ok(None)
    }

    /// Ends the work on the requests in flight. The tuner calls this once it waits for none of them, at the end of a
    /// search. What is submitted later is answered.
    ///
    /// The default does nothing.
    fn cancel(&mut self) {}

    /// Waits like [`next`](Self::next), or until another number of requests in flight than `room` keeps
    /// the evaluator busy. The tuner calls this instead of [`next`](Self::next) if its room
    /// [follows](crate::Tuner::follow_room) the evaluator.
    ///
    /// The default waits for an answer: one device needs the same number of requests at any time.
    fn wait(&mut self, room: usize, interrupt: &Interrupt) -> Result<Waited, Error> {
        let _ = room;
        let completion = self.next(interrupt)?;
        Ok(completion.map_or(Waited::Interrupted, |completion| Waited::Answered(Box::new(completion))))
    }

    /// Returns true if requests run on this machine, where they can end this process or the machine. The tuner
    /// then [keeps the start](crate::Store::keep_start) of each. The default is false, as for a recording.
    fn runs_here(&self) -> bool {
        false
    }

    /// Returns a further answer that has come in already, without waiting. The completion names its
    /// request. The tuner calls this after an answer, to keep all that are there at once.
    ///
    /// The default has none: one device answers one request at a time.
    fn ready(&mut self) -> Result<Option<Completion>, Error> {
        Ok(None)
    }

    /// Returns a remark for users if a part of the evaluator has nothing to do while at most
    /// `in_flight` requests are in flight. The default returns none.
    fn idle(&mut self, in_flight: usize) -> Option<String> {
        let _ = in_flight;
        None
    }

    /// Sets the bar in milliseconds. The evaluator may abandon a configuration whose times exceed
    /// the bar after few samples, by the rule of [`is_beaten`](crate::judge::racing::is_beaten).
    /// The bar holds for configurations returned from now on. With `None` they are measured in
    /// full.
    ///
    /// The default ignores it: an evaluator without noise has no samples to save.
    fn race(&mut self, bar_ms: Option<f64>) {
        let _ = bar_ms;
    }

    /// Says that bars and [bounds](Self::bound) are the same for all configurations of the run, and not only for the
    /// next ones. The tuner calls this before the first of them.
    ///
    /// The default ignores it: an evaluator that measures one configuration at a time need not know.
    fn share_bounds(&mut self) {}

    /// Returns true if launches have [limits](Self::bound) of time. The tuner sets bounds only then.
    ///
    /// The default has none: a recording or a function takes the time that it takes.
    fn has_limits(&self) -> bool {
        false
    }

    /// Sets the bound from which the limit of time of the next configurations follows. It holds until
    /// the next call. An evaluator that was never told one bounds them by the best time that it
    /// measured itself.
    ///
    /// The default ignores it.
    fn bound(&mut self, bound: Bound) {
        let _ = bound;
    }

    /// Puts compilations aside that take longer than `limit`, from now on, those under way included. Each is answered with
    /// [`Failure::put_aside`]. With `None` none is. The compiler ends, so that its work so far is lost.
    ///
    /// The default ignores it: an evaluator that does not compile has nothing to put aside.
    fn limit_compilation(&mut self, limit: Option<CompileLimit>) {
        let _ = limit;
    }

    /// Takes `samples` more samples of a configuration that was correct before. They serve to
    /// compare the leaders at the end of a run, and to detect drift by a reference.
    ///
    /// The tuner may call this while requests wait, because only [`next`](Self::next) measures
    /// those. Returns `None` if `interrupt` was raised meanwhile.
    ///
    /// The default takes no samples: an evaluator without noise, or a recording, has nothing to
    /// add.
    fn resample(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        let _ = (config, samples, interrupt);
        Ok(Some(Completion::default()))
    }

    /// Verifies a configuration that is about to be named what `claim` says, harder than each
    /// evaluation can be: on other data, and at other sizes. Returns `None` if `interrupt` was
    /// raised meanwhile.
    ///
    /// The default verifies nothing: a recording or a function has no outputs.
    fn confirm(&mut self, config: ConfigId, claim: Claim, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        let _ = (config, claim, interrupt);
        Ok(Some(Confirmed::default()))
    }

    /// Returns and forgets the remarks for users that came in beside the answers, a sentence each, such
    /// as the loss of a device. The tuner calls this after every answer. The default has none.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// The name that a configuration gets in a verdict once it is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The winner, or a member of the front of several objectives.
    Best,
    /// A tie of the winner. All ties together need no more time than the winner.
    Tie,
}

/// The time that bounds how long a launch may take. An evaluator allows several times as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// None. However long it takes, the configuration may win. Other limits of the user stay.
    Open,
    /// The longest time at which the configuration may win
    /// ([`longest_time_that_can_win`](crate::ObjectiveFunction::longest_time_that_can_win)).
    Best(Duration),
    /// The time that the configuration took before.
    Own(Duration),
    /// The limit that cut the configuration before. It is measured to its end now.
    Beyond(Duration),
}

/// The end of a wait for an evaluator of several devices.
#[derive(Clone, Debug)]
pub enum Waited {
    /// An answer came in.
    Answered(Box<Completion>),
    /// So many requests in flight now keep the evaluator busy.
    Room(usize),
    /// The interrupt was raised.
    Interrupted,
}

/// The result of verifying a configuration once more.
#[derive(Clone, Debug, Default)]
pub struct Confirmed {
    /// The reason why the configuration is not correct, or `None` if it is.
    pub failure: Option<Failure>,
    /// The number of launches whose outputs were compared. 0 if there was nothing to verify.
    pub launches: u64,
    /// Remarks for users, such as a size that the configuration does not allow.
    pub notes: Vec<String>,
    /// The time of the measuring thread for it.
    pub spent: Spent,
}

/// An evaluator's answer for one configuration.
#[derive(Clone, Debug, Default)]
pub struct Completion {
    /// The request that is answered. `None` means the oldest that was submitted and not yet
    /// returned.
    pub request: Option<Request>,
    /// The reason why the configuration is not correct, or `None` if it is.
    pub failure: Option<Failure>,
    /// The measurement.
    pub measurement: Measurement,
    /// The time of the measuring thread for it.
    pub spent: Spent,
    /// The reason why requested counters were not read, for users. `None` if they were read or not
    /// requested.
    pub unprofiled: Option<String>,
}

/// The time of the measuring thread for one request, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Waiting for the compiler and for the driver's work before a kernel runs for the first time.
    pub compile: Duration,
    /// Running the kernel: warm-up, samples, and restoring its buffers.
    pub run: Duration,
    /// Comparing its output.
    pub verify: Duration,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.compile += other.compile;
        self.run += other.run;
        self.verify += other.verify;
    }
}
