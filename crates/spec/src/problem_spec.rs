//! A problem as values: what is tuned, over which space, and by which rules.

use crate::fault::Key;
use crate::inputs::Inputs;
use crate::limit::Limit;
use crate::measure::Measure;
use crate::nest::NestKernel;
use crate::setting::{DeviceSetting, SettingValues};
use crate::subject::Subject;
use crate::tuning::{GridTable, Tuning};
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
    pub(crate) space: SpaceSpec,
    pub(crate) subject: Subject,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) verify: Verify,
    /// The problem at the further sizes at which a winner is verified.
    pub(crate) further: Vec<Further>,
    pub(crate) tuning: Tuning,
    pub(crate) measure: Measure,
    pub(crate) inputs: Option<Inputs>,
    pub(crate) keys: Keys,
}

/// The search space of a problem.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpaceSpec {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) constraints: Vec<Constraint>,
    /// The tuning parameters that set the device.
    pub(crate) settings: Vec<DeviceSetting>,
    /// The parameter that chooses among alternatives.
    pub(crate) choice: Option<String>,
    /// The space, if it was built before the problem.
    pub(crate) built: Option<Space>,
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
    /// Returns the problem of searching `space`, called `name`.
    pub fn of_space(name: String, space: &Space, sizes: Vec<(String, Value)>) -> Self {
        let space = SpaceSpec {
            parameters: space.parameters().to_vec(),
            constraints: space.constraints().to_vec(),
            built: Some(space.clone()),
            ..SpaceSpec::default()
        };
        Self { name, sizes, space, ..Self::default() }
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
        self.measure.flops.as_ref()
    }

    /// Returns the bytes that one launch moves, as an expression over sizes and parameters.
    pub fn bytes(&self) -> Option<&Expr> {
        self.measure.bytes.as_ref()
    }

    /// Returns the limits, in the user's order. A correct configuration that breaks one is infeasible.
    pub fn limits(&self) -> &[Limit] {
        &self.measure.limits
    }

    /// Returns the tuning parameters, in the user's order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.space.parameters
    }

    /// Returns the constraints, in the user's order.
    pub fn constraints(&self) -> &[Constraint] {
        &self.space.constraints
    }

    /// Returns the parameter that chooses among alternative kernels, if there are any.
    pub fn choice(&self) -> Option<&str> {
        self.space.choice.as_deref()
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
        self.measure.policy
    }

    /// Returns the rules for comparing configurations.
    pub fn judging(&self) -> &Judging {
        &self.measure.judging
    }

    /// Returns the metrics, each with its expression, in the user's order.
    pub fn metrics(&self) -> &[(String, String)] {
        &self.measure.metrics
    }

    /// Returns the tuning parameters that set the device.
    pub fn settings(&self) -> &[DeviceSetting] {
        &self.space.settings
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
        self.space.built.as_ref()
    }

    /// Returns the parts that state parameters, constraints and arguments.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Adds a constraint.
    #[must_use]
    pub fn with_constraint(mut self, constraint: Constraint) -> Self {
        self.space.constraints.push(constraint);
        self
    }

    /// Replaces the rules for measuring configurations.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.measure.policy = policy;
        self
    }

    /// Replaces the rules for comparing configurations.
    #[must_use]
    pub fn with_judging(mut self, judging: Judging) -> Self {
        self.measure.judging = judging;
        self
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
        let Some(setting) = spec.space.settings.iter_mut().find(|setting| setting.values != SettingValues::Known)
        else {
            return spec;
        };
        setting.values = SettingValues::Known;
        // No device has a clock twice, and at least one was found.
        if let Ok(parameter) = Parameter::new(setting.knob.name(), values.iter().map(|mhz| Value::Int(i64::from(*mhz))))
        {
            spec.keys.parameters.insert(parameter.name().to_string(), setting.key());
            spec.space.parameters.push(parameter);
        }
        let at = |further: &Further| Further { spec: further.spec.with_setting_values(values), ..further.clone() };
        spec.further = spec.further.iter().map(at).collect();
        spec
    }
}
