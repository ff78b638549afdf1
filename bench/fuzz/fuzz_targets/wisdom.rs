//! Wisdom in our format and Kernel Launcher's: what is read is written as the same, and a selector
//! answers every question with a configuration that the file holds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tunesmith_choose::wisdom::{Entry, Wisdom};
use tunesmith_choose::{Selector, WisdomFormat, append_wisdom, read_wisdom, wisdom_text};
use tunesmith_fuzz::files;

fuzz_target!(|input: &[u8]| {
    let path = files::write("in.wisdom", input);
    let Ok(file) = read_wisdom(&path) else { return };
    let wisdom = file.wisdom;
    for Entry { time_ms, input, .. } in &wisdom.entries {
        assert!(time_ms.is_finite() && *time_ms > 0.0, "a time of {time_ms} ms");
        assert!(input.values().all(|size| size.is_finite()));
    }
    reads_back(&wisdom, &WisdomFormat::Lines, true);
    let launcher = WisdomFormat::KernelLauncher { sizes: Vec::new() };
    if wisdom_text(&wisdom, &launcher).is_ok() {
        reads_back(&wisdom, &launcher, false);
    }
    assert!(wisdom_text(&wisdom, &WisdomFormat::Json { best: None }).is_ok());
    selects(&wisdom);
    if append_wisdom(&path, &wisdom.entries).is_ok() {
        let grown = read_wisdom(&path).expect("an appended file is read");
        assert_eq!(grown.wisdom.entries.len(), 2 * wisdom.entries.len());
    }
});

fn reads_back(wisdom: &Wisdom, format: &WisdomFormat, keeps_all: bool) {
    let text = wisdom_text(wisdom, format).expect("it was written before");
    let path = files::write("again.wisdom", text.as_bytes());
    let again = match read_wisdom(&path) {
        Ok(again) => again,
        Err(error) => panic!("written wisdom is refused: {error}\n{text}"),
    };
    assert!(again.flawed.is_empty(), "{:?}\n{text}", again.flawed);
    assert_eq!(again.wisdom.entries.len(), wisdom.entries.len());
    if keeps_all {
        assert_eq!(again.wisdom, *wisdom, "{text}");
    } else {
        assert_eq!(wisdom_text(&again.wisdom, format).expect("it was written before"), text);
    }
}

fn selects(wisdom: &Wisdom) {
    let selector = Selector::new(wisdom.clone());
    let kernels = wisdom.entries.iter().map(|entry| (&entry.kernel, &entry.device));
    let kernels = kernels.chain(wisdom.portfolios.iter().map(|known| (&known.kernel, &known.device)));
    for (kernel, device) in kernels.take(4) {
        for input in [&[][..], &[("n", 100.0), ("m", 0.0)], &[("n", f64::NAN)], &[("M", -1e300)]] {
            for device in [device.as_str(), "another"] {
                let choice = selector.select(kernel, device, input).expect("the kernel is known");
                let _ = choice.source.to_string();
                let entries = wisdom.entries.iter().map(|entry| &entry.config);
                let members = wisdom.portfolios.iter().flat_map(|portfolio| &portfolio.configs);
                let mut known = entries.chain(members).chain(wisdom.defaults.values());
                assert!(known.any(|config| config == choice.config), "an unknown configuration is chosen");
            }
        }
    }
}
