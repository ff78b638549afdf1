//! Makes a problem of its parts: checks them against each other, and evaluates what depends on the sizes alone.

use crate::arguments::{self, Names, StatedArgument};
use crate::diagnostic::Level;
use crate::draft::{Draft, FurtherDraft, SubjectDraft};
use crate::fault::{Fault, Faults, Key};
use crate::nest::{self, NestKernel};
use crate::parameters::Dimensions;
use crate::problem_spec::{Further, Keys, ProblemSpec, SpaceSpec};
use crate::subject::Subject;
use crate::values::Sizes;
use crate::{checks, input_checks, kernels, verify};
use tunesmith_kernel::Argument;
use tunesmith_space::{Parameter, Value, lookup};

impl ProblemSpec {
    /// Returns the problem of these parts, with the warnings about them.
    ///
    /// # Errors
    /// Parts contradict each other, or an expression over sizes cannot be evaluated. Every fault names its part.
    pub fn new(draft: &Draft) -> Result<(Self, Vec<Fault>), Vec<Fault>> {
        let faults = Faults::default();
        let spec = Self::of(draft, &faults);
        let further = if faults.have_errors() { Vec::new() } else { further(draft, &faults) };
        if faults.have_errors() { Err(faults.into_list()) } else { Ok((Self { further, ..spec }, faults.into_list())) }
    }

    /// Returns the problem, as far as its parts are right, without further sizes.
    fn of(draft: &Draft, faults: &Faults) -> Self {
        let sizes = Sizes { sizes: &draft.sizes, faults };
        let section = Key::of("problem").field("sizes");
        faults.refuse_twins(&section, draft.sizes.iter().map(|(name, _)| name.as_str()));
        let dimensions = Dimensions::new(draft, sizes);
        let parameters: Vec<Parameter> = dimensions.parameters.iter().map(|(one, _)| one.clone()).collect();
        let names = Names { sizes, parameters: &parameters };
        let stated = arguments::arguments(&draft.arguments, names);
        let (subject, stated) = subject(draft, &dimensions, stated, sizes);
        let keys = Keys::new(&dimensions, &stated);
        let arguments: Vec<Argument> = stated.into_iter().map(|(argument, _)| argument).collect();
        let mut verify = verify::verify(&draft.verify, &arguments, sizes);
        let own = draft.arguments.iter();
        verify.tolerances = own.filter_map(|one| Some((one.name.clone(), one.tolerance?))).collect();
        if verify.reference.is_none() && verify.expected.is_empty() {
            verify.reference = subject.nest().map(NestKernel::reference);
        }
        let spec = Self {
            name: draft.name.clone(),
            sizes: draft.sizes.clone(),
            space: SpaceSpec {
                parameters,
                constraints: dimensions.constraints.into_iter().map(|(one, _)| one).collect(),
                settings: dimensions.settings,
                choice: dimensions.choice,
                built: draft.space.built.clone(),
            },
            subject,
            arguments,
            verify,
            further: Vec::new(),
            tuning: draft.tuning.clone(),
            measure: draft.measure.clone(),
            inputs: draft.inputs.as_ref().map(|draft| input_checks::inputs(draft, sizes)),
            keys,
        };
        checks::check(&spec, faults);
        spec
    }
}

impl Keys {
    fn new(dimensions: &Dimensions, arguments: &[StatedArgument]) -> Self {
        let mut keys = Self::default();
        for (parameter, key) in &dimensions.parameters {
            keys.parameters.entry(parameter.name().to_string()).or_insert_with(|| key.clone());
        }
        for (constraint, key) in &dimensions.constraints {
            keys.constraints.entry(constraint.name().to_string()).or_insert_with(|| key.clone());
        }
        keys.arguments = arguments.iter().map(|(argument, key)| (argument.name.clone(), key.clone())).collect();
        keys
    }
}

/// Returns the subject, with the arguments of its kernels.
fn subject(
    draft: &Draft,
    dimensions: &Dimensions,
    stated: Vec<StatedArgument>,
    sizes: Sizes<'_>,
) -> (Subject, Vec<StatedArgument>) {
    let arguments = || -> Vec<Argument> { stated.iter().map(|(argument, _)| argument.clone()).collect() };
    let subject = match &draft.subject {
        SubjectDraft::None => Subject::None,
        SubjectDraft::Command(command) => Subject::Command(command.clone()),
        SubjectDraft::Kernels(kernels) => Subject::Kernels(kernels::sequence(kernels, &arguments(), sizes.faults)),
        SubjectDraft::Alternatives(alternatives) => {
            Subject::Kernels(kernels::of_alternatives(alternatives, &arguments(), sizes.faults))
        }
        SubjectDraft::Nest(nest) => {
            let Some((nest, arguments)) = nest::read(nest, sizes, stated) else { return Default::default() };
            nest::check_parameters(&nest, &dimensions.parameters, sizes.faults);
            return (Subject::of_nest(nest), arguments);
        }
    };
    (subject, stated)
}

/// Returns the problem at each of the further sizes.
fn further(draft: &Draft, faults: &Faults) -> Vec<Further> {
    if matches!(draft.subject, SubjectDraft::Command(_)) {
        return Vec::new();
    }
    let sizes = Sizes { sizes: &draft.sizes, faults };
    let at = |further: &FurtherDraft| {
        if !further.sizes.iter().all(|(name, _)| sizes.knows(name, further.key.field(name).label())) {
            return None;
        }
        let label =
            further.sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
        let value = |(name, own): &(String, Value)| (name.clone(), lookup(&further.sizes, name).unwrap_or(own.clone()));
        let other = Draft { sizes: draft.sizes.iter().map(value).collect(), ..draft.clone() };
        // Its faults belong to the entry: at the problem's own sizes there are none.
        let own = Faults::default();
        let spec = ProblemSpec::of(&other, &own);
        match own.into_list().into_iter().find(|fault| fault.level == Level::Error) {
            None => Some(Further { label, spec }),
            Some(fault) => {
                let text = format!("at {label}: {}", fault.text(&fault.key.name()));
                faults.error(further.key.clone(), text, None);
                None
            }
        }
    };
    draft.verify.sizes.iter().filter_map(at).collect()
}
