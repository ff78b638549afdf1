//! Chooses a configuration by the measured inputs near an input.

use super::measure::Measure;

/// Chooses the member of the least mean cost over the measured inputs, which weigh the more the
/// nearer they are. Near means few [`doublings`](logarithm) apart.
///
/// The weight of an input at distance d is 1 / (reach² + d²)². A small reach makes it the rule of
/// the nearest neighbour; a large one makes it the configuration that is best on average.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    axes: Axes,
    reach: f64,
    points: Vec<Vec<f64>>,
    costs: Vec<Vec<f64>>,
}

/// The numbers that distances are taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// Every size.
    Sizes,
    /// The product of the sizes alone: inputs of the same volume are at the same place.
    Product,
}

impl Axes {
    /// Returns the measures of inputs with this number of sizes.
    pub fn measures(self, sizes: usize) -> impl Iterator<Item = Measure> + Clone {
        let own = move |measure: &Measure| match self {
            Self::Sizes => matches!(measure, Measure::Size(_)),
            Self::Product => *measure == Measure::Product,
        };
        Measure::all(sizes).filter(own)
    }
}

/// Maximum number of members and of axes. Their numbers stand on the stack while a question is
/// answered.
const MOST_MEMBERS: usize = 64;
const MOST_AXES: usize = 32;

impl Neighbours {
    /// Maximum number of measured inputs. With more, a tree tells inputs apart as well, and faster.
    pub const MOST_INPUTS: usize = 256;

    /// The reach, in doublings, with which a measured input always has its own best member, and any other
    /// input that of the nearest one.
    pub const NEAREST: f64 = 0.05;

    /// Makes the rule for inputs with these sizes and the cost of each member for them. Returns
    /// `None` if there is no such measure, or if an input has a size that has no logarithm.
    pub fn fit(inputs: &[Vec<f64>], costs: &[Vec<f64>], axes: Axes, reach: f64) -> Option<Self> {
        let point = |sizes: &Vec<f64>| -> Option<Vec<f64>> {
            axes.measures(sizes.len()).map(|measure| logarithm(measure.of(sizes))).collect()
        };
        let points: Vec<Vec<f64>> = inputs.iter().map(point).collect::<Option<_>>()?;
        Self::new(axes, reach, points, costs.to_vec())
    }

    /// Joins the parts of a rule. Returns `None` if they do not belong together, or if there are too
    /// many.
    pub fn new(axes: Axes, reach: f64, points: Vec<Vec<f64>>, costs: Vec<Vec<f64>>) -> Option<Self> {
        let (width, members) = (points.first()?.len(), costs.first()?.len());
        let fits = |rows: &[Vec<f64>], width: usize| {
            rows.iter().all(|row| row.len() == width && row.iter().all(|number| number.is_finite()))
        };
        let fit = (1..=MOST_AXES).contains(&width) && (1..=MOST_MEMBERS).contains(&members);
        let fit = fit && points.len() == costs.len() && points.len() <= Self::MOST_INPUTS;
        let fit = fit && fits(&points, width) && fits(&costs, members) && reach > 0.0 && reach.is_finite();
        fit.then_some(Self { axes, reach, points, costs })
    }

    /// Returns the axes.
    pub fn axes(&self) -> Axes {
        self.axes
    }

    /// Returns the reach in doublings.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Returns true if the nearest input decides alone.
    pub fn is_nearest(&self) -> bool {
        self.reach <= Self::NEAREST
    }

    /// Returns the [`logarithm`] of each axis for every measured input.
    pub fn points(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// Returns the cost of each member for every measured input.
    pub fn costs(&self) -> &[Vec<f64>] {
        &self.costs
    }

    /// Returns the number of members.
    pub fn members(&self) -> usize {
        self.costs[0].len()
    }

    /// Returns the members but those that are never chosen, since another one is at least as fast
    /// for every measured input.
    pub(super) fn undominated(&self) -> Vec<usize> {
        let is_beaten = |member: usize, by: usize| {
            let mut pairs = self.costs.iter().map(|costs| (costs[by], costs[member]));
            let is_equal = pairs.clone().all(|(other, own)| other == own);
            pairs.all(|(other, own)| other <= own) && (!is_equal || by < member)
        };
        let all = 0..self.members();
        all.clone().filter(|member| !all.clone().any(|by| is_beaten(*member, by))).collect()
    }

    /// Returns the same rule over `members` alone.
    pub(super) fn among(&self, members: &[usize]) -> Self {
        let costs = self.costs.iter().map(|costs| members.iter().map(|member| costs[*member]).collect());
        Self { costs: costs.collect(), points: self.points.clone(), ..*self }
    }

    /// Returns the member for an input, the first of equal ones. A size that has no logarithm does
    /// not count. Costs a look at every measured input; allocates nothing.
    pub fn choose(&self, sizes: &[f64]) -> usize {
        let mut at = [None; MOST_AXES];
        for (number, measure) in at.iter_mut().zip(self.axes.measures(sizes.len())) {
            *number = logarithm(measure.of(sizes));
        }
        let mut sums = [0.0; MOST_MEMBERS];
        for (point, costs) in self.points.iter().zip(&self.costs) {
            let weight = self.weight(point, &at);
            sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += weight * cost);
        }
        (1..self.members()).fold(0, |best, member| if sums[member] < sums[best] { member } else { best })
    }

    fn weight(&self, point: &[f64], at: &[Option<f64>]) -> f64 {
        let difference = |(at, own): (&Option<f64>, &f64)| at.map_or(0.0, |at| at - own);
        let squares = at.iter().zip(point).map(difference);
        let weight = 1.0 / squares.fold(self.reach * self.reach, |sum, difference| sum + difference * difference);
        weight * weight
    }
}

/// Returns the logarithm to base 2 of a positive number, with straight lines between the powers of
/// two; off by at most 0.09. Exported code computes it in the same steps without a library, and so
/// makes the same choices. Returns `None` for other numbers.
pub fn logarithm(number: f64) -> Option<f64> {
    if !(number > 0.0 && number.is_finite()) {
        return None;
    }
    let (mut rest, mut whole) = (number, 0.0);
    while rest >= 2.0 {
        rest /= 2.0;
        whole += 1.0;
    }
    while rest < 1.0 {
        rest *= 2.0;
        whole -= 1.0;
    }
    Some(whole + (rest - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_exact_at_powers_of_two_and_never_far_off() {
        for power in -40..40 {
            assert_eq!(logarithm(2f64.powi(power)), Some(f64::from(power)));
        }
        for at in 1..5000 {
            let number = f64::from(at) * 0.37;
            assert!((logarithm(number).unwrap() - number.log2()).abs() < 0.09);
        }
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(logarithm), [None; 4]);
    }

    #[test]
    fn a_short_reach_asks_the_nearest_and_a_long_one_all() {
        let inputs = [[64.0], [128.0], [4096.0]].map(|sizes| sizes.to_vec());
        let costs = [[1.0, 2.0], [1.0, 2.0], [1.5, 1.0]].map(|costs| costs.to_vec());
        let rule = |reach| Neighbours::fit(&inputs, &costs, Axes::Sizes, reach).unwrap();
        assert_eq!((rule(0.1).choose(&[100.0]), rule(0.1).choose(&[3000.0])), (0, 1));
        assert_eq!((rule(50.0).choose(&[100.0]), rule(50.0).choose(&[3000.0])), (0, 0));
        assert_eq!(rule(0.1).choose(&[f64::NAN]), 0, "without a size all count alike");
    }

    #[test]
    fn by_the_product_a_strip_is_near_a_square_of_its_area() {
        let inputs = [[256.0, 256.0], [2048.0, 2048.0]].map(|sizes| sizes.to_vec());
        let costs = [[1.0, 2.0], [2.0, 1.0]].map(|costs| costs.to_vec());
        let rule = Neighbours::fit(&inputs, &costs, Axes::Product, 0.5).unwrap();
        assert_eq!((rule.choose(&[2048.0, 32.0]), rule.choose(&[4096.0, 1024.0])), (0, 1));
    }

    #[test]
    fn parts_that_do_not_belong_together_make_no_rule() {
        let new = |reach, points: &[&[f64]], costs: &[&[f64]]| {
            let own = |rows: &[&[f64]]| rows.iter().map(|row| row.to_vec()).collect();
            Neighbours::new(Axes::Sizes, reach, own(points), own(costs))
        };
        assert!(new(1.0, &[&[1.0]], &[&[1.0]]).is_some());
        assert!(new(0.0, &[&[1.0]], &[&[1.0]]).is_none());
        assert!(new(1.0, &[], &[]).is_none());
        assert!(new(1.0, &[&[1.0], &[1.0, 2.0]], &[&[1.0], &[1.0]]).is_none());
        assert!(new(1.0, &[&[f64::NAN]], &[&[1.0]]).is_none());
        assert!(new(1.0, &[&[1.0][..]; 257], &[&[1.0][..]; 257]).is_none());
        assert!(new(1.0, &[&[1.0]], &[&[1.0; 65]]).is_none());
        assert!(Neighbours::fit(&[vec![0.0]], &[vec![1.0]], Axes::Sizes, 1.0).is_none());
        assert!(Neighbours::fit(&[vec![8.0]], &[vec![1.0]], Axes::Product, 1.0).is_none());
    }
}
