//! Translates ATF's search techniques and abort conditions to ours.

use super::translate::{bracket, split};
use tunesmith_core::{Stop, StopParseError};
use tunesmith_search::StrategySpec;
use tunesmith_space::did_you_mean;

/// ATF's techniques, by the names of its papers and both implementations, with our strategies.
const TECHNIQUES: &[(&str, &str)] = &[
    ("exhaustive", "exhaustive"),
    ("random", "random"),
    ("random_search", "random"),
    ("simulated_annealing", "annealing"),
    ("annealing", "annealing"),
    ("differential_evolution", "differential_evolution"),
    ("particle_swarm", "swarm"),
    ("pattern_search", "pattern"),
    ("torczon", "torczon"),
    ("nelder_mead", "nelder_mead"),
    ("auc_bandit", "bandit"),
    ("open_tuner", "bandit"),
    ("opentuner", "bandit"),
    ("round_robin", "round_robin(techniques=annealing+differential_evolution+pattern+torczon)"),
];

/// A fault, with its correction if there is one.
pub(super) type Fault = (String, Option<String>);

/// Returns the strategy for the technique `text` (`simulated_annealing`, `"auc_bandit"`,
/// `atf::torczon()`).
pub(super) fn strategy(text: &str) -> Result<StrategySpec, Fault> {
    let name = text.trim().trim_end_matches(';').trim_end_matches("()").trim().trim_matches('"');
    let name = name.rsplit("::").next().unwrap_or(name);
    let known = TECHNIQUES.iter().find(|(technique, _)| *technique == name);
    let (_, strategy) = known.ok_or_else(|| {
        let names = || TECHNIQUES.iter().map(|(technique, _)| *technique);
        let listed = format!("techniques are {}", names().collect::<Vec<_>>().join(", "));
        (format!("`{name}` is no search technique"), did_you_mean(name, names()).or(Some(listed)))
    })?;
    strategy.parse().map_err(|error| (format!("the search technique `{name}`: {error}"), None))
}

/// Returns the stop condition for the abort condition `text`, such as `evaluations(10000) ||
/// duration<std::chrono::minutes>(5)`.
pub(super) fn stop(text: &str) -> Result<Stop, Fault> {
    let ours = joined(text.trim().trim_end_matches(';'));
    ours.and_then(|text| text.parse().map_err(|error: StopParseError| error.to_string())).map_err(|fault| {
        let forms = "conditions are evaluations(n), valid_evaluations(n), duration<minutes>(n), fraction(f), cost(c), \
                     speedup(f, n), speedup<seconds>(f, n), joined by && and ||";
        (fault, Some(forms.to_string()))
    })
}

fn joined(text: &str) -> Result<String, String> {
    let text = text.trim();
    for (sign, word) in [("||", " or "), ("&&", " and ")] {
        let commas = text.replace(',', "\u{1}").replace(sign, ",");
        let parts = split(&commas)?;
        if parts.len() > 1 {
            let parts = parts.iter().map(|part| joined(&part.replace(',', sign).replace('\u{1}', ",")));
            return Ok(format!("({})", parts.collect::<Result<Vec<_>, _>>()?.join(word)));
        }
    }
    if text.starts_with('(') {
        let (inside, rest) = bracket(text)?;
        return if rest.trim().is_empty() { joined(inside) } else { Err(format!("`{rest}` is left over")) };
    }
    condition(text)
}

fn condition(text: &str) -> Result<String, String> {
    let open = text.find('(').ok_or_else(|| format!("`{text}` has no number in parentheses"))?;
    let (arguments, rest) = bracket(&text[open..])?;
    if !rest.trim().is_empty() {
        return Err(format!("`{}` is left over", rest.trim()));
    }
    let (name, unit) = text[..open].trim().split_once('<').unwrap_or((&text[..open], ""));
    let name = name.trim().rsplit("::").next().unwrap_or("");
    let unit = unit.trim_end_matches('>').rsplit("::").next().unwrap_or("").trim();
    let numbers = split(arguments)?;
    match (name, &numbers[..]) {
        ("evaluations" | "valid_evaluations", [n]) => Ok(format!("evaluations {n}")),
        ("duration", [n]) => Ok(format!("time {}", time(n, unit)?)),
        ("fraction", [share]) => Ok(format!("fraction {share}")),
        ("cost" | "result", [cost]) => Ok(format!("cost {}", milliseconds(cost, unit)?)),
        ("speedup", [factor, n]) if unit.is_empty() => Ok(format!("speedup {factor} in {n} evaluations")),
        ("speedup", [factor, n]) => Ok(format!("speedup {factor} in {}", time(n, unit)?)),
        _ => Err(format!("`{text}` is no abort condition")),
    }
}

/// Returns a time of `n` of std::chrono's units, or of seconds if none is named.
fn time(n: &str, unit: &str) -> Result<String, String> {
    let unit = match unit {
        "nanoseconds" => "ns",
        "microseconds" => "us",
        "milliseconds" => "ms",
        "seconds" | "" => "s",
        "minutes" => "min",
        "hours" => "h",
        other => return Err(format!("`{other}` is no unit of time")),
    };
    Ok(format!("{n}{unit}"))
}

/// Returns the number of milliseconds, our unit of a cost, in `n` of std::chrono's units. Without a
/// unit they are nanoseconds, as all times of ATF are.
fn milliseconds(n: &str, unit: &str) -> Result<f64, String> {
    let number: f64 = n.trim().parse().map_err(|_| format!("`{n}` is no number"))?;
    // Divisions by whole numbers are exact to the last digit. `cost(1500000)` is 1.5.
    match unit {
        "nanoseconds" | "" => Ok(number / 1e6),
        "microseconds" => Ok(number / 1e3),
        "milliseconds" => Ok(number),
        "seconds" => Ok(number * 1e3),
        other => Err(format!("`{other}` is no unit of a cost")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abort_conditions_become_stop_conditions() {
        let cases = [
            ("evaluations( 10000 )", "evaluations 10000"),
            ("atf::cond::duration<std::chrono::minutes>(10)", "time 10min"),
            ("fraction(0.1) || cost(1500000)", "(fraction 0.1 or cost 1.5)"),
            ("cost<std::chrono::microseconds>(20) || result<seconds>(2)", "(cost 0.02 or cost 2000)"),
            (
                "(speedup(1.01, 50) && duration<seconds>(3)) || speedup<hours>(1.5, 2);",
                "((speedup 1.01 in 50 evaluations and time 3s) or speedup 1.5 in 2h)",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(stop(text).unwrap(), expected.parse().unwrap());
        }
        assert_eq!(stop("cost<hours>(1)").unwrap_err().0, "`hours` is no unit of a cost");
        assert!(stop("evaluation(5)").unwrap_err().1.unwrap().contains("fraction(f)"));
    }

    #[test]
    fn techniques_have_our_names_and_unknown_ones_a_suggestion() {
        assert_eq!(strategy("simulated_annealing"), Ok("annealing".parse().unwrap()));
        assert_eq!(strategy("\"exhaustive\""), Ok("exhaustive".parse().unwrap()));
        for (name, strategy_of) in TECHNIQUES {
            assert_eq!(strategy(name), Ok(strategy_of.parse().unwrap()));
        }
        assert_eq!(strategy("simulated_anealing").unwrap_err().1.unwrap(), "did you mean `simulated_annealing`?");
    }
}
