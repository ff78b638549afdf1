//! The arguments of the kernels.

use crate::draft::{ArgumentDraft, ArgumentKindDraft};
use crate::fault::{Faults, Key};
use crate::values::Sizes;
use crate::verify::check_tolerance;
use tunesmith_core::Refusal;
use tunesmith_kernel::{Access, Argument, ArgumentKind, Fill, Image, Memory, Shape};
use tunesmith_space::{Expr, Parameter, did_you_mean, lookup};

/// The most bytes of an object: CUDA's limit of all arguments.
const MOST_BYTES: usize = 4096;

/// The largest alignment that can be asked for, in bytes: a huge page.
const MOST_ALIGNED: u64 = 2 << 20;

/// The names that expressions about arguments may use.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) sizes: Sizes<'a>,
    /// The tuning parameters.
    pub(crate) parameters: &'a [Parameter],
}

/// An argument with the part that states it.
pub(crate) type StatedArgument = (Argument, Key);

/// Returns the arguments.
pub(crate) fn arguments(drafts: &[ArgumentDraft], names: Names<'_>) -> Vec<StatedArgument> {
    let mut arguments: Vec<StatedArgument> = Vec::new();
    for draft in drafts {
        let Some(argument) = names.argument(draft) else { continue };
        if arguments.iter().any(|(known, _)| known.name == argument.name) {
            let remedy = "give each argument a name of its own; it need not be the function's".to_string();
            let text = format!("two arguments are called `{}`", argument.name);
            names.faults().error(draft.key.clone(), text, Some(remedy));
        }
        arguments.push((argument, draft.key.clone()));
    }
    arguments
}

impl Names<'_> {
    fn faults(&self) -> &Faults {
        self.sizes.faults
    }

    fn is_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name() == name)
    }

    fn is_size(&self, name: &str) -> bool {
        lookup(self.sizes.sizes, name).is_some()
    }

    fn argument(&self, draft: &ArgumentDraft) -> Option<Argument> {
        let kind = match &draft.kind {
            ArgumentKindDraft::Scalar(value) => ArgumentKind::Scalar(value.clone()),
            ArgumentKindDraft::Object(bytes) => self.object(bytes, &draft.key),
            ArgumentKindDraft::Local(shape) => ArgumentKind::Local { shape: shape.clone() },
            ArgumentKindDraft::Buffer { shape, fill, access, memory } => {
                self.check_fill(fill, &draft.key);
                let shape = self.shape(shape, fill, &draft.key.field("shape"));
                ArgumentKind::Buffer { shape: shape?, fill: fill.clone(), access: *access, memory: *memory }
            }
        };
        if let Some(tolerance) = &draft.tolerance {
            check_tolerance(tolerance, &draft.key, self.faults());
        }
        self.check_image(draft, &kind);
        self.check_symbol(draft, &kind);
        let argument =
            Argument { symbol: draft.symbol.clone(), ..Argument::new(draft.name.as_str(), draft.element, kind) };
        let align = draft.align.and_then(|align| self.align(align, &argument, draft.key.field("align")));
        Some(Argument { align: align.unwrap_or(argument.align), ..argument })
    }

    fn object(&self, bytes: &[u8], key: &Key) -> ArgumentKind {
        if bytes.is_empty() || bytes.len() > MOST_BYTES {
            let remedy = format!("it has 1 to {MOST_BYTES}; pass anything larger as a buffer");
            let text = format!("an object of {} bytes", bytes.len());
            self.faults().error(key.field("value"), text, Some(remedy));
        }
        ArgumentKind::Object(bytes.to_vec())
    }

    /// Returns the extents of a buffer. Those that depend on parameters stay expressions.
    fn shape(&self, extents: &[Expr], fill: &Fill, key: &Key) -> Option<Shape> {
        if !extents.iter().any(|expr| expr.names().iter().any(|name| self.is_parameter(&name.text))) {
            let extents = extents.iter().enumerate().map(|(at, extent)| self.extent(extent, &key.at(at)));
            return extents.collect::<Option<Vec<u64>>>().map(Shape::Fixed);
        }
        let known = |name: &str| self.is_parameter(name) || self.is_size(name);
        if let Some(name) = extents.iter().flat_map(Expr::names).find(|name| !known(&name.text)) {
            let text = format!("`{}` in the shape is neither a size nor a parameter", name.text);
            self.faults().error(key.clone(), text, None);
        }
        if let Fill::File(_) = fill {
            let remedy = "fill it by another rule, or give it the largest shape that a configuration needs".to_string();
            let text = "a file has one length, but this shape depends on the parameters";
            self.faults().error(key.clone(), text, Some(remedy));
        }
        Some(Shape::Varying(extents.to_vec()))
    }

    fn extent(&self, extent: &Expr, key: &Key) -> Option<u64> {
        let extent = self.sizes.integer(extent, key)?;
        let positive = u64::try_from(extent).ok().filter(|extent| *extent > 0);
        if positive.is_none() {
            let remedy = "extents are at least 1".to_string();
            self.faults().named(key.clone(), &format!("an extent of {extent} in "), "", Some(remedy));
        }
        positive
    }

    /// Checks the names of a generator.
    fn check_fill(&self, fill: &Fill, key: &Key) {
        let Fill::Generator(expression) = fill else { return };
        let is_known = |name: &str| name == "i" || self.is_size(name);
        if let Some(name) = expression.names().iter().find(|name| !is_known(&name.text)) {
            let known = || std::iter::once("i").chain(self.sizes.sizes.iter().map(|(name, _)| name.as_str()));
            let remedy = did_you_mean(&name.text, known())
                .unwrap_or_else(|| "a generator knows the sizes and `i`, the number of the element".to_string());
            let text = format!("`{}` in the generator is not known", name.text);
            self.faults().error(key.field("generator"), text, Some(remedy));
        }
    }

    /// Reports an image that no device has.
    fn check_image(&self, draft: &ArgumentDraft, kind: &ArgumentKind) {
        let ArgumentKind::Buffer { memory: Memory::Image(image), shape, .. } = kind else { return };
        let dimensions = match shape {
            Shape::Fixed(extents) => extents.len(),
            Shape::Varying(extents) => extents.len(),
        };
        if let Some(Refusal { text, remedy }) = Image::refusal(image, draft.element, dimensions) {
            self.faults().error(draft.key.field("memory"), text, remedy);
        }
    }

    /// Reports a variable that a CUDA kernel reads in place of a parameter, of an argument that is not in constant
    /// memory.
    fn check_symbol(&self, draft: &ArgumentDraft, kind: &ArgumentKind) {
        let Some(symbol) = &draft.symbol else { return };
        if !matches!(kind, ArgumentKind::Buffer { memory: Memory::Constant, access: Access::In, .. }) {
            let remedy = "write memory = \"constant\" and access = \"in\" as well".to_string();
            let text = format!("`{symbol}` is a variable in constant memory, and this argument is not");
            self.faults().error(draft.key.field("symbol"), text, Some(remedy));
        }
    }

    /// Returns the stated alignment of a buffer.
    fn align(&self, align: u64, argument: &Argument, key: Key) -> Option<usize> {
        let least = argument.element.size();
        if argument.is_value() {
            self.faults().error(key, "`align` has no meaning for a value", Some("remove it".to_string()));
        } else if !align.is_power_of_two() || align < least as u64 || align > MOST_ALIGNED {
            let remedy =
                format!("it is a power of two from {least}, the size of {}, to {MOST_ALIGNED}", argument.element);
            self.faults().named(key, "", format!(" cannot be {align}"), Some(remedy));
        }
        usize::try_from(align).ok()
    }
}
