//! Types of elements under the names of other systems.

use tunesmith_kernel::ElementType;

/// Returns the type that `name` stands for in `names`, which are pairs of their name and ours. A
/// number behind the name is that of the lanes: `float4`.
pub(crate) fn element_type(name: &str, names: &[(&str, &str)]) -> Option<ElementType> {
    let ours = |name: &str| names.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours);
    if let Some(ours) = ours(name) {
        return ElementType::parse(ours).ok();
    }
    let scalar = name.trim_end_matches(|c: char| c.is_ascii_digit());
    ElementType::parse(&format!("{}x{}", ours(scalar)?, &name[scalar.len()..])).ok()
}
