//! Reads the rules for comparing configurations: the part of `[measure]` that concerns several of
//! them.

use super::tree::{Node, Section};
use tunesmith_core::Judging;

/// The keys of `[measure]` that [`read`] understands.
pub(crate) const KEYS: &[&str] =
    &["racing", "racing_margin", "final", "final_share", "final_cap", "drift", "drift_share"];

/// Returns the rules: the defaults, replaced by those of the section.
pub(crate) fn read(section: &Section<'_>) -> Judging {
    let mut judging = Judging::default();
    if let (Some(racing), Some(margin)) = (&mut judging.racing, share(section, "racing_margin")) {
        racing.margin = margin;
    }
    if switched_off(section, "racing") {
        judging.racing = None;
    }
    if let Some(finals) = &mut judging.finals {
        finals.share = share(section, "final_share").unwrap_or(finals.share);
        finals.cap = section.get("final_cap").and_then(|node| node.seconds()).unwrap_or(finals.cap);
    }
    if let (Some(watch), Some(most)) = (&mut judging.drift, share(section, "drift_share")) {
        watch.share = most;
    }
    if switched_off(section, "drift") {
        judging.drift = None;
    }
    if switched_off(section, "final") {
        judging.finals = None;
    }
    judging
}

pub(crate) fn switched_off(section: &Section<'_>, key: &str) -> bool {
    section.get(key).and_then(|node| node.truth()) == Some(false)
}

/// Returns a number from 0 to 1.
fn share(section: &Section<'_>, key: &str) -> Option<f64> {
    let node: Node<'_> = section.get(key)?;
    let share = node.number()?;
    if (0.0..=1.0).contains(&share) {
        return Some(share);
    }
    node.error(format!("`{}` must lie between 0 and 1", node.name()), None);
    None
}
