//! The time that a job may take, and the steps that it may announce. A pure value: steps and
//! durations in, decisions out.
//!
//! The user's code can forge the messages of its job. It must not hold the run by announcing steps
//! again and again, each with a time limit of its own.

use crate::energy::MOST_RETAKES;
use crate::worker::MOST_PASSES;
use crate::worker::protocol::{Job, Phase, Purpose};
use std::time::Duration;
use tunesmith_kernel::measure::limits::Limit;
use tunesmith_kernel::measure::sampling::FEWEST;

/// The number of kinds of steps.
const KINDS: usize = 6;

/// The most time of all steps of a kind together, as a multiple of one step's limit. What happens
/// more often, such as the passes of a profiler, takes far less than its limit each time.
const MOST_LIMITS: u32 = 20;

/// The budget of one job. It begins in [`Phase::Preparing`].
#[derive(Debug)]
pub(super) struct Budget {
    /// The present step, its limit, and the time spent in it.
    phase: Phase,
    limit: Limit,
    spent: Duration,
    /// The number of steps of each kind that a job has, by [`kind`].
    allowed: [u32; KINDS],
    /// The number of steps of each kind so far.
    entered: [u32; KINDS],
    /// The time spent in earlier steps of each kind.
    earlier: [Duration; KINDS],
    /// The last launch whose outputs the job may hand over.
    launches: usize,
    /// The last launch whose outputs it handed over.
    handed: usize,
}

impl Budget {
    /// Creates the budget of `job`, whose preparation may take as long as `limit`.
    pub(super) fn new(job: &Job, limit: Limit) -> Self {
        let mut entered = [0; KINDS];
        entered[kind(Phase::Preparing)] = 1;
        Self {
            phase: Phase::Preparing,
            limit,
            spent: Duration::ZERO,
            allowed: allowed(job),
            entered,
            earlier: [Duration::ZERO; KINDS],
            launches: launches(&job.purpose),
            handed: 0,
        }
    }

    /// Returns the present step.
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the limit of the present step.
    pub(super) fn limit(&self) -> Limit {
        self.limit
    }

    /// Returns the time left in the present step.
    pub(super) fn left(&self) -> Duration {
        let kind = kind(self.phase);
        let times = self.allowed[kind].min(MOST_LIMITS);
        let together = self.limit.duration.saturating_mul(times).saturating_sub(self.earlier[kind]);
        self.limit.duration.min(together).saturating_sub(self.spent)
    }

    /// Takes `time` from the present step.
    pub(super) fn spend(&mut self, time: Duration) {
        self.spent += time;
    }

    /// Begins the next step, which may take as long as `limit`.
    ///
    /// # Errors
    /// No job has this step at this place, or so often. The text names the step.
    pub(super) fn enter(&mut self, next: Phase, limit: Limit) -> Result<(), String> {
        if !may_follow(self.phase, next) {
            return Err(format!("the step `{}` after `{}`", name(next), name(self.phase)));
        }
        let (before, kind) = (kind(self.phase), kind(next));
        if self.entered[kind] >= self.allowed[kind] {
            return Err(format!("the step `{}` more often than its job has it", name(next)));
        }
        self.entered[kind] += 1;
        self.earlier[before] += std::mem::take(&mut self.spent);
        (self.phase, self.limit) = (next, limit);
        Ok(())
    }

    /// Lets the job hand over the outputs of a launch, counted from 1. Each launch comes once, and a later
    /// one later.
    ///
    /// # Errors
    /// No such job does it. The text names the launch.
    pub(super) fn hand_over(&mut self, launch: usize) -> Result<(), String> {
        if self.handed < launch && launch <= self.launches {
            self.handed = launch;
            return Ok(());
        }
        Err(format!("the outputs of launch {launch}, of at most {}", self.launches))
    }
}

/// Returns true if a job may announce the step `next` after the step `before`.
fn may_follow(before: Phase, next: Phase) -> bool {
    use Phase::{Checking, Launching, Preparing, Profiling, Sampling, Starting};
    match next {
        Preparing => matches!(before, Preparing),
        Starting => matches!(before, Preparing | Starting | Launching),
        Launching => matches!(before, Starting | Checking),
        Checking => matches!(before, Starting | Launching | Sampling { .. }),
        Sampling { .. } => matches!(before, Checking),
        Profiling => matches!(before, Checking | Profiling),
    }
}

/// Returns the number of steps of each kind that a job has, by [`kind`].
fn allowed(job: &Job) -> [u32; KINDS] {
    let steps = job.steps.len();
    // The rounds of launch and check, the series of samples, and the passes of the profiler.
    let (rounds, series, passes) = match &job.purpose {
        // The profiler is opened before its first pass.
        Purpose::Measure { profile, .. } => (1, 1, if *profile { 1 + MOST_PASSES } else { 0 }),
        Purpose::Record | Purpose::Launch => (1, 0, 0),
        Purpose::Verify(series) => (series.launches.len().max(1), 0, 0),
    };
    // A job prepares once, from the request on and again from its own announcement on. Only the
    // first round has a step for each kernel.
    let allowed = [2, steps, steps + rounds - 1, rounds + series, series, passes];
    allowed.map(|times| u32::try_from(times).unwrap_or(u32::MAX))
}

/// Returns the largest number of launches whose outputs a job hands over.
fn launches(purpose: &Purpose) -> usize {
    match purpose {
        Purpose::Measure { sampling, .. } => {
            let samples = sampling.max_samples.max(sampling.min_samples).max(FEWEST);
            // One more launch tells how many fit into a sample.
            samples.saturating_add(sampling.warmups.max(1)).saturating_add(1 + MOST_RETAKES)
        }
        Purpose::Record => 1,
        Purpose::Launch => 0,
        Purpose::Verify(series) => series.launches.len(),
    }
}

/// Returns the place of a step's kind.
fn kind(phase: Phase) -> usize {
    match phase {
        Phase::Preparing => 0,
        Phase::Starting => 1,
        Phase::Launching => 2,
        Phase::Checking => 3,
        Phase::Sampling { .. } => 4,
        Phase::Profiling => 5,
    }
}

fn name(phase: Phase) -> &'static str {
    ["Preparing", "Starting", "Launching", "Checking", "Sampling", "Profiling"][kind(phase)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::series::{PlannedLaunch, Series};
    use crate::worker::protocol::KernelStep;
    use proptest::prelude::*;
    use tunesmith_backend::Program;
    use tunesmith_kernel::measure::limits::Reason;
    use tunesmith_kernel::measure::{Cache, Launches, Sampling};
    use tunesmith_power::Setting;

    const SAMPLING: Phase = Phase::Sampling { warmup_ms: 1.0 };
    const LIMIT: Limit = Limit { duration: Duration::from_secs(1), reason: Reason::Fixed };

    fn job(steps: usize, purpose: Purpose) -> Job {
        let step = KernelStep {
            name: "kernel".to_owned(),
            program: Program::new("c", "k.so".into()),
            arguments: Vec::new(),
            grid: None,
            launches: 1,
        };
        Job { steps: vec![step; steps], passed: Vec::new(), purpose }
    }

    fn measure(profile: bool) -> Purpose {
        let (cache, launches, setting) = (Cache::Warm, Launches::default(), Setting::default());
        Purpose::Measure { sampling: Sampling::default(), cache, launches, profile, seed: 1, setting }
    }

    fn verify(launches: usize) -> Purpose {
        let launch = PlannedLaunch { set: 0, is_compared: true };
        Purpose::Verify(Series { launches: vec![launch; launches], fewest: launches, time_cap: LIMIT.duration })
    }

    /// Returns the steps that a job announces as the worker does, with so many passes of a profiler.
    fn honest(job: &Job, passes: usize) -> Vec<Phase> {
        let mut phases = vec![Phase::Preparing];
        phases.extend(job.steps.iter().flat_map(|_| [Phase::Starting, Phase::Launching]));
        phases.push(Phase::Checking);
        match &job.purpose {
            Purpose::Measure { profile, .. } => {
                phases.extend([SAMPLING, Phase::Checking]);
                let profiled = if *profile { 1 + passes } else { 0 };
                phases.extend(std::iter::repeat_n(Phase::Profiling, profiled));
            }
            Purpose::Verify(series) => {
                let later = series.launches.iter().skip(1);
                phases.extend(later.flat_map(|_| [Phase::Launching, Phase::Checking]));
            }
            Purpose::Record | Purpose::Launch => {}
        }
        phases
    }

    fn any_phase() -> impl Strategy<Value = Phase> {
        proptest::sample::select(vec![
            Phase::Preparing,
            Phase::Starting,
            Phase::Launching,
            Phase::Checking,
            SAMPLING,
            Phase::Profiling,
        ])
    }

    fn any_job() -> impl Strategy<Value = Job> {
        let purpose = prop_oneof![
            any::<bool>().prop_map(measure),
            Just(Purpose::Record),
            Just(Purpose::Launch),
            (1..=200_usize).prop_map(verify),
        ];
        (1..5_usize, purpose).prop_map(|(steps, purpose)| job(steps, purpose))
    }

    proptest! {
        #[test]
        fn a_job_that_announces_what_a_worker_does_stays_within_its_budget(job in any_job(), passes in 1..=MOST_PASSES) {
            let mut budget = Budget::new(&job, LIMIT);
            for phase in honest(&job, passes) {
                budget.spend(LIMIT.duration / 20);
                prop_assert_eq!(budget.enter(phase, LIMIT), Ok(()));
                prop_assert!(budget.left() > Duration::ZERO);
            }
        }

        #[test]
        fn whatever_a_job_announces_its_time_is_bounded(
            job in any_job(), phases in proptest::collection::vec((any_phase(), 0..1000_u64), 0..2000),
        ) {
            let mut budget = Budget::new(&job, LIMIT);
            let (mut total, mut steps) = (Duration::ZERO, 1);
            for (phase, milliseconds) in phases {
                let time = Duration::from_millis(milliseconds).min(budget.left());
                budget.spend(time);
                total += time;
                steps += usize::from(budget.enter(phase, LIMIT).is_ok());
            }
            let most = allowed(&job);
            prop_assert!(steps <= most.iter().map(|times| *times as usize).sum());
            let limits: u32 = most.iter().map(|times| (*times).min(MOST_LIMITS)).sum();
            prop_assert!(total <= LIMIT.duration * limits, "{total:?}");
        }
    }

    #[test]
    fn only_a_step_of_the_job_gives_more_time() {
        let job = job(1, measure(false));
        let mut budget = Budget::new(&job, LIMIT);
        for phase in honest(&job, 0) {
            budget.enter(phase, LIMIT).unwrap();
        }
        budget.spend(LIMIT.duration / 2);
        for phase in [Phase::Preparing, Phase::Starting, Phase::Launching, Phase::Checking, SAMPLING, Phase::Profiling]
        {
            assert!(budget.enter(phase, LIMIT).is_err(), "{phase:?}");
            assert_eq!(budget.left(), LIMIT.duration / 2);
        }
    }

    #[test]
    fn a_step_that_no_job_has_is_named() {
        let job = job(2, measure(false));
        let mut budget = Budget::new(&job, LIMIT);
        let honest = honest(&job, 0);
        honest.iter().take(7).for_each(|phase| budget.enter(*phase, LIMIT).unwrap());
        let back = budget.enter(Phase::Starting, LIMIT);
        assert_eq!(back, Err("the step `Starting` after `Sampling`".to_owned()));
        budget.enter(Phase::Checking, LIMIT).unwrap();
        let again = budget.enter(SAMPLING, LIMIT);
        assert_eq!(again, Err("the step `Sampling` more often than its job has it".to_owned()));
        assert!(budget.enter(Phase::Profiling, LIMIT).is_err(), "nobody asked for counters");
    }

    #[test]
    fn a_job_hands_over_no_more_outputs_than_it_has_launches() {
        let most = |purpose: Purpose| {
            (1..1000)
                .take_while(|launch| Budget::new(&job(1, purpose.clone()), LIMIT).hand_over(*launch).is_ok())
                .last()
        };
        // The first launch, one that tells the size of samples, 50 samples, and 4 taken again.
        assert_eq!(most(measure(false)), Some(56));
        assert_eq!(most(verify(3)), Some(3));
        assert_eq!([most(Purpose::Record), most(Purpose::Launch)], [Some(1), None]);
        let mut budget = Budget::new(&job(1, measure(false)), LIMIT);
        budget.hand_over(3).unwrap();
        assert!(budget.hand_over(3).is_err() && budget.hand_over(2).is_err(), "each launch comes once, and in order");
        let outputs = Budget::new(&job(1, Purpose::Record), LIMIT).hand_over(9);
        assert_eq!(outputs, Err("the outputs of launch 9, of at most 1".to_owned()));
    }
}
