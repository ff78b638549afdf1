//! Decides if a sample was taken in the usual state of the device. Pure functions: states in,
//! decision out.

use std::collections::HashMap;
use tunesmith_backend::energy::Conditions;
use tunesmith_power::Setting;

/// The fraction of the highest clock seen below which a clock has dropped. Neighbouring steps of
/// GPU clocks are 15 MHz, or 1 %, apart. Kernels of different power settle a few steps apart.
const DROPPED: f64 = 0.9;

/// Maximum number of retaken samples of a configuration. If a state outlasts this, samples are
/// taken in it.
pub(crate) const MOST_RETAKES: usize = 4;

/// Remembers the usual state, from sample to sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    /// The highest clock seen in each setting of the device.
    highest_mhz: HashMap<Setting, f64>,
    /// The present setting.
    setting: Setting,
    retakes: usize,
}

impl Watch {
    /// Begins another configuration, for which the device was set to `setting`.
    pub(crate) fn begin(&mut self, setting: Setting) {
        self.setting = setting;
        self.retakes = 0;
    }

    /// Returns true if a sample that ended in this state must be retaken.
    pub(crate) fn is_suspicious(&mut self, conditions: &Conditions) -> bool {
        let highest = self.highest_mhz.entry(self.setting).or_default();
        let clock = conditions.clock_mhz.unwrap_or(*highest);
        let dropped = clock < DROPPED * *highest;
        *highest = highest.max(clock);
        let suspicious = (dropped || conditions.throttled == Some(true)) && self.retakes < MOST_RETAKES;
        self.retakes += usize::from(suspicious);
        if !suspicious && dropped && self.retakes == MOST_RETAKES {
            // The device has settled at another clock.
            *highest = clock;
        }
        suspicious
    }

    /// Returns the number of retaken samples of this configuration.
    pub(crate) fn retakes(&self) -> usize {
        self.retakes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(clock_mhz: f64) -> Conditions {
        Conditions { clock_mhz: Some(clock_mhz), ..Conditions::default() }
    }

    #[test]
    fn a_clock_that_dropped_is_suspicious_and_one_that_wavers_is_not() {
        let mut watch = Watch::default();
        let verdicts = [1980.0, 1965.0, 1500.0, 1980.0, 1800.0].map(|clock| watch.is_suspicious(&at(clock)));
        assert_eq!(verdicts, [false, false, true, false, false]);
        assert_eq!(watch.retakes(), 1);
    }

    #[test]
    fn a_throttled_sample_is_suspicious_whatever_its_clock() {
        let mut watch = Watch::default();
        let hot = Conditions { throttled: Some(true), ..at(1980.0) };
        assert!(watch.is_suspicious(&hot));
        assert!(!watch.is_suspicious(&Conditions { throttled: Some(false), ..hot }));
    }

    #[test]
    fn a_state_that_lasts_is_accepted_and_then_the_usual_one() {
        let mut watch = Watch::default();
        assert!(!watch.is_suspicious(&at(1980.0)));
        let taken_again = (0..20).filter(|_| watch.is_suspicious(&at(1200.0))).count();
        assert_eq!(taken_again, MOST_RETAKES);
        watch.begin(Setting::default());
        assert!(!watch.is_suspicious(&at(1200.0)), "the next configuration is not suspected");
    }

    #[test]
    fn a_clock_is_compared_with_those_of_the_same_setting() {
        let mut watch = Watch::default();
        for mhz in [1980, 900, 1980, 900] {
            watch.begin(Setting { clock_mhz: Some(mhz), power_limit_w: None });
            assert!(!watch.is_suspicious(&at(f64::from(mhz))));
        }
        assert!(watch.is_suspicious(&at(700.0)));
    }

    #[test]
    fn a_device_that_tells_nothing_is_never_suspected() {
        let mut watch = Watch::default();
        assert!((0..9).all(|_| !watch.is_suspicious(&Conditions::default())));
        assert!(!watch.is_suspicious(&at(1000.0)) && !watch.is_suspicious(&Conditions::default()));
    }
}
