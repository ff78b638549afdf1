//! Fits a cost model to measured kernels.

use super::case::{Case, CaseError};
use super::dependence::dependences;
use super::design::Design;
use super::kin::Kinship;
use super::left_out::reach;
use super::model::{CostModel, Form, Residual, Term, error_mean};
use super::overlap::{Problem, Uses};
use super::property::{CostProperty, Resource};
use super::waves::balanced;
use super::{linear, overlap};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Fits a model of this form with the least sum of squares of relative errors (section 4.3).
///
/// `cases` are kernels at several sizes. Cases of one kernel share its name. The model lists the
/// weights that the cases do not determine ([`CostModel::merged`], [`CostModel::dependent`]).
///
/// Costs one fit for every nest. Each fit costs about a hundred times cases x properties^2 for
/// `Overlap`, and a few times that product for the others.
///
/// # Errors
///
/// Fails if there are no cases, or if a time or count is invalid.
///
/// ```
/// use tunesmith_cost::{Case, CaseError, CostProperty, Form, fit};
/// use tunesmith_loopnest::{Direction, Operation, Property, Stride, Type};
///
/// let load = CostProperty::Items(Property::Global(32, Direction::Load, Stride::Unit));
/// let add = CostProperty::Items(Property::Operations(Operation::Add, Type::F32));
/// let counts = |loads: f64, adds: f64| [(load, loads), (add, adds)].into_iter().collect();
/// let case = |kernel: &str, loads: f64, adds: f64, seconds: f64| Case {
///     kernel: kernel.to_string(),
///     class: "example".to_string(),
///     sizes: [("n".to_string(), loads as i64)].into(),
///     counts: counts(loads, adds),
///     seconds,
/// };
/// // A launch takes 10 us, a load 1 ns, an addition 0.5 ns.
/// let cases = [case("copy", 1e6, 0.0, 1.01e-3), case("copy", 4e6, 0.0, 4.01e-3), case("sum", 1e6, 8e6, 5.01e-3)];
/// let model = fit(&cases, Form::Nnls)?;
/// let estimate = model.estimate(&counts(2e6, 2e6));
/// assert!((estimate.seconds - 3.01e-3).abs() < 1e-6);
/// assert_eq!(estimate.shares[0].property, load);
/// assert_eq!(load.to_string(), "g:32:load:s1");
/// # Ok::<(), CaseError>(())
/// ```
pub fn fit(cases: &[Case], form: Form) -> Result<CostModel, CaseError> {
    fit_on(cases, form, 1.0)
}

/// Fits a model for a device with `units` compute units, at least 1, that share the work-groups of
/// a launch. The paper's form ignores them.
///
/// # Errors
///
/// Fails like [`fit`].
pub fn fit_on(cases: &[Case], form: Form, units: f64) -> Result<CostModel, CaseError> {
    if cases.is_empty() {
        return Err(CaseError::Empty);
    }
    cases.iter().try_for_each(Case::check)?;
    let units = if form == Form::Paper { 1.0 } else { units.max(1.0) };
    let measured = cases;
    let cases: &[Case] = &cases.iter().map(|case| balanced(case, units)).collect::<Vec<_>>();
    let has_lanes = cases.iter().any(|case| case.counts.iter().any(|(property, _)| property.is_of_lanes()));
    let design = Design::new(cases, |property| form.takes_beside(property, has_lanes));
    let (resources, kinship) = (design.resources(), design.kinship());
    let (coefficients, exponent) = match form {
        Form::Paper => (linear::plain(&design.rows), 1.0),
        Form::Nnls => (linear::nonnegative(&design.rows), 1.0),
        Form::Overlap => overlap::fit(&design.uses(), &nests(cases), &resources, &kinship),
    };
    let context = (resources.as_slice(), &kinship);
    let without = Without { cases, design: &design, context, form, coefficients: &coefficients, exponent };
    let replicates = without.each(Case::nest);
    let classes = without.each(|case| case.class.as_str());
    let (rank, dependent) = dependences(&design);
    let merged = design.columns.iter().filter(|column| column.members.len() > 1);
    let merged = merged.map(|column| column.members.iter().map(|member| member.property).collect()).collect();
    let terms = terms(cases, &design, &coefficients, &replicates);
    let residuals = BTreeMap::new();
    let mut model = CostModel { form, exponent, units, terms, rank, merged, dependent, residuals, reach: None };
    model.residuals = self::residuals(&model, measured);
    // Kernels of one class are much alike, so that the others of a class flatter the estimate of one.
    let by_class = reach(&model, measured, &others(&model, &design, &classes), |case| &case.class);
    let by_nest = || reach(&model, measured, &others(&model, &design, &replicates), Case::nest);
    model.reach = by_class.or_else(by_nest);
    Ok(model)
}

/// Returns the number of the nest of each case.
fn nests(cases: &[Case]) -> Vec<usize> {
    let names: BTreeSet<&str> = cases.iter().map(Case::nest).collect();
    let numbers: BTreeMap<&str, usize> = names.into_iter().enumerate().map(|(at, name)| (name, at)).collect();
    cases.iter().map(|case| numbers[case.nest()]).collect()
}

/// Fits that leave out a part of the cases.
struct Without<'a> {
    cases: &'a [Case],
    design: &'a Design,
    /// The resources of the columns, and their kin.
    context: (&'a [Resource], &'a Kinship),
    form: Form,
    /// The coefficients and the exponent with all cases.
    coefficients: &'a [f64],
    exponent: f64,
}

impl<'a> Without<'a> {
    /// Returns the coefficients of the fits that leave out one part of the cases each, by the part left
    /// out: all cases of which `part` says the same. Returns none if there is one part.
    fn each(&self, part: impl Fn(&'a Case) -> &'a str + Sync) -> Vec<(&'a str, Vec<f64>)> {
        let parts: BTreeSet<&str> = self.cases.iter().map(&part).collect();
        let uses = self.design.uses();
        let without = |left_out: &'a str| {
            let others = self.cases.iter().zip(&uses).filter(|(case, _)| part(case) != left_out);
            (left_out, self.coefficients(others.map(|(_, uses)| uses.clone()).collect()))
        };
        if parts.len() < 2 { Vec::new() } else { parts.into_par_iter().map(without).collect() }
    }

    fn coefficients(&self, uses: Vec<Uses>) -> Vec<f64> {
        let rows = || uses.iter().map(|uses| uses.all.clone()).collect::<Vec<_>>();
        match self.form {
            Form::Paper => linear::plain(&rows()),
            Form::Nnls => linear::nonnegative(&rows()),
            Form::Overlap => {
                let (resources, kinship) = self.context;
                Problem::new(&uses, resources, kinship, self.exponent).refined(self.coefficients)
            }
        }
    }
}

/// Returns the models with the coefficients of each fit that left out a part of the cases.
fn others<'a>(model: &CostModel, design: &Design, replicates: &[(&'a str, Vec<f64>)]) -> BTreeMap<&'a str, CostModel> {
    replicates.iter().map(|(part, own)| (*part, reweighted(model, design, own))).collect()
}

/// Returns the model with other coefficients.
fn reweighted(model: &CostModel, design: &Design, coefficients: &[f64]) -> CostModel {
    let columns = design.columns.iter().zip(coefficients);
    let weights: BTreeMap<CostProperty, f64> =
        columns.flat_map(|(column, coefficient)| column.weights(*coefficient)).collect();
    let mut other = model.clone();
    for term in &mut other.terms {
        term.weight = weights.get(&term.property).copied().unwrap_or(0.0);
    }
    other
}

fn terms(cases: &[Case], design: &Design, coefficients: &[f64], replicates: &[(&str, Vec<f64>)]) -> Vec<Term> {
    let mut terms = Vec::new();
    for (at, column) in design.columns.iter().enumerate() {
        let spread = spread(coefficients[at], replicates.iter().map(|(_, replicate)| replicate[at]).collect());
        let spreads: Vec<f64> = column.weights(spread).map(|(_, spread)| spread).collect();
        for ((property, weight), spread) in column.weights(coefficients[at]).zip(spreads) {
            let with = || cases.iter().filter(|case| case.counts.of(property) > 0.0);
            let kernels = with().map(|case| &case.kernel).collect::<BTreeSet<_>>().len();
            // Without its only nest, the weight is arbitrary.
            let spread = (with().map(Case::nest).collect::<BTreeSet<_>>().len() > 1).then_some(spread);
            terms.push(Term { property, weight, spread, kernels });
        }
    }
    terms.sort_by_cached_key(|term| term.property.to_string());
    terms
}

/// Returns the jackknife's standard error: `sqrt((k - 1) / k * sum of (replicate - mean)^2)`.
fn spread(whole: f64, replicates: Vec<f64>) -> f64 {
    let count = replicates.len().max(1) as f64;
    let mean = if replicates.is_empty() { whole } else { replicates.iter().sum::<f64>() / count };
    ((count - 1.0) / count * replicates.iter().map(|own| (own - mean).powi(2)).sum::<f64>()).sqrt()
}

fn residuals(model: &CostModel, cases: &[Case]) -> BTreeMap<String, Residual> {
    let mut errors: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for case in cases {
        errors.entry(case.class.clone()).or_default().push(model.error(&case.counts, case.seconds));
    }
    let residual = |errors: Vec<f64>| Residual {
        cases: errors.len(),
        mean: error_mean(&errors),
        largest: errors.iter().copied().fold(0.0, f64::max),
    };
    errors.into_iter().map(|(class, errors)| (class, residual(errors))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::property::counts_of;
    use super::*;

    fn case(kernel: &str, class: &str, counts: &[(&str, f64)], seconds: f64) -> Case {
        let counts = counts_of(counts);
        Case { kernel: kernel.into(), class: class.into(), sizes: BTreeMap::new(), counts, seconds }
    }

    /// Loads of 1 ns, additions of 0.5 ns, divisions of 4 ns and 10 us for a launch. The share
    /// `hidden` of the lesser part is free.
    fn cases(exact: impl Fn(f64, f64) -> f64) -> Vec<Case> {
        let kernels =
            [("copy", 1.0, 0.0, 0.0), ("sum", 1.0, 1.0, 0.0), ("adds", 0.1, 9.0, 0.0), ("divide", 0.2, 0.0, 2.0)];
        let sizes = [1e5, 1e6, 3e6];
        let made = kernels.iter().flat_map(|&(name, loads, adds, divisions)| {
            let exact = &exact;
            sizes.map(move |n| {
                let (memory, arithmetic) = (1e-9 * loads * n, (5e-10 * adds + 4e-9 * divisions) * n);
                let counts = [
                    ("g:32:load:s1", loads * n),
                    ("op:f32:add", adds * n),
                    ("op:f32:div", divisions * n),
                    ("bank:32:store:1", n),
                ];
                case(
                    name,
                    if adds + divisions > 1.0 { "arithmetic" } else { "global" },
                    &counts,
                    1e-5 + exact(memory, arithmetic),
                )
            })
        });
        made.collect()
    }

    fn property(text: &str) -> CostProperty {
        text.parse().unwrap()
    }

    fn weight(model: &CostModel, text: &str) -> f64 {
        model.terms.iter().find(|term| term.property == property(text)).unwrap().weight
    }

    #[test]
    fn every_form_finds_the_weights_of_times_it_can_make() {
        let added = cases(|memory, arithmetic| memory + arithmetic);
        for form in [Form::Paper, Form::Nnls, Form::Overlap] {
            let model = fit(&added, form).unwrap();
            assert_eq!(model.exponent, 1.0);
            for (property, expected) in
                [("g:32:load:s1", 1e-9), ("op:f32:add", 5e-10), ("op:f32:div", 4e-9), ("const", 1e-5)]
            {
                let found = weight(&model, property);
                assert!((found / expected - 1.0).abs() < 1e-3, "{form:?}: {property} {found}");
            }
            assert!(model.residuals.values().all(|residual| residual.largest < 1e-3), "{:?}", model.residuals);
            assert_eq!(model.residuals["global"].cases, 6);
        }
    }

    #[test]
    fn what_overlaps_only_the_overlapping_form_explains() {
        let hidden = cases(|memory, arithmetic| (memory.powf(4.0) + arithmetic.powf(4.0)).powf(0.25));
        let largest = |form| {
            let model = fit(&hidden, form).unwrap();
            model.residuals.values().map(|residual| residual.largest).fold(0.0, f64::max)
        };
        assert!(largest(Form::Overlap) < 0.02, "{}", largest(Form::Overlap));
        assert!(largest(Form::Nnls) > 0.1);
    }

    #[test]
    fn lanes_are_counted_where_they_are_known_but_for_the_paper() {
        // Some of 16 lanes are idle, but take the same time.
        let made = |name: &str, lanes: f64, busy: f64, loads: f64| {
            let counts = [
                ("op:f32:mul", lanes * busy),
                ("lane:arith:f32:mul", lanes),
                ("g:32:load:s1", loads),
                ("lane:g:32:load:s1", loads),
            ];
            case(name, "c", &counts, 1e-6 + 1e-9 * lanes + 2e-9 * loads)
        };
        let cases =
            [made("a", 1e6, 1.0, 1e3), made("b", 3e6, 0.25, 1e5), made("c", 1e5, 0.5, 1e6), made("d", 1e3, 1.0, 10.0)];
        for form in [Form::Nnls, Form::Overlap] {
            let model = fit(&cases, form).unwrap();
            assert!(model.residuals["c"].largest < 1e-3, "{:?}", model.residuals);
            assert!(model.terms.iter().all(|term| !term.property.is_superseded()), "{:?}", model.terms);
            let known = super::super::Domain::new(&model, &cases, &[]).estimate(&cases[1].counts);
            assert_eq!(known.outside, [], "{form:?}: neither count of the arithmetic is new");
        }
        let paper = fit(&cases, Form::Paper).unwrap();
        assert!(paper.terms.iter().all(|term| !term.property.is_of_lanes()) && paper.residuals["c"].largest > 0.1);
    }

    #[test]
    fn an_interval_comes_from_classes_left_out_or_from_nests_if_all_are_of_one_class() {
        // The arithmetic of a class is faster or slower than that of the others, which its own nests tell.
        let made = |at: usize| {
            let (class, twin) = (at / 2, at % 2);
            let adds = 1e6 * (1 + class + twin) as f64;
            let speed = if class.is_multiple_of(2) { 0.7 } else { 1.4 };
            let counts = [("op:f32:add", adds), ("g:32:load:s1", 1e4 * (1 + at * 7 % 5) as f64)];
            case(&format!("n{at}"), &format!("c{class}"), &counts, 1e-6 + speed * 1e-9 * adds)
        };
        let cases: Vec<Case> = (0..24).map(made).collect();
        let reach = |cases: &[Case]| fit(cases, Form::Nnls).unwrap().reach.unwrap();
        let by_class = reach(&cases);
        let alike: Vec<Case> = cases.iter().map(|own| Case { class: "c".into(), ..own.clone() }).collect();
        let by_nest = reach(&alike);
        assert_eq!((by_class.nests, by_nest.nests), (24, 24));
        assert!(by_class.error * by_class.near >= by_nest.error * by_nest.near, "{by_class:?}, {by_nest:?}");
        assert!(by_class != by_nest);
    }

    #[test]
    fn few_work_groups_leave_units_idle() {
        let cases: Vec<Case> = [1.0, 2.0, 3.0, 4.0, 5.0, 64.0, 1000.0]
            .map(|groups: f64| {
                let (loads, busiest) = (1e6 * groups, 1e6 * (groups / 4.0).ceil());
                let seconds = 1e-5 + 1e-8 * groups + 1e-9 * busiest;
                case(&format!("{groups}"), "c", &[("g:32:load:s1", loads), ("groups", groups)], seconds)
            })
            .into();
        let largest = |model: &CostModel| model.residuals["c"].largest;
        for form in [Form::Nnls, Form::Overlap] {
            let model = fit_on(&cases, form, 4.0).unwrap();
            assert!(largest(&model) < 1e-3, "{form:?}: {}", largest(&model));
            // One of four units does the work of a single work-group.
            assert!((weight(&model, "g:32:load:s1") / 2.5e-10 - 1.0).abs() < 1e-3);
            let shares: f64 = model.estimate(&cases[2].counts).shares.iter().map(|share| share.seconds).sum();
            assert!((shares / cases[2].seconds - 1.0).abs() < 1e-3);
        }
        let paper = fit_on(&cases, Form::Paper, 4.0).unwrap();
        assert!(paper.units == 1.0 && largest(&paper) > 0.1, "{}", largest(&paper));
    }

    #[test]
    fn the_papers_form_has_the_papers_properties_alone() {
        let model = fit(&cases(|memory, arithmetic| memory + arithmetic), Form::Paper).unwrap();
        assert!(model.terms.iter().all(|term| term.property != property("bank:32:store:1")));
    }

    #[test]
    fn weights_that_one_kernel_gives_have_no_spread_and_what_is_not_determined_is_said() {
        let mut cases = cases(|memory, arithmetic| memory + arithmetic);
        for case in &mut cases {
            let of = |text: &str| case.counts.of(property(text));
            let (adds, loads, divisions) = (of("op:f32:add"), of("g:32:load:s1"), of("op:f32:div"));
            case.counts.set(property("op:f32:mul"), 3.0 * adds);
            case.counts.set(property("op:f32:pow"), adds + 2.0 * divisions);
            case.counts.set(property("g:32:store:s1"), loads);
        }
        let model = fit(&cases, Form::Nnls).unwrap();
        let term = |text: &str| model.terms.iter().find(|term| term.property == property(text)).unwrap();
        assert_eq!((term("op:f32:div").kernels, term("op:f32:div").spread), (1, None));
        assert!(term("g:32:load:s1").spread.is_some());
        let merged = [["g:32:load:s1", "g:32:store:s1"], ["op:f32:add", "op:f32:mul"]];
        assert_eq!(model.merged, merged.map(|texts| texts.map(property)));
        assert_eq!((model.dependent.len(), model.rank + 1 + 2), (1, model.terms.len()));
        // Determined or not, the weights explain the kernels.
        assert!(model.residuals.values().all(|residual| residual.largest < 1e-3));
    }

    #[test]
    fn what_is_no_measurement_is_refused_by_name() {
        assert_eq!(fit(&[], Form::Nnls), Err(CaseError::Empty));
        let refused = |case: Case| fit(&[case], Form::Paper).unwrap_err().to_string();
        assert!(refused(case("k", "c", &[], 0.0)).contains("kernel `k` took 0 s"));
        assert!(refused(case("k", "c", &[("op:f32:add", -1.0)], 1.0)).contains("-1 of property `op:f32:add`"));
    }
}
