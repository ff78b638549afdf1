//! Chooses a few configurations that serve many inputs: costs in, members out.

/// Costs of each configuration (a column) for each input (a row), relative to the best one known
/// for that input: 1 is the best, 2 takes twice its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    rows: Vec<Vec<f64>>,
    columns: usize,
}

/// Minimum cost of a configuration that was not measured for an input, or failed: it may be
/// invalid, and a user who ships it would not know.
const UNKNOWN: f64 = 2.0;

impl Costs {
    /// Returns the costs of `times`, with a row for each input and a time for each configuration.
    /// An unknown time is `None`. It counts as the slowest known time of that input, and as at
    /// least twice the best. Inputs without any time are left out; the second value lists the
    /// inputs kept.
    pub fn new(times: &[Vec<Option<f64>>]) -> (Self, Vec<usize>) {
        let columns = times.iter().map(Vec::len).max().unwrap_or(0);
        let known = |row: &[Option<f64>]| -> Vec<f64> { row.iter().flatten().copied().collect() };
        let kept: Vec<usize> = (0..times.len()).filter(|row| !known(&times[*row]).is_empty()).collect();
        let relative = |row: &usize| {
            let known = known(&times[*row]);
            let best = known.iter().copied().fold(f64::INFINITY, f64::min);
            let slowest = known.iter().copied().fold(0.0, f64::max);
            let unknown = (slowest / best).max(UNKNOWN);
            let cost = |column| times[*row].get(column).copied().flatten().map_or(unknown, |time| time / best);
            (0..columns).map(cost).collect()
        };
        (Self { rows: kept.iter().map(relative).collect(), columns }, kept)
    }

    /// Returns the rows, one for each input.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// Returns the number of configurations.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the costs of some inputs and configurations, in the order given.
    pub fn part(&self, rows: &[usize], columns: &[usize]) -> Self {
        let row = |row: &usize| columns.iter().map(|column| self.rows[*row][*column]).collect();
        Self { rows: rows.iter().map(row).collect(), columns: columns.len() }
    }

    /// Returns the cost of the best of `members` for each input.
    pub fn best_of<'a>(&'a self, members: &'a [usize]) -> impl Iterator<Item = f64> + 'a {
        self.rows.iter().map(|row| members.iter().map(|member| row[*member]).fold(f64::INFINITY, f64::min))
    }

    fn total(&self, members: &[usize]) -> f64 {
        self.best_of(members).sum()
    }
}

/// Minimum gain of an exchange, as a share of the costs. Without it, rounding could make exchanges
/// go in circles.
const GAIN: f64 = 1e-9;

/// Returns at most `most` columns of `costs`, in ascending order, such that the best cost, summed
/// over all inputs, is small. `always` is one of them.
///
/// This is the uncapacitated k-median problem, which is NP-hard. Columns are added one by one, each
/// time the one that lowers the sum most. Then one is exchanged for another as long as that lowers
/// the sum. The result is a local optimum: no exchange of one column improves it. Fewer columns are
/// returned if more would not help. Each exchange costs `most` times the number of cells.
pub fn choose_members(costs: &Costs, most: usize, always: Option<usize>) -> Vec<usize> {
    let mut members: Vec<usize> = always.into_iter().collect();
    while members.len() < most {
        let current = costs.total(&members);
        let with = |column: usize| {
            let mut more = members.clone();
            more.push(column);
            (column, costs.total(&more))
        };
        let others = (0..costs.columns).filter(|column| !members.contains(column));
        match others.map(with).min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((column, total)) if total < current * (1.0 - GAIN) || members.is_empty() => members.push(column),
            _ => break,
        }
    }
    while let Some((position, column)) = best_exchange(costs, &members, always) {
        members[position] = column;
    }
    members.sort_unstable();
    members
}

/// Returns the member's position and the other column of the exchange that lowers the sum most, or
/// `None` if no exchange lowers it.
fn best_exchange(costs: &Costs, members: &[usize], always: Option<usize>) -> Option<(usize, usize)> {
    let current = costs.total(members);
    let mut best: Option<(f64, usize, usize)> = None;
    for position in (0..members.len()).filter(|position| Some(members[*position]) != always) {
        let rest: Vec<usize> = members.iter().copied().filter(|member| *member != members[position]).collect();
        let without: Vec<f64> = costs.best_of(&rest).collect();
        for column in (0..costs.columns).filter(|column| !members.contains(column)) {
            let total: f64 = costs.rows.iter().zip(&without).map(|(row, without)| row[column].min(*without)).sum();
            if total < best.map_or(current * (1.0 - GAIN), |(total, ..)| total) {
                best = Some((total, position, column));
            }
        }
    }
    best.map(|(_, position, column)| (position, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Rng;

    fn random(rng: &mut Rng) -> Costs {
        let (rows, columns) = (rng.random_range(1..7), rng.random_range(1..9));
        let time = |rng: &mut Rng| rng.random_bool(0.8).then(|| rng.random_range(1.0..10.0));
        let times: Vec<Vec<Option<f64>>> = (0..rows).map(|_| (0..columns).map(|_| time(rng)).collect()).collect();
        Costs::new(&times).0
    }

    /// Returns the least sum of any `most` columns, by trying all subsets.
    fn exhaustive(costs: &Costs, most: usize) -> f64 {
        let members = |set: usize| -> Vec<usize> { (0..costs.columns).filter(|at| set >> at & 1 == 1).collect() };
        let sets = (1..1usize << costs.columns).map(members).filter(|members| members.len() <= most);
        sets.map(|members| costs.total(&members)).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn what_is_not_known_counts_as_slow() {
        let (costs, kept) =
            Costs::new(&[vec![Some(1.0), Some(3.0), None], vec![None, None, None], vec![Some(2.0), Some(2.2), None]]);
        assert_eq!(kept, [0, 2]);
        assert_eq!(costs.rows(), [vec![1.0, 3.0, 3.0], vec![1.0, 1.1, 2.0]]);
    }

    #[test]
    fn members_are_never_better_than_the_optimum_and_mostly_reach_it() {
        let mut rng = Rng::seed_from_u64(3);
        let (mut reached, cases) = (0, 400);
        for case in 0..cases {
            let costs = random(&mut rng);
            let most = 1 + case % 3;
            let members = choose_members(&costs, most, None);
            assert!(!members.is_empty() || costs.rows.is_empty());
            assert!(members.len() <= most && members.is_sorted());
            let (found, optimum) = (costs.total(&members), exhaustive(&costs, most));
            if costs.rows.is_empty() {
                reached += 1;
                continue;
            }
            assert!(found >= optimum - 1e-9);
            assert!(found <= optimum * 1.25, "{found} {optimum}");
            reached += usize::from(found <= optimum + 1e-9);
            assert_eq!(best_exchange(&costs, &members, None), None, "an exchange would help");
        }
        assert!(reached * 100 >= cases * 95, "{reached} of {cases}");
    }

    #[test]
    fn an_exchange_mends_what_greed_did() {
        // The first column is best alone, the last two together are perfect.
        let row = |a, b, c| vec![Some(a), Some(b), Some(c)];
        let (costs, _) = Costs::new(&[row(1.5, 1.0, 3.0), row(1.5, 1.0, 3.0), row(1.5, 3.0, 1.0), row(1.5, 3.0, 1.0)]);
        assert_eq!(choose_members(&costs, 1, None), [0]);
        assert_eq!(choose_members(&costs, 2, None), [1, 2]);
        assert_eq!(choose_members(&costs, 2, Some(0)), [0, 1], "one is always a member");
    }
}
