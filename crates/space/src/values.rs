//! Common lists of values.

use crate::error::SpaceError;
use crate::value::Value;

/// Maximum length of a generated list. With it, a mistyped bound is an error and does not fill the
/// memory.
const MAX_VALUES: i128 = 1 << 22;

/// Generators of the lists of values that tuning parameters commonly take.
///
/// ```
/// use tunesmith_space::{Value, Values};
///
/// let ints = |values: Vec<Value>| values.iter().filter_map(Value::as_int).collect::<Vec<_>>();
/// assert_eq!(ints(Values::range(1, 8, 3)?), [1, 4, 7]);
/// assert_eq!(ints(Values::pow2(1, 20)?), [1, 2, 4, 8, 16]);
/// assert_eq!(ints(Values::divisors_of(12)?), [1, 2, 3, 4, 6, 12]);
/// # Ok::<(), tunesmith_space::SpaceError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Values;

impl Values {
    /// Returns the given values in their order.
    pub fn list<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Vec<Value> {
        values.into_iter().map(Into::into).collect()
    }

    /// Returns `first`, `first + step`, ... up to `last`. `last` is included if the steps meet it.
    /// A negative step counts down.
    ///
    /// # Errors
    /// A step of zero, no value at all, or more than 4,194,304 values.
    pub fn range(first: i64, last: i64, step: i64) -> Result<Vec<Value>, SpaceError> {
        let text = || format!("{first}..={last} in steps of {step}");
        if step == 0 {
            return Err(SpaceError::BadValues { what: text(), reason: "the step is zero".into() });
        }
        let (first, last, step) = (i128::from(first), i128::from(last), i128::from(step));
        let distance = if step > 0 { last - first } else { first - last };
        let count = if distance < 0 { 0 } else { distance / step.abs() + 1 };
        if count > MAX_VALUES {
            return Err(SpaceError::BadValues { what: text(), reason: format!("more than {MAX_VALUES} values") });
        }
        let values = (0..count).filter_map(|index| i64::try_from(first + index * step).ok());
        non_empty(values.map(Value::Int).collect(), &text)
    }

    /// Returns the powers of two from `low` to `high`, both included.
    ///
    /// # Errors
    /// No power of two lies between the bounds.
    pub fn pow2(low: i64, high: i64) -> Result<Vec<Value>, SpaceError> {
        let powers = (0..63).map(|exponent| 1_i64 << exponent);
        let values: Vec<Value> = powers.filter(|power| (low..=high).contains(power)).map(Value::Int).collect();
        non_empty(values, &|| format!("powers of two in {low}..={high}"))
    }

    /// Returns the positive divisors of `number`, ascending.
    ///
    /// # Errors
    /// `number` is below 1.
    pub fn divisors_of(number: i64) -> Result<Vec<Value>, SpaceError> {
        let divisors = divisors(number).into_iter().map(Value::Int).collect();
        non_empty(divisors, &|| format!("divisors of {number}"))
    }
}

/// Returns the positive divisors of `number`, ascending. The list is empty if `number` is below 1.
/// Costs about `sqrt(number)` divisions.
pub(crate) fn divisors(number: i64) -> Vec<i64> {
    let mut low = Vec::new();
    let mut high = Vec::new();
    let mut candidate = 1;
    while number > 0 && candidate <= number / candidate {
        if number % candidate == 0 {
            low.push(candidate);
            if candidate != number / candidate {
                high.push(number / candidate);
            }
        }
        candidate += 1;
    }
    low.extend(high.into_iter().rev());
    low
}

fn non_empty(values: Vec<Value>, what: &dyn Fn() -> String) -> Result<Vec<Value>, SpaceError> {
    if values.is_empty() {
        return Err(SpaceError::BadValues { what: what(), reason: "there are none".into() });
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: Result<Vec<Value>, SpaceError>) -> Vec<i64> {
        values.unwrap().iter().filter_map(Value::as_int).collect()
    }

    #[test]
    fn ranges_include_the_last_value_when_the_steps_meet_it() {
        assert_eq!(ints(Values::range(1, 8, 1)), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(ints(Values::range(8, 1, -3)), [8, 5, 2]);
        assert_eq!(ints(Values::range(3, 3, -1)), [3]);
        assert_eq!(ints(Values::range(i64::MAX - 1, i64::MAX, 1)), [i64::MAX - 1, i64::MAX]);
    }

    #[test]
    fn impossible_lists_are_refused() {
        assert!(Values::range(1, 8, 0).is_err());
        assert!(Values::range(8, 1, 1).is_err());
        assert!(Values::range(1, 8, -1).is_err());
        assert!(Values::range(1, 2, -3).is_err());
        assert!(Values::range(2, 1, 3).is_err());
        assert!(Values::range(0, i64::MAX, 1).is_err());
        assert!(Values::pow2(5, 7).is_err());
        assert!(Values::divisors_of(0).is_err());
    }

    #[test]
    fn divisors_are_those_that_leave_no_remainder() {
        for number in 1..200 {
            let expected: Vec<i64> = (1..=number).filter(|divisor| number % divisor == 0).collect();
            assert_eq!(ints(Values::divisors_of(number)), expected);
        }
    }
}
