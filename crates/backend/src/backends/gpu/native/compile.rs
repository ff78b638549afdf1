//! Compiles a source to machine code, in a compile worker.

use crate::backends::Absent;
use crate::backends::compiling::{Compiled, Made};
use crate::backends::cuda::cubin::Spills;
use crate::backends::gpu::native::script::{ScriptedCode, compile_for_host};
use crate::backends::gpu::native::{Binary, Compilation, Script};
use crate::backends::gpu::{GpuApi, GpuMade, GpuTask, failed};
use crate::host::GpuSetup;

/// A library that compiles.
pub(crate) trait RuntimeCompiler: Sized {
    /// Opens the library.
    ///
    /// # Errors
    /// It is missing or too old.
    fn open(setup: &GpuSetup) -> Result<Self, Absent>;

    /// Compiles. The error is the compiler's log, or its name of the error.
    fn compile(&self, wanted: &Compilation<'_>) -> Result<Binary, String>;
}

/// Compiles one configuration after the other. The library stays open in between.
pub(crate) struct Compiler<C> {
    opened: Option<C>,
}

impl<C> Default for Compiler<C> {
    fn default() -> Self {
        Self { opened: None }
    }
}

impl<C: RuntimeCompiler> Compiler<C> {
    /// Compiles one configuration.
    pub(crate) fn compile(&mut self, task: &GpuTask) -> Compiled {
        match compile_with(task, &mut self.opened) {
            Ok(compiled) | Err(compiled) => compiled,
        }
    }
}

fn compile_with<C: RuntimeCompiler>(task: &GpuTask, opened: &mut Option<C>) -> Result<Compiled, Compiled> {
    let unusable = |reason: String| Compiled::Unusable(reason);
    if let Some(path) = task.setup.script() {
        let script = Script::read(path).map_err(|absent| unusable(absent.reason))?;
        if script.compiles || script.host.is_some() {
            return compile_by_script(task, &script);
        }
    }
    let compiler = match opened {
        Some(compiler) => compiler,
        None => {
            let compiler = C::open(&task.setup);
            opened.insert(compiler.map_err(|absent| unusable(format!("{}; {}", absent.reason, absent.remedy)))?)
        }
    };
    let source = tunesmith_files::read_text(&task.source, tunesmith_files::TEXT);
    let source = source.map_err(|error| unusable(format!("the source cannot be read: {error}")))?;
    let mut names = vec![task.function.clone()];
    names.extend(task.symbols.iter().map(|symbol| format!("&{symbol}")));
    let wanted = Compilation { source: &source, name: &task.name, options: &task.options, names: &names };
    let Binary { image, names, log } = compiler.compile(&wanted).map_err(failed)?;
    let (function, symbols) = names.split_first().ok_or_else(|| unusable("the compiler gives no names".to_owned()))?;
    let spills = Spills::of(&log, function);
    finish(task, &image, GpuMade { function: function.clone(), symbols: symbols.to_vec(), spills })
}

/// Writes the binary.
fn finish(task: &GpuTask, image: &[u8], made: GpuMade) -> Result<Compiled, Compiled> {
    tunesmith_files::write(&task.binary, image)
        .map_err(|error| Compiled::Unusable(format!("`{}` cannot be written: {error}", task.binary.display())))?;
    Ok(Compiled::Built(Made::new(&made, false)))
}

/// Returns the result of a script: the function and the macros. Only a compiler for the processor looks at
/// the source.
fn compile_by_script(task: &GpuTask, script: &Script) -> Result<Compiled, Compiled> {
    let api = GpuApi::of(&task.setup);
    let define = |option: &String| {
        let (name, value) = api.defined(option)?.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    let defines = task.options.iter().filter_map(define).collect();
    let mut code = ScriptedCode { function: task.function.clone(), defines, program: None };
    if let Some(log) = script.behaviour(&code).compile {
        return Err(failed(log));
    }
    if let Some(compiler) = &script.host {
        code.program = Some(compile_for_host(compiler, task).map_err(failed)?);
    }
    let image = serde_json::to_vec(&code).map_err(|error| Compiled::Unusable(error.to_string()))?;
    let (function, symbols) = (task.function.clone(), task.symbols.clone());
    finish(task, &image, GpuMade { function, symbols, spills: None })
}
