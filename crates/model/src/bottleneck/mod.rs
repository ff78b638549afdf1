//! The expert system of counter-guided search. Counters become bottlenecks, and bottlenecks become
//! wanted changes of counters. The scores of configurations tell how well they bring these changes.
//!
//! Filipovic et al., Using hardware performance counters to speed up autotuning convergence on
//! GPUs, sections 3.5 and 3.6. All functions are pure: [`analyse`] (Eq. 6 to 14),
//! [`wanted_changes`] (Eq. 15), [`scores`] (Eq. 16) and [`weights`] (Eq. 17). Bottlenecks refer to
//! the device that is tuned. Changes refer to the counters of the device on which the counter model
//! was trained. The two devices may be of different [families](Family).
//!
//! ```
//! use tunesmith_model::bottleneck::{Bottleneck, Family, Readings, Rules, Size, Variant, analyse, wanted_changes};
//!
//! // The memory is 90 % busy, mostly reading.
//! let readings = Readings::from_pairs([("DRAM_U", 0.9), ("DRAM_RT", 3e6), ("DRAM_WT", 1e6)]);
//! let rules = Rules::of_run(Variant::Mended, &readings, &Family::VOLTA, Size::default());
//! assert_eq!(rules.reaction, 0.7);
//! let found = analyse(&readings, &Family::VOLTA, Size::default(), &rules).unwrap();
//! assert!((found.bottlenecks.get(Bottleneck::MemoryRead).unwrap() - 0.675).abs() < 1e-12);
//!
//! let changes = wanted_changes(&found.bottlenecks, &Family::VOLTA, &rules);
//! assert_eq!(changes[0].0.abbreviation(), "DRAM_RT");
//! assert!(changes[0].1 < 0.0, "fewer reads are wanted");
//! ```

mod analysis;
mod behind;
mod changes;
mod family;
mod quantity;
mod rules;
mod score;

pub use analysis::{Analysis, Bottleneck, Bottlenecks, NothingToAnalyse, Size, analyse};
pub use changes::wanted_changes;
pub use family::Family;
pub use quantity::{Quantity, Readings};
pub use rules::{Rules, Variant};
pub use score::{scores, weights};
