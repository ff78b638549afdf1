//! The peak rates of a device, and the least times that follow from them.

use super::case::Case;
use super::property::CostProperty;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use tunesmith_loopnest::{Function, Operation, Property, Type};

/// Maximum factor between the touched bytes of a kernel and those of a measured kernel that may be
/// faster. The sizes of measured kernels grow by at most this factor, so that a smaller one is
/// among those compared.
const NEXT_SIZE: f64 = 4.0;

/// A kind of floating-point work with a peak rate of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkKind {
    /// Sums, differences and products. A fused product and sum are two.
    Flops(Type),
    /// Divisions, powers or one function.
    Special(Operation, Type),
}

impl WorkKind {
    /// Returns the kind of an operation, and the number of its units that one operation is. Returns
    /// `None` for work without a peak rate: integers, and functions that compilers often avoid.
    fn of(operation: Operation, kind: Type) -> Option<(Self, f64)> {
        use Function::{Abs, Max, Min, Select};
        match operation {
            _ if !kind.is_float() => None,
            Operation::Add | Operation::Mul => Some((Self::Flops(kind), 1.0)),
            Operation::Fma => Some((Self::Flops(kind), 2.0)),
            Operation::Convert(_) | Operation::Special(Abs | Max | Min | Select(_)) => None,
            Operation::Div | Operation::Pow | Operation::Special(_) => Some((Self::Special(operation, kind), 1.0)),
        }
    }
}

impl fmt::Display for WorkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flops(kind) => write!(f, "sums and products in {kind}"),
            Self::Special(operation, kind) => write!(f, "`{operation}` in {kind}"),
        }
    }
}

impl Serialize for WorkKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&match self {
            Self::Flops(kind) => format!("flop:{kind}"),
            Self::Special(operation, kind) => format!("{operation}:{kind}"),
        })
    }
}

/// The work that every variant of a nest does at least.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeastWork {
    /// Bytes that are touched at least once.
    pub bytes: f64,
    /// Floating-point operations by kind.
    pub operations: BTreeMap<WorkKind, f64>,
}

impl LeastWork {
    /// Adds `count` operations.
    pub(crate) fn add(&mut self, operation: Operation, kind: Type, count: f64) {
        if let Some((kind, units)) = WorkKind::of(operation, kind) {
            *self.operations.entry(kind).or_default() += count * units;
        }
    }
}

/// The highest rates at which a device was measured to work. No fit is in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Peaks {
    /// For each measured kernel, the bytes that it touches and those per second.
    traffic: Vec<(f64, f64)>,
    /// Operations per second.
    operations: BTreeMap<WorkKind, f64>,
}

/// The reason why a kernel takes at least a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LowerBound {
    /// Its bytes cannot move faster.
    Traffic {
        /// The bytes that it touches.
        bytes: f64,
        /// The highest measured rate in bytes per second, for kernels that touch as many or more.
        rate: f64,
    },
    /// Its operations cannot run faster.
    Operations {
        /// Their kind.
        operation: WorkKind,
        /// Their number.
        count: f64,
        /// The highest measured rate per second.
        rate: f64,
    },
}

impl LowerBound {
    /// Returns the least time in seconds.
    pub fn seconds(&self) -> f64 {
        match self {
            Self::Traffic { bytes, rate } => bytes / rate,
            Self::Operations { count, rate, .. } => count / rate,
        }
    }
}

impl fmt::Display for LowerBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Traffic { bytes, rate } => write!(f, "{:.3} MB at {:.1} GB/s", bytes / 1e6, rate / 1e9),
            Self::Operations { operation, count, rate } => {
                write!(f, "{:.3} million {operation} at {:.2} billion a second", count / 1e6, rate / 1e9)
            }
        }
    }
}

impl Peaks {
    /// Returns the highest rates of measured kernels. The operations of a kernel are all that it
    /// counts, which a compiler may do fewer of, so a rate is at most too high.
    pub(crate) fn of(cases: &[Case]) -> Self {
        let mut peaks = Self::default();
        for case in cases {
            let touched = case.counts.of(CostProperty::Items(Property::TouchedBytes));
            if touched > 0.0 {
                peaks.traffic.push((touched, touched / case.seconds));
            }
            let mut work = LeastWork::default();
            for (property, count) in case.counts.iter() {
                if let CostProperty::Lanes(Property::Arithmetic(operation, kind)) = property {
                    work.add(operation, kind, count);
                }
            }
            for (kind, count) in work.operations {
                let known = peaks.operations.entry(kind).or_default();
                *known = known.max(count / case.seconds);
            }
        }
        peaks
    }

    /// Returns the largest of the lower bounds of this work. Returns `None` if nothing that it does
    /// has a peak rate.
    pub(crate) fn bound(&self, work: &LeastWork) -> Option<LowerBound> {
        let operations = work.operations.iter().filter_map(|(kind, count)| {
            let rate = self.operations.get(kind).copied()?;
            Some(LowerBound::Operations { operation: *kind, count: *count, rate })
        });
        let bounds = operations.chain(self.traffic(work.bytes)).filter(|bound| bound.seconds() > 0.0);
        bounds.max_by(|a, b| a.seconds().total_cmp(&b.seconds()))
    }

    /// Returns the bound of touching these bytes. Smaller data may lie in a faster memory, so only the
    /// rates of kernels count that touch about as many bytes or more.
    fn traffic(&self, bytes: f64) -> Option<LowerBound> {
        let most = self.traffic.iter().map(|(touched, _)| *touched).fold(0.0, f64::max);
        let least = bytes.min(most) / NEXT_SIZE;
        let rates = self.traffic.iter().filter(|(touched, _)| *touched >= least).map(|(_, rate)| *rate);
        rates.max_by(f64::total_cmp).map(|rate| LowerBound::Traffic { bytes, rate })
    }
}

#[cfg(test)]
mod tests {
    use super::super::property::counts_of;
    use super::*;
    use proptest::prelude::*;

    fn case(touched: f64, fused: f64, seconds: f64) -> Case {
        let counts =
            counts_of(&[("touched bytes", touched), ("lane:arith:f32:fma", fused), ("lane:arith:f32:exp", 1.0)]);
        Case { kernel: "k".into(), class: "c".into(), sizes: BTreeMap::new(), counts, seconds }
    }

    fn work(bytes: f64, flops: f64) -> LeastWork {
        let mut work = LeastWork { bytes, ..LeastWork::default() };
        work.add(Operation::Add, Type::F32, flops);
        work.add(Operation::Special(Function::Min), Type::F32, 1e30);
        work.add(Operation::Add, Type::I32, 1e30);
        work
    }

    #[test]
    fn the_slower_of_traffic_and_operations_bounds_the_time() {
        let peaks =
            Peaks::of(&[case(1e6, 0.0, 1e-5), case(4e6, 0.0, 1e-4), case(1e3, 1e6, 1e-4), case(1.6e7, 0.0, 1e-3)]);
        // 16 MB move at most at the rate of 4 MB, and a third of that only if the cache holds it.
        assert_eq!(peaks.bound(&work(1.6e7, 1.0)), Some(LowerBound::Traffic { bytes: 1.6e7, rate: 4e10 }));
        let flops = peaks.bound(&work(1.6e7, 1e8)).unwrap();
        assert!((flops.seconds() - 5e-3).abs() < 1e-12, "two operations each: {flops:?}");
        // Beyond all sizes, the largest count.
        assert!((peaks.bound(&work(1e9, 1.0)).unwrap().seconds() - 1e9 / 4e10).abs() < 1e-12);
        assert_eq!(Peaks::of(&[]).bound(&work(1.0, 1.0)), None);
        let text = serde_json::to_string(&flops).unwrap();
        assert_eq!(text, r#"{"kind":"operations","operation":"flop:f32","count":100000000.0,"rate":20000000000.0}"#);
    }

    proptest! {
        #[test]
        fn no_measured_kernel_is_faster_than_its_bound(
            cases in prop::collection::vec((1e3..1e9f64, 1e3..1e9f64, 1e-6..1.0f64), 1..20),
        ) {
            let cases: Vec<Case> = cases.into_iter().map(|(touched, fused, seconds)| case(touched, fused, seconds)).collect();
            let peaks = Peaks::of(&cases);
            for own in &cases {
                let fused = own.counts.of("lane:arith:f32:fma".parse().unwrap());
                let touched = own.counts.of("touched bytes".parse().unwrap());
                let bound = peaks.bound(&work(touched, 2.0 * fused)).unwrap();
                prop_assert!(bound.seconds() <= own.seconds * (1.0 + 1e-12), "{:?} of {:?}", bound, own);
            }
        }
    }
}
