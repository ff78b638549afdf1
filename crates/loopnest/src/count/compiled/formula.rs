//! Writes counts as formulas: piecewise quasi-polynomials in the sizes.

use super::{Case, Counts, Product, Sum, Terms};
use crate::error::NestError;
use std::collections::BTreeMap;

/// A polynomial over slots: the coefficient of each product of slots, and a common denominator.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Polynomial {
    terms: BTreeMap<Vec<usize>, i128>,
    denominator: i128,
}

/// Products of factors that have conditions, each with the polynomial that multiplies it.
type Pieces = BTreeMap<Vec<usize>, Polynomial>;

impl Counts {
    /// Returns the formula of every property for all sizes at which the accesses have the same
    /// strides as at `sizes`, in the order of [`Counts::properties`]. `floor((n + 15)/16)` rounds
    /// down, and `[n - 3 >= 0]` is 1 where it holds and 0 elsewhere. The formula of a chain is
    /// `None`: it is a maximum over paths.
    ///
    /// ```
    /// use tunesmith_loopnest::{Nest, count};
    ///
    /// let nest = "
    ///     sizes n
    ///     assume n > 0
    ///     array a[n]: f32
    ///     {[i, j]: 0 <= i < n and 0 <= j <= i}
    ///     a[i] = a[i] + 1.0 @ i, j
    /// ".parse::<Nest>()?;
    /// let counts = count::count(&nest)?;
    /// let add = counts.properties().iter().position(|property| property.to_string() == "op:f32:add");
    /// assert_eq!(counts.formulas(&[1000])?[add.unwrap()].as_deref(), Some("(n^2 + n)/2"));
    /// # Ok::<(), tunesmith_loopnest::NestError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the number of sizes is wrong or a count exceeds 128 bits.
    pub fn formulas(&self, sizes: &[i64]) -> Result<Vec<Option<String>>, NestError> {
        self.check_number(sizes)?;
        self.written(sizes).ok_or_else(super::overflow)
    }

    fn written(&self, sizes: &[i64]) -> Option<Vec<Option<String>>> {
        let slots = self.slots(sizes)?;
        let factors = self.factors(&slots)?;
        let mut all = vec![Pieces::new(); self.properties.len()];
        for placed in &self.fixed {
            self.add(&mut all[placed.place], &placed.product)?;
        }
        for open in &self.open {
            let place = open.place(&slots, &factors)?;
            for product in &open.count {
                self.add(&mut all[place], product)?;
            }
        }
        let mut texts: Vec<Option<String>> = all.iter().map(|pieces| Some(self.pieces(pieces))).collect();
        for [loads, stores, lesser] in &self.lesser {
            let part = |place: usize| texts[place].clone().unwrap_or_default();
            let (loads, stores) = (part(*loads), part(*stores));
            let is_none = [&loads, &stores].into_iter().any(|text| text == "0");
            texts[*lesser] = Some(if is_none { "0".to_string() } else { format!("min({loads}, {stores})") });
        }
        if let Some((place, _)) = &self.chain {
            texts[*place] = None;
        }
        Some(texts)
    }

    /// Adds a product. Factors without a condition are multiplied out. The others are kept.
    fn add(&self, pieces: &mut Pieces, product: &Product) -> Option<()> {
        let mut own = Polynomial { terms: BTreeMap::from([(Vec::new(), product.coefficient)]), denominator: 1 };
        let mut kept = Vec::new();
        for factor in &product.factors {
            match &self.factors[*factor][..] {
                [case] if case.conditions.is_empty() => own = own.times(&Polynomial::of(&case.count))?,
                _ => kept.push(*factor),
            }
        }
        kept.sort_unstable();
        let known = pieces.remove(&kept);
        let sum = match known {
            Some(known) => known.plus(&own)?,
            None => own,
        };
        if !sum.terms.is_empty() {
            pieces.insert(kept, sum);
        }
        Some(())
    }

    fn pieces(&self, pieces: &Pieces) -> String {
        let text = |(kept, own): (&Vec<usize>, &Polynomial)| {
            if kept.is_empty() {
                return self.polynomial(own);
            }
            let kept: Vec<String> = kept.iter().map(|factor| self.cases(&self.factors[*factor])).collect();
            match self.polynomial(own).as_str() {
                "1" => kept.join("*"),
                text if own.is_one() => format!("{text}*{}", kept.join("*")),
                text => format!("({text})*{}", kept.join("*")),
            }
        };
        let texts: Vec<String> = pieces.iter().map(text).collect();
        if texts.is_empty() { "0".to_string() } else { texts.join(" + ") }
    }

    /// Writes a factor: a sum of polynomials, each where its conditions hold.
    fn cases(&self, cases: &[Case]) -> String {
        let case = |case: &Case| {
            let conditions: Vec<String> = case.conditions.iter().map(|own| format!("{} >= 0", self.sum(own))).collect();
            let (text, count) = (conditions.join(" and "), self.polynomial(&Polynomial::of(&case.count)));
            match (text.is_empty(), count.as_str()) {
                (true, _) => count,
                (false, "1") => format!("[{text}]"),
                (false, _) if Polynomial::of(&case.count).is_one() => format!("{count}*[{text}]"),
                (false, _) => format!("({count})*[{text}]"),
            }
        };
        let texts: Vec<String> = cases.iter().map(case).collect();
        match &texts[..] {
            [] => "0".to_string(),
            [one] => one.clone(),
            _ => format!("({})", texts.join(" + ")),
        }
    }

    fn polynomial(&self, own: &Polynomial) -> String {
        let common = own.terms.values().fold(own.denominator, |known, coefficient| gcd(known, coefficient.abs()));
        let denominator = own.denominator / common.max(1);
        let mut terms: Vec<(&Vec<usize>, i128)> =
            own.terms.iter().map(|(slots, coefficient)| (slots, coefficient / common.max(1))).collect();
        // The highest powers come first, and positive terms before negative ones of the same power.
        terms.sort_by_key(|(slots, coefficient)| (std::cmp::Reverse(slots.len()), *coefficient < 0));
        let text = signed(terms.iter().map(|(slots, coefficient)| (*coefficient, self.product(slots))));
        match (denominator, terms.len()) {
            (1, _) => text,
            (_, 1) => format!("{text}/{denominator}"),
            _ => format!("({text})/{denominator}"),
        }
    }

    /// Writes a product of slots, with powers.
    fn product(&self, slots: &[usize]) -> String {
        let mut powers: BTreeMap<usize, usize> = BTreeMap::new();
        slots.iter().for_each(|slot| *powers.entry(*slot).or_default() += 1);
        let power = |(slot, times): (&usize, &usize)| {
            let name = self.slot(*slot);
            if *times == 1 { name } else { format!("{name}^{times}") }
        };
        powers.iter().map(power).collect::<Vec<_>>().join("*")
    }

    fn slot(&self, slot: usize) -> String {
        match self.sizes.get(slot) {
            Some(size) => size.clone(),
            None => {
                let (numerator, divisor) = &self.floors[slot - self.sizes.len()];
                format!("floor(({})/{divisor})", self.sum(numerator))
            }
        }
    }

    fn sum(&self, sum: &Sum) -> String {
        let terms = sum.terms.iter().map(|(slot, factor)| (*factor, self.slot(*slot)));
        let offset = (sum.offset != 0 || sum.terms.is_empty()).then_some((sum.offset, String::new()));
        signed(terms.chain(offset))
    }
}

impl Polynomial {
    fn of(terms: &Terms) -> Self {
        let mut found = BTreeMap::new();
        for (coefficient, slots) in &terms.monomials {
            let mut slots = slots.clone();
            slots.sort_unstable();
            *found.entry(slots).or_insert(0) += coefficient;
        }
        found.retain(|_, coefficient| *coefficient != 0);
        Self { terms: found, denominator: terms.denominator }
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let mut terms = BTreeMap::new();
        for (one, a) in &self.terms {
            for (two, b) in &other.terms {
                let mut slots: Vec<usize> = one.iter().chain(two).copied().collect();
                slots.sort_unstable();
                let known: &mut i128 = terms.entry(slots).or_insert(0);
                *known = known.checked_add(a.checked_mul(*b)?)?;
            }
        }
        terms.retain(|_, coefficient| *coefficient != 0);
        Some(Self { terms, denominator: self.denominator.checked_mul(other.denominator)? })
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        let mut terms: BTreeMap<Vec<usize>, i128> = BTreeMap::new();
        for (own, scale) in [(self, other.denominator), (other, self.denominator)] {
            for (slots, coefficient) in &own.terms {
                let known = terms.entry(slots.clone()).or_default();
                *known = known.checked_add(coefficient.checked_mul(scale)?)?;
            }
        }
        terms.retain(|_, coefficient| *coefficient != 0);
        Some(Self { terms, denominator: self.denominator.checked_mul(other.denominator)? })
    }

    /// Returns true if it has one term, so that it can be a factor as it stands.
    fn is_one(&self) -> bool {
        self.terms.len() == 1
    }
}

/// Joins terms with their signs. The text of a constant is empty.
fn signed(terms: impl Iterator<Item = (i128, String)>) -> String {
    let mut text = String::new();
    for (coefficient, name) in terms {
        text += match (text.is_empty(), coefficient < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let size = coefficient.unsigned_abs();
        text += &match (name.is_empty(), size) {
            (true, _) => size.to_string(),
            (false, 1) => name,
            (false, _) => format!("{size}*{name}"),
        };
    }
    if text.is_empty() { "0".to_string() } else { text }
}

fn gcd(one: i128, other: i128) -> i128 {
    if other == 0 { one } else { gcd(other, one % other) }
}
