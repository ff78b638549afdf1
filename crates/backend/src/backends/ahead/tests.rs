use super::*;
use std::collections::BTreeSet;
use std::sync::Condvar;
use std::sync::atomic::{AtomicUsize, Ordering};
use tunesmith_core::{Clock, ManualClock, SystemClock};
use tunesmith_space::Value;

/// "Compiles" a number once it is let through; fails for odd numbers, and panics for those below 0.
#[derive(Default)]
struct Gate {
    through: Mutex<Through>,
    changed: Condvar,
    started: AtomicUsize,
}

/// The numbers that are let through.
#[derive(Default)]
enum Through {
    #[default]
    All,
    These(BTreeSet<i64>),
}

impl Gate {
    fn closed() -> Arc<Self> {
        Arc::new(Self { through: Mutex::new(Through::These(BTreeSet::new())), ..Self::default() })
    }

    fn open(&self, numbers: impl IntoIterator<Item = i64>) {
        *self.through.lock().unwrap() = Through::These(numbers.into_iter().collect());
        self.changed.notify_all();
    }
}

impl Build for Gate {
    type Built = i64;

    fn build(&self, scope: &Scope, cancel: &Interrupt) -> BuildResult<Self> {
        self.started.fetch_add(1, Ordering::SeqCst);
        let number = scope.get("N").and_then(Value::as_int).unwrap();
        assert!(number >= 0, "{number} is below 0");
        let mut through = self.through.lock().unwrap();
        while matches!(&*through, Through::These(numbers) if !numbers.contains(&number)) {
            if cancel.is_raised() {
                return Err(BuildError::Cancelled);
            }
            through = self.changed.wait_timeout(through, POLL).unwrap().0;
        }
        if number % 2 == 1 {
            return Err(BuildError::Failed(format!("{number} is odd")));
        }
        Ok(number)
    }
}

fn suspension() -> Arc<Suspension> {
    Suspension::new(Arc::new(SystemClock::new()))
}

fn builds(gate: &Arc<Gate>, jobs: usize, numbers: std::ops::Range<i64>) -> Builds<Gate, i64> {
    let mut builds = Builds::new(Arc::clone(gate), jobs, suspension());
    numbers.for_each(|number| submit(&mut builds, number));
    builds
}

fn submit(builds: &mut Builds<Gate, i64>, number: i64) {
    builds.submit(Scope::new([("N".to_owned(), Value::Int(number))]), number);
}

/// Returns the number of the next build, which must be the one that is announced, with the right result.
fn next(builds: &mut Builds<Gate, i64>) -> Option<i64> {
    let announced = builds.upcoming(&Interrupt::default()).copied();
    let FinishedBuild { request: number, scope, result, .. } = builds.next(&Interrupt::default())?;
    assert_eq!(announced, Some(number));
    assert_eq!(scope.get("N").and_then(Value::as_int), Some(number));
    match &result {
        Ok(built) => assert_eq!(*built, number),
        Err(error) => assert!(matches!(error, BuildError::Failed(text) if *text == format!("{number} is odd"))),
    }
    Some(number)
}

#[test]
fn every_configuration_comes_out_once_and_one_thread_keeps_their_order() {
    for jobs in [1, 4] {
        let mut builds = builds(&Arc::default(), jobs, 0..20);
        let mut order: Vec<i64> = std::iter::from_fn(|| next(&mut builds)).collect();
        if jobs > 1 {
            order.sort_unstable();
        }
        assert_eq!(order, (0..20).collect::<Vec<_>>());
    }
}

#[test]
fn a_long_build_holds_no_other_back() {
    let gate = Gate::closed();
    let mut builds = builds(&gate, 2, 0..4);
    gate.open([1, 2, 3]);
    assert_eq!([next(&mut builds), next(&mut builds), next(&mut builds)], [Some(1), Some(2), Some(3)]);
    submit(&mut builds, 5);
    gate.open([0, 5]);
    let rest: BTreeSet<i64> = std::iter::from_fn(|| next(&mut builds)).collect();
    assert_eq!(rest, BTreeSet::from([0, 5]));
}

#[test]
fn the_builds_that_are_there_are_those_that_come_next() {
    let mut builds = builds(&Arc::default(), 2, 0..6);
    // Whoever waits for the last one has all of them.
    while builds.queue.iter().any(QueueEntry::is_building) {
        builds.receive();
        std::thread::yield_now();
    }
    assert_eq!(next(&mut builds), Some(0));
    assert_eq!(builds.built().copied().collect::<Vec<_>>(), [2, 4], "odd ones do not compile");
}

#[test]
fn no_build_begins_during_a_measurement() {
    let gate: Arc<Gate> = Arc::default();
    let mut builds = builds(&gate, 2, 0..0);
    let pause = builds.suspension.pause();
    (0..5).for_each(|number| submit(&mut builds, number));
    std::thread::sleep(2 * POLL);
    assert_eq!(gate.started.load(Ordering::SeqCst), 0);
    drop(pause);
    assert_eq!(std::iter::from_fn(|| next(&mut builds)).count(), 5);
}

#[test]
fn a_build_that_panics_is_waited_for_by_nobody() {
    let mut builds = builds(&Arc::default(), 1, -1..2);
    let panicked = builds.next(&Interrupt::default()).unwrap().result;
    assert!(
        matches!(&panicked, Err(BuildError::Broken(DeviceError::Machine { problem })) if problem.contains("-1 is below 0")),
        "{:?}",
        panicked.err()
    );
    assert_eq!([next(&mut builds), next(&mut builds)], [Some(0), Some(1)], "the thread goes on");
}

#[test]
fn no_more_threads_are_started_than_there_are_builds() {
    let gate = Gate::closed();
    let builds = builds(&gate, 1_000_000, 0..4);
    assert_eq!(builds.threads.len(), 4);
}

#[test]
fn an_interrupt_drops_the_oldest_and_the_others_are_built_later() {
    let gate = Gate::closed();
    let mut builds = builds(&gate, 2, 0..3);
    let interrupt = Interrupt::default();
    interrupt.raise();
    assert!(builds.upcoming(&interrupt).is_none());
    assert!(builds.next(&interrupt).is_none());
    gate.open(0..3);
    let rest: BTreeSet<i64> = std::iter::from_fn(|| next(&mut builds)).collect();
    assert_eq!(rest, BTreeSet::from([1, 2]));
}

#[test]
fn what_is_cancelled_is_gone() {
    let gate = Gate::closed();
    let mut builds = builds(&gate, 2, 0..3);
    builds.cancel();
    assert_eq!(next(&mut builds), None);
    gate.open(0..9);
    submit(&mut builds, 4);
    assert_eq!(next(&mut builds), Some(4));
}

#[test]
fn a_build_that_takes_longer_than_the_limit_is_put_aside_and_pauses_do_not_count() {
    let (gate, clock) = (Gate::closed(), Arc::new(ManualClock::default()));
    let suspension = Suspension::new(Arc::clone(&clock) as Arc<dyn Clock>);
    let mut builds = Builds::new(Arc::clone(&gate), 2, Arc::clone(&suspension));
    submit(&mut builds, 2);
    while gate.started.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    let limit = CompileLimit { limit_ms: 100.0, usual_ms: 30.0 };
    let pause = suspension.pause();
    clock.advance(Duration::from_secs(5));
    drop(pause);
    clock.advance(Duration::from_millis(100));
    builds.limit(Some(limit));
    builds.put_aside();
    assert!(builds.queue.iter().all(|entry| matches!(&entry.state, State::Building(now) if now.aside.is_none())));
    clock.advance(Duration::from_millis(1));
    let ended = builds.next(&Interrupt::default()).unwrap();
    assert_eq!((ended.request, ended.aside), (2, Some(limit)));
    // It is built to its end once nothing limits it.
    builds.limit(None);
    submit(&mut builds, 2);
    clock.advance(Duration::from_secs(5));
    gate.open([2]);
    assert_eq!(next(&mut builds), Some(2));
}
