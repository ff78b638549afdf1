use super::*;
use proptest::prelude::*;
use tunesmith_space::{Parameter, Space, Value};

/// Number of requests that tests have.
const REQUESTS: usize = 24;

/// The milliseconds that a request takes to compile and to measure.
type Times = (u64, u64);

/// Returns distinct requests.
fn requests() -> Vec<Request> {
    let values = (0..REQUESTS as i64).map(Value::Int);
    let space = Space::builder().parameter(Parameter::new("X", values).unwrap()).build().unwrap();
    (0..REQUESTS as u128).map(|rank| Request::timed(space.id(rank).unwrap())).collect()
}

/// Returns the order of the answers with their ends, and the busy milliseconds. `submitted` has the numbers of
/// requests that are submitted before each answer. What they leave is submitted at last.
///
/// `limits` are those of compilations, one for each call. They repeat.
fn simulated(
    times: &[Times],
    (submitted, limits): (&[usize], &[Option<u64>]),
    mut machine: impl Machine,
) -> (Vec<(usize, u64, bool)>, u64) {
    let (mut answers, mut now, mut next) = (Vec::new(), 0, 0);
    let (mut submitted, mut limits) = (submitted.iter(), limits.iter().cycle());
    while answers.len() < times.len() {
        machine.limit(limits.next().copied().flatten());
        let more = submitted.next().map_or(times.len(), |more| *more).min(times.len() - next);
        (next..next + more).for_each(|number| machine.submit(number));
        next += more;
        if let Some((end, number, is_aside)) = machine.next(now, times) {
            now = end;
            answers.push((number, now, is_aside));
        }
    }
    assert_eq!(machine.next(now, times), None);
    (answers, machine.busy())
}

/// A simulated machine, in milliseconds.
trait Machine {
    fn submit(&mut self, number: usize);
    fn limit(&mut self, limit: Option<u64>);
    fn next(&mut self, now: u64, times: &[Times]) -> Option<(u64, usize, bool)>;
    fn busy(&self) -> u64;
}

/// The machine under test.
struct MachineUnderTest {
    cores: Cores,
    requests: Vec<Request>,
}

impl MachineUnderTest {
    fn new(count: usize, class: DeviceClass) -> Self {
        Self { cores: Cores::new(count, Some(class)), requests: requests() }
    }
}

impl Machine for MachineUnderTest {
    fn submit(&mut self, number: usize) {
        self.cores.submit(self.requests[number]);
    }

    fn limit(&mut self, limit: Option<u64>) {
        self.cores.limit(limit.map(Duration::from_millis));
    }

    fn next(&mut self, now: u64, times: &[Times]) -> Option<(u64, usize, bool)> {
        let number = |request: Request| self.requests.iter().position(|one| *one == request).unwrap();
        let cost = |request| {
            let (compiling, measuring) = times[number(request)];
            let [total, compiling] = [compiling + measuring, compiling].map(Duration::from_millis);
            Cost { total, compiling }
        };
        let Answer { request, end, is_aside } = self.cores.next(Duration::from_millis(now), cost)?;
        Some((end.as_millis() as u64, number(request), is_aside))
    }

    fn busy(&self) -> u64 {
        self.cores.busy().as_millis() as u64
    }
}

/// The same machine, simulated millisecond by millisecond.
struct Naive {
    count: usize,
    class: DeviceClass,
    /// Numbers of requests, with the milliseconds compiled.
    compiling: Vec<(usize, u64)>,
    /// Numbers of requests. True if the limit ended the compilation.
    compiled: Vec<(usize, bool)>,
    limit: Option<u64>,
    busy: u64,
}

impl Naive {
    fn new(count: usize, class: DeviceClass) -> Self {
        Self { count, class, compiling: Vec::new(), compiled: Vec::new(), limit: None, busy: 0 }
    }

    /// Ends the compilations on cores that are complete or beyond the limit, and gives the cores the next ones.
    fn begin(&mut self, cores: usize, times: &[Times]) {
        loop {
            let limit = self.limit.unwrap_or(u64::MAX);
            let is_over = |(number, taken): &(usize, u64)| *taken >= times[*number].0.min(limit);
            let Some(at) = self.compiling.iter().take(cores).position(is_over) else { return };
            let (number, taken) = self.compiling.remove(at);
            self.compiled.push((number, taken < times[number].0));
        }
    }

    /// Lets a millisecond pass.
    fn tick(&mut self, cores: usize, times: &[Times]) {
        for (_, taken) in self.compiling.iter_mut().take(cores) {
            *taken += 1;
            self.busy += 1;
        }
        self.begin(cores, times);
    }
}

impl Machine for Naive {
    fn submit(&mut self, number: usize) {
        self.compiling.push((number, 0));
    }

    fn limit(&mut self, limit: Option<u64>) {
        self.limit = limit;
    }

    fn next(&mut self, mut now: u64, times: &[Times]) -> Option<(u64, usize, bool)> {
        self.begin(self.count, times);
        while self.compiled.is_empty() {
            if self.compiling.is_empty() {
                return None;
            }
            self.tick(self.count, times);
            now += 1;
        }
        let (number, is_aside) = self.compiled.remove(0);
        let measuring = if is_aside { 0 } else { times[number].1 };
        for _ in 0..measuring {
            match self.class {
                DeviceClass::Gpu => self.tick(self.count - 1, times),
                DeviceClass::Processor => {}
            }
            self.busy += 1;
            now += 1;
        }
        Some((now, number, is_aside))
    }

    fn busy(&self) -> u64 {
        self.busy
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_simulation_agrees_with_one_of_every_millisecond(
        times in prop::collection::vec((0_u64..12, 0_u64..9), 1..=REQUESTS),
        submitted in prop::collection::vec(0_usize..6, 0..REQUESTS),
        limits in prop::collection::vec(prop::option::of(0_u64..10), 1..6),
        count in 1_usize..6,
        class in prop_oneof![Just(DeviceClass::Gpu), Just(DeviceClass::Processor)],
    ) {
        let how = (submitted.as_slice(), limits.as_slice());
        let tested = simulated(&times, how, MachineUnderTest::new(count, class));
        prop_assert_eq!(tested, simulated(&times, how, Naive::new(count, class)));
    }
}

/// Returns the answers and the busy time if everything is submitted at first.
fn answers(times: &[Times], count: usize, class: DeviceClass) -> (Vec<(usize, u64)>, u64) {
    let (answers, busy) = simulated(times, (&[times.len()], &[None]), MachineUnderTest::new(count, class));
    (answers.into_iter().map(|(number, end, _)| (number, end)).collect(), busy)
}

/// Three requests. The second compiles fastest.
const THREE: [Times; 3] = [(10, 5), (4, 3), (6, 2)];

#[test]
fn one_core_compiles_and_measures_one_after_the_other() {
    for class in [DeviceClass::Processor, DeviceClass::Gpu] {
        assert_eq!(answers(&THREE, 1, class), (vec![(0, 15), (1, 22), (2, 30)], 30));
    }
}

#[test]
fn on_a_processor_compilations_stand_still_during_measurements() {
    // At 4 the second is compiled and measured until 7. The first and the third go on and end together at 13.
    let (order, busy) = answers(&THREE, 2, DeviceClass::Processor);
    assert_eq!((order, busy), (vec![(1, 7), (0, 18), (2, 20)], 30));
}

#[test]
fn on_a_gpu_the_other_cores_go_on_compiling_during_measurements() {
    // At 4 the second is measured until 7, and the first goes on. It ends at 10, when the third has compiled for 3.
    // The third ends at 13, while the first is measured until 15.
    let (order, busy) = answers(&THREE, 2, DeviceClass::Gpu);
    assert_eq!((order, busy), (vec![(1, 7), (0, 15), (2, 17)], 30));
}

#[test]
fn what_is_compiled_at_the_same_time_is_measured_in_the_order_submitted() {
    let (order, _) = answers(&[(5, 1), (5, 1), (0, 1), (0, 1)], 2, DeviceClass::Processor);
    assert_eq!(order, [(0, 6), (1, 7), (2, 8), (3, 9)]);
}
