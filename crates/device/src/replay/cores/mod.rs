//! The simulated processor cores of a recording.

use std::collections::VecDeque;
use std::time::Duration;
use tunesmith_core::{DeviceClass, Request};

/// The time that a request takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// The whole time.
    pub(super) total: Duration,
    /// The part of it that a compiler takes.
    pub(super) compiling: Duration,
}

/// A machine whose cores compile requests and measure them, in simulated time.
///
/// Each core compiles one request at a time. Compilations begin in the order submitted. What is compiled is
/// measured next: in the order of the ends of compilation, and of equal ends in the order submitted. One request
/// is measured at a time, which occupies a core.
///
/// On a processor, all compilations stand still during a measurement, as the live tuner stops compilers while it
/// times kernels. On a GPU they go on, on the other cores.
///
/// A compilation that reaches a limit ends. It is answered like one that is compiled, and not measured.
#[derive(Debug)]
pub(super) struct Cores {
    count: usize,
    /// The cores that compile during a measurement.
    beside: usize,
    waiting: VecDeque<Request>,
    /// In the order submitted. The first ones are on a core.
    compiling: VecDeque<Compilation>,
    /// In the order in which they are measured.
    compiled: VecDeque<PendingMeasurement>,
    /// The limit of a compilation.
    limit: Option<Duration>,
    /// The time of all cores together.
    busy: Duration,
}

/// A request whose compilation has not ended.
#[derive(Debug)]
struct Compilation {
    compiled: PendingMeasurement,
    /// The time that a core still needs for it.
    rest: Duration,
    /// The time that a core has taken for it.
    taken: Duration,
}

/// A request to measure.
#[derive(Debug)]
struct PendingMeasurement {
    request: Request,
    measuring: Duration,
    /// True if its compilation reached the limit.
    is_aside: bool,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) request: Request,
    /// The end of its evaluation.
    pub(super) end: Duration,
    /// True if its compilation was put aside.
    pub(super) is_aside: bool,
}

impl Cores {
    /// Creates a machine with `count` cores, at least one. An unknown device is a processor.
    pub(super) fn new(count: usize, device_class: Option<DeviceClass>) -> Self {
        let count = count.max(1);
        Self {
            count,
            beside: if device_class == Some(DeviceClass::Gpu) { count - 1 } else { 0 },
            waiting: VecDeque::new(),
            compiling: VecDeque::new(),
            compiled: VecDeque::new(),
            limit: None,
            busy: Duration::ZERO,
        }
    }

    pub(super) fn submit(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    /// Puts compilations aside that take longer than `limit`, from now on.
    pub(super) fn limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
    }

    /// Drops all requests.
    pub(super) fn cancel(&mut self) {
        self.waiting.clear();
        self.compiling.clear();
        self.compiled.clear();
    }

    /// Compiles from `now` on until a request can be measured, and measures it. Returns `None` if there is no request.
    ///
    /// Costs a step for each compilation that ends, linear in the number of cores.
    pub(super) fn next(&mut self, now: Duration, cost: impl Fn(Request) -> Cost) -> Option<Answer> {
        self.compiling.extend(self.waiting.drain(..).map(|request| Compilation::new(request, cost(request))));
        // Ends what takes no time.
        self.compile(Duration::ZERO, self.count);
        let mut begins = now;
        if self.compiled.is_empty() {
            let first = self.first_end(self.count)?;
            self.compile(first, self.count);
            begins = begins.saturating_add(first);
        }
        let PendingMeasurement { request, measuring, is_aside } = self.compiled.pop_front()?;
        self.busy = self.busy.saturating_add(measuring);
        self.compile(measuring, self.beside);
        Some(Answer { request, end: begins.saturating_add(measuring), is_aside })
    }

    /// Returns the time of all cores together: compiling, also what was never measured, and measuring.
    pub(super) fn busy(&self) -> Duration {
        self.busy
    }

    /// Lets `cores` compile for `time`. A core that ends a compilation begins the next one.
    fn compile(&mut self, time: Duration, cores: usize) {
        let mut left = time;
        loop {
            self.end(cores);
            let on_cores = cores.min(self.compiling.len());
            let next = self.first_end(on_cores);
            let Some(step) = next.map(|next| next.min(left)).filter(|step| !step.is_zero()) else { return };
            for compilation in self.compiling.iter_mut().take(on_cores) {
                compilation.rest -= step;
                compilation.taken += step;
            }
            let cores = u32::try_from(on_cores).unwrap_or(u32::MAX);
            self.busy = self.busy.saturating_add(step.saturating_mul(cores));
            left -= step;
        }
    }

    /// Returns the time until the first of the compilations on `cores` ends.
    fn first_end(&self, cores: usize) -> Option<Duration> {
        self.compiling.iter().take(cores).map(|compilation| compilation.left(self.limit)).min()
    }

    /// Ends the compilations on `cores` that need no more time or get none, and those that begin and end in their place.
    fn end(&mut self, cores: usize) {
        while self.first_end(cores).is_some_and(|left| left.is_zero()) {
            let limit = self.limit;
            let ended = self.compiling.iter().position(|compilation| compilation.left(limit).is_zero());
            let ended = ended.and_then(|at| self.compiling.remove(at));
            self.compiled.extend(ended.map(Compilation::end));
        }
    }
}

impl Compilation {
    fn new(request: Request, cost: Cost) -> Self {
        let measuring = cost.total.saturating_sub(cost.compiling);
        Self {
            compiled: PendingMeasurement { request, measuring, is_aside: false },
            rest: cost.compiling,
            taken: Duration::ZERO,
        }
    }

    /// Returns the time until it ends, or is ended by the limit.
    fn left(&self, limit: Option<Duration>) -> Duration {
        limit.map_or(self.rest, |limit| self.rest.min(limit.saturating_sub(self.taken)))
    }

    /// Returns the request at its end. Nothing is measured of one that the limit ended.
    fn end(self) -> PendingMeasurement {
        if self.rest.is_zero() {
            return self.compiled;
        }
        PendingMeasurement { measuring: Duration::ZERO, is_aside: true, ..self.compiled }
    }
}

#[cfg(test)]
mod tests;
