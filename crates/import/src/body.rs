//! The statements of a function: loops and assignments.

use crate::element::Element;
use crate::finding::{Finding, ImportError};
use crate::function::{Declared, Parameter, ParameterKind, parameters, variables};
use crate::index::{Integers, inner};
use crate::source::{Source, parts};
use crate::sum::Sum;
use crate::value::{Value, rounds};
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// The meaning of a name.
pub(crate) enum Name {
    Integer(Sum),
    /// A number: an argument or a temporary, by its name in the nest.
    Scalar {
        text: String,
        element: Element,
    },
    Array(usize),
}

/// An array of the function.
pub(crate) struct Array<'a> {
    pub(crate) declared: Declared<'a>,
    /// Its name in the nest.
    pub(crate) name: String,
    /// The sizes of its axes as far as the declaration or an access has them. The first one may be
    /// known only after all accesses.
    pub(crate) axes: Vec<Option<Sum>>,
    /// Subscripts along the first axis, with the loops around them.
    pub(crate) first: Vec<(Sum, Vec<usize>)>,
    pub(crate) is_temporary: bool,
    pub(crate) is_written: bool,
}

/// A loop of the nest.
pub(crate) struct Loop {
    pub(crate) name: String,
    /// Its first value in the nest.
    pub(crate) start: Sum,
    /// The distance from the first value of C's variable to its last, or a little more if the step
    /// is not 1.
    pub(crate) distance: Sum,
    /// The step of C's variable, without its sign.
    pub(crate) step: i128,
    /// Its line in the nest.
    pub(crate) text: String,
}

/// An assignment of the nest.
pub(crate) struct Instruction {
    pub(crate) text: String,
}

/// A function that is being read.
pub(crate) struct Body<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) integers: Integers,
    pub(crate) scalars: BTreeMap<String, (String, Element)>,
    pub(crate) arrays: Vec<Array<'a>>,
    pub(crate) by_name: BTreeMap<String, usize>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) open: Vec<usize>,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) declarations: Vec<String>,
    pub(crate) taken: BTreeSet<String>,
    pub(crate) findings: Vec<Finding>,
}

/// A function that was read.
pub(crate) struct Read {
    /// The text of the nest without transformations.
    pub(crate) nest: String,
    pub(crate) sizes: Vec<String>,
    pub(crate) parameters: Vec<Parameter>,
}

impl<'a> Body<'a> {
    /// Prepares to read the body of a function definition.
    ///
    /// # Errors
    ///
    /// Fails if the function returns a value, or if nests do not have one of its parameters.
    pub(crate) fn new(source: &'a Source<'a>, definition: Node<'a>) -> Result<Self, ImportError> {
        let returned = source.field(definition, "type");
        if returned != "void" {
            let text = format!("the function returns `{returned}`, and a nest returns nothing");
            return Err(ImportError::of(Finding::at(definition, text, Some("store the result in an array"))));
        }
        let constants = source.constants().into_iter().map(|(name, value)| (name, Sum::constant(value)));
        let name = definition.child_by_field_name("declarator").map_or("", |node| source.field(node, "declarator"));
        let mut body = Self {
            source,
            parameters: Vec::new(),
            integers: Integers { known: constants.collect() },
            scalars: BTreeMap::new(),
            arrays: Vec::new(),
            by_name: BTreeMap::new(),
            loops: Vec::new(),
            open: Vec::new(),
            instructions: Vec::new(),
            declarations: vec![format!("nest {name}")],
            taken: BTreeSet::new(),
            findings: Vec::new(),
        };
        parameters(source, definition)
            .and_then(|all| all.into_iter().try_for_each(|own| body.parameter(own)))
            .map_err(ImportError::of)?;
        Ok(body)
    }

    fn parameter(&mut self, declared: Declared<'a>) -> Result<(), Finding> {
        let (name, element) = (declared.name.clone(), declared.element);
        self.taken.insert(name.clone());
        let kind = match (declared.axes.is_empty(), element.is_float()) {
            (true, false) => {
                self.integers.known.insert(name.clone(), Sum::name(&name));
                ParameterKind::Size
            }
            (true, true) => {
                self.scalars.insert(name.clone(), (name.clone(), element));
                ParameterKind::Argument
            }
            (false, _) => {
                self.array(declared, name.clone(), false)?;
                ParameterKind::Unused
            }
        };
        self.parameters.push(Parameter { name, element, kind });
        Ok(())
    }

    fn array(&mut self, declared: Declared<'a>, name: String, is_temporary: bool) -> Result<(), Finding> {
        if !declared.element.is_of_arrays() {
            let text = format!("nests have no arrays of `{}`", declared.element.in_c());
            return Err(Finding::at(declared.node, text, Some("they have int and long")));
        }
        let mut axes = Vec::new();
        for (at, size) in declared.axes.iter().enumerate() {
            match size {
                Some(size) => axes.push(Some(self.integers.affine(self.source, *size)?)),
                None if at == 0 => axes.push(None),
                None => return Err(Finding::at(declared.node, "a pointer to a pointer is no array of a nest", None)),
            }
        }
        self.by_name.insert(declared.name.clone(), self.arrays.len());
        self.arrays.push(Array { declared, name, axes, first: Vec::new(), is_temporary, is_written: false });
        Ok(())
    }

    /// Returns the meaning of a name of C.
    pub(crate) fn name(&self, name: &str) -> Option<Name> {
        let integer = || self.integers.known.get(name).cloned().map(Name::Integer);
        let scalar = || {
            let (text, element) = self.scalars.get(name)?;
            Some(Name::Scalar { text: text.clone(), element: *element })
        };
        self.by_name.get(name).map(|at| Name::Array(*at)).or_else(scalar).or_else(integer)
    }

    /// Reads the statements. What cannot be read is remembered, so that all of it is reported.
    pub(crate) fn read(&mut self, definition: Node<'a>) {
        if let Some(body) = definition.child_by_field_name("body") {
            self.statement(body);
        }
    }

    pub(crate) fn statement(&mut self, node: Node<'a>) {
        let done = match node.kind() {
            "compound_statement" => {
                self.block(node);
                Ok(())
            }
            "if_statement" => self.if_statement(node),
            // They ask the compiler for something, and compute nothing.
            "preproc_call" if self.source.field(node, "directive") == "#pragma" => Ok(()),
            "for_statement" => self.for_loop(node),
            "declaration" => self.declaration(node),
            "expression_statement" => parts(node).into_iter().try_for_each(|part| self.expression(part)),
            "return_statement" if parts(node).is_empty() && self.open.is_empty() => Ok(()),
            _ => Err(self.no_statement(node)),
        };
        if let Err(finding) = done {
            self.findings.push(finding);
        }
    }

    /// Reads the statements of a block. Names that it declares end with it.
    fn block(&mut self, node: Node<'a>) {
        let outer = (self.integers.known.clone(), self.scalars.clone(), self.by_name.clone());
        parts(node).into_iter().for_each(|part| self.statement(part));
        (self.integers.known, self.scalars, self.by_name) = outer;
    }

    pub(crate) fn no_statement(&self, node: Node<'_>) -> Finding {
        let (text, remedy) = match node.kind() {
            "while_statement" | "do_statement" => {
                ("a `while` loop has no affine bounds", Some("write it as `for (i = first; i < end; i++)`"))
            }
            "if_statement" | "switch_statement" => (
                "a condition of a nest chooses the value of one assignment",
                Some("write `a = c ? x : y`, or put the condition into the bounds of a loop"),
            ),
            "break_statement" | "continue_statement" | "goto_statement" | "return_statement" | "labeled_statement" => {
                ("a nest runs every iteration of its loops to the end", None)
            }
            kind if kind.starts_with("preproc") => {
                ("the preprocessor decides what stands here", Some("import the file as the compiler sees it: `cc -E`"))
            }
            _ => ("nests have no such statement", None),
        };
        Finding::at(node, format!("`{}`: {text}", self.source.snippet(node)), remedy)
    }

    fn declaration(&mut self, node: Node<'a>) -> Result<(), Finding> {
        for declared in variables(self.source, node)? {
            self.variable(declared)?;
        }
        Ok(())
    }

    fn variable(&mut self, declared: Declared<'a>) -> Result<(), Finding> {
        let (name, element, value) = (declared.name.clone(), declared.element, declared.value);
        if declared.axes.iter().any(Option::is_none) {
            let text = format!("the pointer `{name}` is another name of an array");
            return Err(Finding::at(declared.node, text, Some("use the array itself")));
        }
        self.by_name.remove(&name);
        self.scalars.remove(&name);
        if declared.axes.is_empty() && !element.is_float() {
            // A loop's variable has no value before the loop; others are set once.
            self.integers.known.remove(&name);
            if let Some(value) = value {
                let sum = self.integers.affine(self.source, value)?;
                self.integers.known.insert(name, sum);
            }
            return Ok(());
        }
        let text = self.unique(&name);
        if !declared.axes.is_empty() {
            if let Some(value) = value {
                return Err(Finding::at(
                    value,
                    "a list of values has no meaning in a nest",
                    Some("assign them in a loop"),
                ));
            }
            return self.array(declared, text, true);
        }
        self.declarations.push(format!("temporary {text}: {}", element.name()));
        self.scalars.insert(name, (text.clone(), element));
        if let Some(value) = value {
            let value = self.value(value)?;
            self.instruct(&text, value.text());
        }
        Ok(())
    }

    /// Returns a name like `name` that nothing else has.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        let tries = std::iter::once(name.to_string()).chain((2..).map(|number| format!("{name}_{number}")));
        let free = tries.into_iter().find(|own| !self.taken.contains(own)).unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }

    pub(crate) fn instruct(&mut self, target: &str, value: &str) {
        let names: Vec<&str> = self.open.iter().map(|at| self.loops[*at].name.as_str()).collect();
        self.instructions.push(Instruction { text: format!("{target} = {value}  @ {}", names.join(", ")) });
    }

    fn expression(&mut self, node: Node<'a>) -> Result<(), Finding> {
        let (target, value) = self.assignment(node)?;
        self.instruct(&target, value.text());
        Ok(())
    }

    /// Returns the target of an assignment and the value that it gets.
    pub(crate) fn assignment(&mut self, node: Node<'a>) -> Result<(String, Value), Finding> {
        let field = |name: &str| node.child_by_field_name(name);
        let operator = self.source.field(node, "operator").to_string();
        match (node.kind(), field("left"), field("right"), field("argument")) {
            ("assignment_expression", Some(left), Some(right), _) => {
                let (target, value) = (self.target(left)?, self.value(right)?);
                let value = match operator.as_str() {
                    "=" => value,
                    "+=" | "-=" | "*=" | "/=" => {
                        self.value(left)?.with(&operator[..1], &value).ok_or_else(|| rounds(node))?
                    }
                    _ => return Err(Finding::at(node, format!("nests have no `{operator}`"), None)),
                };
                Ok((target, value))
            }
            ("update_expression", _, _, Some(own)) => {
                let (target, old) = (self.target(own)?, self.value(own)?);
                let changed = old.with(&operator[..1], &Value::whole(1));
                changed.map(|value| (target, value)).ok_or_else(|| self.no_statement(node))
            }
            ("call_expression", ..) => {
                let text = format!("it calls `{}`", self.source.field(node, "function"));
                Err(Finding::at(node, text, Some("write the body of the function in its place")))
            }
            _ => Err(self.no_statement(node)),
        }
    }

    /// Returns the cell or scalar that an assignment writes.
    fn target(&mut self, node: Node<'a>) -> Result<String, Finding> {
        let node = inner(node);
        match node.kind() {
            "subscript_expression" => {
                let (cell, _) = self.cell(node)?;
                if let Some(Name::Array(at)) = self.array_of(node).and_then(|name| self.name(self.source.of(name))) {
                    self.arrays[at].is_written = true;
                }
                Ok(cell)
            }
            "identifier" => match self.name(self.source.of(node)) {
                Some(Name::Scalar { text, .. }) if self.parameters.iter().all(|own| own.name != text) => Ok(text),
                Some(Name::Scalar { .. } | Name::Integer(_)) => {
                    let text = format!("`{}` changes its value", self.source.of(node));
                    Err(Finding::at(node, text, Some("parameters, loops and integers keep theirs in a nest")))
                }
                Some(Name::Array(_)) => Err(Finding::at(
                    node,
                    format!("the pointer `{}` changes: pointer arithmetic", self.source.of(node)),
                    Some("write the access with brackets: `a[i]`"),
                )),
                None => {
                    let text = format!("`{}` is an integer that is set after its declaration", self.source.of(node));
                    let remedy = "declare it where it gets its value: `int k = i + 1;`";
                    Err(Finding::at(node, text, Some(remedy)))
                }
            },
            "pointer_expression" => Err(Finding::at(
                node,
                format!("`{}` is pointer arithmetic", self.source.snippet(node)),
                Some("write the access with brackets: `a[i]`"),
            )),
            _ => Err(self.no_statement(node)),
        }
    }

    /// Returns the name of the array that a chain of brackets accesses.
    fn array_of(&self, node: Node<'a>) -> Option<Node<'a>> {
        let argument = inner(node.child_by_field_name("argument")?);
        if argument.kind() == "subscript_expression" { self.array_of(argument) } else { Some(argument) }
    }
}
