//! Probes of the reference, which detect drift.

use crate::common::*;
use crate::finals::setup::*;
use tunesmith_core::*;

/// Asks at random and logs its requests.
#[derive(Default)]
struct AtRandom(Vec<Request>);

impl Searcher for AtRandom {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        let asked: Vec<Request> = (0..room).map(|_| Request::timed(view.space().sample(rng))).collect();
        self.0.extend(&asked);
        asked
    }
}

#[test]
fn probes_of_the_reference_are_stored_bounded_and_change_no_request() {
    let run = |judging: Judging, before: &Kept| {
        let mut device = Device::new(&line(200), Noise::Normal(0.02), 1, |x| 10.0 + x as f64 * 0.1);
        let (space, clock) = (device.space.clone(), device.clock.clone());
        let (mut searcher, mut kept) = (AtRandom::default(), before.clone());
        let run = Tuner::new(&space, &mut searcher, &mut device)
            .store(&mut kept)
            .clock(clock)
            .judging(judging)
            .room(4)
            .stop(Stop::evaluations(120))
            .recorded(before.evaluations())
            .resamples(before.again())
            .run()
            .unwrap();
        (searcher.0, run, kept)
    };
    let (without, ..) = run(Judging::nothing(), &Kept::default());
    let watching = || Judging { drift: Some(Default::default()), ..Judging::nothing() };
    let (with, watched, kept) = run(watching(), &Kept::default());
    assert_eq!(with, without);
    let probes = kept.again();
    assert!(probes.iter().all(|probe| probe.role == Role::Reference && probe.config == probes[0].config));
    assert_eq!((watched.drift.unwrap().probes, watched.resamples), (probes.len(), probes));
    // Cut anywhere, the resumed run asks the same and keeps the probes.
    for cut in [1, 30, kept.0.len() / 2, kept.0.len()] {
        let before = Kept(kept.0[..cut].to_vec());
        let (asked, resumed, after) = run(watching(), &before);
        assert_eq!(asked[..], with[..asked.len()], "cut {cut}");
        assert_eq!(after.evaluations().len(), 120);
        assert!(resumed.resamples.starts_with(&before.again()));
    }
}

#[test]
fn a_reference_that_fails_later_is_reported_and_not_measured_again() {
    let mut device = Device::new(&line(60), Noise::Normal(0.02), 1, |x| if x == 0 { 9.0 } else { 10.0 });
    device.breaks = Some((0, 0));
    let judging = Judging { drift: Some(Default::default()), ..only_finals() };
    let (run, kept) = tune(&mut device, judging, 1, &Kept::default());
    let probes = kept.again().iter().filter(|again| again.role == Role::Reference).count();
    assert_eq!((probes, run.drift), (1, None));
    assert_eq!(device.x(run.verdict.failed[0]), 0);
    assert_ne!(winner(&device, &run), Some(0), "what failed once does not win");
}
