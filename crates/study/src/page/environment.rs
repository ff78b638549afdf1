//! The conditions of a run.

use tunesmith_problem::Metric;
use tunesmith_report::{count, date};
use tunesmith_store::{Header, arguments};

/// Returns labels and values: the settings, the identity of the run without its digests, which mean
/// nothing to readers, and the properties of the device.
pub(super) fn of(header: &Header, metric: &Metric) -> Vec<(String, String)> {
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let plain = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let identity = header.identity.iter().map(|(label, value)| (label.clone(), plain(value)));
    let history: Vec<String> = header.history.iter().map(|history| history.file.display().to_string()).collect();
    let features: Vec<String> = header.device_features.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let settings = [
        ("objective", metric.objective().to_string()),
        ("space", format!("{} configurations", count(&header.space_size))),
        ("sizes", arguments(&header.sizes).replace(',', ", ")),
        ("default", header.default.as_ref().map(arguments).unwrap_or_default()),
        ("strategy", header.strategy.clone()),
        ("seed", header.seed.to_string()),
        ("history", history.join(", ")),
        ("model", header.model.clone().unwrap_or_default()),
    ];
    let last = [
        ("properties", features.join(", ")),
        ("started", date(header.started)),
        ("tuned by", format!("Tunesmith {}", header.tunesmith)),
    ];
    let owned = |(label, value): (&str, String)| (label.to_string(), value);
    let identity = identity.filter(|(_, value)| !is_digest(value));
    let all = settings.into_iter().map(owned).chain(identity).chain(last.into_iter().map(owned));
    all.filter(|(_, value)| !value.is_empty()).collect()
}
