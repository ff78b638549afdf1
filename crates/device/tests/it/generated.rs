//! Kernels whose source is generated for each configuration, on every backend.

use crate::common;

use common::backends::processors;
use common::*;
use std::sync::Arc;
use tunesmith_core::FailureKind;
use tunesmith_kernel::{Access, Extent, Fill, Generated, Generator, Grid, Reference, Scope, WorkSize};
use tunesmith_space::Value;

/// Writes `out[i] = i + P`. A variable has the same name as the parameter.
#[derive(Debug)]
struct Adds {
    opencl: bool,
}

impl Generator for Adds {
    fn generate(&self, scope: &Scope) -> Result<Generated, String> {
        let Some(Value::Int(add)) = scope.get("P").or(Some(&Value::Int(0))).cloned() else { return Err("no P".into()) };
        if add == 3 {
            return Err("three is no good".to_string());
        }
        let text = if self.opencl {
            format!("__kernel void f(__global int *out) {{ int P = get_global_id(0); out[P] = P + {add}; }}")
        } else {
            format!("void f(int *out) {{ for (int P = 0; P < 32; P++) out[P] = P + {add}; }}")
        };
        let grid = Grid { global: vec![32], local: Some(vec![8]) };
        Ok(Generated { text, grid: self.opencl.then_some(grid) })
    }

    fn identity(&self) -> String {
        "adds".to_string()
    }
}

#[test]
fn every_configuration_runs_the_source_that_was_made_for_it() {
    for lab in processors() {
        let arguments = vec![buffer("out", "i32", 32, Access::Out, Fill::Zeros)];
        let work = WorkSize { extent: Extent::Global(Vec::new()), local: None };
        let mut spec = lab.spec("f", "", arguments, work);
        let generator = Arc::new(Adds { opencl: lab.is_opencl() });
        spec.kernels[0].generator = Some(generator.clone());
        // The reference knows no parameters, so it adds nothing.
        spec.verify.reference =
            Some(Reference { generator: Some(generator), ..Reference::new(spec.kernels[0].language, "adds", "f") });
        let space = space_of("P", 4);
        let mut evaluator = lab.evaluator(&space, spec);
        let id = |index| space.id(index).unwrap();
        assert_correct(&evaluate(&mut evaluator, id(0)));
        assert_failed(&evaluate(&mut evaluator, id(1)), FailureKind::Correctness, &["out"]);
        assert_failed(&evaluate(&mut evaluator, id(3)), FailureKind::Constraints, &["three is no good"]);
        assert!(evaluator.plan(id(2))[0].build.source.contains("P + 2"));
    }
}
