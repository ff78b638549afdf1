//! The kernels that measure a device, and their sizes.
//!
//! # Tried without gain
//!
//! Only the paper's kernels with filled strides: they spend their time on sums in local memory, so
//! the weight of a strided load is arbitrary. Kernels that load 1 to 4 of 2 to 4 neighbouring
//! cells, and kernels with strided local memory, were added to determine it. The kernels' loads
//! must stand in instructions of their own, as in the paper. Otherwise the error on `c` is 21.2 /
//! 23.5 % (geometric mean / median) instead of 10.8 / 13.7 %.

use crate::Error;
use crate::nests::{NestCounts, in_words, touched_bytes};
use crate::protocol::Ladder;
use crate::{CostProperty, PropertyCounts};
use tunesmith_loopnest::kernels::{COVERAGE, Extent, Groups, KERNELS, Kernel, Role};
use tunesmith_loopnest::{Nest, Property};

/// Numbers of summands of the arithmetic kernels. The paper measures each number in every
/// work-group. Here each work-group has one, because the time is linear in both and there are twice
/// as many kinds of arithmetic.
const SUMMANDS: [i64; 3] = [256, 512, 728];

/// A kernel with one shape of its work-groups, to be measured at several sizes.
#[derive(Debug)]
pub(super) struct Subject {
    /// The name of the kernel and its shape. Cases have this name.
    pub(super) name: String,
    /// Its class, by which residuals are reported.
    pub(super) class: String,
    pub(super) nest: Nest,
    pub(super) ladder: Ladder,
    pub(super) sizes: Sizes,
    /// True for one shape of each of the paper's measurement kernels. A model needs at least these.
    pub(super) is_required: bool,
}

/// The sizes of a nest for each main size.
#[derive(Debug)]
pub(super) enum Sizes {
    /// Those of a kernel of ours, with this number of summands.
    Of(&'static Kernel, i64),
    /// Those that the user lists. The main size is the place in the list, from 1.
    Listed(Vec<Vec<i64>>),
}

impl Subject {
    /// Returns the values of the nest's sizes for a main size.
    pub(super) fn sizes(&self, main: i64) -> Vec<i64> {
        match &self.sizes {
            Sizes::Of(kernel, summands) => kernel.size_values(main, *summands),
            Sizes::Listed(all) => {
                usize::try_from(main - 1).ok().and_then(|at| all.get(at)).cloned().unwrap_or_default()
            }
        }
    }
}

/// Returns the kernels with these roles, those that a model needs first.
///
/// # Errors
///
/// Fails if one of the kernels is wrong.
pub(super) fn subjects(roles: &[Role]) -> Result<Vec<Subject>, Error> {
    let shaped =
        |kernel: &'static Kernel| kernel.groups.shapes().into_iter().zip(SUMMANDS).map(move |own| (kernel, own));
    // The shape of the work-groups is measured often enough by the other kernels.
    let covering = COVERAGE.iter().filter_map(|kernel| shaped(kernel).nth(1));
    let all = KERNELS.iter().flat_map(shaped).chain(covering);
    let kept = all.filter(|(kernel, _)| roles.contains(&kernel.role));
    let mut subjects: Vec<Subject> = kept.map(|(kernel, shape)| subject(kernel, shape)).collect::<Result<_, _>>()?;
    subjects.sort_by_key(|subject| !subject.is_required);
    Ok(subjects)
}

/// Returns the counts of a measured kernel, with the bytes that it touches.
pub(super) fn counts_at(counts: &NestCounts<'_>, subject: &Subject, sizes: &[i64]) -> Result<PropertyCounts, Error> {
    let mut counts = counts.at(sizes).map_err(|error| wrong(subject, &error))?;
    counts.set(CostProperty::Items(Property::TouchedBytes), touched_bytes(&subject.nest, sizes));
    Ok(counts)
}

/// Returns the error of a kernel that cannot be counted.
pub(super) fn wrong(subject: &Subject, error: &tunesmith_loopnest::NestError) -> Error {
    Error::request(format!("kernel `{}`: {}", subject.name, in_words(error)), None)
}

/// Returns a kernel for work-groups of `x` times `y` work-items.
fn subject(kernel: &'static Kernel, ((x, y), summands): ((i64, i64), i64)) -> Result<Subject, Error> {
    let wrong = |error| Error::request(format!("kernel `{}`: {}", kernel.name, in_words(&error)), None);
    let nest = kernel.nest(x, y, false).map_err(wrong)?;
    let sums = kernel.sizes.contains(&Extent::Summands);
    let summed = if sums { format!(" k{summands}") } else { String::new() };
    let name = format!("{} {x}x{y}{summed}", kernel.name);
    let sizes = Sizes::Of(kernel, summands);
    let is_required = kernel.role == Role::Measure && kernel.groups.shapes()[0] == (x, y);
    Ok(Subject { name, class: kernel.class.to_string(), nest, ladder: ladder(kernel), sizes, is_required })
}

/// Returns the sizes that the paper lists. The list begins early enough for the smallest launch
/// overhead.
fn ladder(kernel: &Kernel) -> Ladder {
    let (first, last, step, wanted) = match kernel.class {
        "matmul_tiled" | "matmul_naive" | "matmul_skinny" | "narrow" | "pipelined" => (4, 13, 1, 4),
        "vector_scale_add" | "strided" | "vectors" | "gather" | "half" => (12, 27, 2, 4),
        "map" => (12, 22, 2, 2),
        "convert" | "halo" if kernel.groups == Groups::Line => (12, 27, 2, 4),
        "atomic" => (8, 24, 2, 4),
        "transpose" | "finite_differences" | "halo" | "reduction" => (6, 14, 1, 4),
        "stride1" => (12, 27, 1, 9),
        "stride2_filled" | "stride3_filled" | "local" => (6, 20, 1, 4),
        "convolution" => (3, 10, 1, 4),
        "nbody" => (7, 14, 1, 4),
        "empty" => (5, 13, 1, 6),
        _ => (4, 12, 1, 3),
    };
    Ladder { sizes: (first..=last).step_by(step).map(|power| 1 << power).collect(), wanted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lanes;
    use crate::fitted::Kin;
    use crate::nests::NestCounts;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn every_kernel_has_its_shapes_and_ascending_sizes_that_it_admits() {
        let all = subjects(&[Role::Measure, Role::Added, Role::Judge]).unwrap();
        assert_eq!(all.len(), 3 * KERNELS.len() + COVERAGE.len());
        let names: BTreeSet<&str> = all.iter().map(|subject| subject.name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "no two kernels share their measurements");
        for subject in &all {
            let sizes = &subject.ladder.sizes;
            assert!(sizes.is_sorted() && sizes.len() > subject.ladder.wanted, "{}", subject.name);
            assert!(sizes.iter().all(|size| subject.nest.admits(&subject.sizes(*size))), "{}", subject.name);
        }
    }

    #[test]
    fn a_calibration_covers_precisions_functions_integers_vectors_gathers_conversions_and_updates() {
        let all = subjects(&[Role::Measure, Role::Added]).unwrap();
        let counted = |subject: &Subject| {
            let sizes = subject.sizes(*subject.ladder.sizes.last().unwrap());
            let counts = NestCounts::new(&subject.nest, Lanes::InBlocks(16)).and_then(|counts| counts.at(&sizes));
            let counts = counts.unwrap_or_else(|error| panic!("{}: {error}", subject.name));
            counts.iter().map(|(property, _)| property).collect::<Vec<_>>()
        };
        let mut kernels: BTreeMap<CostProperty, BTreeSet<&str>> = BTreeMap::new();
        for subject in &all {
            let name = subject.name.split(' ').next().unwrap();
            counted(subject).into_iter().for_each(|own| _ = kernels.entry(own).or_default().insert(name));
        }
        let mut by_kin: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for (property, own) in &kernels {
            let kin = Kin::of(*property).map_or(property.to_string(), |kin| format!("{kin:?}"));
            by_kin.entry(kin).or_default().extend(own);
        }
        let few: Vec<_> = by_kin.into_iter().filter(|(_, own)| own.len() < 3).collect();
        assert_eq!(few, [], "at least three kernels tell a weight, or the weights of its kin");
        let covered: BTreeSet<String> = kernels.keys().map(ToString::to_string).collect();
        let functions = "add mul fma div pow rsqrt sqrt exp log sin cos tanh abs min max select".split(' ');
        let floats = functions.clone().flat_map(|name| ["f32", "f64"].map(|kind| format!("lane:arith:{kind}:{name}")));
        let integers = ["add", "mul", "min", "max", "abs", "select"];
        let integers = integers.iter().flat_map(|name| ["i32", "i64"].map(|kind| format!("lane:arith:{kind}:{name}")));
        let strides = "s0 s1 1/2 2/2 1/3 2/3 3/3 1/4 2/4 3/4 4/4 1/>4 2/>4 3/>4 4/>4".split(' ');
        let loads = strides.flat_map(|own| [32, 64].map(|bits| format!("lane:g:{bits}:load:{own}")));
        let others = ["lane:g:128:load:s1", "lane:g:128:store:s1", "lane:g:32:load:data", "lane:g:64:load:data"];
        let stores = ["s0", "s1", "1/>4", "2/>4", "3/>4"];
        let stores = stores.iter().flat_map(|own| [32, 64].map(|bits| format!("lane:g:{bits}:store:{own}")));
        let narrow =
            [8, 16].into_iter().flat_map(|bits| ["load", "store"].map(|way| format!("lane:g:{bits}:{way}:s1")));
        let conversions = "i32:from_f32 f32:from_i32 f64:from_f32 f32:from_f64 f32:from_f16 f16:from_f32 f32:from_u8 \
                           i32:from_u8 u8:from_i32 i64:from_i32 i32:from_i64";
        let conversions: Vec<String> = conversions.split(' ').map(|own| format!("lane:arith:{own}")).collect();
        let updates: Vec<String> = ["i32", "f32"]
            .into_iter()
            .flat_map(|kind| ["s0", "s1", "data"].map(|own| format!("lane:atomic:{kind}:add:g:{own}")))
            .collect();
        for own in conversions.iter().chain(&updates) {
            let kernels = kernels.get(&own.parse().unwrap()).map_or(0, BTreeSet::len);
            assert!(kernels >= 3, "{own} in {kernels} kernels");
        }
        let others = others.into_iter().chain(["barriers"]).map(str::to_string);
        let waits = functions.clone().flat_map(|name| ["f32", "f64"].map(|kind| format!("wait:arith:{kind}:{name}")));
        let missing: Vec<String> = floats
            .chain(waits)
            .chain(integers)
            .chain(loads)
            .chain(stores)
            .chain(narrow)
            .chain(others)
            .filter(|own| !covered.contains(own))
            .collect();
        assert_eq!(missing, [""; 0]);
    }
}
