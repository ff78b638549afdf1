//! The curve of a run: its improvements, and its evaluations thinned out.

/// Maximum number of evaluations that are kept. A terminal has fewer dots.
const MOST: usize = 2048;

/// An evaluation with a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// Its number, counted from 1.
    pub(crate) evaluation: u64,
    /// Seconds since the start of the run.
    pub(crate) clock: f64,
    pub(crate) score: f64,
}

/// The scores of a run over its evaluations and over time.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// The evaluations that were better than all before them.
    pub(crate) improvements: Vec<Point>,
    /// Every `stride`-th evaluation.
    pub(crate) cloud: Vec<Point>,
    stride: u64,
    scored: u64,
}

impl Curve {
    pub(crate) fn new() -> Self {
        Self { improvements: Vec::new(), cloud: Vec::new(), stride: 1, scored: 0 }
    }

    pub(crate) fn add(&mut self, point: Point) {
        if self.improvements.last().is_none_or(|best| point.score < best.score) {
            self.improvements.push(point);
        }
        if self.scored.is_multiple_of(self.stride) {
            self.cloud.push(point);
        }
        self.scored += 1;
        if self.cloud.len() > MOST {
            let mut position = 0;
            self.cloud.retain(|_| {
                position += 1;
                position % 2 == 1
            });
            self.stride *= 2;
        }
    }

    /// Returns the best score so far.
    pub(crate) fn best(&self) -> Option<Point> {
        self.improvements.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(evaluation: u64) -> Point {
        Point { evaluation, clock: evaluation as f64, score: 1.0 + 1.0 / evaluation as f64 }
    }

    #[test]
    fn a_long_run_keeps_every_stride_th_evaluation() {
        let mut curve = Curve::new();
        for evaluation in 1..=100_000 {
            curve.add(point(evaluation));
            assert!(curve.cloud.len() <= MOST);
        }
        let strides = curve.cloud.windows(2).map(|pair| pair[1].evaluation - pair[0].evaluation);
        assert_eq!(strides.clone().min(), strides.max());
        assert!(curve.cloud.len() > MOST / 2 && curve.cloud[0].evaluation == 1);
    }

    #[test]
    fn an_improvement_is_better_than_all_before_it() {
        let mut curve = Curve::new();
        for (evaluation, score) in (1..).zip([3.0, 4.0, 2.0, 2.0, 2.5, 1.0]) {
            curve.add(Point { evaluation, clock: 0.0, score });
        }
        let numbers: Vec<u64> = curve.improvements.iter().map(|point| point.evaluation).collect();
        assert_eq!((numbers, curve.best().map(|best| best.score)), (vec![1, 3, 6], Some(1.0)));
    }
}
