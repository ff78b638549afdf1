//! Builds the diagrams of all groups.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::compile::{Conjunct, groups};
use crate::diagram::{self, Diagram, Obstacle};
use crate::limits::{Bounds, Limits};
use crate::parameter::Parameter;

/// Maximum number of nodes of a small group. Such a group is built in less time than a thread needs
/// to start.
const SMALL: usize = 20_000;

/// A set of parameters joined by conjuncts, and those conjuncts.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) parameters: Vec<usize>,
    pub(super) conjuncts: Vec<Conjunct>,
}

/// The diagrams of a group, or `None` if the group is empty.
pub(super) type Built = Result<Option<Vec<Diagram>>, Obstacle>;

/// Groups `count` parameters by the conjuncts that join them.
pub(super) fn joined(count: usize, conjuncts: &[Conjunct]) -> Vec<Joined> {
    let links = conjuncts.iter().map(|conjunct| &conjunct.parameters[..]);
    let mut all: Vec<Joined> =
        groups(count, links).into_iter().map(|parameters| Joined { parameters, conjuncts: Vec::new() }).collect();
    let mut group_of = vec![0; count];
    for (index, group) in all.iter().enumerate() {
        group.parameters.iter().for_each(|&parameter| group_of[parameter] = index);
    }
    for conjunct in conjuncts {
        if let Some(&first) = conjunct.parameters.first() {
            all[group_of[first]].conjuncts.push(conjunct.clone());
        }
    }
    all
}

/// Builds `groups`, in their order, on at most `threads` threads. `None` means the number of processors,
/// which is asked for only where there is work for several: that reads files of the system.
///
/// Most groups are small. They are built one after the other, which takes less time than starting a
/// thread. Groups that turn out to be large start over, at the same time. The work lost is a small
/// part of the work to come.
pub(super) fn build(
    groups: &[Joined],
    parameters: &[Parameter],
    bounds: &Bounds,
    threads: Option<NonZeroUsize>,
) -> Vec<Built> {
    let one = |group: &Joined, bounds: &Bounds| diagram::build(&group.parameters, parameters, &group.conjuncts, bounds);
    if threads == Some(NonZeroUsize::MIN) || groups.len() == 1 {
        return groups.iter().map(|group| one(group, bounds)).collect();
    }
    let limits = Limits { nodes: bounds.limits.nodes.min(SMALL), ..bounds.limits };
    let small = Bounds { limits, ..bounds.clone() };
    let mut built: Vec<Built> = groups.iter().map(|group| one(group, &small)).collect();
    let large = |built: &Built| matches!(built, Err(Obstacle::TooLarge { .. }));
    let again: Vec<usize> = (0..groups.len()).filter(|&index| large(&built[index])).collect();
    if again.is_empty() {
        return built;
    }
    let threads = threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    for (index, result) in at_once(&again, threads, |index| one(&groups[index], bounds)) {
        built[index] = result;
    }
    built
}

/// Applies `work` to each of `items` on at most `threads` threads. Returns the results in any
/// order.
fn at_once<T: Send>(items: &[usize], threads: NonZeroUsize, work: impl Fn(usize) -> T + Sync) -> Vec<(usize, T)> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        while let Some(&item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((item, result));
        }
    };
    thread::scope(|scope| {
        (1..threads.get().min(items.len())).for_each(|_| {
            scope.spawn(run);
        });
        run();
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}
