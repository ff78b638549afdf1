//! Counter models that are polynomials of tuning parameters, fitted by least squares.

use super::data::CounterData;
use super::errors::misses;
use crate::{Cholesky, Column, Kind, Table};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// Maximum number of terms of a polynomial. Each costs a product with every other for every row. A
/// profiled half of a space seldom has more than a few hundred rows.
const MOST_TERMS: usize = 120;
/// The amount added to the diagonal of the normalised normal equations. Terms that the rows cannot
/// tell apart then share their weight instead of making the system singular. It is small compared
/// with the diagonal of about 1.
const RIDGE: f64 = 1e-6;

/// A polynomial for one counter. It has main effects, interactions and squares of the parameters
/// that are not switches. Each combination of the switches has its own coefficients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LeastSquares {
    /// Parameters with two values, or with values without order.
    switches: Vec<String>,
    factors: Vec<Factor>,
    /// The factors of every term. The constant term has none.
    terms: Vec<Vec<String>>,
    parts: Vec<Segment>,
    /// Coefficients for other combinations of switches: from the other parameters alone.
    other: Vec<f64>,
}

/// A parameter in the polynomial, scaled to -1 to 1 over the fitted values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Factor {
    name: String,
    middle: f64,
    half_width: f64,
}

/// The polynomial of one combination of switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Segment {
    switches: Vec<f64>,
    coefficients: Vec<f64>,
}

/// Returns the best polynomial for every counter, among those with interactions of two parameters,
/// of three, and so on. The best one has the least mean absolute error on `rest`. Of equal ones, it
/// has the least root mean square error.
pub(super) fn best(fitted: &CounterData, rest: &CounterData) -> Vec<LeastSquares> {
    // With a single row there is nothing left for judging.
    let judges = if rest.table.is_empty() { fitted } else { rest };
    let shapes: Vec<Shape> = shapes(&fitted.table);
    let solvers: Vec<Solver<'_>> = shapes.iter().map(|shape| Solver::new(shape, &fitted.table)).collect();
    let best = |(values, expected): (&Vec<f64>, &Vec<f64>)| {
        let candidates = solvers.iter().map(|solver| {
            let model = solver.fit(values);
            (misses(&model.predict(&judges.table), expected), model)
        });
        let least = candidates.reduce(|best, next| if next.0 < best.0 { next } else { best });
        // There is at least the shape without interactions.
        least.map_or_else(LeastSquares::nothing, |(_, model)| model)
    };
    fitted.values.iter().zip(&judges.values).map(best).collect()
}

/// The roles of the parameters: switches, factors and terms.
struct Shape {
    switches: Vec<usize>,
    factors: Vec<(usize, Factor)>,
    /// The factors of every term, by their places among the factors.
    terms: Vec<Vec<usize>>,
}

/// Returns the candidate shapes: without interactions, with those of two factors, and so on, up to
/// the maximum number of terms.
fn shapes(table: &Table) -> Vec<Shape> {
    let mut switches = Vec::new();
    let mut factors = Vec::new();
    for (at, column) in table.columns().iter().enumerate() {
        let values: BTreeSet<u64> = table.column(at).iter().map(|value| (value + 0.0).to_bits()).collect();
        match (values.len(), &column.kind) {
            (0 | 1, _) => {}
            (2, _) | (_, Kind::Categorical(_)) => switches.push(at),
            _ => factors.extend(Factor::new(column, table.column(at)).map(|factor| (at, factor))),
        }
    }
    let squares: Vec<Vec<usize>> = (0..factors.len()).map(|at| vec![at, at]).collect();
    let (mut shapes, mut products) = (Vec::new(), vec![Vec::new()]);
    for degree in 1..=factors.len().max(1) {
        products.extend(products_of(degree, factors.len()));
        if degree > 1 && products.len() + squares.len() > MOST_TERMS {
            break;
        }
        let terms = products.iter().chain(&squares).cloned().collect();
        shapes.push(Shape { switches: switches.clone(), factors: factors.clone(), terms });
    }
    shapes
}

/// Returns every choice of `degree` of `count` factors, in ascending order. It is cut off beyond
/// the maximum number of terms.
fn products_of(degree: usize, count: usize) -> Vec<Vec<usize>> {
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..degree {
        let longer = chosen.iter().flat_map(|product| {
            let next = product.last().map_or(0, |last| last + 1);
            (next..count).map(|at| product.iter().copied().chain([at]).collect::<Vec<usize>>())
        });
        // One more than the maximum shows that there are too many.
        chosen = longer.take(MOST_TERMS + 1).collect();
    }
    chosen
}

impl Factor {
    /// Returns `None` if the values are not finite numbers.
    fn new(column: &Column, values: &[f64]) -> Option<Self> {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let half_width = (high - low) / 2.0;
        let factor = Self { name: column.name.clone(), middle: low + half_width, half_width };
        (half_width.is_finite() && half_width > 0.0).then_some(factor)
    }

    /// Scales a value. A value outside the fitted range counts as the nearest value in it, because
    /// polynomials diverge outside.
    fn scaled(&self, value: f64) -> f64 {
        ((value - self.middle) / self.half_width).clamp(-1.0, 1.0)
    }
}

/// The normal equations of one shape, factorised once for all counters.
struct Solver<'a> {
    shape: &'a Shape,
    names: Vec<String>,
    /// The equations for the rows of each combination of switches.
    parts: Vec<(Vec<f64>, Equations)>,
    all: Equations,
}

/// `X'X / n + ridge` of some rows, factorised.
struct Equations {
    rows: Vec<usize>,
    design: Vec<Vec<f64>>,
    factor: Cholesky,
}

impl<'a> Solver<'a> {
    fn new(shape: &'a Shape, table: &Table) -> Self {
        let mut places: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut groups: Vec<(Vec<f64>, Vec<usize>)> = Vec::new();
        for row in 0..table.len() {
            let switches: Vec<f64> = shape.switches.iter().map(|at| table.column(*at)[row]).collect();
            let place = *places.entry(key(&switches)).or_insert_with(|| {
                groups.push((switches, Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(row);
        }
        let equations = |rows: Vec<usize>| Equations::new(shape, table, rows);
        let parts = groups.into_iter().map(|(switches, rows)| (switches, equations(rows))).collect();
        let names = shape.switches.iter().map(|at| table.columns()[*at].name.clone()).collect();
        Self { shape, names, parts, all: equations((0..table.len()).collect()) }
    }

    fn fit(&self, values: &[f64]) -> LeastSquares {
        let part = |(switches, equations): &(Vec<f64>, Equations)| Segment {
            switches: switches.clone(),
            coefficients: equations.solve(values),
        };
        let name = |at: &usize| self.shape.factors[*at].1.name.clone();
        LeastSquares {
            switches: self.names.clone(),
            factors: self.shape.factors.iter().map(|(_, factor)| factor.clone()).collect(),
            terms: self.shape.terms.iter().map(|term| term.iter().map(name).collect()).collect(),
            parts: self.parts.iter().map(part).collect(),
            other: self.all.solve(values),
        }
    }
}

impl Equations {
    fn new(shape: &Shape, table: &Table, rows: Vec<usize>) -> Self {
        let design: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                let scaled: Vec<f64> =
                    shape.factors.iter().map(|(at, factor)| factor.scaled(table.column(*at)[*row])).collect();
                terms(&scaled, &shape.terms)
            })
            .collect();
        let mut packed = Vec::new();
        for i in 0..shape.terms.len() {
            for j in 0..=i {
                let sum: f64 = design.iter().map(|row| row[i] * row[j]).sum();
                packed.push(sum / rows.len() as f64 + if i == j { RIDGE } else { 0.0 });
            }
        }
        Self { rows, design, factor: Cholesky::factorise(&packed) }
    }

    /// Returns the coefficients for these targets, which have one value for every row of the table.
    fn solve(&self, values: &[f64]) -> Vec<f64> {
        let sides: Vec<f64> = (0..self.factor.len())
            .map(|term| {
                let sum: f64 =
                    self.rows.iter().zip(&self.design).map(|(row, design)| values[*row] * design[term]).sum();
                sum / self.rows.len() as f64
            })
            .collect();
        self.factor.solve_transposed(&self.factor.solve(&sides))
    }
}

fn terms(scaled: &[f64], terms: &[Vec<usize>]) -> Vec<f64> {
    terms.iter().map(|term| term.iter().map(|at| scaled[*at]).product()).collect()
}

fn key(switches: &[f64]) -> Vec<u64> {
    switches.iter().map(|value| (value + 0.0).to_bits()).collect()
}

impl LeastSquares {
    fn nothing() -> Self {
        Self { switches: Vec::new(), factors: Vec::new(), terms: Vec::new(), parts: Vec::new(), other: Vec::new() }
    }

    /// Returns the counter's value for every row. Costs a product for every term and row.
    pub(super) fn predict(&self, table: &Table) -> Vec<f64> {
        let place = |name: &String| table.columns().iter().position(|column| column.name == *name);
        let switches: Vec<usize> = self.switches.iter().filter_map(place).collect();
        let factors: Vec<(usize, &Factor)> = self.factors.iter().filter_map(|f| Some((place(&f.name)?, f))).collect();
        let of_term = |term: &Vec<String>| {
            term.iter().filter_map(|name| factors.iter().position(|(_, f)| f.name == *name)).collect()
        };
        let terms_of: Vec<Vec<usize>> = self.terms.iter().map(of_term).collect();
        let parts: HashMap<Vec<u64>, &Vec<f64>> =
            self.parts.iter().map(|part| (key(&part.switches), &part.coefficients)).collect();
        let value = |row: usize| {
            let combination: Vec<f64> = switches.iter().map(|at| table.column(*at)[row]).collect();
            let coefficients = parts.get(&key(&combination)).copied().unwrap_or(&self.other);
            let scaled: Vec<f64> = factors.iter().map(|(at, factor)| factor.scaled(table.column(*at)[row])).collect();
            terms(&scaled, &terms_of).iter().zip(coefficients).map(|(term, c)| term * c).sum()
        };
        (0..table.len()).map(value).collect()
    }

    /// Returns true if its parts fit together and its parameters are among `columns`.
    pub(super) fn fits(&self, columns: &[Column]) -> bool {
        let is_column = |name: &String| columns.iter().any(|column| column.name == *name);
        let is_factor = |name: &String| self.factors.iter().any(|factor| factor.name == *name);
        let is_part =
            |part: &Segment| part.switches.len() == self.switches.len() && part.coefficients.len() == self.terms.len();
        self.switches.iter().all(is_column)
            && self.factors.iter().all(|factor| is_column(&factor.name) && factor.half_width > 0.0)
            && self.terms.iter().flatten().all(is_factor)
            && self.parts.iter().all(is_part)
            && self.other.len() == self.terms.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three factors, a switch and a name. `of` gives the counter.
    fn data(of: impl Fn(&[f64; 5]) -> f64) -> CounterData {
        let mut rows = Vec::new();
        for at in 0..4 * 5 * 3 * 2 * 3 {
            let digit = |base: usize, over: usize| (at / over % base) as f64;
            rows.push([1.0 + digit(4, 1), 16.0 * digit(5, 4), digit(3, 20), digit(2, 60), digit(3, 120)]);
        }
        let columns = vec![
            Column::ordinal("A"),
            Column::ordinal("B"),
            Column::ordinal("C"),
            Column::ordinal("FLAG"),
            Column::categorical("KIND", ["x", "y", "z"]),
        ];
        let values = rows.iter().map(of).collect();
        let counters = [("count".to_string(), values)].into();
        CounterData::new(Table::from_rows(columns, rows), counters).unwrap()
    }

    fn worst(model: &LeastSquares, data: &CounterData) -> f64 {
        let predicted = model.predict(&data.table);
        let largest = data.values[0].iter().copied().fold(0.0, f64::max);
        predicted.iter().zip(&data.values[0]).map(|(a, b)| (a - b).abs() / largest).fold(0.0, f64::max)
    }

    #[test]
    fn effects_squares_and_high_interactions_are_found_for_every_combination_of_switches() {
        let data =
            data(
                |[a, b, c, flag, kind]| {
                    if *flag == 0.0 {
                        5e9 + 1e7 * a * b * c + 1e6 * b * b
                    } else {
                        1e8 * a * a + 3e8 * kind * (c + 1.0)
                    }
                },
            );
        let nothing = data.select(&[]);
        let model = &best(&data, &nothing)[0];
        assert!(worst(model, &data) < 1e-4, "{}", worst(model, &data));
        assert_eq!((model.switches.clone(), model.parts.len()), (vec!["FLAG".to_string(), "KIND".to_string()], 6));
        assert!(model.terms.contains(&vec!["A".to_string(), "B".to_string(), "C".to_string()]));
    }

    #[test]
    fn the_coefficients_are_those_of_the_normal_equations_solved_by_elimination() {
        let data = data(|[a, b, c, flag, kind]| (a * 7.0 + b * c + flag + kind * 3.0 + 1.0).sqrt() * 1e6);
        let shapes = shapes(&data.table);
        assert_eq!(shapes.iter().map(|shape| shape.terms.len()).collect::<Vec<_>>(), [7, 10, 11]);
        for shape in &shapes {
            let equations = Equations::new(shape, &data.table, (0..data.table.len()).step_by(3).collect());
            let found = equations.solve(&data.values[0]);
            let expected = eliminated(&equations, &data.values[0]);
            let largest = expected.iter().copied().map(f64::abs).fold(0.0, f64::max);
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-6 * largest, "{found} {expected}");
            }
        }
    }

    /// Solves `X'X / n + ridge` by Gauss and Jordan's method.
    fn eliminated(equations: &Equations, values: &[f64]) -> Vec<f64> {
        let (n, rows) = (equations.factor.len(), equations.rows.len() as f64);
        let product = |i: usize, j: usize| equations.design.iter().map(|row| row[i] * row[j]).sum::<f64>() / rows;
        let side = |i: usize| {
            equations.rows.iter().zip(&equations.design).map(|(row, x)| values[*row] * x[i]).sum::<f64>() / rows
        };
        let mut system: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| product(i, j) + if i == j { RIDGE } else { 0.0 }).chain([side(i)]).collect())
            .collect();
        for at in 0..n {
            let pivot = (at..n).max_by(|a, b| system[*a][at].abs().total_cmp(&system[*b][at].abs())).unwrap();
            system.swap(at, pivot);
            let lead = system[at].clone();
            for (row, equation) in system.iter_mut().enumerate().filter(|(row, _)| *row != at) {
                let share = equation[at] / lead[at];
                equation.iter_mut().zip(&lead).for_each(|(x, y)| *x -= share * y);
                let _ = row;
            }
        }
        (0..n).map(|at| system[at][n] / system[at][at]).collect()
    }

    #[test]
    fn fewer_rows_than_terms_and_unknown_switches_give_finite_numbers() {
        let data = data(|[a, b, ..]| a * b);
        let few = data.select(&[0, 1, 7, 30]);
        let model = &best(&few, &data.select(&[]))[0];
        assert!(model.predict(&data.table).iter().all(|value| value.is_finite()));
        // One row: nothing varies, so its value is the answer everywhere.
        let one = &best(&data.select(&[5]), &data.select(&[]))[0];
        let value = data.values[0][5];
        assert!(one.predict(&data.table).iter().all(|found| (found - value).abs() <= 1e-5 * value));
    }
}
