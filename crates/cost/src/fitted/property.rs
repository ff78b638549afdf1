//! The properties of kernels that cost time on a device.

use super::own_name::OwnName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use tunesmith_loopnest::{Memory, NestError, Operation, Property};

/// Prefix of the counts of the parts that are done apart.
const APART: &str = "apart:";
/// Prefix of the properties that count lanes.
const OF_LANES: &str = "lane:";
/// Prefix of the operations for which a processor waits.
const OF_WAITS: &str = "wait:";
/// Prefix of the properties of the user.
const OWN: &str = "own:";

/// A property of a kernel. Each unit of it costs a device some time.
///
/// Its text form stands in device files and JSON. Only [`FromStr`] and [`Display`](fmt::Display)
/// know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CostProperty {
    /// `const`: the fixed cost of a launch. Every kernel has it once.
    Constant,
    /// A property of the work of the work-items.
    Items(Property),
    /// `lane:...`: the same in lanes of vectors or sub-groups, including idle lanes.
    Lanes(Property),
    /// `chains`: operations that wait for earlier ones, over all work-items.
    Chains,
    /// `wait:arith:...`: operations for which a processor waits that runs work-items in program
    /// order, over all blocks of work-items.
    Waits(Property),
    /// `cache:...`: bytes of all arrays if they do not fit into a cache.
    Beyond(Cache),
    /// `own:RESOURCE:NAME`: a property of the user.
    Own(Resource, OwnName),
}

/// A level of the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cache {
    /// The fastest.
    First,
    /// The next.
    Second,
    /// The last before memory.
    Last,
}

impl Cache {
    /// Every level with its text.
    const ALL: [(&'static str, Self); 3] =
        [("cache:first", Self::First), ("cache:second", Self::Second), ("cache:last", Self::Last)];
}

/// The resource that a property uses. Memory, arithmetic and waiting for results overlap. The rest
/// adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Global memory and the caches before it.
    Memory,
    /// The arithmetic units, local memory, and all other work of the work-items.
    Compute,
    /// Waiting for the results of earlier operations.
    Latency,
    /// Launching, work-groups and barriers.
    Overhead,
}

impl Resource {
    /// Every resource with its text.
    const ALL: [(&'static str, Self); 4] = [
        ("memory", Self::Memory),
        ("compute", Self::Compute),
        ("latency", Self::Latency),
        ("overhead", Self::Overhead),
    ];

    /// Returns every resource.
    pub(crate) fn every() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().map(|(_, resource)| resource)
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Self::ALL.iter().find(|(_, known)| known == self).map_or("", |(text, _)| text);
        formatter.pad(text)
    }
}

impl CostProperty {
    /// Returns the resource that the property uses.
    pub fn resource(self) -> Resource {
        match self {
            Self::Constant => Resource::Overhead,
            Self::Chains | Self::Waits(_) => Resource::Latency,
            Self::Beyond(_) => Resource::Memory,
            Self::Own(resource, _) => resource,
            Self::Items(property) | Self::Lanes(property) => match property {
                Property::Global(..) | Property::LoadsAndStores(..) => Resource::Memory,
                Property::Atomic(_, _, Memory::Global, _) => Resource::Memory,
                Property::Groups | Property::Barriers => Resource::Overhead,
                _ => Resource::Compute,
            },
        }
    }

    /// Returns true if the paper's model has the property (its section 2): global accesses, local
    /// loads, arithmetic on floating-point numbers, barriers, work-groups and the constant.
    pub fn is_published(self) -> bool {
        match self {
            Self::Constant => true,
            Self::Items(property) => match property {
                Property::Operations(Operation::Convert(_), _) | Property::Atomic(..) => false,
                Property::Operations(_, kind) => kind.is_float(),
                Property::Groups | Property::Barriers => true,
                _ => self.is_superseded(),
            },
            Self::Lanes(_) | Self::Chains | Self::Waits(_) | Self::Beyond(_) | Self::Own(..) => false,
        }
    }

    /// Returns true if the property counts something that takes time by itself. The lesser of loads
    /// and stores only corrects these two.
    pub(super) fn is_operation(self) -> bool {
        !matches!(self, Self::Items(Property::LoadsAndStores(..)) | Self::Lanes(Property::LoadsAndStores(..)))
    }

    /// Returns true if lane counts replace the property where they are known.
    pub(super) fn is_superseded(self) -> bool {
        matches!(
            self,
            Self::Items(
                Property::Global(..)
                    | Property::LoadsAndStores(..)
                    | Property::LocalLoads(_)
                    | Property::StridedLocalLoads(..)
                    | Property::Operations(..)
                    | Property::Atomic(..)
            )
        )
    }

    /// Returns true if the property counts lanes.
    pub(super) fn is_of_lanes(self) -> bool {
        matches!(self, Self::Lanes(_))
    }

    /// Returns the properties in the order of their texts, without repetition.
    pub(super) fn sorted(properties: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let by_text: BTreeMap<String, Self> = properties.into_iter().map(|own| (own.to_string(), own)).collect();
        by_text.into_values().collect()
    }
}

impl fmt::Display for CostProperty {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => formatter.pad("const"),
            Self::Chains => formatter.pad("chains"),
            Self::Items(property) => formatter.pad(&property.to_string()),
            Self::Waits(property) => formatter.pad(&format!("{OF_WAITS}{property}")),
            Self::Lanes(property) => formatter.pad(&format!("{OF_LANES}{property}")),
            Self::Beyond(cache) => {
                let text = Cache::ALL.iter().find(|(_, known)| known == cache).map_or("", |(text, _)| text);
                formatter.pad(text)
            }
            Self::Own(resource, name) => formatter.pad(&format!("{OWN}{resource}:{}", name.text())),
        }
    }
}

impl FromStr for CostProperty {
    type Err = NestError;

    /// Parses the text of a property.
    ///
    /// # Errors
    ///
    /// Fails if no property has this text.
    fn from_str(text: &str) -> Result<Self, NestError> {
        match text {
            "const" => return Ok(Self::Constant),
            "chains" => return Ok(Self::Chains),
            _ => {}
        }
        if let Some((_, cache)) = Cache::ALL.iter().find(|(known, _)| *known == text) {
            return Ok(Self::Beyond(*cache));
        }
        if let Some((resource, name)) = text.strip_prefix(OWN).and_then(|own| own.split_once(':')) {
            let resource = Resource::ALL.iter().find(|(known, _)| *known == resource);
            if let Some(((_, resource), name)) = resource.zip(OwnName::new(name)) {
                return Ok(Self::Own(*resource, name));
            }
        }
        if let Some(property) = text.strip_prefix(OF_WAITS) {
            return property.parse().map(Self::Waits);
        }
        match text.strip_prefix(OF_LANES) {
            Some(property) => property.parse().map(Self::Lanes),
            None => text.parse().map(Self::Items),
        }
    }
}

impl TryFrom<String> for CostProperty {
    type Error = NestError;

    fn try_from(text: String) -> Result<Self, NestError> {
        text.parse()
    }
}

impl From<CostProperty> for String {
    fn from(property: CostProperty) -> Self {
        property.to_string()
    }
}

/// The counts of the properties of a kernel.
///
/// A part of a property may be done apart: between barriers, where nothing else is done. It
/// overlaps with nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, f64>", into = "BTreeMap<String, f64>")]
pub struct PropertyCounts {
    counts: BTreeMap<CostProperty, f64>,
    apart: BTreeMap<CostProperty, f64>,
}

impl PropertyCounts {
    /// Returns the count of a property. Every kernel has the constant once.
    pub fn of(&self, property: CostProperty) -> f64 {
        match property {
            CostProperty::Constant => 1.0,
            _ => self.counted(property),
        }
    }

    /// Returns the count of a property as set, without the constant.
    pub(crate) fn counted(&self, property: CostProperty) -> f64 {
        self.counts.get(&property).copied().unwrap_or(0.0)
    }

    /// Returns the part of the property that is done apart.
    pub fn apart(&self, property: CostProperty) -> f64 {
        self.apart.get(&property).map_or(0.0, |apart| apart.min(self.of(property)))
    }

    /// Sets the count of a property.
    pub fn set(&mut self, property: CostProperty, count: f64) {
        self.counts.insert(property, count);
    }

    /// Sets the part of a property that is done apart.
    pub fn set_apart(&mut self, property: CostProperty, count: f64) {
        self.apart.insert(property, count);
    }

    /// Returns the properties with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (CostProperty, f64)> {
        self.counts.iter().map(|(property, count)| (*property, *count))
    }

    /// Returns the counts with `change` applied to each, including parts that are done apart.
    pub(super) fn map(&self, change: impl Fn(CostProperty, f64) -> f64) -> Self {
        let changed = |counts: &BTreeMap<CostProperty, f64>| {
            counts.iter().map(|(property, count)| (*property, change(*property, *count))).collect()
        };
        Self { counts: changed(&self.counts), apart: changed(&self.apart) }
    }

    /// Returns the counts by their texts.
    pub(super) fn texts(&self) -> BTreeMap<String, f64> {
        let counts = self.counts.iter().map(|(property, count)| (property.to_string(), *count));
        counts.chain(self.apart.iter().map(|(property, count)| (format!("{APART}{property}"), *count))).collect()
    }
}

impl FromIterator<(CostProperty, f64)> for PropertyCounts {
    fn from_iter<I: IntoIterator<Item = (CostProperty, f64)>>(counts: I) -> Self {
        Self { counts: counts.into_iter().collect(), apart: BTreeMap::new() }
    }
}

impl From<PropertyCounts> for BTreeMap<String, f64> {
    fn from(counts: PropertyCounts) -> Self {
        counts.texts()
    }
}

impl TryFrom<BTreeMap<String, f64>> for PropertyCounts {
    type Error = NestError;

    fn try_from(texts: BTreeMap<String, f64>) -> Result<Self, NestError> {
        let mut counts = Self::default();
        for (text, count) in texts {
            match text.strip_prefix(APART) {
                Some(property) => counts.set_apart(property.parse()?, count),
                None => counts.set(text.parse()?, count),
            }
        }
        Ok(counts)
    }
}

/// Reads counts from texts of properties.
#[cfg(test)]
pub(crate) fn counts_of(texts: &[(&str, f64)]) -> PropertyCounts {
    texts.iter().map(|(text, count)| (text.parse::<CostProperty>().unwrap(), *count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_tell_the_resource_and_whether_the_paper_has_the_property() {
        let of = |text: &str| {
            let property: CostProperty = text.parse().unwrap();
            assert_eq!(property.to_string(), text);
            (property.resource(), property.is_published())
        };
        assert_eq!(of("g:32:load:s1"), (Resource::Memory, true));
        assert_eq!(of("g:32:min(load,store):3/>4"), (Resource::Memory, true));
        assert_eq!(of("cache:second"), (Resource::Memory, false));
        assert_eq!(of("l:32:load"), (Resource::Compute, true));
        assert_eq!(of("bank:32:store:2"), (Resource::Compute, false));
        assert_eq!(of("op:f32:rsqrt"), (Resource::Compute, true));
        assert_eq!(of("op:i32:add"), (Resource::Compute, false));
        assert_eq!(of("op:f32:from_i32"), (Resource::Compute, false));
        assert_eq!(of("lane:arith:i32:from_u8"), (Resource::Compute, false));
        assert_eq!(of("atomic:i32:add:g:data"), (Resource::Memory, false));
        assert_eq!(of("lane:atomic:f32:max:l:s0"), (Resource::Compute, false));
        assert_eq!(of("lane:g:32:load:s1"), (Resource::Memory, false));
        assert_eq!(of("lane:l:32:load:s1"), (Resource::Compute, false));
        assert_eq!(of("chains"), (Resource::Latency, false));
        assert_eq!(of("wait:arith:f64:fma"), (Resource::Latency, false));
        assert_eq!(of("barriers"), (Resource::Overhead, true));
        assert_eq!(of("const"), (Resource::Overhead, true));
        assert_eq!(of("own:latency:row_switches"), (Resource::Latency, false));
        assert!("own:time:x".parse::<CostProperty>().is_err() && "own:memory:".parse::<CostProperty>().is_err());
        assert!("waves".parse::<CostProperty>().is_err());
    }

    #[test]
    fn counts_are_read_as_they_are_written_in_the_order_of_their_texts() {
        let text = r#"{"apart:lane:g:32:load:s1":2.0,"g:128:load:s1":1.0,"g:32:load:s1":3.0,"lane:g:32:load:s1":4.0}"#;
        let counts: PropertyCounts = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&counts).unwrap(), text);
        assert_eq!(counts.apart("lane:g:32:load:s1".parse().unwrap()), 2.0);
        assert_eq!(counts.iter().count(), 3);
    }
}
