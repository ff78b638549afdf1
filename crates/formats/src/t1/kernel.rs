//! Reads the kernel's specification, apart from its arguments.

use super::expressions::{Terms, in_parentheses};
use super::findings::Findings;
use super::json::Item;
use super::reader::Reader;
use super::{arguments, reference};
use std::ops::Range;
use std::path::{Path, PathBuf};
use tunesmith_kernel::{ElementType, Fill, Language};
use tunesmith_space::{Expr, Parameter};
use tunesmith_spec::{ArgumentDraft, ArgumentKindDraft, Diagnostic, KernelDraft, Key, Messages, Options, WorkDraft};

/// The keys that are read, and those that do not affect the run of the kernel.
const KEYS: &[&str] = &[
    "Language",
    "KernelName",
    "KernelFile",
    "CompilerOptions",
    "ProblemSize",
    "GlobalSize",
    "GlobalSizeType",
    "LocalSize",
    "GridDivX",
    "GridDivY",
    "GridDivZ",
    "SharedMemory",
    "Arguments",
    "ReferenceArguments",
    "BenchmarkName",
];

/// The divisors of `ProblemSize`, by dimension.
const GRID_DIVISORS: [&str; 3] = ["GridDivX", "GridDivY", "GridDivZ"];

/// The macro that Kernel Tuner defines for every source. Some published kernels have a second
/// variant for it.
const TUNED: &str = "-Dkernel_tuner=1";

/// The result of a specification. Without a kernel, the obstacles give the reason.
#[derive(Debug, Default)]
pub(super) struct Specification {
    pub(super) kernel: Option<(KernelDraft, KernelPlaces)>,
    pub(super) arguments: Vec<(ArgumentDraft, Range<usize>)>,
    pub(super) expected: Vec<(String, Fill)>,
    pub(super) obstacles: Vec<Diagnostic>,
}

/// The places of a kernel's parts.
#[derive(Debug)]
pub(super) struct KernelPlaces {
    pub(super) file: Range<usize>,
    pub(super) function: Range<usize>,
}

pub(super) fn read(root: &Item<'_>, parameters: &[(Parameter, Range<usize>)], messages: &Messages) -> Specification {
    let Some(item) = root.get("KernelSpecification") else { return Specification::default() };
    let findings = Findings::new(messages);
    let parameters = parameters.iter().map(|(parameter, _)| parameter).collect();
    let terms = Terms::new(parameters, &item, &findings);
    let reader = Reader { item: &item, terms: &terms, findings: &findings, folder: messages.source.folder() };
    let mut arguments = arguments::read(&reader);
    arguments.extend(reader.shared_memory(arguments.len()));
    let expected = reference::read(&reader, &mut arguments);
    let kernel = reader.kernel();
    let kernel = kernel.filter(|_| !findings.has_obstacles());
    Specification { kernel, arguments, expected, obstacles: findings.finish() }
}

/// The work-groups of a dimension.
#[derive(Debug, PartialEq, Eq)]
enum Groups {
    /// No `GridDiv` tells them.
    Undivided,
    /// An expression: a part of `ProblemSize` divided by others.
    Divided(String),
}

impl Reader<'_> {
    /// Returns the kernel. Obstacles to running it are among the findings.
    fn kernel(&self) -> Option<(KernelDraft, KernelPlaces)> {
        self.report_unread();
        let (function, function_place) = self.text("KernelName")?;
        let (file, file_place) = self.text("KernelFile")?;
        let language = self.language(function, file, &file_place)?;
        let options = self.options();
        let work = if language.has_work_items() { self.work() } else { None };
        if self.findings.has_obstacles() {
            let remedy = "correct its faults, which are shown as warnings; its space can be tuned on `--device \
                 synthetic:EXPR` as it is";
            let text = format!("kernel `{function}` cannot be run");
            self.findings.obstacle(function_place.clone(), text, Some(remedy.to_string()));
        }
        let file = self.source(file, &file_place);
        let kernel = KernelDraft {
            work: work.unwrap_or_default(),
            ..KernelDraft::new(Key::of("kernel").at(0), (language, options), file, function.into())
        };
        Some((kernel, KernelPlaces { file: file_place, function: function_place }))
    }

    /// Returns a text that must be present.
    fn text(&self, key: &str) -> Option<(&str, Range<usize>)> {
        let item = self.item.get(key);
        let text = item.as_ref().and_then(|item| Some((item.string()?, item.span.clone())));
        if text.is_none() {
            let place = item.map_or_else(|| self.item.span.clone(), |item| item.span);
            let remedy = format!("write \"{key}\": \"...\"");
            self.findings.obstacle(place, format!("KernelSpecification has no {key}"), Some(remedy));
        }
        text
    }

    /// Returns the kernel's file: beside the T1 file or, as in Kernel Tuner, beside its folder.
    fn source(&self, name: &str, place: &Range<usize>) -> PathBuf {
        let beside = self.folder.join(name);
        let above = self.folder.join("..").join(name);
        if !beside.is_file() && above.is_file() {
            return above;
        }
        if !beside.is_file() {
            let remedy = format!(
                "paths are relative to `{}`; without the kernel its space can be tuned on `--device synthetic:EXPR`",
                self.folder.display()
            );
            self.findings.obstacle(place.clone(), format!("there is no file `{}`", beside.display()), Some(remedy));
        }
        beside
    }

    /// Returns the kernel's language. If this version does not compile it, no other finding is
    /// kept.
    fn language(&self, function: &str, file: &str, file_place: &Range<usize>) -> Option<Language> {
        let named = self.item.get("Language").and_then(|item| Some((item.string()?, item.span)));
        let (found, place, written) = match named {
            Some((name, place)) => (Language::from_name(name), place, name.to_string()),
            None => (
                Language::from_suffix(Path::new(file)),
                file_place.clone(),
                "a language its file does not tell".to_string(),
            ),
        };
        if found.is_none() {
            self.findings.clear();
            let text = format!("kernel `{function}` is written in {written}, which this version does not compile");
            let remedy =
                "C, C++, OpenCL, CUDA and HIP are compiled; any space can be tuned on `--device synthetic:EXPR`";
            self.findings.obstacle(place, text, Some(remedy.to_string()));
        }
        found
    }

    /// Returns the options. T1 files may have several in a string, and braces are plain text.
    fn options(&self) -> Options {
        let mut texts: Vec<String> = vec![TUNED.to_string()];
        let plain = |word: &str| word.replace('{', "{{").replace('}', "}}");
        let items = self.item.get("CompilerOptions");
        for item in items.as_ref().map(|item| item.items()).unwrap_or_default() {
            match item.string() {
                Some(text) => texts.extend(text.split_whitespace().map(plain)),
                None => self.findings.obstacle(item.span, "a compiler option is not a string", None),
            }
        }
        let mut options = Options::default();
        for fault in options.add(texts.iter().map(String::as_str), self.folder) {
            let place = items.as_ref().map_or_else(|| self.item.span.clone(), |item| item.span.clone());
            self.findings.obstacle(place, fault, None);
        }
        options
    }

    /// Returns the work-items: `GlobalSize`, in the unit of `GlobalSizeType`, unless a `GridDiv`
    /// overrides it.
    fn work(&self) -> Option<WorkDraft> {
        let mut local = self.sizes("LocalSize")?;
        let mut global = self.sizes("GlobalSize")?;
        let divided: Vec<Groups> = (0..3).map(|dimension| self.divided(dimension)).collect::<Option<_>>()?;
        let used = divided.iter().rposition(|groups| *groups != Groups::Undivided).map_or(0, |last| last + 1);
        let dimensions = used.max(global.len()).max(local.len());
        if dimensions == 0 {
            let remedy = "write \"GlobalSize\": {\"X\": \"N\"} and \"LocalSize\": {\"X\": \"64\"}".to_string();
            self.findings.obstacle(self.item.span.clone(), "the number of work-items is missing", Some(remedy));
            return None;
        }
        let has_local = !local.is_empty();
        local.resize(dimensions, "1".to_string());
        global.resize(dimensions, "1".to_string());
        let counts_groups = self.counts_groups();
        for (dimension, groups) in divided.into_iter().enumerate() {
            let Groups::Divided(groups) = groups else { continue };
            let extent =
                if counts_groups { groups } else { format!("{groups} * {}", in_parentheses(&local[dimension])) };
            global[dimension] = extent;
        }
        let global = self.exprs(&global)?;
        let local = if has_local { Some(self.exprs(&local)?) } else { None };
        let (global, grid) = if counts_groups { (None, Some(global)) } else { (Some(global), None) };
        Some(WorkDraft { global, grid, local })
    }

    fn counts_groups(&self) -> bool {
        let item = self.item.get("GlobalSizeType");
        match item.as_ref().map(|item| item.string()) {
            None | Some(Some("OpenCL")) => false,
            Some(Some("CUDA" | "Vulkan")) => true,
            Some(_) => {
                let place = item.map(|item| item.span).unwrap_or_default();
                let remedy = "it is OpenCL, where GlobalSize counts work-items, or CUDA, where it counts work-groups";
                self.findings.obstacle(place, "this GlobalSizeType is not known", Some(remedy.to_string()));
                false
            }
        }
    }

    /// Returns the extents of a list, or of an object with X, Y and Z, as texts. `None` without the
    /// key.
    fn sizes(&self, key: &str) -> Option<Vec<String>> {
        let Some(item) = self.item.get(key) else { return Some(Vec::new()) };
        let entries: Vec<Option<Item<'_>>> = if item.json.is_object() {
            ["X", "Y", "Z"].map(|axis| item.get(axis)).into()
        } else {
            item.items().into_iter().map(Some).collect()
        };
        let entries = &entries[..entries.iter().rposition(Option::is_some).map_or(0, |last| last + 1)];
        if entries.len() > 3 {
            self.findings.obstacle(item.span, format!("{key} has {} dimensions", entries.len()), None);
            return None;
        }
        let text = |entry: &Option<Item<'_>>| match entry {
            None => Some("1".to_string()),
            Some(entry) => Some(self.terms.expression(entry, key, self.findings)?.text().to_string()),
        };
        entries.iter().map(text).collect()
    }

    /// Returns the work-groups of a dimension from its `GridDiv`. `None` if that is wrong.
    fn divided(&self, dimension: usize) -> Option<Groups> {
        let key = GRID_DIVISORS[dimension];
        let Some(item) = self.item.get(key) else { return Some(Groups::Undivided) };
        let divisors = item.items();
        if divisors.is_empty() {
            return Some(Groups::Undivided);
        }
        let text = |item: &Item<'_>| {
            let expr = self.terms.expression(item, key, self.findings)?;
            Some(in_parentheses(expr.text()))
        };
        let divisors: Vec<String> = divisors.iter().map(text).collect::<Option<_>>()?;
        let Some(size) = self.terms.problem_size(dimension) else {
            let remedy = "write \"ProblemSize\": [4096, 4096]".to_string();
            self.findings.obstacle(item.span, format!("{key} divides nothing: ProblemSize is too short"), Some(remedy));
            return None;
        };
        Some(Groups::Divided(format!("ceildiv({size}, {})", divisors.join(" * "))))
    }

    fn exprs(&self, texts: &[String]) -> Option<Vec<Expr>> {
        let parse = |text: &String| {
            let parsed = Expr::parse(text);
            parsed.map_err(|error| self.findings.obstacle(self.item.span.clone(), error.to_string(), error.remedy)).ok()
        };
        texts.iter().map(parse).collect()
    }

    /// Returns the memory of a work-group that every launch gets by `SharedMemory`, in bytes. As in
    /// KTT, it is dynamic shared memory in CUDA, and the last parameter of an OpenCL kernel.
    fn shared_memory(&self, position: usize) -> Option<(ArgumentDraft, Range<usize>)> {
        const NAME: &str = "SharedMemory";
        let item = self.item.get(NAME).filter(|item| item.json.as_f64() != Some(0.0))?;
        let bytes = self.terms.expression(&item, NAME, self.findings)?;
        let kind = ArgumentKindDraft::Local(vec![bytes]);
        let element = ElementType::parse("bytes").ok()?;
        Some((arguments::argument(position, NAME, element, kind), item.span))
    }

    fn report_unread(&self) {
        let is_empty = |key: &str| {
            let value = self.item.json.get(key);
            value.is_none_or(|value| value.is_null() || value.as_bool() == Some(false))
        };
        for (key, place) in self.item.keys() {
            if KEYS.contains(&key.as_ref()) || is_empty(&key) {
                continue;
            }
            let remedy = match key.as_ref() {
                "Device" => "choose the device with --device",
                "DeviceLimits" => "the device itself reports its limits: conditions call them `device.NAME`",
                "Profiling" => "this version reads no counters",
                "SimulationInput" => "recordings are tuned with --device",
                _ => "remove it",
            };
            self.findings.note(place, format!("`{key}` of KernelSpecification is not read"), Some(remedy.to_string()));
        }
    }
}
