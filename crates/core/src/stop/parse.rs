//! The text form of stop conditions: `evaluations 200 and (time 60s or cost 1.5ms)`.

use super::{Condition, Stop, Window};
use std::str::FromStr;
use std::time::Duration;
use tunesmith_space::{ErrorClass, UserError};
use tunesmith_time::stated_seconds;

/// The error for a text that is not a stop condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stop condition `{text}`: {reason}")]
pub struct StopParseError {
    /// The whole text.
    pub text: String,
    /// The fault and the correct form.
    pub reason: String,
}

impl UserError for StopParseError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Request
    }
}

const FORMS: &str = "conditions are `evaluations 200`, `time 60s`, `fraction 0.1`, `cost 1.5ms`, \
                     `speedup 1.01 in 50 evaluations`, `speedup 1.01 in 30s`, \
                     `regret 2% at 95%`, `limit 90%`, joined by `and`, `or` and parentheses";

impl Stop {
    /// Parses a stop condition, as [`str::parse`] does.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a stop condition. The error states the correct form.
    pub fn parse(text: &str) -> Result<Self, StopParseError> {
        text.parse()
    }
}

impl FromStr for Stop {
    type Err = StopParseError;

    /// Parses conditions joined by `and`, `or` and parentheses. `and` binds tighter than `or`.
    /// Times take `ns`, `us`, `ms`, `s`, `min` or `h`.
    fn from_str(text: &str) -> Result<Self, StopParseError> {
        let mut parser = Parser { words: words(text), position: 0, depth: 0 };
        let parsed = parser.any().and_then(|stop| match parser.next() {
            None => Ok(stop),
            Some(word) => Err(format!("`{word}` is left over; join conditions by `and` or `or`")),
        });
        parsed.map_err(|reason| StopParseError { text: text.to_string(), reason })
    }
}

struct Parser {
    words: Vec<String>,
    position: usize,
    depth: usize,
}

/// Maximum depth. No sensible condition nests deeper, and the limit keeps hostile text from
/// exhausting the stack.
const MAX_DEPTH: usize = 100;

impl Parser {
    fn any(&mut self) -> Result<Stop, String> {
        self.joined("or", Self::all, Stop::Any)
    }

    fn all(&mut self) -> Result<Stop, String> {
        self.joined("and", Self::single, Stop::All)
    }

    fn joined(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Result<Stop, String>,
        join: fn(Vec<Stop>) -> Stop,
    ) -> Result<Stop, String> {
        let first = part(self)?;
        let mut parts = vec![first];
        while self.peek() == Some(word) {
            self.position += 1;
            parts.push(part(self)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { join(parts) })
    }

    fn single(&mut self) -> Result<Stop, String> {
        if self.peek() != Some("(") {
            return self.condition().map(Stop::When);
        }
        self.position += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("parentheses are nested too deeply".into());
        }
        let inner = self.any()?;
        self.depth -= 1;
        match self.next() {
            Some(word) if word == ")" => Ok(inner),
            _ => Err("a `)` is missing".into()),
        }
    }

    fn condition(&mut self) -> Result<Condition, String> {
        let name = self.next().ok_or_else(|| format!("a condition is missing at the end; {FORMS}"))?;
        match name.as_str() {
            "evaluations" => Ok(Condition::Evaluations(self.count("evaluations 200")?)),
            "time" => Ok(Condition::Time(self.duration("time 60s")?)),
            "fraction" => Ok(Condition::Fraction(self.fraction()?)),
            "cost" => Ok(Condition::Cost(self.cost()?)),
            "speedup" => self.speedup(),
            "limit" => Ok(Condition::Limit(self.share()?)),
            "regret" => self.regret(),
            other => Err(format!("`{other}` is not a condition; {FORMS}")),
        }
    }

    fn speedup(&mut self) -> Result<Condition, String> {
        const FORM: &str = "speedup 1.01 in 50 evaluations";
        let factor = self.number(FORM)?;
        if factor <= 1.0 {
            return Err(format!("a speedup of {factor} is no improvement; write a factor above 1 as in `{FORM}`"));
        }
        if self.next().as_deref() != Some("in") {
            return Err(format!("`in` is missing; write `{FORM}` or `speedup 1.01 in 30s`"));
        }
        let window = match self.words.get(self.position + 1).map(String::as_str) {
            Some("evaluations") => {
                let n = self.count(FORM)?;
                self.position += 1;
                Window::Evaluations(n)
            }
            _ => Window::Time(self.duration("speedup 1.01 in 30s")?),
        };
        Ok(Condition::Speedup { factor, window })
    }

    fn fraction(&mut self) -> Result<f64, String> {
        let share = self.number("fraction 0.1")?;
        if share > 0.0 && share <= 1.0 {
            Ok(share)
        } else {
            Err(format!("a fraction lies above 0 and at most 1, not {share}"))
        }
    }

    /// Parses a share of the modelled limit, in per cent.
    fn share(&mut self) -> Result<f64, String> {
        let word = self.next().ok_or("a share is missing; write `limit 90%`")?;
        let number = word.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
        match number {
            Some(number) if number > 0.0 && number <= 100.0 => Ok(number / 100.0),
            Some(_) => Err(format!("a share of the limit lies above 0% and at most 100%, not {word}")),
            None => Err(format!("`{word}` is not a share; write `limit 90%`")),
        }
    }

    /// Parses the distance from the optimum and the probability of a `regret` condition.
    fn regret(&mut self) -> Result<Condition, String> {
        const FORM: &str = "regret 2% at 95%";
        let share = self.percentage(FORM)?;
        if share <= 0.0 || share > 1.0 {
            let text = "a regret lies above 0% and at most 100%: how far above the optimum the best may be";
            return Err(format!("{text}; write `{FORM}`"));
        }
        if self.next().as_deref() != Some("at") {
            return Err(format!("the probability is missing; write `{FORM}`"));
        }
        let probability = self.percentage(FORM)?;
        if probability <= 0.0 || probability >= 1.0 {
            let text = "a probability lies above 0% and below 100%, since only evaluating the whole space is sure";
            return Err(format!("{text}; write `{FORM}`, or `fraction 1`"));
        }
        Ok(Condition::Regret { share, probability })
    }

    fn percentage(&mut self, form: &str) -> Result<f64, String> {
        let word = self.next().ok_or_else(|| format!("a number with % is missing; write `{form}`"))?;
        let number = word.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
        let number = number.filter(|number| number.is_finite());
        number.map(|number| number / 100.0).ok_or_else(|| format!("`{word}` is no number with %; write `{form}`"))
    }

    /// Parses a time in milliseconds, or a bare number in the unit of the objective.
    fn cost(&mut self) -> Result<f64, String> {
        if let Some(cost) = self.peek().and_then(|word| word.parse::<f64>().ok()).filter(|cost| cost.is_finite()) {
            self.position += 1;
            return Ok(cost);
        }
        let word = self.next().ok_or("a time is missing; write `cost 1.5ms`")?;
        milliseconds(&word).ok_or_else(|| format!("`{word}` is not a time; write `cost 1.5ms`"))
    }

    fn count(&mut self, form: &str) -> Result<u64, String> {
        let word = self.next().ok_or_else(|| format!("a number is missing; write `{form}`"))?;
        match word.parse() {
            Ok(0) => Err("a count must be at least 1".to_string()),
            Ok(n) => Ok(n),
            Err(_) => Err(format!("`{word}` is not a whole number; write `{form}`")),
        }
    }

    fn number(&mut self, form: &str) -> Result<f64, String> {
        let word = self.next().ok_or_else(|| format!("a number is missing; write `{form}`"))?;
        let number = word.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| format!("`{word}` is not a number; write `{form}`"))
    }

    fn duration(&mut self, form: &str) -> Result<Duration, String> {
        let word = self.next().ok_or_else(|| format!("a time is missing; write `{form}`"))?;
        let time = milliseconds(&word).filter(|ms| *ms >= 0.0);
        let time = time.and_then(|ms| stated_seconds(ms / 1e3));
        time.ok_or_else(|| {
            format!("`{word}` is not a time; write a number with ns, us, ms, s, min or h as in `{form}`")
        })
    }

    fn peek(&self) -> Option<&str> {
        self.words.get(self.position).map(String::as_str)
    }

    fn next(&mut self) -> Option<String> {
        self.position += 1;
        self.words.get(self.position - 1).cloned()
    }
}

fn words(text: &str) -> Vec<String> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_string).collect()
}

fn milliseconds(word: &str) -> Option<f64> {
    let split = word.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = word[..split].parse().ok()?;
    // Divides by a power of ten, because 1e-3 and 1e-6 have no exact double.
    let time = match &word[split..] {
        "ns" => number / 1e6,
        "us" => number / 1e3,
        "ms" => number,
        "s" => number * 1e3,
        "min" => number * 6e4,
        "h" => number * 3.6e6,
        _ => return None,
    };
    time.is_finite().then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_displayed_parses_to_the_same_condition() {
        for text in [
            "evaluations 200",
            "time 60s",
            "fraction 0.1 or evaluations 5",
            "cost 1.5ms and time 2s or speedup 1.01 in 50 evaluations",
            "limit 90% or limit 7% or limit 99.9%",
            "regret 2% at 95%",
            "regret 0.7% at 99.9% or evaluations 500 and regret 100% at 7%",
            "(time 1s or evaluations 3) and speedup 1.5 in 30s",
        ] {
            let stop = Stop::parse(text).unwrap();
            assert_eq!(stop.to_string(), text);
        }
        assert_eq!(Stop::parse("time 500ms").unwrap().to_string(), "time 0.5s");
    }

    #[test]
    fn errors_say_what_is_right() {
        let reason = |text: &str| Stop::parse(text).unwrap_err().reason;
        assert!(reason("evaluatons 5").starts_with("`evaluatons` is not a condition; conditions are"));
        assert!(reason("").starts_with("a condition is missing"));
        assert_eq!(reason("evaluations many"), "`many` is not a whole number; write `evaluations 200`");
        assert_eq!(reason("evaluations 0"), "a count must be at least 1");
        assert_eq!(reason("fraction 1.5"), "a fraction lies above 0 and at most 1, not 1.5");
        assert!(reason("time 60").contains("ns, us, ms, s, min or h"));
        assert_eq!(reason("(time 60s"), "a `)` is missing");
        assert!(reason("time 60s time 60s").contains("left over"));
        assert!(reason("speedup 0.9 in 5 evaluations").contains("no improvement"));
        assert_eq!(reason("limit 90"), "`90` is not a share; write `limit 90%`");
        assert_eq!(reason("limit 101%"), "a share of the limit lies above 0% and at most 100%, not 101%");
        assert!(reason("limit").starts_with("a share is missing"));
        assert_eq!(reason("regret 2%"), "the probability is missing; write `regret 2% at 95%`");
        assert_eq!(reason("regret 2% with 95%"), "the probability is missing; write `regret 2% at 95%`");
        assert_eq!(reason("regret 2 at 95%"), "`2` is no number with %; write `regret 2% at 95%`");
        assert_eq!(reason("regret NaN% at 95%"), "`NaN%` is no number with %; write `regret 2% at 95%`");
        assert!(reason("regret").starts_with("a number with % is missing"));
        assert!(reason("regret -1% at 95%").starts_with("a regret lies above 0% and at most 100%"));
        assert!(reason("regret 2% at 100%").ends_with("write `regret 2% at 95%`, or `fraction 1`"));
        assert!(reason("regret 2% at 0%").starts_with("a probability lies above 0%"));
        assert!(reason(&"(".repeat(10_000)).contains("too deeply"));
    }
}
