//! What a property of a kernel is a use of.

/// The property that every kernel has once: what a launch costs whatever it does.
pub const CONSTANT: &str = "const";

/// What begins the names of counts that say how much of a property is done where nothing else is, between barriers: it overlaps with
/// nothing.
pub const APART: &str = "apart:";

/// What properties begin with that count lanes of vectors or sub-groups, idle ones included, in place of what work-items do.
const OF_LANES: &str = "lane:";

/// What a property is a use of. Uses of memory and of the arithmetic units and waiting for results overlap; the rest adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Global memory and the caches before it: `g:...` and `cache:...`.
    Memory,
    /// The arithmetic units, and local memory beside them: `op:...`, `l:...` and what else is done by the work-items.
    Compute,
    /// Waiting for the results of operations before: `chains`.
    Latency,
    /// Launching, work-groups and barriers: `const`, `groups`, `barriers` and `waves`.
    Overhead,
}

impl Resource {
    /// What the property of this name uses.
    pub fn of(property: &str) -> Self {
        match property.strip_prefix(OF_LANES).unwrap_or(property).split(':').next() {
            Some("g" | "cache") => Self::Memory,
            Some("chains") => Self::Latency,
            Some(CONSTANT | "groups" | "barriers" | "waves") => Self::Overhead,
            _ => Self::Compute,
        }
    }
}

/// Whether the paper's model has the property (its section 2): global accesses, local loads, arithmetic on floating-point
/// numbers, barriers, work-groups and the constant.
pub fn is_published(property: &str) -> bool {
    let mut parts = property.split(':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("g"), ..) => true,
        (Some("l"), _, direction) => direction == Some("load"),
        (Some("op"), kind, _) => kind.is_some_and(|kind| kind.starts_with('f')),
        (Some(CONSTANT | "groups" | "barriers"), None, _) => true,
        _ => false,
    }
}

/// Whether it is a property, not how much of one is done [apart](APART).
pub(super) fn is_property(name: &str) -> bool {
    !name.starts_with(APART)
}

/// Whether the property counts what work-items do, and lanes are counted in its place where they are known.
pub(super) fn is_superseded(property: &str) -> bool {
    ["g:", "l:", "op:"].iter().any(|kind| property.starts_with(kind))
}

/// Whether the property counts lanes.
pub(super) fn is_of_lanes(property: &str) -> bool {
    property.starts_with(OF_LANES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_resource_and_whether_the_paper_has_the_property() {
        let of = |name: &str| (Resource::of(name), is_published(name));
        assert_eq!(of("g:32:load:s1"), (Resource::Memory, true));
        assert_eq!(of("cache:2"), (Resource::Memory, false));
        assert_eq!(of("l:32:load"), (Resource::Compute, true));
        assert_eq!(of("l:32:store"), (Resource::Compute, false));
        assert_eq!(of("op:f32:special:rsqrt"), (Resource::Compute, true));
        assert_eq!(of("op:int32:add"), (Resource::Compute, false));
        assert_eq!(of("lane:g:32:load:s1"), (Resource::Memory, false));
        assert_eq!(of("lane:l:32:load:s1"), (Resource::Compute, false));
        assert_eq!(of("chains"), (Resource::Latency, false));
        assert_eq!(of("barriers"), (Resource::Overhead, true));
        assert_eq!(of("waves"), (Resource::Overhead, false));
        assert_eq!(of(CONSTANT), (Resource::Overhead, true));
    }
}
