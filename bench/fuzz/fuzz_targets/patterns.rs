//! A command's templates and patterns, and the output that they read. The input is a pattern, a line of
//! `====`, and an output.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tunesmith_kernel::{Scope, Template};
use tunesmith_kernel::command::{NumberPattern, TextPattern};
use tunesmith_fuzz::{parts, text};
use tunesmith_space::Value;

fuzz_target!(|input: &[u8]| {
    let Some(text) = text(input) else { return };
    let [pattern, output] = parts(text);
    let (pattern, output) = (pattern.unwrap_or_default(), output.unwrap_or(text));
    if let Ok(template) = Template::parse(pattern) {
        assert_eq!(Template::parse(&template.to_string()).as_ref(), Ok(&template));
        let scope = Scope::new([("N".to_string(), Value::Int(8)), ("K".to_string(), Value::Str("{N}".into()))]);
        let expanded = template.expand(&scope);
        if template.check(&scope).is_ok() && template.names().next().is_none() {
            assert_eq!(Template::parse(&expanded.replace('{', "{{").replace('}', "}}")), Ok(template));
        }
    }
    if let Ok(number) = NumberPattern::parse(pattern) {
        assert_eq!(NumberPattern::parse(&number.to_string()).map(|again| again.to_string()), Ok(number.to_string()));
        let last = number.last(output);
        let matches = TextPattern::parse(pattern).expect("a pattern with a group").matches(output);
        assert!(matches || last.is_none(), "a number without a match");
    }
});
