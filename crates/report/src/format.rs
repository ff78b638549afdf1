//! Formats numbers for people.

use tunesmith_core::{Cuts, Gain, Objective};

/// Returns a time in milliseconds with four significant digits and a fitting unit: `2.310 ms`,
/// `45.12 us`, `1.204 s`.
pub fn milliseconds(time: f64) -> String {
    match time.abs() {
        ms if ms >= 1e3 => format!("{} s", significant(time / 1e3)),
        ms if ms >= 1.0 || ms == 0.0 => format!("{} ms", significant(time)),
        ms if ms >= 1e-3 => format!("{} us", significant(time * 1e3)),
        _ => format!("{} ns", significant(time * 1e6)),
    }
}

/// Returns the sentence about configurations that limits from the best time cut.
pub fn cuts(cuts: &Cuts) -> String {
    let Cuts { count, limit_ms: (least, largest), factor } = *cuts;
    let were = if count == 1 { "was" } else { "were" };
    let times = match (factor * 10.0).round() / 10.0 {
        10.0 => "ten".to_string(),
        more if more > 10.0 => "more than ten".to_string(),
        fewer => quantity(fewer),
    };
    let limits = match least == largest {
        true => milliseconds(least),
        false => format!("{} to {}", milliseconds(least), milliseconds(largest)),
    };
    format!("{} {were} cut at {limits}, {times} times the best", counted(count, "configuration"))
}

/// Returns a duration to the second: `42 s`, `3 min 7 s`, `2 h 5 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..60 if seconds < 9.95 => format!("{seconds:.1} s"),
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Returns a time since the Unix epoch as a date: `2026-11-23 13:08 UTC`. Empty if it is no date.
pub fn date(seconds: f64) -> String {
    if !(0.0..1e11).contains(&seconds) {
        return String::new();
    }
    let minutes = seconds as u64 / 60;
    let (mut days, mut year) = (minutes / 1440, 1970);
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let of_year = |year| if is_leap(year) { 366 } else { 365 };
    while days >= of_year(year) {
        days -= of_year(year);
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02} {:02}:{:02} UTC", days + 1, minutes / 60 % 24, minutes % 60)
}

/// Returns a decimal number with separated thousands, or in powers of ten from 10^15: `389,120`,
/// `8.24e31`.
pub fn count(digits: &str) -> String {
    if digits.len() > 15 {
        let rounded: f64 = digits.parse().unwrap_or(f64::INFINITY);
        return format!("{rounded:.2e}");
    }
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with its noun: `1 input`, `2 inputs`, `0 entries`.
pub fn counted(number: impl std::fmt::Display, noun: &str) -> String {
    let number = number.to_string();
    match noun.strip_suffix('y') {
        _ if number == "1" => format!("1 {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {noun}s"),
    }
}

/// Formats a number with four significant digits, without an exponent, for numbers from 1 to 9999.
pub(crate) fn significant(number: f64) -> String {
    let decimals = match number.abs() {
        n if n >= 999.95 => 0,
        n if n >= 99.995 => 1,
        n if n >= 9.9995 => 2,
        _ => 3,
    };
    format!("{number:.decimals$}")
}

/// Returns a value of any quantity: whole numbers as they are, others with up to five decimals, or with powers
/// of ten where those would hide it.
pub fn quantity(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        // Not the sign of a negative zero.
        return format!("{:.0}", value + 0.0);
    }
    let (digits, power) = match value.abs() {
        1e-3..1e7 => (format!("{value:.5}"), String::new()),
        _ => {
            let text = format!("{value:.4e}");
            let at = text.find('e').unwrap_or(text.len());
            (text[..at].to_string(), text[at..].to_string())
        }
    };
    let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
    format!("{digits}{power}")
}

/// The size below which the mean of a front is zero in effect. Means of measured values come nowhere near, in
/// any unit.
const NEAR_ZERO: f64 = 1e-27;

/// Writes a value of an objective in its unit, if that is known: a time in the unit that suits it, any
/// other with its digits. The mean of a front in which an objective is zero reads `0`, or `infinity` if that
/// one is maximised.
pub fn amount(value: f64, objective: &Objective) -> String {
    match objective.unit() {
        _ if !objective.parts().is_empty() && value < NEAR_ZERO => "0".to_string(),
        _ if !objective.parts().is_empty() && value > 1.0 / NEAR_ZERO => "infinity".to_string(),
        Some("ms") => milliseconds(value),
        Some(unit) => format!("{} {unit}", quantity(value)),
        None => quantity(value),
    }
}

/// Returns how much better a configuration is than another: `2.128x`, or the difference where a ratio has no
/// meaning.
pub fn gained(gain: Gain) -> String {
    match gain {
        Gain::Ratio(ratio) => format!("{}x", significant(ratio)),
        Gain::Difference(difference) => format!("by {}", quantity(difference)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::{Direction, Source};

    #[test]
    fn times_have_four_digits_and_a_fitting_unit() {
        let texts = [2.31, 0.04512, 1204.3, 123.456, 0.000_001_5, 0.0].map(milliseconds);
        assert_eq!(texts, ["2.310 ms", "45.12 us", "1.204 s", "123.5 ms", "1.500 ns", "0.000 ms"]);
    }

    #[test]
    fn durations_are_short() {
        assert_eq!([0.25, 42.0, 187.0, 7530.0].map(duration), ["0.2 s", "42 s", "3 min 7 s", "2 h 5 min"]);
    }

    #[test]
    fn a_quantity_prints_as_what_it_is() {
        let texts =
            [1_249_692.0, -3.0, 0.0, -0.0, 1000.0, 2.5, 0.1, 1.0 / 3.0, 1e-6, 1.25e9, -1.5e-7, 3e20].map(quantity);
        let expected =
            ["1249692", "-3", "0", "0", "1000", "2.5", "0.1", "0.33333", "1e-6", "1250000000", "-1.5e-7", "3e20"];
        assert_eq!(texts, expected);
        let front = Objective::front("mean", vec![Objective::time(), Objective::time()]);
        assert_eq!([7e-71, 2.4e70, 2.5].map(|value| amount(value, &front)), ["0", "infinity", "2.5"]);
        let other = Objective::new("tiny", Direction::Minimise, Some("J"), Source::Printed);
        assert_eq!([6.6e-34, 1e30].map(|value| amount(value, &other)), ["6.6e-34 J", "1e30 J"]);
        assert_eq!([Gain::Ratio(2.0), Gain::Difference(101.0)].map(gained), ["2.000x", "by 101"]);
    }

    #[test]
    fn a_noun_has_the_number_of_its_count() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "input")), ["0 inputs", "1 input", "2 inputs"]);
        assert_eq!([1, 3].map(|number| counted(number, "entry")), ["1 entry", "3 entries"]);
        assert_eq!(counted(count("1000"), "configuration"), "1,000 configurations");
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        let dates = [0.0, 951_782_400.0, 951_868_799.0, 1_795_424_593.18, 4_102_444_800.0].map(date);
        let expected =
            ["1970-01-01 00:00", "2000-02-29 00:00", "2000-02-29 23:59", "2026-11-23 09:03", "2100-01-01 00:00"];
        assert_eq!(dates, expected.map(|text| format!("{text} UTC")));
        assert_eq!([f64::NAN, -1.0, 1e300].map(date), [""; 3]);
    }

    #[test]
    fn counts_have_thousands_and_powers() {
        assert_eq!(
            ["7", "389120", "1000000", "8805300000000000000"].map(count),
            ["7", "389,120", "1,000,000", "8.81e18"]
        );
    }
}
