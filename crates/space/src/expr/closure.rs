//! Conditions that are functions of the program, not text.

use std::fmt;
use std::sync::Arc;

use super::datum::Datum;
use crate::value::Value;

/// The function inside a closure.
pub(crate) type Test = dyn Fn(&[Value]) -> bool + Send + Sync;

/// A function of the values of the names in its scope, in their order.
#[derive(Clone)]
pub(crate) struct Closure {
    pub(crate) name: String,
    pub(crate) version: u32,
    test: Arc<Test>,
}

impl Closure {
    pub(crate) fn new(name: String, version: u32, test: Arc<Test>) -> Closure {
        Closure { name, version, test }
    }

    /// Returns the function's answer for `values`, or `None` if one of them cannot be the value of
    /// a parameter.
    pub(crate) fn call(&self, values: &[Datum]) -> Option<bool> {
        let values: Option<Vec<Value>> = values.iter().map(value).collect();
        values.map(|values| (self.test)(&values))
    }
}

fn value(datum: &Datum) -> Option<Value> {
    match datum {
        Datum::Int(value) => i64::try_from(*value).ok().map(Value::Int),
        Datum::Float(value) => Some(Value::Float(*value)),
        Datum::Bool(value) => Some(Value::Bool(*value)),
        Datum::Str(value) => Some(Value::Str(Arc::clone(value))),
        Datum::List(_) => None,
    }
}

impl fmt::Debug for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Closure({} version {})", self.name, self.version)
    }
}
