//! Reads how a kernel is launched: its function, inputs, sizes and device.

use super::Reader;
use super::input::Input;
use super::names::{Api, Part};
use super::signature::{self, Declared};
use super::translate::split;
use std::ops::Range;
use tunesmith_backend::{ChoiceError, DeviceChoice};
use tunesmith_core::Refusal;
use tunesmith_kernel::{FunctionName, Language};
use tunesmith_space::{Expr, UserError as _, Value, did_you_mean};
use tunesmith_spec::{
    ArgumentDraft, Diagnostic, KernelDraft, Key, LANGUAGES, Level, Located, MOST_SAMPLES, MOST_WARMUPS, Messages,
    NO_LANGUAGE, Options, Places, SourceFile, WorkDraft,
};

/// The directives about a launch.
#[derive(Debug, Default)]
pub(super) struct Launch {
    /// The interface of the first of them, and its place.
    pub(super) api: Option<Located<Api>>,
    function: Option<Located<String>>,
    pub(super) source: Option<Located<String>>,
    inputs: Vec<Input>,
    extent: Option<Located<Vec<Expr>>>,
    group: Option<Located<Vec<Expr>>>,
    flags: Option<Located<Vec<String>>>,
    platform: Option<Located<String>>,
    device: Option<Located<String>>,
    check: Option<Located<Check>>,
}

/// A function that computes the correct result.
#[derive(Debug)]
struct Check {
    file: String,
    function: String,
}

impl Reader<'_> {
    /// Reads the directive about `part`, whose arguments are at `rest`.
    pub(super) fn launch(&mut self, api: Api, part: Part, place: &Range<usize>, rest: Range<usize>) {
        let first = self.launch.api.get_or_insert(Located { value: api, span: place.clone() });
        if first.value != api {
            let remedy = "a source is a kernel of OpenCL or of CUDA: remove the directives of one".to_string();
            return self.messages.error(place.clone(), "the kernel is of OpenCL and of CUDA", Some(remedy));
        }
        let text = Located { value: self.clean[rest.clone()].to_string(), span: rest.clone() };
        if text.value.is_empty() {
            return self.messages.error(place.clone(), "the directive has no value", None);
        }
        let launch = &mut self.launch;
        match part {
            Part::Name => launch.function = Some(text),
            Part::Platform => launch.platform = Some(text),
            Part::Device => launch.device = Some(text),
            Part::Flags => {
                let words = text.value.split_whitespace().map(str::to_string).collect();
                launch.flags = Some(Located { value: words, span: rest });
            }
            Part::Inputs => {
                let inputs = self.inputs(rest);
                self.launch.inputs.extend(inputs);
            }
            Part::Extent => self.launch.extent = self.dimensions(rest),
            Part::Group => self.launch.group = self.dimensions(rest),
            Part::DeviceInfo => self.device_info(rest),
            Part::CheckResult => self.check_result(place, rest),
            Part::Evaluations => self.evaluations(rest),
            Part::Warmups => self.warmups(rest),
        }
    }

    /// Reads one to three expressions over variables and parameters.
    fn dimensions(&self, place: Range<usize>) -> Option<Located<Vec<Expr>>> {
        let place = self.listed(place);
        let text = &self.clean[place.clone()];
        let read = || {
            let parts = split(text).map_err(|fault| Refusal::new(fault, None))?;
            let parts = if parts.is_empty() { vec![text] } else { parts };
            if parts.len() > 3 {
                let text = format!("there are {} dimensions", parts.len());
                return Err(Refusal::new(text, Some("write one to three".to_string())));
            }
            let texts = parts.into_iter().map(|part| self.expression(part.trim_matches('"'), None));
            texts.collect::<Result<Vec<Expr>, _>>()
        };
        let value = read().map_err(|fault| self.fault(&place, "the size", fault)).ok()?;
        Some(Located { value, span: place })
    }

    /// Reads `vendor "NVIDIA" type "GPU" id 0`.
    fn device_info(&mut self, place: Range<usize>) {
        let text = &self.clean[place.clone()];
        let part = |name: &str| {
            let (_, behind) = text.split_once(name)?;
            let behind = behind.trim_start();
            let value = match behind.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next(),
                None => behind.split_whitespace().next(),
            };
            value.map(str::to_string)
        };
        let (vendor, kind, id) = (part("vendor"), part("type"), part("id"));
        if vendor.is_none() && kind.is_none() && id.is_none() {
            let remedy = "write `#atf::ocl::device_info vendor \"NVIDIA\" type \"GPU\" id 0`".to_string();
            let text = format!("`{text}` describes no device");
            return self.messages.error(place, text, Some(remedy));
        }
        let device = [kind.map(|kind| kind.to_lowercase()), id].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let located = |value: String| Located { value, span: place.clone() };
        self.launch.platform = Some(located(vendor.unwrap_or_default()));
        self.launch.device = Some(located(device));
    }

    /// Reads `file "reference.c" function "saxpy"`.
    fn check_result(&mut self, place: &Range<usize>, rest: Range<usize>) {
        let texts: Vec<&str> = self.clean[rest.clone()].split('"').collect();
        let [file_key, file, function_key, function, ""] = texts[..] else {
            let remedy = "write `check_result file \"reference.c\" function \"reference\"`".to_string();
            let text = "the reference is a function in a file";
            return self.messages.error(place.clone(), text, Some(remedy));
        };
        for (key, expected) in [(file_key.trim(), "file"), (function_key.trim(), "function")] {
            if key != expected {
                let remedy = did_you_mean(key, [expected]).unwrap_or_else(|| format!("write {expected} \"...\""));
                self.messages.error(rest.clone(), format!("`{key}` is not `{expected}`"), Some(remedy));
            }
        }
        let value = Check { file: file.to_string(), function: function.to_string() };
        self.launch.check = Some(Located { value, span: rest });
    }

    fn evaluations(&mut self, place: Range<usize>) {
        let Some(count) = self.count(place.clone(), 1, MOST_SAMPLES, "min_samples") else { return };
        self.once("measure.min_samples", &place);
        let sampling = &mut self.draft.measure.policy.sampling;
        (sampling.min_samples, sampling.max_samples) = (count, count);
    }

    fn warmups(&mut self, place: Range<usize>) {
        match self.count(place.clone(), 0, MOST_WARMUPS, "warmups") {
            Some(0) => {
                let remedy = "remove it: the first launch is not timed, because its result is verified".to_string();
                let span = self.listed(place);
                self.messages.warning(span, "a configuration has at least one warm-up run", Some(remedy));
            }
            Some(count) => {
                self.once("measure.warmups", &place);
                self.draft.measure.policy.sampling.warmups = count;
            }
            None => {}
        }
    }

    /// Reads a number of runs.
    fn count(&self, place: Range<usize>, least: usize, most: usize, name: &str) -> Option<usize> {
        let span = self.listed(place);
        let count = self.value(&self.clean[span.clone()]).ok().and_then(|value| value.as_int());
        let Some(count) = count.and_then(|count| usize::try_from(count).ok()).filter(|count| *count >= least) else {
            let text = format!("the number of runs is not a whole number of at least {least}");
            self.messages.error(span, text, None);
            return None;
        };
        if count > most {
            self.messages.error(span, format!("`measure.{name}` must be a whole number from 1 to {most}"), None);
        }
        Some(count)
    }
}

impl Launch {
    /// Returns the kernel, its arguments and their verification. Returns the reasons instead if
    /// something is missing. Adds the places of the parts to `places`.
    pub(super) fn parts(&self, api: Api, messages: &Messages, places: &mut Places) -> Result<Parts, Vec<Diagnostic>> {
        let source = &messages.source;
        let own = source.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let file = self.source.clone().unwrap_or(Located { value: own, span: self.place() });
        let text = match &self.source {
            None => source.text.to_string(),
            // A file that cannot be read is told when it is compiled.
            Some(other) => tunesmith_files::read_text(source.folder().join(&other.value), tunesmith_files::TEXT)
                .unwrap_or_default(),
        };
        let kernels = signature::kernels(&text, api);
        let missing = self.missing(api, &kernels, source);
        let Some(function) = self.function.as_ref().filter(|_| missing.is_empty()) else { return Err(missing) };
        let declared = kernels.iter().find(|kernel| kernel.name == function.value);
        let argument = |(number, input): (usize, &Input)| {
            let parameter = declared.and_then(|declared| declared.parameters.get(number));
            let argument = input.draft(parameter, number);
            places.add(argument.key.clone(), input.place.clone());
            argument
        };
        let arguments = self.inputs.iter().enumerate().map(argument).collect();
        let kernel = self.kernel(api, (&file, function), messages, places);
        let reference = self.check.as_ref().and_then(|check| reference(check, messages, places));
        Ok(Parts { kernel, arguments, reference })
    }

    /// Returns the kernel, if its parts are right.
    fn kernel(
        &self,
        api: Api,
        (file, function): (&Located<String>, &Located<String>),
        messages: &Messages,
        places: &mut Places,
    ) -> Option<KernelDraft> {
        let key = Key::of("kernel").at(0);
        places.add(key.clone(), self.place());
        places.add(key.field("file"), file.span.clone());
        places.add(key.field("function"), function.span.clone());
        let (global, local) = self.padded();
        let (extent, grid) = if api == Api::Cuda { (None, global) } else { (global, None) };
        for (name, sizes) in [("global", &self.extent), ("grid", &self.extent), ("local", &self.group)] {
            sizes.iter().for_each(|sizes| places.add(key.field(name), sizes.span.clone()));
        }
        let mut options = Options::default();
        if let Some(flags) = &self.flags {
            places.add(key.field("options"), flags.span.clone());
            for fault in options.add(flags.value.iter().map(String::as_str), messages.source.folder()) {
                messages.error(flags.span.clone(), fault, None);
            }
        }
        let language = if api == Api::Cuda { Language::Cuda } else { Language::OpenCl };
        let function = function_name(function, "kernel", messages)?;
        Some(KernelDraft {
            work: WorkDraft { global: extent, grid, local },
            ..KernelDraft::new(key, (language, options), messages.source.folder().join(&file.value), function)
        })
    }

    /// Returns both sizes with the same number of dimensions. In ATF, those that are left out are 1.
    fn padded(&self) -> (Option<Vec<Expr>>, Option<Vec<Expr>>) {
        let extents = |sizes: &Option<Located<Vec<Expr>>>| sizes.as_ref().map_or(0, |sizes| sizes.value.len());
        let most = extents(&self.extent).max(extents(&self.group));
        let padded = |sizes: &Option<Located<Vec<Expr>>>| {
            let mut sizes = sizes.as_ref()?.value.clone();
            sizes.resize(most, Expr::constant(Value::Int(1)));
            Some(sizes)
        };
        (padded(&self.extent), padded(&self.group))
    }

    fn place(&self) -> Range<usize> {
        self.api.as_ref().map_or(0..0, |api| api.span.clone())
    }

    /// Returns an error for each directive that a launch lacks.
    fn missing(&self, api: Api, kernels: &[Declared], source: &SourceFile) -> Vec<Diagnostic> {
        let prefix = format!("#atf::{}::", api.prefix());
        let mut missing = Vec::new();
        let mut report = |place: Range<usize>, fault: Refusal| {
            missing.push(source.diagnostic(Level::Error, place, fault.text, fault.remedy));
        };
        match &self.function {
            None => {
                let known = kernels.first().map_or("NAME", |kernel| kernel.name.as_str());
                let remedy = format!("write `{prefix}kernel_name \"{known}\"`");
                report(self.place(), Refusal::new("no directive names the kernel to tune".to_string(), Some(remedy)));
            }
            Some(function) => match kernels.iter().find(|kernel| kernel.name == function.value) {
                Some(kernel) => self.inputs_of(kernel, &prefix).into_iter().for_each(|fault| {
                    report(self.place(), fault);
                }),
                // A macro may have made the declaration, which only a compiler knows.
                None if kernels.is_empty() => {}
                None => {
                    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
                    let listed = format!("its kernels are {}", names.join(", "));
                    let remedy = did_you_mean(&function.value, names).unwrap_or(listed);
                    report(
                        function.span.clone(),
                        Refusal::new(format!("the source has no kernel `{}`", function.value), Some(remedy)),
                    );
                }
            },
        }
        if self.extent.is_none() {
            let what = if api == Api::Cuda { "blocks" } else { "work-items" };
            let remedy = format!("write `{prefix}{} \"N\"`", api.extent());
            report(self.place(), Refusal::new(format!("no directive gives the number of {what}"), Some(remedy)));
        }
        if self.group.is_none() && api == Api::Cuda {
            let remedy = format!("write `{prefix}block_dim \"256\"`");
            report(
                self.place(),
                Refusal::new("no directive gives the number of threads in a block".to_string(), Some(remedy)),
            );
        }
        missing
    }

    /// Returns the fault of a number of inputs that is not the kernel's.
    fn inputs_of(&self, kernel: &Declared, prefix: &str) -> Option<Refusal> {
        let (takes, given) = (kernel.parameters.len(), self.inputs.len());
        let text = format!("`{}` takes {takes} arguments, but directives describe {given}", kernel.name);
        let remedy = match kernel.parameters.get(given) {
            Some(next) => {
                let name = &next.name;
                format!("write `{prefix}input atf::buffer<T>(N)` or `{prefix}input atf::scalar<T>(N)` for `{name}`")
            }
            None => "remove those that it does not take".to_string(),
        };
        (takes != given).then(|| Refusal::new(text, Some(remedy)))
    }

    /// Returns the device, if directives choose one.
    pub(super) fn device_choice(&self, api: Api, messages: &Messages) -> Option<DeviceChoice> {
        let named = self.platform.as_ref().or(self.device.as_ref())?;
        let device = self.device.as_ref().map_or("", |device| device.value.as_str());
        // The form of `--device`, which users write as well.
        let text = match (api, &self.platform) {
            (Api::Cuda, _) => format!("cuda:{device}"),
            (Api::OpenCl, Some(platform)) => format!("opencl:{}::{device}", platform.value),
            (Api::OpenCl, None) => format!("opencl:{device}"),
        };
        let refuse = |error: ChoiceError| {
            messages.error(named.span.clone(), error.to_string(), error.remedy().map(str::to_string));
        };
        text.parse::<DeviceChoice>().map_err(refuse).ok()
    }
}

/// Returns the reference of a kernel's outputs, if its parts are right.
fn reference(check: &Located<Check>, messages: &Messages, places: &mut Places) -> Option<KernelDraft> {
    let key = Key::of("verify").field("reference");
    places.add(key.clone(), check.span.clone());
    let Check { file, function } = &check.value;
    let file = messages.source.folder().join(file);
    let language = Language::from_suffix(&file);
    if language.is_none() {
        let text = format!("`verify.reference.file`{NO_LANGUAGE}");
        messages.error(check.span.clone(), text, Some(LANGUAGES.to_string()));
    }
    let function = Located { value: function.clone(), span: check.span.clone() };
    Some(KernelDraft::new(
        key,
        (language?, Options::default()),
        file,
        function_name(&function, "verify.reference", messages)?,
    ))
}

/// The parts of a problem that a launch makes.
pub(super) struct Parts {
    pub(super) kernel: Option<KernelDraft>,
    pub(super) arguments: Vec<ArgumentDraft>,
    pub(super) reference: Option<KernelDraft>,
}

/// Returns the name of the function of `part`, which may depend on the configuration.
fn function_name(function: &Located<String>, part: &str, messages: &Messages) -> Option<FunctionName> {
    let refuse = |error| messages.error(function.span.clone(), format!("`{part}.function`: {error}"), None);
    FunctionName::parse(&function.value).map_err(refuse).ok()
}
