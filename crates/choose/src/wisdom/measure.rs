//! Numbers that tell inputs apart: their sizes, their volume and their proportions.

/// A number of an input. The list of [`Measure::all`] gives each its place, by which trees name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A size, by its place among the features.
    Size(usize),
    /// The product of all sizes: the volume of the input, in proportion to the work of most
    /// kernels.
    Product,
    /// One size divided by another: the proportions of the input.
    Ratio(usize, usize),
}

/// Maximum number of sizes whose ratios are measures. More would have more ratios than inputs.
const MOST_RATIOS_OF: usize = 4;

impl Measure {
    /// Returns all measures of inputs with this number of sizes: the sizes, their product, and the
    /// ratios of each two. A single size has nothing to be multiplied with.
    pub fn all(sizes: usize) -> impl Iterator<Item = Self> + Clone {
        let product = (sizes > 1).then_some(Self::Product);
        let pairs = if sizes <= MOST_RATIOS_OF { sizes } else { 0 };
        let ratios = (0..pairs).flat_map(move |a| (a + 1..pairs).map(move |b| Self::Ratio(a, b)));
        (0..sizes).map(Self::Size).chain(product).chain(ratios)
    }

    /// Returns the number for an input with these sizes. A size that is missing gives NaN.
    pub fn of(self, sizes: &[f64]) -> f64 {
        let size = |at: usize| sizes.get(at).copied().unwrap_or(f64::NAN);
        match self {
            Self::Size(at) => size(at),
            Self::Product => sizes.iter().product(),
            Self::Ratio(a, b) => size(a) / size(b),
        }
    }

    /// Returns the measure as an expression over the names of the sizes, valid in C and in Rust.
    pub fn text(self, names: &[String]) -> String {
        match self {
            Self::Size(at) => names[at].clone(),
            Self::Product => names.join(" * "),
            Self::Ratio(a, b) => format!("{} / {}", names[a], names[b]),
        }
    }
}

/// Returns all measures of an input, in the order of [`Measure::all`].
pub(super) fn measures(sizes: &[f64]) -> Vec<f64> {
    Measure::all(sizes.len()).map(|measure| measure.of(sizes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_two_sizes_an_area_and_an_aspect() {
        let names = ["W".to_string(), "H".to_string()];
        let texts: Vec<String> = Measure::all(2).map(|measure| measure.text(&names)).collect();
        assert_eq!(texts, ["W", "H", "W * H", "W / H"]);
        assert_eq!(measures(&[1280.0, 240.0]), [1280.0, 240.0, 307_200.0, 1280.0 / 240.0]);
        assert_eq!([0, 1, 3, 4, 5].map(|sizes| Measure::all(sizes).count()), [0, 1, 7, 11, 6]);
        assert!(Measure::Ratio(0, 3).of(&[1.0]).is_nan());
    }
}
