//! Tests of NVIDIA's libraries without a GPU. `scripts/nvidia-wheels` fetches the libraries, and
//! TUNESMITH_NVIDIA names their folder.

use crate::common;

use common::{nvidia, worker};
use std::path::Path;
use tunesmith_backend::cuda::ChipCounters;
use tunesmith_core::counters::VOLTA;
use tunesmith_device::counters;
use tunesmith_kernel::DeviceError;

fn of(chips: &[&str], libraries: &Path) -> Result<Vec<ChipCounters>, DeviceError> {
    let chips: Vec<String> = chips.iter().map(|chip| (*chip).to_owned()).collect();
    counters(&chips, Some(libraries), &worker())
}

#[test]
fn every_counter_of_the_table_is_there_from_turing_to_hopper() {
    let Some(libraries) = nvidia() else { return };
    for found in of(&["TU102", "GA100", "AD102", "GH100"], &libraries).unwrap() {
        assert_eq!(found.unavailable, [""; 0], "{}", found.chip);
        let names: Vec<&str> = found.counters.iter().map(|counter| counter.name.as_str()).collect();
        let table: Vec<&str> = VOLTA.counters.iter().map(|counter| counter.name).collect();
        assert_eq!(names, table, "{}", found.chip);
        assert!(found.counters.iter().all(|counter| counter.passes >= 1));
        // Far fewer than one pass each, because many counters fit into one pass.
        assert!((2..=10).contains(&found.passes), "{}: {} passes", found.chip, found.passes);
    }
}

#[test]
fn a_chip_that_is_not_known_is_told_with_one_that_is() {
    let Some(libraries) = nvidia() else { return };
    let error = |chip: &str| of(&[chip], &libraries).unwrap_err().to_string();
    assert_eq!(error("gh10"), "CUPTI knows no chip `gh10`; did you mean `GH100`?");
    assert!(error("quantum").contains("TU102"), "all are listed");
    assert!(error("GP104").contains("before Volta"));
}

#[test]
fn without_the_libraries_it_is_said_how_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("libnvperf_host.so"), "").unwrap();
    std::fs::write(folder.path().join("libcupti.so.13"), "no library").unwrap();
    let error = of(&["GH100"], folder.path()).unwrap_err();
    assert!(matches!(error, DeviceError::NoCounters { .. }));
    assert!(error.to_string().contains("scripts/nvidia-wheels"), "{error}");
}
