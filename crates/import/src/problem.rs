//! The problem of an imported nest: it is verified against the function that it comes from.

use crate::Imported;
use crate::function::{Parameter, ParameterKind};

/// Maximum number of work-items of a work-group that every device runs.
const MOST_ITEMS: i64 = 1024;

impl Imported {
    /// Returns the text of a problem that tunes the nest in the file `nest`, at these values of its
    /// sizes. Results are compared with the function's, which `reference` calls.
    pub fn problem(&self, nest: &str, reference: &str, sizes: &[(String, i64)]) -> String {
        let sizes: Vec<String> = sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let mut text = format!(
            "# The loop nest of the function `{name}`. Its results are compared with those of the function.\n\
             [problem]\nname = \"{name}\"\nsizes = {{ {} }}\n\n[kernel]\nfile = \"{nest}\"\n",
            sizes.join(", "),
            name = self.function
        );
        if !self.tuning.is_empty() {
            let values = |values: &[i64]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            text += "\n[parameters]\n";
            self.tuning.iter().for_each(|own| text += &format!("{} = [{}]\n", own.name, values(&own.values)));
            let defaults: Vec<String> =
                self.tuning.iter().map(|own| format!("{} = {}", own.name, own.default)).collect();
            if ["rows", "columns"].iter().all(|name| self.tuning.iter().any(|own| own.name == *name)) {
                text += &format!(
                    "\n[constraints]\n\"a work-group has at most {MOST_ITEMS} work-items\" = \"rows * columns <= {MOST_ITEMS}\"\n"
                );
            }
            text += &format!("\n[tuning]\ndefault = {{ {} }}\n", defaults.join(", "));
        } else {
            text += "\n# No transformation is known for this nest: it has one variant.\n[parameters]\nvariant = [0]\n";
        }
        let arguments: Vec<String> = self.passed().map(|own| format!("\"{}\"", own.name)).collect();
        text + &format!(
            "\n[verify]\nreference = {{ file = \"{reference}\", function = \"{}\", arguments = [{}] }}\n",
            self.reference_name(),
            arguments.join(", ")
        )
    }

    /// Returns the text of a C file that calls the function in the file `source` with the sizes of
    /// the problem, which the problem defines as macros.
    pub fn reference(&self, source: &str) -> String {
        let sizes = self.parameters.iter().filter(|own| own.kind == ParameterKind::Size);
        let mut text = "/* Calls the imported function. The sizes are macros here; the function has parameters of\n   \
                        their names. */\n"
            .to_string();
        sizes.for_each(|own| text += &format!("enum {{ size_of_{0} = {0} }};\n#undef {0}\n", own.name));
        let declared = |own: &Parameter| match own.kind {
            ParameterKind::Argument => format!("{} {}", own.element.in_c(), own.name),
            _ => format!("void *{}", own.name),
        };
        let given = |own: &Parameter| match own.kind {
            ParameterKind::Size => format!("size_of_{}", own.name),
            ParameterKind::Unused => "0".to_string(),
            ParameterKind::Argument | ParameterKind::Array => own.name.clone(),
        };
        let declared: Vec<String> = self.passed().map(declared).collect();
        let given: Vec<String> = self.parameters.iter().map(given).collect();
        text + &format!(
            "#include \"{source}\"\n\nvoid {}({})\n{{\n    {}({});\n}}\n",
            self.reference_name(),
            declared.join(", "),
            self.function,
            given.join(", ")
        )
    }

    fn reference_name(&self) -> String {
        format!("{}_reference", self.function)
    }

    /// Returns the parameters that the nest has too, without the sizes.
    fn passed(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|own| matches!(own.kind, ParameterKind::Argument | ParameterKind::Array))
    }
}
