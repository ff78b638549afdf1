//! Writes the structure of a kernel's sizes.
//!
//! Two sizes in the wrong order choose wrong in silence, so that a value without a name must not
//! compile. C has no such structures, but its compilers do:
//!
//! - GCC refuses values without names for structures that are `designated_init`.
//! - In clang, the value would go to a member of an atomic structure before the size, which no number
//!   initialises. The braces of other structures may be left out.
//! - In C++, it would go to a member whose constructor from a value is deleted.
//!
//! C++ forbids to initialise a `double` with an integer between braces. There, a size is an object
//! that takes any number.

use crate::names::Names;
use std::fmt::Write as _;

/// Adds the structure of the sizes, if there are any.
pub(super) fn add(text: &mut String, names: &Names<'_>) {
    let Names { prefix, sizes, .. } = names;
    if sizes.is_empty() {
        return;
    }
    add_kinds(text, prefix);
    let member = |size: &String| format!("    {prefix}_size {size};\n");
    let members: String = sizes.iter().map(member).collect();
    let before = |size: &String| format!("    __extension__ _Atomic(struct {prefix}_name_the_sizes) _before_{size};\n");
    let between: String = sizes.iter().map(|size| before(size) + &member(size)).collect();
    let example: Vec<String> = sizes.iter().map(|size| format!(".{size} = ...")).collect();
    let _ = write!(
        text,
        "
/* The sizes of an input, in the order of the problem file. Name each of them, since values without
 * names do not compile: {{{}}}. A size that is left out is 0. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus)
#pragma GCC diagnostic error \"-Wdesignated-init\"
struct __attribute__((designated_init)) {prefix}_sizes {{
#else
struct {prefix}_sizes {{
#endif
#if defined(__clang__) && !defined(__cplusplus)
{between}#else
#ifdef __cplusplus
    {prefix}_name_the_sizes _by_name = {{}};
#endif
{members}#endif
}};
",
        example.join(", ")
    );
}

/// Adds the type of a size, and the type that stands before it.
fn add_kinds(text: &mut String, prefix: &str) {
    let _ = write!(
        text,
        "
#ifdef __cplusplus
/* A size, which takes any number. */
struct {prefix}_size {{
    double value;
    {prefix}_size() : value(0.0) {{}}
    template <typename Number> {prefix}_size(Number number) : value(static_cast<double>(number)) {{}}
    operator double() const {{ return value; }}
}};
/* Stands where a value without a name would go. */
struct {prefix}_name_the_sizes {{
    {prefix}_name_the_sizes() {{}}
    template <typename Value> {prefix}_name_the_sizes(Value) = delete;
}};
#else
typedef double {prefix}_size;
struct {prefix}_name_the_sizes {{
    char unused;
}};
#endif
"
    );
}
