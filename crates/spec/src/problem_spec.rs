//! A problem as values: what is tuned, over which space, and by which rules.

use crate::arguments::{self, Names, StatedArgument};
use crate::diagnostic::Level;
use crate::draft::{Draft, FurtherDraft, SubjectDraft};
use crate::fault::{Fault, Faults, Key};
use crate::inputs::Inputs;
use crate::limit::Limit;
use crate::nest::{self, NestKernel};
use crate::parameters::Dimensions;
use crate::setting::{DeviceSetting, SettingValues};
use crate::subject::Subject;
use crate::tuning::{GridTable, Tuning};
use crate::values::Sizes;
use crate::{checks, input_checks, kernels, verify};
use std::collections::HashMap;
use tunesmith_core::Judging;
use tunesmith_kernel::command::CommandSpec;
use tunesmith_kernel::measure::Policy;
use tunesmith_kernel::{Argument, Judge, Kernel, Verify};
use tunesmith_space::{Constraint, Expr, Parameter, Space, Value, lookup};

/// A problem: kernels, a loop nest or a command, the tuning parameters, and the rules for tuning them.
#[derive(Clone, Debug, Default)]
pub struct ProblemSpec {
    pub(crate) name: String,
    pub(crate) sizes: Vec<(String, Value)>,
    pub(crate) flops: Option<Expr>,
    pub(crate) bytes: Option<Expr>,
    pub(crate) metrics: Vec<(String, String)>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) constraints: Vec<Constraint>,
    /// The tuning parameters that set the device.
    pub(crate) settings: Vec<DeviceSetting>,
    pub(crate) choice: Option<String>,
    /// The space, if it was built before the problem.
    pub(crate) built: Option<Space>,
    pub(crate) subject: Subject,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) verify: Verify,
    /// The problem at the further sizes at which a winner is verified.
    pub(crate) further: Vec<Further>,
    pub(crate) tuning: Tuning,
    pub(crate) policy: Policy,
    pub(crate) judging: Judging,
    pub(crate) inputs: Option<Inputs>,
    pub(crate) keys: Keys,
}

/// A problem at further sizes.
#[derive(Clone, Debug)]
pub struct Further {
    /// The sizes, for messages.
    pub label: String,
    /// The problem there.
    pub spec: ProblemSpec,
}

/// The parts of the problem that state parameters, constraints and arguments, each by its name.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// Of the tuning parameters.
    pub parameters: HashMap<String, Key>,
    /// Of the constraints.
    pub constraints: HashMap<String, Key>,
    /// Of the arguments.
    pub arguments: HashMap<String, Key>,
}

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

    /// Returns the problem of searching `space`, called `name`.
    pub fn of_space(name: String, space: &Space, sizes: Vec<(String, Value)>) -> Self {
        Self {
            name,
            sizes,
            parameters: space.parameters().to_vec(),
            constraints: space.constraints().to_vec(),
            built: Some(space.clone()),
            ..Self::default()
        }
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
            flops: draft.flops.clone(),
            bytes: draft.bytes.clone(),
            metrics: draft.metrics.clone(),
            limits: draft.limits.clone(),
            parameters,
            constraints: dimensions.constraints.into_iter().map(|(one, _)| one).collect(),
            settings: dimensions.settings,
            choice: dimensions.choice,
            built: draft.built.clone(),
            subject,
            arguments,
            verify,
            further: Vec::new(),
            tuning: draft.tuning.clone(),
            policy: draft.policy,
            judging: draft.judging.clone(),
            inputs: draft.inputs.as_ref().map(|draft| input_checks::inputs(draft, sizes)),
            keys,
        };
        checks::check(&spec, faults);
        spec
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the named numbers for every expression, after overrides on the command line.
    pub fn sizes(&self) -> &[(String, Value)] {
        &self.sizes
    }

    /// Returns the value of a size.
    pub fn size(&self, name: &str) -> Option<Value> {
        lookup(&self.sizes, name)
    }

    /// Returns the floating-point operations of one launch, as an expression over sizes and parameters.
    pub fn flops(&self) -> Option<&Expr> {
        self.flops.as_ref()
    }

    /// Returns the bytes that one launch moves, as an expression over sizes and parameters.
    pub fn bytes(&self) -> Option<&Expr> {
        self.bytes.as_ref()
    }

    /// Returns the limits, in the user's order. A correct configuration that breaks one is infeasible.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// Returns the tuning parameters, in the user's order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the constraints, in the user's order.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Returns the parameter that chooses among alternative kernels, if there are any.
    pub fn choice(&self) -> Option<&str> {
        self.choice.as_deref()
    }

    /// Returns the kernels in their first languages, in the order in which they run. A loop nest is one kernel, in C.
    /// A problem without kernels and without a command can be tuned on synthetic devices only.
    pub fn kernels(&self) -> Vec<&Kernel> {
        self.subject.kernels().collect()
    }

    /// Returns the loop nest that the kernel is generated from, if any.
    pub fn nest(&self) -> Option<&NestKernel> {
        self.subject.nest()
    }

    /// Returns the command to tune in place of kernels, if any.
    pub fn command(&self) -> Option<&CommandSpec> {
        self.subject.command()
    }

    /// Returns the arguments of all kernels.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// Returns the rules for verifying outputs.
    pub fn verify(&self) -> &Verify {
        &self.verify
    }

    /// Returns the default settings for tuning the problem.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Returns the inputs that `tune --inputs` tunes the problem for.
    pub fn inputs(&self) -> Option<&Inputs> {
        self.inputs.as_ref()
    }

    /// Returns the rules for measuring configurations.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Returns the rules for comparing configurations.
    pub fn judging(&self) -> &Judging {
        &self.judging
    }

    /// Returns the metrics, each with its expression, in the user's order.
    pub fn metrics(&self) -> &[(String, String)] {
        &self.metrics
    }

    /// Returns the tuning parameters that set the device.
    pub fn settings(&self) -> &[DeviceSetting] {
        &self.settings
    }

    /// Returns what is tuned.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Returns the problem at the further sizes at which a winner is verified.
    pub fn further(&self) -> &[Further] {
        &self.further
    }

    /// Returns the space, if it was built before the problem.
    pub fn built(&self) -> Option<&Space> {
        self.built.as_ref()
    }

    /// Returns the parts that state parameters, constraints and arguments.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Adds a constraint.
    #[must_use]
    pub fn with_constraint(mut self, constraint: Constraint) -> Self {
        self.constraints.push(constraint);
        self
    }

    /// Replaces the rules for measuring configurations.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Replaces the rules for comparing configurations.
    #[must_use]
    pub fn with_judging(self, judging: Judging) -> Self {
        Self { judging, ..self }
    }

    /// Sets the function that decides about outputs in place of a comparison.
    #[must_use]
    pub fn with_judge(mut self, judge: Judge) -> Self {
        self.verify.judge = Some(judge);
        self
    }

    /// Replaces the tables that the strategy `grid` evaluates.
    #[must_use]
    pub fn with_grid(mut self, grid: Vec<GridTable>) -> Self {
        self.tuning.grid = grid;
        self
    }

    /// Returns the problem with values for the setting that awaits the device, at all its sizes.
    #[must_use]
    pub fn with_setting_values(&self, values: &[u32]) -> Self {
        let mut spec = self.clone();
        let Some(setting) = spec.settings.iter_mut().find(|setting| setting.values != SettingValues::Known) else {
            return spec;
        };
        setting.values = SettingValues::Known;
        // No device has a clock twice, and at least one was found.
        if let Ok(parameter) = Parameter::new(setting.knob.name(), values.iter().map(|mhz| Value::Int(i64::from(*mhz))))
        {
            spec.keys.parameters.insert(parameter.name().to_string(), setting.key());
            spec.parameters.push(parameter);
        }
        let at = |further: &Further| Further { spec: further.spec.with_setting_values(values), ..further.clone() };
        spec.further = spec.further.iter().map(at).collect();
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
