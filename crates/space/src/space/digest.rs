//! The digest that identifies a space.

use sha2::{Digest, Sha256};

use crate::diagram::Diagram;
use crate::hex::hex;
use crate::parameter::Parameter;
use crate::value::Value;

/// Version of the digest. Increase it when ranks or the bytes below change their meaning.
const FORMAT: u32 = 1;

/// Returns the SHA-256 of everything that gives ranks their meaning, in lower-case hexadecimal.
pub(super) fn digest(parameters: &[Parameter], diagrams: &[Diagram]) -> String {
    let mut hash = Hash(Sha256::new());
    hash.number(u64::from(FORMAT));
    hash.number(parameters.len() as u64);
    for parameter in parameters {
        hash.text(parameter.name());
        hash.text(&parameter.kind().to_string());
        hash.number(parameter.values().len() as u64);
        parameter.values().iter().for_each(|value| hash.value(value));
    }
    hash.number(diagrams.len() as u64);
    diagrams.iter().for_each(|diagram| hash.diagram(diagram));
    hex(&hash.0.finalize())
}

/// The hash of a sequence of pieces. Every piece has a fixed length or follows its length, so no
/// two spaces give the same bytes.
struct Hash(Sha256);

impl Hash {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Int(value) => self.0.update(value.to_le_bytes()),
            Value::Float(value) => self.0.update(value.to_le_bytes()),
            Value::Bool(value) => self.0.update([u8::from(*value)]),
            Value::Str(value) => self.text(value),
        }
    }

    fn diagram(&mut self, diagram: &Diagram) {
        self.number(diagram.order().len() as u64);
        diagram.order().iter().for_each(|&parameter| self.number(parameter as u64));
        self.number(diagram.nodes() as u64);
        for node in 0..diagram.nodes() {
            let runs = diagram.runs_of(node as u32);
            self.number(runs.len() as u64);
            for run in runs {
                [run.first, run.last, run.child].into_iter().for_each(|part| self.0.update(part.to_le_bytes()));
            }
        }
    }
}
