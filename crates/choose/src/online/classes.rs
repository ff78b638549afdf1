//! Inputs that are tuned together.

use crate::wisdom::Input;
use tunesmith_space::{Expr, Value};

/// Returns the input that stands for all inputs that are tuned together with `input`, and the work
/// of a call relative to a call for that input.
///
/// If the work of a call is unknown, every input is tuned for itself. Otherwise times are compared
/// per unit of work, and sizes within about `resolution` doublings share their trials.
///
/// # Errors
/// The work cannot be computed for the input, or is not above 0. The input then stands for itself.
pub(super) fn class(input: &Input, work: Option<&Expr>, resolution: f64) -> Result<(Input, f64), String> {
    let is_fine = |resolution: f64| resolution > 0.0 && resolution.is_finite();
    let Some(work) = work.filter(|_| is_fine(resolution)) else { return Ok((input.clone(), 1.0)) };
    let round = |size: f64| ((size.log2() / resolution).round() * resolution).exp2();
    let sizes = input.iter();
    let rounded: Input =
        sizes.map(|(name, size)| (name.clone(), if *size > 0.0 { round(*size) } else { *size })).collect();
    let units = amount(work, input)? / amount(work, &rounded)?;
    if units > 0.0 && units.is_finite() {
        return Ok((rounded, units));
    }
    Err(format!("the work `{}` is not above 0 for {}", work.text(), text(input)))
}

fn amount(work: &Expr, input: &Input) -> Result<f64, String> {
    let value = work.evaluate(&|name| input.get(name).map(|size| Value::Float(*size)));
    let value = value.map_err(|error| format!("the work `{}` cannot be computed: {}", work.text(), error.message))?;
    value.as_float().ok_or_else(|| format!("the work `{}` is no number for {}", work.text(), text(input)))
}

fn text(input: &Input) -> String {
    input.iter().map(|(name, size)| format!("{name}={size}")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(n: f64) -> Input {
        [("N".to_string(), n), ("BATCH".to_string(), 1.0)].into()
    }

    #[test]
    fn similar_sizes_share_a_class_and_their_work_is_relative_to_it() {
        let work = Expr::parse("N ** 3 * BATCH").unwrap();
        let (class, units) = super::class(&input(500.0), Some(&work), 0.5).unwrap();
        assert_eq!((class["N"], class["BATCH"]), (512.0, 1.0));
        assert!((units - (500.0_f64 / 512.0).powi(3)).abs() < 1e-12);
        assert_eq!(super::class(&input(600.0), Some(&work), 0.5).unwrap().0["N"], 512.0);
        assert!((super::class(&input(620.0), Some(&work), 0.5).unwrap().0["N"] - 724.077).abs() < 1e-3);
        assert_eq!(super::class(&input(500.0), None, 0.5).unwrap(), (input(500.0), 1.0));
        assert_eq!(super::class(&input(500.0), Some(&work), 0.0).unwrap(), (input(500.0), 1.0));
    }

    #[test]
    fn work_that_cannot_be_computed_is_an_error() {
        let error = |work: &str, n| super::class(&input(n), Some(&Expr::parse(work).unwrap()), 0.5).unwrap_err();
        assert!(error("M", 8.0).contains("the work `M` cannot be computed"));
        assert!(error("0 * N", 8.0).contains("is not above 0 for BATCH=1,N=8"));
        assert!(error("'a'", 8.0).contains("is no number"));
        assert!(error("N", 0.0).contains("is not above 0"));
    }
}
