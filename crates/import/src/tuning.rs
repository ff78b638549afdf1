//! Transformations of an imported nest, as tuning parameters.
//!
//! Every proposal is tried: it stays if the nest with it can be transformed, counted, and written in
//! C and OpenCL, with all of its options on and off.

use std::collections::BTreeSet;
use tunesmith_loopnest::{
    Access, Dialect, Instruction, LoopId, Memory, Nest, NestError, Recipe, Tag, Var, codegen, count,
};

/// A parameter of the transformations, with values to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuningParameter {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<i64>,
    /// Its value in the nest's text.
    pub default: i64,
}

/// A nest with its transformations.
#[derive(Clone, Debug)]
pub(crate) struct Tuned {
    pub(crate) text: String,
    pub(crate) parameters: Vec<TuningParameter>,
    /// The reason why the nest runs as one work-item, if it does.
    pub(crate) alone: Option<String>,
}

impl Tuned {
    /// Returns the nest with further parameters and transformations.
    fn with(&self, parameters: Vec<TuningParameter>, steps: &[String]) -> Self {
        let declared = parameters.iter().map(|own| format!("parameter {} = {}", own.name, own.default));
        let lines: Vec<String> = declared.chain(steps.iter().cloned()).collect();
        let text = format!("{}\n{}\n", self.text.trim_end(), lines.join("\n"));
        let parameters = self.parameters.iter().cloned().chain(parameters).collect();
        Self { text, parameters, alone: None }
    }

    /// Checks that every option works, alone and with the others.
    ///
    /// # Errors
    ///
    /// Fails with the refusal of the first one that does not.
    fn check(&self) -> Result<(), NestError> {
        let flags = self.parameters.iter().filter(|own| own.values == [0, 1]);
        let all: Vec<(&str, i64)> = flags.map(|own| (own.name.as_str(), 1)).collect();
        let each = all.iter().map(std::slice::from_ref);
        each.chain([&all[..], &[]]).try_for_each(|values| check(&self.applied(values)?))
    }

    fn applied(&self, values: &[(&str, i64)]) -> Result<Nest, NestError> {
        self.text.parse::<Recipe>()?.apply(values)
    }
}

/// Checks that a nest can be written in C and OpenCL, and counted.
fn check(nest: &Nest) -> Result<(), NestError> {
    codegen::source(nest, Dialect::C)?;
    codegen::source(nest, Dialect::OpenCl)?;
    count::count(nest).map(drop)
}

/// Returns the nest with the transformations that it admits.
///
/// # Errors
///
/// Fails if the text is not a nest, or if the nest cannot be written as code or counted.
pub(crate) fn tuned(text: &str) -> Result<Tuned, NestError> {
    let mut tuned = Tuned { text: text.to_string(), parameters: Vec::new(), alone: None };
    let nest = tuned.applied(&[])?;
    check(&nest)?;
    let common = common(&nest);
    let mut refusals = Vec::new();
    for (parameters, steps) in blocks(&nest, &common) {
        match keep(&mut tuned, parameters, &steps) {
            Ok(()) => break,
            Err(refused) => refusals.push(refused.message),
        }
    }
    let is_alone = tuned.parameters.is_empty();
    for (parameters, steps) in depths(&nest, &common, is_alone) {
        // What cannot be proved is left out.
        let _ = keep(&mut tuned, parameters, &steps);
    }
    let transformed = tuned.applied(&[])?;
    for (parameters, steps) in copies(&transformed) {
        let _ = keep(&mut tuned, parameters, &steps);
    }
    refuse_values(&mut tuned);
    // The last proposal asks for the least.
    tuned.alone = refusals.pop().filter(|_| is_alone);
    Ok(tuned)
}

/// Leaves out the values with which the nest cannot be transformed: a loop that starts at 1 has no
/// blocks of one iteration, for instance.
fn refuse_values(tuned: &mut Tuned) {
    let known = tuned.clone();
    for own in &mut tuned.parameters {
        let works = |value: &i64| known.applied(&[(own.name.as_str(), *value)]).is_ok_and(|nest| check(&nest).is_ok());
        own.values.retain(works);
    }
}

/// Adds parameters and transformations, if the nest admits them.
fn keep(tuned: &mut Tuned, parameters: Vec<TuningParameter>, steps: &[String]) -> Result<(), NestError> {
    let tried = tuned.with(parameters, steps);
    tried.check().map(|()| *tuned = tried)
}

/// Parameters and transformations that belong together.
type Proposal = (Vec<TuningParameter>, Vec<String>);

fn parameter(name: impl Into<String>, values: &[i64], default: i64) -> TuningParameter {
    TuningParameter { name: name.into(), values: values.to_vec(), default }
}

/// Returns the loops around all instructions, the outer ones first.
fn common(nest: &Nest) -> Vec<LoopId> {
    let mut all = nest.instructions.iter().map(|own| own.within.clone());
    let first = all.next().unwrap_or_default();
    nest.nesting(&all.fold(first, |common, own| &common & &own))
}

fn name(nest: &Nest, id: LoopId) -> &str {
    &nest.loop_at(id).name
}

/// Returns ways to give blocks of iterations to work-groups, the best first: two loops, or one.
fn blocks(nest: &Nest, common: &[LoopId]) -> Vec<Proposal> {
    let rows = || parameter("rows", &[1, 2, 4, 8, 16, 32], 8);
    let columns = || parameter("columns", &[4, 8, 16, 32, 64, 128], 32);
    // Neighbouring iterations of an outer loop rarely touch neighbouring cells. Their blocks are
    // work-groups, and a parameter makes them work-items as well.
    let of_one = |ids: &[LoopId]| {
        let are_innermost = ids.iter().all(|id| is_innermost(nest, *id));
        let when = if are_innermost { "" } else { "  when items = 1" };
        let steps = ids.iter().flat_map(|id| {
            let own = name(nest, *id);
            [
                format!("split {own} columns -> {own}_group, {own}_item"),
                format!("tag {own}_group group.0"),
                format!("tag {own}_item local.0{when}"),
            ]
        });
        let flag = (!are_innermost).then(|| parameter("items", &[0, 1], 0));
        (std::iter::once(columns()).chain(flag).collect(), steps.collect())
    };
    let one = |id: LoopId| of_one(&[id]);
    let two = |pair: &[LoopId]| {
        let (outer, inner) = (name(nest, pair[0]), name(nest, pair[1]));
        let steps = [
            format!("split {outer} rows -> {outer}_group, {outer}_item"),
            format!("split {inner} columns -> {inner}_group, {inner}_item"),
            format!("tag {inner}_group group.0"),
            format!("tag {outer}_group group.1"),
            format!("tag {inner}_item local.0"),
            format!("tag {outer}_item local.1"),
        ];
        (vec![rows(), columns()], steps.to_vec())
    };
    let several = common.is_empty().then(|| of_one(&outermost(nest).into_iter().collect::<Vec<_>>()));
    common.windows(2).map(two).chain(common.iter().map(|id| one(*id))).chain(several).collect()
}

/// Returns true if a loop is the innermost one of all of its instructions.
fn is_innermost(nest: &Nest, id: LoopId) -> bool {
    let own = nest.instructions.iter().filter(|own| own.within.contains(&id));
    own.map(|own| nest.nesting(&own.within).last().copied()).all(|last| last == Some(id))
}

/// Returns the outermost loop of each instruction.
fn outermost(nest: &Nest) -> BTreeSet<LoopId> {
    nest.instructions.iter().filter_map(|own| nest.nesting(&own.within).first().copied()).collect()
}

/// Returns blocks of innermost loops: of those that some instructions lack, or of all if the nest is
/// `alone`. Loops of sums always have blocks, which copies in local memory need. Others have them
/// only to be unrolled.
fn depths(nest: &Nest, common: &[LoopId], alone: bool) -> Vec<Proposal> {
    let last = |own: &Instruction| nest.nesting(&own.within).last().copied();
    let innermost: BTreeSet<LoopId> = nest.instructions.iter().filter_map(last).collect();
    let is_sum = |id: LoopId| {
        let own = nest.instructions.iter().filter(|own| last(own) == Some(id));
        own.flat_map(|own| &own.target.subscripts).all(|sum| !sum.uses(id))
    };
    let depth = |id: &LoopId| {
        let own = name(nest, *id);
        let (deep, unrolled) = (format!("depth_{own}"), format!("unroll_{own}"));
        let when = format!("when {unrolled} = 1");
        let of_split = if is_sum(*id) && !alone { "" } else { when.as_str() };
        let steps = [
            format!("split {own} {deep} -> {own}_block, {own}_item  {of_split}"),
            format!("tag {own}_item unroll  {when}"),
        ];
        let steps = steps.map(|step| step.trim_end().to_string()).to_vec();
        (vec![parameter(deep, &[4, 8, 16, 32], 8), parameter(unrolled, &[0, 1], 0)], steps)
    };
    innermost.iter().filter(|id| alone || !common.contains(id)).map(depth).collect()
}

/// Returns copies of what a work-group reads into local memory, for arrays that it reads more than
/// once.
fn copies(nest: &Nest) -> Vec<Proposal> {
    let read_only = nest.arrays_in(Memory::Global).filter(|id| !nest.uses(*id).0);
    let copy = |id| {
        let loads: Vec<(&Access, &BTreeSet<LoopId>)> = nest
            .instructions
            .iter()
            .flat_map(|own| own.value.loads().into_iter().map(move |(access, _)| (access, &own.within)))
            .filter(|(access, _)| access.array == id)
            .collect();
        let swept = |loop_id: &LoopId| {
            let own = nest.loop_at(*loop_id);
            let is_constant =
                || own.constraints.iter().all(|sum| sum.terms().all(|(var, _)| var == Var::Loop(*loop_id)));
            let is_block = matches!(own.tag, Tag::Local(_)) || own.name.ends_with("_item") || is_constant();
            is_block && loads.iter().any(|(access, _)| access.subscripts.iter().any(|sum| sum.uses(*loop_id)))
        };
        let sweep: Vec<LoopId> = nest.order.iter().copied().filter(swept).collect();
        let items = nest.order.iter().filter(|own| matches!(nest.loop_at(**own).tag, Tag::Local(_)));
        // If every work-item reads a cell of its own once, a copy only costs.
        let is_shared = items.clone().any(|own| !sweep.contains(own)) || loads.len() > 1;
        let moves =
            |axis: &usize| loads.iter().any(|(access, _)| sweep.iter().any(|own| access.subscripts[*axis].uses(*own)));
        let axes: Vec<usize> = (0..nest.array(id).shape.len()).filter(moves).collect();
        let width = items.clone().count();
        (is_shared && !sweep.is_empty() && width > 0 && !axes.is_empty()).then(|| {
            copied(
                &nest.array(id).name,
                &sweep.iter().map(|own| name(nest, *own)).collect::<Vec<_>>(),
                axes.len(),
                width,
            )
        })
    };
    read_only.filter_map(copy).collect()
}

/// Returns the steps that copy an array, whose `axes` move with the loops in `sweep`, by
/// work-groups with `width` axes.
fn copied(array: &str, sweep: &[&str], axes: usize, width: usize) -> Proposal {
    let flag = format!("copy_{array}");
    let when = format!("when {flag} = 1");
    let tile: Vec<String> = (0..axes).map(|axis| format!("{array}_{axis}")).collect();
    let mut steps =
        vec![format!("prefetch {array} sweep {} -> {array}_tile[{}]  {when}", sweep.join(", "), tile.join(", "))];
    let mut spread = |axis: &String, by: &str, tag: &str| {
        steps.push(format!("split {axis} {by} -> {axis}_block, {axis}_item  {when}"));
        steps.push(format!("tag {axis}_item {tag}  {when}"));
    };
    if let [.., last] = &tile[..] {
        spread(last, "columns", "local.0");
    }
    if let ([.., row, _], 2..) = (&tile[..], width) {
        spread(row, "rows", "local.1");
    }
    (vec![parameter(flag, &[0, 1], 0)], steps)
}
