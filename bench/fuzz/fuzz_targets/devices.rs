//! Device files and the properties that they count: each prints as a text that reads back the same,
//! and estimates are finite and not negative.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tunesmith_cost::{CostProperty, DeviceFile};
use tunesmith_fuzz::text;
use tunesmith_loopnest::{Property, Stride};

fuzz_target!(|input: &[u8]| {
    let Some(text) = text(input) else { return };
    for line in text.lines().take(4) {
        if let Ok(property) = line.parse::<CostProperty>() {
            assert_eq!(property.to_string().parse::<CostProperty>().expect("it was printed"), property);
        }
        if let Ok(property) = line.parse::<Property>() {
            assert_eq!(property.to_string().parse::<Property>().expect("it was printed"), property);
        }
        if let Ok(stride) = line.parse::<Stride>() {
            assert_eq!(stride.to_string().parse::<Stride>().expect("it was printed"), stride);
        }
    }
    let Ok(file) = DeviceFile::parse(text) else { return };
    let again = DeviceFile::parse(&file.text()).expect("a written file is read");
    assert_eq!(again, file);
    for model in &file.models {
        let domain = file.domain(model);
        for case in &file.cases {
            let seconds = model.seconds(&case.counts);
            assert!(!seconds.is_nan(), "an estimate that is no number");
            let _ = domain.estimate(&case.counts);
        }
    }
});
