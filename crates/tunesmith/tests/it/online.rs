//! Tuning while the application runs, with a clock that advances only while a kernel runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tunesmith::choose::OnlineOptions;
use tunesmith::choose::wisdom::Config;
use tunesmith::core::ManualClock;
use tunesmith::space::Value;
use tunesmith::{
    Selector,
    choose::{Online, Source},
};

/// The kernel's time in milliseconds with each configuration. Those with 0 fail after a
/// millisecond.
const TIMES: [u64; 5] = [40, 0, 60, 25, 300];

fn configs() -> Vec<Config> {
    (0..TIMES.len()).map(|number| vec![("NUMBER".to_string(), Value::Int(number as i64))]).collect()
}

struct Application {
    clock: Arc<ManualClock>,
    online: Online,
    runs: AtomicUsize,
}

impl Application {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let online = Online::new("kernel", "device", configs()).unwrap().with_clock(clock.clone());
        Self { clock, online, runs: AtomicUsize::new(0) }
    }

    /// Makes one call. Returns the configuration that gave its result.
    fn call(&self, n: f64) -> usize {
        let result = self.online.call(&[("N", n)], |config| {
            self.runs.fetch_add(1, Ordering::Relaxed);
            let number = config[0].1.as_int().unwrap() as usize;
            self.clock.advance(Duration::from_millis(TIMES[number].max(1)));
            if TIMES[number] == 0 { Err("it failed") } else { Ok(number) }
        });
        result.expect("a trial that fails is made good")
    }
}

#[test]
fn the_best_is_found_within_the_budget_and_failures_reach_nobody() {
    use tunesmith::core::Clock;
    let application = Application::new();
    let mut without = Duration::ZERO;
    for _ in 0..4000 {
        application.call(8.0);
        without += Duration::from_millis(TIMES[0]);
    }
    assert!(application.online.is_settled(&[("N", 8.0)]));
    assert_eq!(*application.online.best(&[("N", 8.0)]), configs()[3]);
    let slowdown = OnlineOptions::default().slowdown;
    assert!(
        application.clock.now() < without.mul_f64(1.0 + slowdown),
        "never slower than 5 % above the first configuration"
    );
    assert_eq!(application.runs.load(Ordering::Relaxed), 4001, "one call was made good");
    assert!(!application.online.is_settled(&[("N", 16.0)]), "another input is tuned for itself");
}

#[test]
fn what_is_found_is_shared_through_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("online.wisdom");
    let mut first = Application::new();
    first.online = first.online.with_file(&path);
    for _ in 0..4000 {
        first.call(8.0);
    }
    assert_eq!(first.online.warnings(), [""; 0]);
    let mut second = Application::new();
    second.online = second.online.with_file(&path);
    assert_eq!(second.call(8.0), 3, "it begins with what the first one found");
    let selector = Selector::open([&path]);
    let choice = selector.select("kernel", "device", &[("N", 8.0)]).unwrap();
    assert_eq!((choice.int("NUMBER"), choice.source, choice.time_ms), (Some(3), Source::Exact, Some(25.0)));
}

#[test]
fn a_file_that_cannot_be_used_fails_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foreign");
    std::fs::write(&path, "something else\n").unwrap();
    let mut application = Application::new();
    application.online = application.online.with_file(&path);
    (0..10).for_each(|_| assert_eq!(application.call(8.0), 0));
    assert!(application.online.warnings()[0].contains("is not a file of wisdom"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "something else\n");
    assert!(Online::new("kernel", "device", Vec::new()).is_none());
}

#[test]
fn threads_may_call_at_once() {
    let application = Application::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!((0..500).all(|_| TIMES[application.call(8.0)] > 0)));
        }
    });
    assert!(application.runs.load(Ordering::Relaxed) <= 2001);
}
