//! Faults of a problem, each with the part that it concerns. Where that part stands in a file is for the front door
//! to say that read it.

use crate::diagnostic::Level;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;
use tunesmith_space::ExprError;

/// One step from a part of a problem to a part of that part.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Step {
    /// The part of this name.
    Field(String),
    /// The part at this position of a list, counted from 0.
    At(usize),
    /// The name itself, in place of what it names.
    Label,
    /// The second part of one name.
    Second,
}

/// A part of a problem, by the path of its keys in a problem file: `arguments[2].shape[0]`. The default is the whole
/// problem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Vec<Step>);

impl Key {
    /// Returns the part of the whole problem that is called `section`.
    pub fn of(section: &str) -> Self {
        Self::default().field(section)
    }

    /// Returns the part called `name` of this one.
    pub fn field(&self, name: &str) -> Self {
        self.with(Step::Field(name.to_string()))
    }

    /// Returns the part at `index` of this list.
    pub fn at(&self, index: usize) -> Self {
        self.with(Step::At(index))
    }

    /// Returns the name of this part, in place of what it names.
    pub fn label(&self) -> Self {
        self.with(Step::Label)
    }

    /// Returns the second part of this name, or its name.
    pub(crate) fn second(&self) -> Self {
        match &self.0[..] {
            [part @ .., Step::Label] => Self(part.to_vec()).second().label(),
            _ => self.with(Step::Second),
        }
    }

    fn with(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// Returns the part that this one belongs to, unless it is the whole problem.
    pub fn outer(&self) -> Option<Self> {
        let (_, outer) = self.0.split_last()?;
        Some(Self(outer.to_vec()))
    }

    /// Returns the other paths at which a file may state the part: a lone value in place of a list of one, what all
    /// alternatives share, and the older names of sections.
    pub fn aliases(&self) -> Vec<Self> {
        let mut found = Vec::new();
        let lone = Self(self.0.iter().filter(|step| **step != Step::At(0)).cloned().collect());
        found.extend((lone != *self).then_some(lone));
        let field = |name: &str| Step::Field(name.to_string());
        match &self.0[..] {
            [first, Step::At(at), second, Step::At(_), rest @ ..]
                if *first == field("alternative") && *second == field("kernel") =>
            {
                let shared = [first.clone(), Step::At(*at)].into_iter().chain(rest.iter().cloned());
                found.push(Self(shared.collect()));
                found.extend((!rest.is_empty()).then(|| Self::of("kernel").extended(rest)));
            }
            [first, Step::At(_), rest @ ..] if *first == field("alternative") && !rest.is_empty() => {
                found.push(Self::of("kernel").extended(rest));
            }
            [first, rest @ ..] if *first == field("constraints") => {
                found.push(Self::of("restrictions").extended(rest));
            }
            [first, second] if *first == field("kernel") && *second == field("alternative") => {
                found.push(Self::of("alternative"));
            }
            _ => {}
        }
        found
    }

    fn extended(&self, steps: &[Step]) -> Self {
        Self(self.0.iter().chain(steps).cloned().collect())
    }

    /// Returns the name of the part in messages: its path without positions.
    pub fn name(&self) -> String {
        let fields =
            self.0.iter().filter_map(|step| if let Step::Field(name) = step { Some(name.as_str()) } else { None });
        fields.collect::<Vec<_>>().join(".")
    }
}

/// The text of a fault.
#[derive(Clone, Debug)]
enum Wording {
    Plain(String),
    /// The name of the part stands between two texts. A file may state the part in another place, under another name.
    Named(String, String),
}

/// A place in an expression: the expression, and the bytes of it.
type Inside = (String, Range<usize>);

/// A fault of a part.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The severity.
    pub level: Level,
    /// The part.
    pub key: Key,
    /// The place inside the expression of the part, if the fault is about it.
    pub inside: Option<Inside>,
    wording: Wording,
    /// The advice for the user.
    pub remedy: Option<String>,
}

impl Fault {
    /// Returns the text, in which the part is called `name`.
    pub fn text(&self, name: &str) -> String {
        match &self.wording {
            Wording::Plain(text) => text.clone(),
            Wording::Named(before, behind) => format!("{before}`{name}`{behind}"),
        }
    }
}

/// The faults of a problem, in the order in which they were found.
#[derive(Debug, Default)]
pub struct Faults(RefCell<Vec<Fault>>);

impl Faults {
    /// Adds an error about a part.
    pub fn error(&self, key: Key, text: impl Into<String>, remedy: Option<String>) {
        self.add(Level::Error, key, Wording::Plain(text.into()), remedy);
    }

    /// Adds an error whose text has the name of the part between `before` and `behind`.
    pub fn named(&self, key: Key, before: &str, behind: impl Into<String>, remedy: Option<String>) {
        self.add(Level::Error, key, Wording::Named(before.to_string(), behind.into()), remedy);
    }

    /// Adds a warning about a part.
    pub fn warning(&self, key: Key, text: impl Into<String>, remedy: Option<String>) {
        self.add(Level::Warning, key, Wording::Plain(text.into()), remedy);
    }

    /// Adds a warning whose text has the name of the part between `before` and `behind`.
    pub fn named_warning(&self, key: Key, before: &str, behind: impl Into<String>, remedy: Option<String>) {
        self.add(Level::Warning, key, Wording::Named(before.to_string(), behind.into()), remedy);
    }

    /// Adds an error inside of the expression `text` of a part.
    pub fn expression(&self, key: Key, text: &str, error: &ExprError) {
        let inside = Some((text.to_string(), error.span.clone()));
        let wording = Wording::Plain(format!("in `{text}`: {error}"));
        let fault = Fault { level: Level::Error, key, inside, wording, remedy: error.remedy.clone() };
        self.0.borrow_mut().push(fault);
    }

    /// Reports the names of `section` that are there twice, each at its second place.
    pub fn refuse_twins<'n>(&self, section: &Key, names: impl IntoIterator<Item = &'n str>) {
        let mut seen = HashSet::new();
        for name in names {
            if !seen.insert(name) {
                let remedy = "remove one, or give it another name".to_string();
                self.named(section.field(name).second().label(), "", " is there twice", Some(remedy));
            }
        }
    }

    fn add(&self, level: Level, key: Key, wording: Wording, remedy: Option<String>) {
        self.0.borrow_mut().push(Fault { level, key, inside: None, wording, remedy });
    }

    /// Returns true if any fault is an error.
    pub fn have_errors(&self) -> bool {
        self.0.borrow().iter().any(|fault| fault.level == Level::Error)
    }

    /// Returns the faults.
    pub fn into_list(self) -> Vec<Fault> {
        self.0.into_inner()
    }
}
