use super::*;
use tunesmith_core::{Clock, CompileData, Evaluation};
use tunesmith_space::{Parameter, Space, Value};

fn space() -> Space {
    Space::builder().parameter(Parameter::new("X", (0..100).map(Value::Int)).unwrap()).build().unwrap()
}

/// Returns the configuration with this rank, recorded with `times_ms` and `rel_std`.
fn recorded(space: &Space, rank: u128, times_ms: &[f64], rel_std: Option<f64>) -> Recorded {
    let compile = Some(CompileData { time_ms: 40.0, ..CompileData::default() });
    let measurement = Measurement { times_ms: times_ms.to_vec(), compile, ..Measurement::default() };
    let request = Request::timed(space.id(rank).unwrap());
    let evaluation = Evaluation { request, failure: None, measurement, clock: Duration::ZERO, proposed: None };
    Recorded { evaluation, rel_std, cost_ms: 250.0 }
}

fn times(device: &mut ReplayEvaluator, space: &Space, rank: u128) -> Vec<f64> {
    device.submit(Request::timed(space.id(rank).unwrap())).unwrap();
    device.next(&Interrupt::default()).unwrap().unwrap().measurement.times_ms
}

#[test]
fn without_noise_the_recorded_samples_are_answered() {
    let space = space();
    let mut device = ReplayEvaluator::new([recorded(&space, 1, &[2.0, 3.0, 7.0], Some(0.5))]);
    assert_eq!(times(&mut device, &space, 1), [2.0, 3.0, 7.0]);
    assert_eq!(device.time_ms(space.id(1).unwrap()), Some(3.0));
    let more = device.resample(space.id(1).unwrap(), 5, &Interrupt::default()).unwrap().unwrap();
    assert!(more.measurement.times_ms.is_empty());
}

#[test]
fn repeats_are_drawn_from_those_recorded_and_a_deviation_gives_log_normal_ones() {
    let space = space();
    let device = ReplayEvaluator::new([
        recorded(&space, 1, &[2.0, 3.0, 7.0], None),
        recorded(&space, 2, &[5.0], Some(0.2)),
        recorded(&space, 3, &[5.0], None),
    ]);
    let mut device = device.with_noise(11);
    let drawn = times(&mut device, &space, 1);
    assert!(drawn.len() >= 7 && drawn.iter().all(|time| [2.0, 3.0, 7.0].contains(time)), "{drawn:?}");
    assert_eq!(times(&mut device, &space, 3), [5.0], "no noise was recorded");
    let many = device.resample(space.id(2).unwrap(), 20_000, &Interrupt::default()).unwrap().unwrap();
    let many = many.measurement.times_ms;
    let mean = many.iter().sum::<f64>() / many.len() as f64;
    let variance = many.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / many.len() as f64;
    // With 20,000 samples, the standard errors are about 0.2 % and 0.7 %.
    assert!((statistics::median(&many).unwrap() / 5.0 - 1.0).abs() < 0.01);
    assert!((variance.sqrt() / mean / 0.2 - 1.0).abs() < 0.03, "{}", variance.sqrt() / mean);
}

#[test]
fn successive_samples_go_round_from_a_random_start() {
    let space = space();
    let samples: Vec<f64> = (1..=9).map(f64::from).collect();
    let mut device =
        ReplayEvaluator::new([recorded(&space, 1, &samples, None)]).with_noise(3).with_successive_samples();
    let mut starts = Vec::new();
    for _ in 0..40 {
        let drawn = device.resample(space.id(1).unwrap(), 20, &Interrupt::default()).unwrap().unwrap();
        let drawn = drawn.measurement.times_ms;
        assert!(drawn.windows(2).all(|pair| pair[1] == pair[0] % 9.0 + 1.0), "{drawn:?}");
        starts.push(drawn[0] as i64);
    }
    starts.sort_unstable();
    starts.dedup();
    assert!(starts.len() > 6, "{starts:?}");
}

#[test]
fn the_seed_decides_the_noise_and_neither_order_nor_unit_changes_it() {
    let space = space();
    let of = |scale: f64, seed| {
        let recorded = (0..20).map(|rank| recorded(&space, rank, &[scale * (rank + 1) as f64], Some(0.1)));
        ReplayEvaluator::new(recorded).with_noise(seed)
    };
    let forward: Vec<Vec<f64>> = (0..20).map(|rank| times(&mut of(1.0, 3), &space, rank)).collect();
    let mut device = of(1024.0, 3);
    for rank in (0..20).rev() {
        let scaled: Vec<f64> = times(&mut device, &space, rank).iter().map(|time| time / 1024.0).collect();
        assert_eq!(scaled, forward[rank as usize]);
    }
    assert_ne!(times(&mut device, &space, 4), forward[4], "a second visit takes other samples");
    assert_ne!(times(&mut of(1.0, 4), &space, 4), forward[4]);
}

#[test]
fn a_beaten_configuration_gets_few_samples() {
    let space = space();
    let mut device = ReplayEvaluator::new([recorded(&space, 1, &[5.0], Some(0.01))]).with_noise(1);
    device.race(Some(2.0));
    assert_eq!(times(&mut device, &space, 1).len(), 3);
}

#[test]
fn the_clock_moves_by_what_was_recorded_and_by_the_mean_where_nothing_was() {
    let space = space();
    let clock = Arc::new(ManualClock::default());
    let free =
        Evaluation { request: Request::timed(space.id(2).unwrap()), ..recorded(&space, 2, &[1.0], None).evaluation };
    let device = ReplayEvaluator::new([recorded(&space, 1, &[5.0], Some(0.1)), Recorded::from(free)]);
    let mut device = device.with_noise(1).with_clock(clock.clone());
    times(&mut device, &space, 1);
    assert_eq!(clock.now(), Duration::from_millis(250));
    times(&mut device, &space, 9);
    assert_eq!(clock.now(), Duration::from_millis(375), "not recorded");
    device.resample(space.id(1).unwrap(), 4, &Interrupt::default()).unwrap();
    assert!((0.390..0.400).contains(&clock.now().as_secs_f64()), "four samples of 5 ms: {:?}", clock.now());
}

#[test]
fn reading_counters_takes_the_launches_that_it_is_said_to_take() {
    let space = space();
    let clock = Arc::new(ManualClock::default());
    let device = ReplayEvaluator::new([recorded(&space, 1, &[2.0, 3.0], None)]);
    let mut device = device.with_clock(clock.clone()).with_profile_passes(11.0);
    let mut took = |request: Request| {
        let start = clock.now();
        device.submit(request).unwrap();
        device.next(&Interrupt::default()).unwrap();
        clock.now() - start
    };
    let config = space.id(1).unwrap();
    assert_eq!(took(Request::timed(config)), Duration::from_millis(250));
    assert_eq!(took(Request::profiled(config)), Duration::from_millis(300));
}

#[test]
fn workers_answer_as_they_end_and_the_clock_shows_the_time_of_all_together() {
    let space = space();
    let durations = [400.0, 100.0, 250.0, 100.0];
    let recorded = durations
        .iter()
        .zip(0..)
        .map(|(cost_ms, rank)| Recorded { cost_ms: *cost_ms, ..recorded(&space, rank, &[1.0], None) });
    let device = ReplayEvaluator::new(recorded);
    let answers = |workers| {
        let clock = Arc::new(ManualClock::default());
        let mut device = device.clone().with_clock(clock.clone()).with_workers(workers);
        (0..4).for_each(|rank| device.submit(Request::timed(space.id(rank).unwrap())).unwrap());
        let next = |_| {
            let request = device.next(&Interrupt::default()).unwrap().unwrap().request.unwrap();
            (request.config.rank(), clock.now().as_millis())
        };
        (0..4).map(next).collect::<Vec<_>>()
    };
    assert_eq!(answers(1), [(0, 400), (1, 500), (2, 750), (3, 850)]);
    // The second worker takes the third and the fourth once it is free.
    assert_eq!(answers(2), [(1, 100), (2, 350), (0, 400), (3, 450)]);
    assert_eq!(answers(8), [(1, 100), (3, 100), (2, 250), (0, 400)]);
}

#[test]
fn cores_compile_for_the_recorded_time_and_measure_for_the_rest() {
    let space = space();
    let recorded = (0..2).map(|rank| recorded(&space, rank, &[1.0], None));
    let device = ReplayEvaluator::new(recorded);
    let answers = |count, class| {
        let clock = Arc::new(ManualClock::default());
        let mut device = device.clone().with_clock(clock.clone()).with_cores(count, class);
        // The last one was not recorded.
        [0, 1, 50].into_iter().for_each(|rank| device.submit(Request::timed(space.id(rank).unwrap())).unwrap());
        let next = |_| {
            let request = device.next(&Interrupt::default()).unwrap().unwrap().request.unwrap();
            (request.config.rank(), clock.now().as_millis())
        };
        let order = (0..3).map(next).collect::<Vec<_>>();
        (order, device.busy().unwrap().as_millis())
    };
    // Compiling takes 40 ms and measuring 210 ms. What was not recorded compiles for 250 ms.
    assert_eq!(answers(1, None), (vec![(0, 250), (1, 500), (50, 750)], 750));
    assert_eq!(answers(2, None), (vec![(0, 250), (1, 460), (50, 710)], 750));
    assert_eq!(answers(2, Some(DeviceClass::Gpu)), (vec![(0, 250), (1, 460), (50, 460)], 750));
    assert_eq!(device.clone().with_workers(2).busy(), None);
}
