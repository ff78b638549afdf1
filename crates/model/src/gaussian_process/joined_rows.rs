//! Rows whose features are joined.

use super::Rows;
use super::rows::multiply;

/// Maximum number of combinations of a group: a table of their factors stays in the nearest cache.
const MOST: usize = 1024;
/// Number of rows for each combination of a group, so that a table costs less than the rows.
const ROWS_EACH: usize = 8;
/// Maximum number of pairs of a combination and a level for each row, when a feature is joined: a table of more would
/// cost more than it saves.
const PAIRS_EACH: usize = 64;
/// Number of rows whose covariances are computed together. The partial products then stay in the
/// nearest cache.
const CHUNK: usize = 512;

/// Rows that are compared with many points, such as the candidates of a search.
///
/// Features are joined into groups of which few combinations of levels occur. A covariance takes one look-up for each
/// group in place of one for each feature.
#[derive(Clone, Debug)]
pub struct JoinedRows {
    groups: Vec<Group>,
    len: usize,
}

/// Features that are joined.
#[derive(Clone, Debug)]
struct Group {
    /// The features, each with its level in every combination.
    features: Vec<(usize, Vec<u16>)>,
    /// The combination of each row.
    column: Vec<u16>,
}

impl From<Rows> for JoinedRows {
    /// Joins the features of `rows`. Costs two look-ups for each row, feature and group, and at most 64 words for each
    /// row.
    fn from(rows: Rows) -> Self {
        let most = (rows.len() / ROWS_EACH).clamp(2, MOST);
        let mut groups: Vec<Group> = Vec::new();
        for feature in 0..rows.features() {
            let column = rows.column(feature);
            let joined =
                groups.iter().enumerate().find_map(|(at, group)| Some((at, group.joined(feature, column, most)?)));
            match joined {
                Some((at, group)) => groups[at] = group,
                None => groups.push(Group::new(feature, column)),
            }
        }
        Self { groups, len: rows.len() }
    }
}

impl JoinedRows {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the rows at `indices`, in that order.
    pub fn select(&self, indices: &[usize]) -> Self {
        Self { groups: self.groups.iter().map(|group| group.select(indices)).collect(), len: indices.len() }
    }

    /// Writes the product of a number for each feature of each row to `out`. `tables` has, for each feature, the number
    /// of every level.
    pub(super) fn products(&self, tables: &[Vec<f64>], out: &mut [f64]) {
        let tables: Vec<Vec<f64>> = self.groups.iter().map(|group| group.table(tables)).collect();
        for (start, out) in (0..self.len).step_by(CHUNK).zip(out.chunks_mut(CHUNK)) {
            out.fill(1.0);
            for (group, table) in self.groups.iter().zip(&tables) {
                multiply(out, table, &group.column[start..start + out.len()]);
            }
        }
    }
}

impl Group {
    /// Returns the group of one feature, in which every level is a combination.
    fn new(feature: usize, column: &[u16]) -> Self {
        let levels = column.iter().copied().max().unwrap_or(0);
        Self { features: vec![(feature, (0..=levels).collect())], column: column.to_vec() }
    }

    /// Returns the group with another feature, or `None` if more than `most` combinations occur or the levels are too
    /// many.
    fn joined(&self, feature: usize, column: &[u16], most: usize) -> Option<Self> {
        let levels = usize::from(column.iter().copied().max().unwrap_or(0)) + 1;
        if self.combinations() * levels > PAIRS_EACH * column.len() {
            return None;
        }
        let mut places: Vec<Option<u16>> = vec![None; self.combinations() * levels];
        let (mut pairs, mut joined) = (Vec::new(), Vec::with_capacity(column.len()));
        for (&own, &level) in self.column.iter().zip(column) {
            let place = &mut places[usize::from(own) * levels + usize::from(level)];
            if place.is_none() {
                *place = Some(pairs.len() as u16);
                pairs.push((own, level));
            }
            if pairs.len() > most {
                return None;
            }
            joined.extend(*place);
        }
        let of_pairs = |levels: &[u16]| pairs.iter().map(|(own, _)| levels[usize::from(*own)]).collect();
        let mut features: Vec<(usize, Vec<u16>)> =
            self.features.iter().map(|(feature, levels)| (*feature, of_pairs(levels))).collect();
        features.push((feature, pairs.iter().map(|(_, level)| *level).collect()));
        Some(Self { features, column: joined })
    }

    /// Returns the group of the rows at `indices`, without the combinations that no longer occur.
    fn select(&self, indices: &[usize]) -> Self {
        let mut places: Vec<Option<u16>> = vec![None; self.combinations()];
        let mut left = Vec::new();
        let mut place = |&index: &usize| {
            let combination = usize::from(self.column[index]);
            *places[combination].get_or_insert_with(|| {
                left.push(combination);
                (left.len() - 1) as u16
            })
        };
        let column = indices.iter().map(&mut place).collect();
        let of_left = |levels: &[u16]| left.iter().map(|&combination| levels[combination]).collect();
        let features = self.features.iter().map(|(feature, levels)| (*feature, of_left(levels))).collect();
        Self { features, column }
    }

    /// Returns the number of combinations.
    fn combinations(&self) -> usize {
        self.features[0].1.len()
    }

    /// Returns the product of the features' numbers for every combination.
    fn table(&self, tables: &[Vec<f64>]) -> Vec<f64> {
        let mut products = vec![1.0; self.combinations()];
        self.features.iter().for_each(|(feature, levels)| multiply(&mut products, &tables[*feature], levels));
        products
    }
}
