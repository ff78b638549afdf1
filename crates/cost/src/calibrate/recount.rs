//! Counts measured kernels again and fits their models again, without measuring.

use super::subjects::{Subject, counts_at, subjects, wrong};
use crate::Error;
use crate::fitted::with_own;
use crate::nests::NestCounts;
use crate::{Case, DeviceFile, Form, OwnProperty, PropertyCounts, Provenance, fit_on};
use std::collections::{BTreeMap, BTreeSet};
use tunesmith_loopnest::Lanes;
use tunesmith_loopnest::kernels::Role;

/// Returns the file with Tunesmith's own kernels counted and models of these forms fitted by this version.
/// The kernels of the user keep their counts. Costs seconds, most of them for the intervals.
///
/// # Errors
///
/// Fails if a kernel cannot be counted, or if the cases do not make models.
pub fn recounted(file: &DeviceFile, forms: &[Form]) -> Result<DeviceFile, Error> {
    let known = subjects(&[Role::Measure, Role::Added, Role::Judge])?;
    let mut counted: BTreeMap<&str, (&Subject, NestCounts<'_>)> = BTreeMap::new();
    let used: BTreeSet<&str> = file.cases.iter().map(|case| case.kernel.as_str()).collect();
    for subject in known.iter().filter(|subject| used.contains(subject.name.as_str())) {
        let counts = NestCounts::new(&subject.nest, file.provenance.lanes).map_err(|error| wrong(subject, &error))?;
        counted.insert(&subject.name, (subject, counts));
    }
    let recounted = |case: &Case| {
        let Some((subject, counts)) = counted.get(case.kernel.as_str()) else { return Ok(case.clone()) };
        let sizes: Vec<i64> = subject.nest.sizes.iter().filter_map(|name| case.sizes.get(name).copied()).collect();
        let counts = counts_at(counts, subject, &sizes)?;
        let (counts, _) = with_own(&file.own, &counts);
        Ok(Case { class: subject.class.clone(), counts, ..case.clone() })
    };
    let cases = file.cases.iter().map(recounted).collect::<Result<Vec<_>, Error>>()?;
    let units = file.models.iter().map(|model| model.units).fold(1.0, f64::max);
    fitted(file.provenance.clone(), (cases, file.own.clone()), units, forms)
}

/// Returns the models of these forms, fitted to `cases`.
pub(super) fn fitted(
    provenance: Provenance,
    (cases, own): (Vec<Case>, Vec<OwnProperty>),
    units: f64,
    forms: &[Form],
) -> Result<DeviceFile, Error> {
    let models = forms.iter().map(|form| fit_on(&cases, *form, units)).collect::<Result<_, _>>();
    let models = models.map_err(|error| Error::request(error.to_string(), None))?;
    Ok(DeviceFile { provenance, models, cases, own })
}

/// Returns the counts of one of Tunesmith's kernels, by the name that cases have, at a main size.
/// Returns `None` if there is no such kernel.
///
/// # Errors
///
/// Fails if the kernel cannot be counted.
pub fn kernel_counts(kernel: &str, main: i64, lanes: Lanes) -> Result<Option<PropertyCounts>, Error> {
    let known = subjects(&[Role::Measure, Role::Added, Role::Judge])?;
    let Some(subject) = known.iter().find(|subject| subject.name == kernel) else { return Ok(None) };
    let counts = NestCounts::new(&subject.nest, lanes).map_err(|error| wrong(subject, &error))?;
    counts_at(&counts, subject, &subject.sizes(main)).map(Some)
}
