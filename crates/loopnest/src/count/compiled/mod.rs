//! Counts that are ready to be evaluated for many sizes.

mod formula;

use super::collect::{Collected, Strided};
use super::depth::Depth;
use super::factors::{Factors, Product, number};
use super::floors::Floors;
use super::polynomial::Polynomial;
use super::property::{Property, Stride};
use crate::error::NestError;
use crate::ir::{Affine, Direction, Nest, Var};
use crate::number::lcm;
use std::collections::BTreeSet;

/// A sum of slots. The slots hold the sizes, then the floors.
#[derive(Clone, Debug)]
struct Sum {
    terms: Vec<(usize, i128)>,
    offset: i128,
}

/// Monomials over slots with integer coefficients and a common denominator.
#[derive(Clone, Debug)]
struct Terms {
    monomials: Vec<(i128, Vec<usize>)>,
    denominator: i128,
}

#[derive(Clone, Debug)]
struct Case {
    conditions: Vec<Sum>,
    count: Terms,
}

/// A product with the place of its property.
#[derive(Clone, Debug)]
struct Placed {
    place: usize,
    product: Product,
}

/// Accesses whose stride fraction depends on the sizes.
#[derive(Clone, Debug)]
struct Open {
    distance: Terms,
    footprint: Option<(Product, Product)>,
    /// The strides that they may have, with the places of those properties.
    strides: Vec<(Stride, usize)>,
    count: Vec<Product>,
}

/// The counts of a nest's properties as functions of its sizes.
#[derive(Clone, Debug)]
pub struct Counts {
    properties: Vec<Property>,
    sizes: Vec<String>,
    floors: Vec<(Sum, i128)>,
    factors: Vec<Vec<Case>>,
    fixed: Vec<Placed>,
    open: Vec<Open>,
    /// Places of the loads, the stores and the lesser of both.
    lesser: Vec<[usize; 3]>,
    /// The longest chain, with the place of its property.
    chain: Option<(usize, Depth)>,
}

impl Counts {
    pub(super) fn new(nest: &Nest, collected: &Collected) -> Self {
        let slots = Slots { sizes: nest.sizes.len() };
        let properties = properties(collected);
        let place = |property: Property| properties.binary_search(&property).unwrap_or(0);
        let mut fixed = Vec::new();
        for (property, products) in &collected.fixed {
            let placed = |product: &Product| Placed { place: place(*property), product: product.clone() };
            fixed.extend(products.iter().map(placed));
        }
        let open = collected.strided.iter().map(|strided| Open {
            distance: slots.terms(&strided.distance),
            footprint: strided.footprint.clone(),
            strides: strides(strided)
                .into_iter()
                .map(|stride| (stride, place(Property::Global(strided.bits, strided.direction, stride))))
                .collect(),
            count: strided.count.clone(),
        });
        let both = |property: &Property| match *property {
            Property::LoadsAndStores(bits, stride) => Some([
                place(Property::Global(bits, Direction::Load, stride)),
                place(Property::Global(bits, Direction::Store, stride)),
                place(*property),
            ]),
            _ => None,
        };
        Counts {
            fixed,
            open: open.collect(),
            lesser: properties.iter().filter_map(both).collect(),
            chain: collected.chain.as_ref().map(|chain| (place(Property::Chain), chain.clone())),
            properties,
            ..Counts::of_factors(nest, &collected.factors)
        }
    }

    /// Compiles factors alone, for [`Counts::evaluate_factors`]. They have no properties.
    pub(super) fn of_factors(nest: &Nest, factors: &Factors) -> Self {
        let slots = Slots { sizes: nest.sizes.len() };
        let case = |piece: &super::points::Piece| Case {
            conditions: piece.conditions.iter().map(|sum| slots.sum(sum)).collect(),
            count: slots.terms(&piece.count),
        };
        Counts {
            sizes: nest.sizes.clone(),
            floors: slots.floors(&factors.floors),
            factors: factors.pieces.iter().map(|pieces| pieces.iter().map(case).collect()).collect(),
            properties: Vec::new(),
            fixed: Vec::new(),
            open: Vec::new(),
            lesser: Vec::new(),
            chain: None,
        }
    }

    /// Returns the properties with a count for some sizes, in the order of [`Counts::evaluate`].
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Returns the count of every property for these sizes. It does not check that the sizes
    /// satisfy the nest's assumptions: see [`Nest::admits`].
    ///
    /// Cost: a few hundred nanoseconds.
    ///
    /// # Errors
    ///
    /// Fails if the number of sizes is wrong or a count exceeds 128 bits.
    pub fn evaluate(&self, sizes: &[i64]) -> Result<Vec<i128>, NestError> {
        self.check_number(sizes)?;
        self.values(sizes).ok_or_else(overflow)
    }

    /// Returns the value of every factor, by its number.
    pub(super) fn evaluate_factors(&self, sizes: &[i64]) -> Result<Vec<i128>, NestError> {
        self.check_number(sizes)?;
        self.slots(sizes).and_then(|slots| self.factors(&slots)).ok_or_else(overflow)
    }

    fn check_number(&self, sizes: &[i64]) -> Result<(), NestError> {
        if sizes.len() == self.sizes.len() {
            return Ok(());
        }
        let names = self.sizes.join(", ");
        Err(NestError::new(format!("{} values for the sizes {names}", sizes.len())))
    }

    /// Returns the values of sizes and floors.
    fn slots(&self, sizes: &[i64]) -> Option<Vec<i128>> {
        let mut slots: Vec<i128> = Vec::with_capacity(sizes.len() + self.floors.len());
        slots.extend(sizes.iter().map(|size| i128::from(*size)));
        for (numerator, divisor) in &self.floors {
            slots.push(numerator.at(&slots)?.div_euclid(*divisor));
        }
        Some(slots)
    }

    fn factors(&self, slots: &[i128]) -> Option<Vec<i128>> {
        let mut factors = Vec::with_capacity(self.factors.len());
        for cases in &self.factors {
            let mut count: i128 = 0;
            for case in cases {
                if case.holds(slots)? {
                    count = count.checked_add(case.count.at(slots)?)?;
                }
            }
            factors.push(count);
        }
        Some(factors)
    }

    fn values(&self, sizes: &[i64]) -> Option<Vec<i128>> {
        let slots = self.slots(sizes)?;
        let factors = self.factors(&slots)?;
        let mut values = vec![0_i128; self.properties.len()];
        for Placed { place, product } in &self.fixed {
            values[*place] = values[*place].checked_add(product.at(&factors)?)?;
        }
        for open in &self.open {
            let place = open.place(&slots, &factors)?;
            for product in &open.count {
                values[place] = values[place].checked_add(product.at(&factors)?)?;
            }
        }
        for [loads, stores, lesser] in &self.lesser {
            values[*lesser] = values[*loads].min(values[*stores]);
        }
        if let Some((place, chain)) = &self.chain {
            values[*place] = chain.at(&factors)?;
        }
        Some(values)
    }
}

pub(super) fn overflow() -> NestError {
    NestError::new("a count exceeds 128 bits").remedy("give smaller sizes")
}

/// Returns the strides that accesses may have: those of their distance, or all if the distance
/// depends on sizes.
fn strides(strided: &Strided) -> Vec<Stride> {
    match number(&strided.distance) {
        Some(distance) => Stride::of_distance(distance.abs()),
        None => (0..=5).flat_map(Stride::of_distance).collect(),
    }
}

fn properties(collected: &Collected) -> Vec<Property> {
    let mut all: BTreeSet<Property> = collected.fixed.keys().copied().collect();
    all.extend(collected.chain.as_ref().map(|_| Property::Chain));
    for strided in &collected.strided {
        all.extend(
            strides(strided).into_iter().map(|stride| Property::Global(strided.bits, strided.direction, stride)),
        );
    }
    let both: Vec<Property> = all
        .iter()
        .filter_map(|property| match *property {
            Property::Global(bits, Direction::Load, stride) => Some((bits, stride)),
            _ => None,
        })
        .filter(|(bits, stride)| all.contains(&Property::Global(*bits, Direction::Store, *stride)))
        .map(|(bits, stride)| Property::LoadsAndStores(bits, stride))
        .collect();
    all.extend(both);
    all.into_iter().collect()
}

impl Open {
    fn place(&self, slots: &[i128], factors: &[i128]) -> Option<usize> {
        if let [(_, place)] = self.strides[..] {
            return Some(place);
        }
        let distance = self.distance.at(slots)?.abs();
        let (touched, filled) = match &self.footprint {
            Some((touched, filled)) => (touched.at(factors)?, filled.at(factors)?),
            None => (1, 1),
        };
        let stride = Stride::classify(distance, touched, filled);
        self.strides.iter().find(|(known, _)| *known == stride).map(|(_, place)| *place)
    }
}

impl Product {
    pub(super) fn at(&self, factors: &[i128]) -> Option<i128> {
        self.factors.iter().try_fold(self.coefficient, |product, factor| product.checked_mul(factors[*factor]))
    }
}

impl Sum {
    fn at(&self, slots: &[i128]) -> Option<i128> {
        self.terms
            .iter()
            .try_fold(self.offset, |sum, (slot, factor)| sum.checked_add(factor.checked_mul(slots[*slot])?))
    }
}

impl Terms {
    fn at(&self, slots: &[i128]) -> Option<i128> {
        let sum = self.monomials.iter().try_fold(0_i128, |sum, (coefficient, variables)| {
            let term = variables.iter().try_fold(*coefficient, |product, slot| product.checked_mul(slots[*slot]))?;
            sum.checked_add(term)
        })?;
        // Counts are integers wherever their conditions hold.
        Some(sum / self.denominator)
    }
}

impl Case {
    fn holds(&self, slots: &[i128]) -> Option<bool> {
        for condition in &self.conditions {
            if condition.at(slots)? < 0 {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// The places of sizes and floors.
struct Slots {
    sizes: usize,
}

impl Slots {
    fn slot(&self, variable: Var) -> usize {
        match variable {
            Var::Size(id) => id.0,
            Var::Floor(floor) => self.sizes + floor,
            Var::Loop(_) | Var::Lookup(_) => {
                unreachable!("all loops are summed, and bounds that depend on data are refused")
            }
        }
    }

    fn sum(&self, sum: &Affine) -> Sum {
        let terms = sum.terms().map(|(variable, coefficient)| (self.slot(variable), coefficient)).collect();
        Sum { terms, offset: sum.offset() }
    }

    fn terms(&self, polynomial: &Polynomial) -> Terms {
        let denominator = polynomial.terms().map(|(_, ratio)| ratio.denominator).fold(1, lcm);
        let monomials = polynomial.terms().map(|(monomial, ratio)| {
            let repeated = |(variable, power): &(Var, u32)| std::iter::repeat_n(self.slot(*variable), *power as usize);
            (ratio.numerator * (denominator / ratio.denominator), monomial.iter().flat_map(repeated).collect())
        });
        Terms { monomials: monomials.collect(), denominator }
    }

    fn floors(&self, floors: &Floors) -> Vec<(Sum, i128)> {
        floors.known().iter().map(|(numerator, divisor)| (self.sum(numerator), *divisor)).collect()
    }
}
