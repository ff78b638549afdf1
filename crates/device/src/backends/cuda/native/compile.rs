//! Compiles a source to a cubin, in a compile worker.

use crate::backends::Made;
use crate::backends::compiling::Compiled;
use crate::backends::cuda::native::driver::{Script, ScriptedCode};
use crate::backends::cuda::native::nvrtc::{Binary, Compilation, Nvrtc};
use crate::backends::cuda::task::{CudaTask, is_architecture};

/// Compiles one configuration after the other. NVRTC stays open in between.
#[derive(Default)]
pub(crate) struct Compiler {
    opened: Option<Nvrtc>,
}

impl Compiler {
    /// Compiles one configuration.
    pub(crate) fn compile(&mut self, task: &CudaTask) -> Compiled {
        match compile_with(task, &mut self.opened) {
            Ok(compiled) | Err(compiled) => compiled,
        }
    }
}

fn compile_with(task: &CudaTask, opened: &mut Option<Nvrtc>) -> Result<Compiled, Compiled> {
    let unusable = |reason: String| Compiled::Unusable(reason);
    if let Some(path) = &task.setup.script {
        let script = Script::read(path).map_err(|absent| unusable(absent.reason))?;
        if script.compiles {
            return compile_by_script(task, &script);
        }
    }
    let nvrtc = match opened {
        Some(nvrtc) => nvrtc,
        None => {
            let nvrtc = Nvrtc::open(task.setup.libraries.as_deref());
            opened.insert(nvrtc.map_err(|absent| unusable(format!("{}; {}", absent.reason, absent.remedy)))?)
        }
    };
    let source = std::fs::read_to_string(&task.source);
    let source = source.map_err(|error| unusable(format!("the source cannot be read: {error}")))?;
    let mut names = vec![task.function.clone()];
    names.extend(task.symbols.iter().map(|symbol| format!("&{symbol}")));
    let wanted = Compilation {
        source: &source,
        name: &task.name,
        options: &task.options,
        names: &names,
        ptx: wants_ptx(&task.options),
    };
    let Binary { image, names } = nvrtc.compile(&wanted).map_err(failed)?;
    let (function, symbols) = names.split_first().ok_or_else(|| unusable("NVRTC gives no names".to_owned()))?;
    finish(task, &image, function.clone(), symbols.to_vec())
}

/// Writes the binary.
fn finish(task: &CudaTask, image: &[u8], function: String, symbols: Vec<String>) -> Result<Compiled, Compiled> {
    std::fs::write(&task.binary, image)
        .map_err(|error| Compiled::Unusable(format!("`{}` cannot be written: {error}", task.binary.display())))?;
    Ok(Compiled::Built(Made::Cuda { function, symbols }))
}

/// Interprets the compiler's log. A kernel that exceeds the device's resources is not an error in
/// the code.
fn failed(log: String) -> Compiled {
    const TOO_MUCH: [&str; 2] = ["uses too much shared data", "uses too much constant"];
    let refusal = log.lines().find(|line| TOO_MUCH.iter().any(|words| line.contains(words)));
    refusal.map(|line| Compiled::Refused(line.trim().to_owned())).unwrap_or(Compiled::Failed(log))
}

/// Returns true if the options name an architecture of PTX, such as `compute_90`, instead of a
/// device's.
fn wants_ptx(options: &[String]) -> bool {
    let architecture = options.iter().rev().find(|option| is_architecture(option));
    architecture.is_some_and(|option| option.contains("compute_"))
}

/// Returns the result of a script, which does not look at the source: the function and the macros.
fn compile_by_script(task: &CudaTask, script: &Script) -> Result<Compiled, Compiled> {
    let define = |option: &String| {
        let (name, value) = option.strip_prefix("--define-macro=")?.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    let code =
        ScriptedCode { function: task.function.clone(), defines: task.options.iter().filter_map(define).collect() };
    if let Some(log) = script.behaviour(&code).compile {
        return Err(failed(log));
    }
    let image = serde_json::to_vec(&code).map_err(|error| Compiled::Unusable(error.to_string()))?;
    finish(task, &image, task.function.clone(), task.symbols.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_architecture_says_what_is_made() {
        let ptx = |options: &[&str]| wants_ptx(&options.iter().map(|option| option.to_string()).collect::<Vec<_>>());
        assert!(ptx(&["--gpu-architecture=sm_90", "-arch=compute_90"]));
        assert!(!ptx(&["--gpu-architecture=sm_90a", "-lineinfo"]));
        assert!(!ptx(&[]));
    }

    #[test]
    fn too_much_shared_memory_is_a_refusal() {
        let log = "\nptxas error   : Entry function 'f' uses too much shared data (0x13880 bytes, 0xc000 max)\n";
        let wanted = "ptxas error   : Entry function 'f' uses too much shared data (0x13880 bytes, 0xc000 max)";
        assert_eq!(failed(log.to_owned()), Compiled::Refused(wanted.to_owned()));
        assert_eq!(failed("k.cu(1): error: no".into()), Compiled::Failed("k.cu(1): error: no".into()));
    }
}
