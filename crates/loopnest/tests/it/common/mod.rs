//! Random nests, small enough to be enumerated.

use proptest::prelude::*;
use tunesmith_loopnest::{
    Access, Affine, Comparison, Expr, Function, LoopId, Memory, Nest, NestBuilder, Operator, SizeId, Type, Var,
};

/// The bounds of a loop. Numbers choose among their shapes.
#[derive(Clone, Debug)]
pub(crate) struct LoopPlan {
    pub(crate) lower: u8,
    pub(crate) upper: u8,
    pub(crate) offset: i64,
}

/// An instruction: its depth, and the parts of its subscripts and its value.
#[derive(Clone, Debug)]
pub(crate) struct InstructionPlan {
    pub(crate) depth: usize,
    pub(crate) subscripts: [u8; 2],
    pub(crate) value: Vec<u8>,
}

/// A nest to be built.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) loops: Vec<LoopPlan>,
    pub(crate) instructions: Vec<InstructionPlan>,
}

prop_compose! {
    fn loop_plan()(lower in 0_u8..5, upper in 0_u8..8, offset in -2_i64..5) -> LoopPlan {
        LoopPlan { lower, upper, offset }
    }
}

prop_compose! {
    fn instruction_plan()(
        depth in 0_usize..4,
        subscripts in any::<[u8; 2]>(),
        value in prop::collection::vec(any::<u8>(), 1..8),
    ) -> InstructionPlan {
        InstructionPlan { depth, subscripts, value }
    }
}

prop_compose! {
    /// Returns up to three nested loops and a few instructions in them.
    pub(crate) fn plans()(
        loops in prop::collection::vec(loop_plan(), 1..4),
        instructions in prop::collection::vec(instruction_plan(), 1..5),
    ) -> Plan {
        Plan { loops, instructions }
    }
}

/// Subscripts stay below this for sizes up to 7.
const REACH: i64 = 128;

struct Handles {
    sizes: [SizeId; 2],
    loops: Vec<LoopId>,
    /// In single precision, in double precision, and the temporary.
    arrays: [tunesmith_loopnest::ArrayId; 3],
    /// Of `i32`, `u8` and `f16`.
    others: [tunesmith_loopnest::ArrayId; 3],
    /// Integers that are only updated atomically.
    total: tunesmith_loopnest::ArrayId,
}

/// Returns the nest of a plan: sizes `n` and `m`, arrays of several types that are large enough for every
/// subscript.
pub(crate) fn build(plan: &Plan) -> Nest {
    let mut build = NestBuilder::new("random");
    let sizes = [build.size("n"), build.size("m")];
    sizes.iter().for_each(|size| build.assume(Affine::from(*size).plus(-1)));
    let extent = Affine::constant(i128::from(REACH));
    let one = build.array("one", Type::F32, Memory::Global, vec![extent.clone()]);
    let two = build.array("two", Type::F64, Memory::Global, vec![extent.clone(), extent]);
    let acc = build.array("acc", Type::F32, Memory::Private, Vec::new());
    let others = [("whole", Type::I32), ("byte", Type::U8), ("half", Type::F16)];
    let others = others.map(|(name, kind)| build.array(name, kind, Memory::Global, vec![REACH.into()]));
    let total = build.array("total", Type::I32, Memory::Global, vec![REACH.into()]);
    let mut handles = Handles { sizes, loops: Vec::new(), arrays: [one, two, acc], others, total };
    for (place, plan) in plan.loops.iter().enumerate() {
        let constraints = constraints(&handles, build.next_loop(), plan);
        handles.loops.push(build.constrained(format!("i{place}"), constraints));
    }
    build.instruction(Access { array: acc, subscripts: Vec::new() }, Expr::Number(0.25), []);
    for plan in &plan.instructions {
        instruction(&mut build, &handles, plan);
    }
    build.finish().expect("the plan is sound")
}

fn constraints(handles: &Handles, own: LoopId, plan: &LoopPlan) -> Vec<Affine> {
    let index = Affine::from(own);
    let [n, m] = handles.sizes.map(Affine::from);
    let outer = handles.loops.last().map(|id| Affine::from(*id));
    let bounded = |upper: Affine| &upper.plus(i128::from(plan.offset)) - &index;
    let mut constraints = vec![index.clone()];
    match (plan.lower, &outer) {
        (1, _) => constraints.push(index.plus(-2)),
        (2, Some(outer)) => constraints.push(&index - outer),
        (3, Some(outer)) => constraints.push((&index + outer).plus(-4)),
        (4, Some(outer)) => constraints.push(&index.scaled(3) - outer),
        _ => {}
    }
    match (plan.upper, outer) {
        (1, _) => constraints.push(bounded(m)),
        (2, Some(outer)) => constraints.push(bounded(outer)),
        (3, Some(outer)) => constraints.push(bounded(&n - &outer)),
        (4, _) => constraints.extend([bounded(n.clone()), bounded(m)]),
        (5, _) => constraints.push(&n - &index.scaled(3)),
        (6, Some(outer)) => {
            let clipped = &(&n - &index) - &outer.scaled(4);
            constraints.extend([&Affine::constant(3) - &index, clipped.plus(-1)]);
        }
        (7, Some(outer)) => constraints.push(&(&n + &outer) - &index.scaled(2)),
        _ => constraints.push(bounded(n)),
    }
    constraints
}

fn subscript(loops: &[LoopId], choice: u8) -> Affine {
    let pick = |at: usize| loops.get(at % loops.len().max(1)).map_or(Affine::default(), |id| Affine::from(*id));
    let (one, two) = (pick(usize::from(choice)), pick(usize::from(choice / 4)));
    match choice % 5 {
        0 => one,
        1 => one.plus(3),
        2 => one.scaled(2),
        3 => &one + &two,
        _ => &one.scaled(2) + &two.scaled(3),
    }
}

fn instruction(build: &mut NestBuilder, handles: &Handles, plan: &InstructionPlan) {
    let within: Vec<LoopId> = handles.loops[..plan.depth.min(handles.loops.len())].to_vec();
    let [one, two, acc] = handles.arrays;
    let subscripts = plan.subscripts.map(|choice| subscript(&within, choice));
    let mut value = Expr::Load(Access { array: acc, subscripts: Vec::new() }, None);
    for choice in &plan.value {
        value = grow(value, *choice, &within, handles);
    }
    let kind = plan.subscripts[0] % 9;
    if kind == 8 {
        return atomic(build, handles, plan, &within);
    }
    if kind < 2 {
        // A number beyond the range of an integer has no meaning there.
        value = Expr::Call(Function::Min, vec![value, Expr::Index(100.into())]);
        value = Expr::Call(Function::Max, vec![value, Expr::Index(0.into())]);
    }
    let target = match kind {
        0..3 => Access { array: handles.others[usize::from(kind)], subscripts: subscripts[..1].to_vec() },
        3 | 4 => Access { array: one, subscripts: subscripts[..1].to_vec() },
        5 | 6 => Access { array: two, subscripts: subscripts.to_vec() },
        _ => Access { array: acc, subscripts: Vec::new() },
    };
    build.instruction(target, value, within);
}

/// Appends an atomic update by integers.
fn atomic(build: &mut NestBuilder, handles: &Handles, plan: &InstructionPlan, within: &[LoopId]) {
    let [whole, byte, _] = handles.others;
    let load = |array, choice| Expr::Load(Access { array, subscripts: vec![subscript(within, choice)] }, None);
    let operand = match plan.value[0] % 4 {
        0 => Expr::Index(subscript(within, plan.value[0]).plus(1)),
        1 => load(byte, plan.value[0]),
        2 => Expr::binary(Operator::Mul, load(whole, plan.value[0]), load(byte, 1)),
        _ => load(whole, plan.value[0]),
    };
    let target = Access { array: handles.total, subscripts: vec![subscript(within, plan.subscripts[1])] };
    let parts = [Expr::Load(target.clone(), None), operand];
    let value = match (plan.subscripts[1] / 5 % 3, parts) {
        (0, [left, right]) => Expr::binary(Operator::Add, left, right),
        (1, [left, right]) => Expr::Call(Function::Min, vec![right, left]),
        (_, parts) => Expr::Call(Function::Max, parts.to_vec()),
    };
    build.atomic(target, value, within.to_vec());
}

fn grow(value: Expr, choice: u8, within: &[LoopId], handles: &Handles) -> Expr {
    let [one, two, _] = handles.arrays;
    let [whole, byte, half] = handles.others;
    let load = |array, subscripts| Expr::Load(Access { array, subscripts }, None);
    let index = &subscript(within, choice) + &Affine::term(Var::Size(handles.sizes[0]), 1);
    match choice % 15 {
        0 => Expr::binary(Operator::Add, value, load(one, vec![subscript(within, choice)])),
        1 => Expr::binary(Operator::Sub, load(two, vec![subscript(within, choice), subscript(within, 1)]), value),
        2 => Expr::binary(Operator::Mul, Expr::Number(-0.5), value),
        3 => Expr::binary(Operator::Div, value, Expr::Index(index.plus(1))),
        4 => Expr::binary(Operator::Pow, value, Expr::Index(2.into())),
        5 => Expr::Neg(Box::new(value)),
        6 => Expr::Call(Function::Abs, vec![value]),
        7 => Expr::Call(Function::Max, vec![value, Expr::Index(index)]),
        8 => {
            let comparison = [Comparison::Less, Comparison::AtMost, Comparison::Equal][usize::from(choice / 10) % 3];
            let other = load(one, vec![subscript(within, choice)]);
            Expr::Call(Function::Select(comparison), vec![value.clone(), Expr::Index(index), other, value])
        }
        9 => Expr::binary(Operator::Mul, value.clone(), value),
        10 => Expr::binary(Operator::Sub, value, load(half, vec![subscript(within, choice)])),
        11 => {
            let integers = [whole, byte].map(|array| load(array, vec![subscript(within, choice)]));
            let [left, right] = integers;
            Expr::binary(Operator::Add, value, Expr::binary(Operator::Mul, left, right))
        }
        12 => {
            let halves = [0, 3].map(|other| load(half, vec![subscript(within, other)]));
            Expr::binary(Operator::Mul, value, Expr::Call(Function::Max, halves.to_vec()))
        }
        13 => Expr::binary(Operator::Sub, load(byte, vec![subscript(within, choice)]), value),
        _ => Expr::binary(Operator::Add, value, Expr::Index(index)),
    }
}
