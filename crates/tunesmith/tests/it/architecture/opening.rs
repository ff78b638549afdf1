//! The places that open files. A path that a user or another process can influence may name a FIFO, which blocks
//! whoever opens it, or a device that never ends. `tunesmith_files` meets none of them.

use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, ExprPath};

use crate::architecture::paths::paths;
use crate::architecture::permissions::Rule;
use crate::architecture::source::Source;

/// The functions that open a file, by the last two parts of their paths.
const OPENING: [[&str; 2]; 7] = [
    ["fs", "read"],
    ["fs", "read_to_string"],
    ["fs", "write"],
    ["fs", "copy"],
    ["File", "open"],
    ["File", "create"],
    ["File", "create_new"],
];

/// The functions whose result opens a file by its method `open`.
const OPTIONS: [[&str; 2]; 2] = [["OpenOptions", "new"], ["File", "options"]];

/// Only `tunesmith_files` opens files, but for those whose kind is known.
pub(crate) const RULE: Rule = Rule {
    verb: "opens",
    modules: &["crates/files/src"],
    allowed: &[
        ("crates/backend/src/backends/command/folder/copy.rs", "a copy is new and has a mode of its own"),
        ("crates/backend/src/backends/gpu/cache.rs", "it fills temporary files that it made"),
        ("crates/backend/src/backends/gpu/native/files.rs", "it tries the files of devices"),
        ("crates/backend/src/backends/hip/native/driver.rs", "it tries the file of a device"),
        ("crates/backend/src/host/cgroup.rs", "it writes to control groups"),
        ("crates/cli/src/commands/mod.rs", "it reads /proc"),
        ("crates/cli/src/output_stream.rs", "the file is in a folder of its own"),
        ("crates/core/src/output.rs", "the file has a length, which no FIFO has"),
        ("crates/device/src/data/similar.rs", "it changes a copy of the run's own data"),
        ("crates/device/src/worker/buffers.rs", "a worker opens the data that its run made"),
        ("crates/device/src/worker/serve.rs", "it opens /dev/null"),
        ("crates/fleet/src/bundle.rs", "a file of a bundle is new and has a mode of its own"),
        ("crates/fleet/src/start/hyperqueue.rs", "a token's file is new and has a mode of its own"),
        ("crates/problem/src/starter.rs", "a started problem file is new"),
        ("crates/python/src/run.rs", "a saved journal is new"),
        ("crates/store/src/disk.rs", "it syncs a folder"),
    ],
    done: opened,
};

/// Returns the lines that open a file.
fn opened(source: &Source) -> Vec<(usize, String)> {
    let mut calls = Calls(Vec::new());
    source.items.iter().for_each(|item| calls.visit_item(item));
    let written = paths(source).into_iter().filter(|path| ends_in(&path.segments, &OPENING));
    calls.0.into_iter().chain(written.map(|path| (path.line, path.segments.join("::")))).collect()
}

fn ends_in(segments: &[String], known: &[[&str; 2]]) -> bool {
    known.iter().any(|[of, name]| matches!(segments, [.., first, second] if first == of && second == name))
}

/// The calls of `open` on options for opening.
struct Calls(Vec<(usize, String)>);

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if call.method == "open" && makes_options(&call.receiver) {
            self.0.push((call.method.span().start().line, "OpenOptions".to_string()));
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// Returns true if a chain of calls begins with options for opening.
fn makes_options(receiver: &Expr) -> bool {
    match receiver {
        Expr::MethodCall(call) => makes_options(&call.receiver),
        Expr::Call(call) => match &*call.func {
            Expr::Path(ExprPath { path, .. }) => {
                let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
                ends_in(&segments, &OPTIONS)
            }
            _ => false,
        },
        _ => false,
    }
}
