//! Compares the least operations with values that are told apart one by one.

use super::count_least;
use crate::ir::{Access, Affine, ArrayId, Expr, Function, LoopId, Nest, Operation, Operator, Type, Var};
use crate::schedule::{Step, tree};
use crate::transform::Recipe;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Numbers every value of a nest: equal operations on equal values have one number.
struct Numbering<'a> {
    nest: &'a Nest,
    sizes: &'a [i64],
    numbers: HashMap<String, usize>,
    cells: HashMap<(ArrayId, Vec<i128>), usize>,
    at: BTreeMap<LoopId, i128>,
    done: BTreeMap<(Operation, Type), HashSet<usize>>,
}

impl Numbering<'_> {
    fn number(&mut self, text: String) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(text).or_insert(next)
    }

    fn sum(&self, sum: &Affine) -> i128 {
        sum.evaluate(|variable| match variable {
            Var::Loop(id) => self.at.get(&id).copied().unwrap_or(0),
            Var::Size(id) => self.sizes[id.place()].into(),
            Var::Lookup(_) | Var::Floor(_) => 0,
        })
    }

    fn cell(&self, access: &Access) -> (ArrayId, Vec<i128>) {
        (access.array, access.subscripts.iter().map(|sum| self.sum(sum)).collect())
    }

    fn value(&mut self, expr: &Expr, context: Type) -> usize {
        let kind = self.nest.operation_type(expr, context);
        let mut parts: Vec<usize> = expr.children().into_iter().map(|part| self.value(part, kind)).collect();
        use Operator::{Add, Mul};
        if matches!(expr, Expr::Binary(Add | Mul, ..) | Expr::Call(Function::Min | Function::Max, _)) {
            parts.sort_unstable();
        }
        let number = match expr {
            Expr::Index(sum) => self.number(format!("index {}", self.sum(sum))),
            Expr::Number(number) => self.number(format!("number {number}")),
            Expr::Load(access, _) => {
                let cell = self.cell(access);
                match self.cells.get(&cell) {
                    Some(number) => *number,
                    None => self.number(format!("{cell:?}")),
                }
            }
            Expr::Neg(_) => self.number(format!("- {parts:?}")),
            Expr::Binary(operator, ..) => self.number(format!("{operator:?} {parts:?}")),
            Expr::Call(function, _) => self.number(format!("{function:?} {parts:?}")),
        };
        if let Some((operation, _)) = Operation::outermost(expr).filter(|(_, times)| kind.is_float() && *times > 0) {
            self.done.entry((operation, kind)).or_default().insert(number);
        }
        number
    }

    fn run(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Barrier => {}
                Step::Run(number) => {
                    let nest = self.nest;
                    let own = &nest.instructions[*number];
                    let value = self.value(&own.value, nest.array(own.target.array).element);
                    let cell = self.cell(&own.target);
                    self.cells.insert(cell, value);
                }
                Step::Loop(id, body) => {
                    let nest = self.nest;
                    for index in 0..32 {
                        self.at.insert(*id, index);
                        if nest.loop_at(*id).constraints.iter().all(|bound| self.sum(bound) >= 0) {
                            self.run(body);
                        }
                    }
                    self.at.remove(id);
                }
            }
        }
    }
}

/// Returns the different values of each operation, and the counts.
fn both(nest: &Nest, sizes: &[i64]) -> (BTreeMap<String, f64>, BTreeMap<String, f64>) {
    let (numbers, cells, at, done) = Default::default();
    let mut numbering = Numbering { nest, sizes, numbers, cells, at, done };
    numbering.run(&tree(nest));
    let done = numbering.done.iter();
    let exact = done.map(|((operation, kind), own)| (format!("{kind}:{operation}"), own.len() as f64)).collect();
    let counted = count_least(nest).unwrap().at(sizes).unwrap().into_iter();
    (exact, counted.map(|(operation, kind, count)| (format!("{kind}:{operation}"), count)).collect())
}

const HEAD: &str = "sizes n\nassume n > 0\narray a[n + 9, n + 9]: f32\narray v[n + 9]: f32\narray out[n + 9, n + 9]: f32\n\
                    temporary t: f32\ntemporary s: f32\n";

#[test]
fn operations_on_the_same_cells_count_once() {
    let cases = [
        // A power of every cell that a window reads, and its weights.
        "{[i, j, x, y]: 0 <= i < n and 0 <= j < n and 0 <= x < 3 and 0 <= y < 3}\ns = 0.0 @ i, j\n\
         t = max(a[i + x, j + y], 0.0)**2.5 @ i, j, x, y\ns = s + v[x]*v[y]*t @ i, j, x, y\nout[i, j] = s @ i, j",
        "{[i, j, k]: 0 <= i < n and 0 <= j < n and 0 <= k < n}\ns = 0.0 @ i, j\ns = s + a[i, k]*a[k, j] @ i, j, k\n\
         out[i, j] = s @ i, j",
        "{[i, j]: 0 <= i < n and 0 <= j < n}\nout[i, j] = v[j + 1]*2.5 + v[j]*2.5 + 2.5*v[i] @ i, j",
        "{[i, j]: 0 <= i < n and 0 <= j <= i}\nt = sqrt(v[i]) @ i\nout[i, j] = t*v[j] @ i, j",
    ];
    for lines in cases {
        let nest = format!("{HEAD}{lines}").parse::<Nest>().unwrap();
        for n in [1, 2, 5, 8] {
            let (exact, counted) = both(&nest, &[n]);
            for (operation, count) in &exact {
                // `v[x]*v[y]` is `v[y]*v[x]`, so half of such values are certainly different.
                let is_symmetric = ["v[x]*v[y]", "a[i, k]*a[k, j]", "v[j]*2.5"].iter().any(|own| lines.contains(own));
                let half = if is_symmetric { 2.0 } else { 1.0 };
                assert!(
                    counted[operation] * half >= *count && counted[operation] <= *count,
                    "{n}\n{lines}\n{counted:?}"
                );
            }
        }
    }
}

#[test]
fn the_examples_have_as_many_operations_as_different_values_but_for_symmetric_products() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nests");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|own| own != "nest")
            || path.ends_with("spmv.nest")
            || path.ends_with("histogram.nest")
        {
            continue;
        }
        let recipe = std::fs::read_to_string(&path).unwrap().parse::<Recipe>().unwrap();
        let sizes: Vec<i64> = recipe.nest.sizes.iter().map(|_| 4).collect();
        let (exact, counted) = both(&recipe.nest, &sizes);
        assert!(!counted.is_empty(), "{}", path.display());
        if path.ends_with("blur.nest") {
            // `w[x]*w[y]` is `w[y]*w[x]`, so half of its products are certainly different.
            assert_eq!((counted["f32:mul"], exact["f32:mul"]), (212.5, 365.0));
            assert_eq!((counted["f32:pow"], counted["f32:add"]), (exact["f32:pow"], 200.0));
        } else {
            assert_eq!(counted, exact, "{}", path.display());
        }
    }
}

#[test]
fn what_may_be_the_same_value_is_not_told_apart() {
    for (lines, most) in [
        ("{[i, j]: 0 <= i < n and 0 <= j < n}\nout[i, j] = 1.5*2.5 @ i, j", 1.0),
        ("{[i, j]: 0 <= i < n and 0 <= j < n}\nout[i, j] = 1.0 @ i, j\na[i, j] = out[i, j]*2.5 @ i, j", 1.0),
        ("{[i, j]: 0 <= i < n and 0 <= j < n}\nt = v[i] @ i\nout[i, j] = t*2.5 @ i, j", 6.0),
        // Nobody reads it.
        ("{[i, j]: 0 <= i < n and 0 <= j < n}\nt = v[i]*2.5 @ i\nout[i, j] = v[j] @ i, j", 0.0),
    ] {
        let nest = format!("{HEAD}{lines}").parse::<Nest>().unwrap();
        let counted: f64 = both(&nest, &[6]).1.values().sum();
        assert_eq!(counted, most, "{lines}");
    }
}

fn leaf() -> impl Strategy<Value = String> {
    let sum =
        (0..3i64, 0..3i64, 0..2i64, 0..3i64).prop_map(|(i, j, k, more)| format!("{i}*i + {j}*j + {k}*k + {more}"));
    prop_oneof![
        (sum.clone(), sum.clone()).prop_map(|(one, other)| format!("a[{one}, {other}]")),
        sum.prop_map(|sum| format!("v[{sum}]")),
        Just("t".to_string()),
        Just("s".to_string()),
        Just("2.5".to_string()),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    leaf().prop_recursive(3, 8, 2, |part| {
        (part.clone(), "[-+*]", part).prop_map(|(one, operator, other)| format!("({one} {operator} {other})"))
    })
}

proptest! {
    #[test]
    fn no_nest_has_fewer_different_values_than_it_counts(
        first in expression(), second in expression(), third in expression(), bound in 0..3usize,
    ) {
        let bound = ["k < n", "k <= i", "2*k <= i + j"][bound];
        let lines = format!(
            "{{[i, j, k]: 0 <= i < n and 0 <= j < n and 0 <= k and {bound}}}\ns = 0.0 @ i\nt = {} @ i, j\n\
             s = s + {second} @ i, j, k\nout[i, j] = {third} @ i, j, k",
            first.replace('k', "j")
        );
        // Large arrays, so that every subscript is inside.
        let nest = format!("{HEAD}{lines}").replace("n + 9", "9*n + 9").parse::<Nest>().unwrap();
        for n in [1, 4] {
            let (exact, counted) = both(&nest, &[n]);
            for (operation, count) in counted {
                prop_assert!(count <= exact[&operation], "{operation}: {count}, {exact:?}\n{nest}");
            }
        }
    }
}
