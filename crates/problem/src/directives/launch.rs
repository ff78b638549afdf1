//! Reads how a kernel is launched: its function, inputs, sizes and device.

use super::inputs::Input;
use super::names::{Api, Part};
use super::signature::{self, Declared};
use super::translate::split;
use super::{Entry, Reader, entry};
use crate::Diagnostic;
use crate::item::{Item, Located};
use crate::{Level, SourceFile};
use std::ops::Range;
use tunesmith_space::did_you_mean;

/// The directives about a launch.
#[derive(Debug, Default)]
pub(super) struct Launch {
    /// The interface of the first of them, and its place.
    pub(super) api: Option<Located<Api>>,
    function: Option<Located<String>>,
    pub(super) source: Option<Located<String>>,
    inputs: Vec<Input>,
    extent: Option<Item>,
    group: Option<Item>,
    flags: Option<Item>,
    platform: Option<Located<String>>,
    device: Option<Located<String>>,
    check: Option<Item>,
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
                let words = text.value.split_whitespace().map(|word| Item::scalar(word, rest.clone()));
                launch.flags = Some(Item::list(words.collect(), rest.clone()));
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
    fn dimensions(&self, place: Range<usize>) -> Option<Item> {
        let place = self.listed(place);
        let text = &self.clean[place.clone()];
        let read = || {
            let parts = split(text).map_err(|fault| (fault, None))?;
            let parts = if parts.is_empty() { vec![text] } else { parts };
            if parts.len() > 3 {
                return Err((format!("there are {} dimensions", parts.len()), Some("write one to three".to_string())));
            }
            let texts = parts.into_iter().map(|part| self.expression(part.trim_matches('"'), None));
            texts.collect::<Result<Vec<String>, _>>()
        };
        let texts = read().map_err(|fault| self.fault(&place, "the size", fault)).ok()?;
        let items = texts.into_iter().map(|text| Item::scalar(text.as_str(), place.clone()));
        Some(Item::list(items.collect(), place))
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
        let entries = [("file", file), ("function", function)]
            .map(|(key, text)| entry(key, &rest, Item::scalar(text, rest.clone())));
        self.launch.check = Some(Item::table(entries.into(), rest));
    }

    fn evaluations(&mut self, place: Range<usize>) {
        let Some(count) = self.count(place, 1) else { return };
        self.measure.extend(
            ["min_samples", "max_samples"]
                .map(|key| entry(key, &count.span, Item::scalar(count.value, count.span.clone()))),
        );
    }

    fn warmups(&mut self, place: Range<usize>) {
        match self.count(place, 0) {
            Some(none) if none.value == 0 => {
                let remedy = "remove it: the first launch is not timed, because its result is verified".to_string();
                self.messages.warning(none.span, "a configuration has at least one warm-up run", Some(remedy));
            }
            count => self.measure.extend(
                count.map(|count| entry("warmups", &count.span, Item::scalar(count.value, count.span.clone()))),
            ),
        }
    }

    /// Reads a number of runs.
    fn count(&self, place: Range<usize>, least: i64) -> Option<Located<i64>> {
        let span = self.listed(place);
        let count = self.value(&self.clean[span.clone()]).ok().and_then(|value| value.as_int());
        let Some(value) = count.filter(|count| *count >= least) else {
            let text = format!("the number of runs is not a whole number of at least {least}");
            self.messages.error(span, text, None);
            return None;
        };
        Some(Located { value, span })
    }
}

/// The sections of a document that a launch makes.
pub(super) struct Sections {
    pub(super) entries: Vec<Entry>,
    /// The name of the device, if directives choose one.
    pub(super) device: Option<Item>,
}

impl Launch {
    /// Returns the kernel, its arguments and their verification. Returns the reasons instead if
    /// something is missing.
    pub(super) fn sections(&self, api: Api, source: &SourceFile) -> Result<Sections, Vec<Diagnostic>> {
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
        let at = |text: &Located<String>| Item::scalar(text.value.as_str(), text.span.clone());
        let key = |name: &str, item: &Item| entry(name, &item.span, item.clone());
        let mut kernel = vec![key("file", &at(&file)), key("function", &at(function))];
        let language = if api == Api::Cuda { "cuda" } else { "opencl" };
        kernel.push(key("language", &Item::scalar(language, file.span.clone())));
        let extent = if api == Api::Cuda { "grid" } else { "global" };
        let (global, local) = self.padded();
        kernel.extend(global.iter().map(|item| key(extent, item)));
        kernel.extend(local.iter().map(|item| key("local", item)));
        kernel.extend(self.flags.iter().map(|item| key("options", item)));
        let argument = |(number, input): (usize, &Input)| {
            let parameter = declared.and_then(|declared| declared.parameters.get(number));
            input.item(parameter, number + 1)
        };
        let arguments = self.inputs.iter().enumerate().map(argument).collect();
        let mut entries = vec![
            entry("kernel", &self.place(), Item::table(kernel, self.place())),
            entry("arguments", &self.place(), Item::list(arguments, self.place())),
        ];
        entries.extend(self.check.iter().map(|check| {
            let verify = Item::table(vec![key("reference", check)], check.span.clone());
            entry("verify", &check.span, verify)
        }));
        Ok(Sections { entries, device: self.device_choice(api) })
    }

    /// Returns both sizes with the same number of dimensions. In ATF, those that are left out are 1.
    fn padded(&self) -> (Option<Item>, Option<Item>) {
        let extents = |item: &Option<Item>| item.as_ref().map_or(0, |item| item.extents());
        let most = extents(&self.extent).max(extents(&self.group));
        let padded = |item: &Option<Item>| item.as_ref().map(|item| item.padded(most));
        (padded(&self.extent), padded(&self.group))
    }

    fn place(&self) -> Range<usize> {
        self.api.as_ref().map_or(0..0, |api| api.span.clone())
    }

    /// Returns an error for each directive that a launch lacks.
    fn missing(&self, api: Api, kernels: &[Declared], source: &SourceFile) -> Vec<Diagnostic> {
        let prefix = format!("#atf::{}::", api.prefix());
        let mut missing = Vec::new();
        let mut report = |place: Range<usize>, text: String, remedy: String| {
            missing.push(source.diagnostic(Level::Error, place, text, Some(remedy)));
        };
        match &self.function {
            None => {
                let known = kernels.first().map_or("NAME", |kernel| kernel.name.as_str());
                let remedy = format!("write `{prefix}kernel_name \"{known}\"`");
                report(self.place(), "no directive names the kernel to tune".to_string(), remedy);
            }
            Some(function) => match kernels.iter().find(|kernel| kernel.name == function.value) {
                Some(kernel) => self.inputs_of(kernel, &prefix).into_iter().for_each(|(text, remedy)| {
                    report(self.place(), text, remedy);
                }),
                // A macro may have made the declaration, which only a compiler knows.
                None if kernels.is_empty() => {}
                None => {
                    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
                    let listed = format!("its kernels are {}", names.join(", "));
                    let remedy = did_you_mean(&function.value, names).unwrap_or(listed);
                    report(function.span.clone(), format!("the source has no kernel `{}`", function.value), remedy);
                }
            },
        }
        if self.extent.is_none() {
            let what = if api == Api::Cuda { "blocks" } else { "work-items" };
            let remedy = format!("write `{prefix}{} \"N\"`", api.extent());
            report(self.place(), format!("no directive gives the number of {what}"), remedy);
        }
        if self.group.is_none() && api == Api::Cuda {
            let remedy = format!("write `{prefix}block_dim \"256\"`");
            report(self.place(), "no directive gives the number of threads in a block".to_string(), remedy);
        }
        missing
    }

    /// Returns the fault of a number of inputs that is not the kernel's, with its remedy.
    fn inputs_of(&self, kernel: &Declared, prefix: &str) -> Option<(String, String)> {
        let (takes, given) = (kernel.parameters.len(), self.inputs.len());
        let text = format!("`{}` takes {takes} arguments, but directives describe {given}", kernel.name);
        let remedy = match kernel.parameters.get(given) {
            Some(next) => {
                let name = &next.name;
                format!("write `{prefix}input atf::buffer<T>(N)` or `{prefix}input atf::scalar<T>(N)` for `{name}`")
            }
            None => "remove those that it does not take".to_string(),
        };
        (takes != given).then_some((text, remedy))
    }

    /// Returns the device as `--device` names it.
    fn device_choice(&self, api: Api) -> Option<Item> {
        let named = self.platform.as_ref().or(self.device.as_ref())?;
        let device = self.device.as_ref().map_or("", |device| device.value.as_str());
        let text = match (api, &self.platform) {
            (Api::Cuda, _) => format!("cuda:{device}"),
            (Api::OpenCl, Some(platform)) => format!("opencl:{}::{device}", platform.value),
            (Api::OpenCl, None) => format!("opencl:{device}"),
        };
        Some(Item::scalar(text.as_str(), named.span.clone()))
    }
}
