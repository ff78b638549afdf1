//! The rank correlation of two lists.

/// Returns Spearman's rank correlation of pairs of numbers: Pearson's correlation of their ranks. Equal numbers share
/// the mean of their ranks (Spearman, The proof and measurement of association between two things, 1904).
///
/// It is 1 if one number rises whenever the other does, and -1 if it falls. It is 0 if either number is the same in all
/// pairs. Costs two sorts.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let one = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<f64>>());
    let other = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<f64>>());
    let covariance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let variances = covariance(&one, &one) * covariance(&other, &other);
    if variances > 0.0 { covariance(&one, &other) / variances.sqrt() } else { 0.0 }
}

/// Returns the ranks of numbers, less their mean.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| numbers[a] == numbers[b]) {
        // Twice the distance of their mean rank from the middle is a whole number, so that nothing rounds.
        let twice = (2 * before + equal.len()) as f64 - numbers.len() as f64;
        equal.iter().for_each(|&at| ranks[at] = twice / 2.0);
        before += equal.len();
    }
    ranks
}
