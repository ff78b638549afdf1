//! Texts of options: stop conditions, strategies, objectives, devices, element types. Each prints as a
//! text that parses as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tunesmith_core::{Stop, Target};
use tunesmith_device::DeviceChoice;
use tunesmith_kernel::ElementType;
use tunesmith_fuzz::text;
use tunesmith_search::StrategySpec;

fuzz_target!(|input: &[u8]| {
    let Some(text) = text(input) else { return };
    if let Ok(stop) = text.parse::<Stop>() {
        let printed = stop.to_string();
        match printed.parse::<Stop>() {
            Ok(again) => assert_eq!(again.to_string(), printed, "printed again, it differs"),
            Err(error) => panic!("`{printed}`, printed from `{text}`, is refused: {error}"),
        }
    }
    if let Ok(spec) = text.parse::<StrategySpec>() {
        assert_eq!(spec.to_string().parse::<StrategySpec>().expect("it was printed"), spec);
    }
    if let Ok(target) = text.parse::<Target>() {
        assert_eq!(target.to_string().parse::<Target>().expect("it was printed"), target);
    }
    match text.parse::<DeviceChoice>() {
        Ok(choice) => {
            let again = choice.to_string().parse::<DeviceChoice>().expect("it was printed");
            assert_eq!(again.to_string(), choice.to_string());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(element) = ElementType::parse(text) {
        assert_eq!(element.to_string(), text);
        assert!(element.size().is_power_of_two());
    }
});
