//! Spaces are read back as they were written, and altered files are refused.

use tunesmith_space::{Constraint, Parameter, Space, Value, Values};

fn space() -> Space {
    Space::builder()
        .constant("N", Value::Int(48))
        .constant("rate", Value::Float(0.1))
        .parameter(Parameter::new("TILE", Values::range(1, 48, 1).unwrap()).unwrap())
        .parameter(Parameter::new("THREADS", Values::pow2(1, 32).unwrap()).unwrap())
        .parameter(Parameter::new("PAD", [Value::Bool(false), Value::Bool(true)]).unwrap())
        .parameter(Parameter::new("SCALE", [Value::Float(0.1), Value::Float(1e300)]).unwrap())
        .parameter(Parameter::new("ORDER", [Value::from("row"), Value::from("a \"b\"")]).unwrap())
        .constraint(Constraint::parse("N % TILE == 0 and TILE % THREADS == 0").unwrap())
        .constraint(Constraint::parse("SCALE > rate or ORDER == 'row'").unwrap())
        .constraint(Constraint::closure("padded tiles are small", 3, &["PAD", "TILE"], |values| {
            values[0] == Value::Bool(false) || values[1] < Value::Int(20)
        }))
        .build()
        .unwrap()
}

#[test]
fn a_space_is_read_back_as_it_was_written() {
    let space = space();
    let text = serde_json::to_string(&space).unwrap();
    let back: Space = serde_json::from_str(&text).unwrap();
    assert_eq!(back.digest(), space.digest());
    assert_eq!(back.len(), space.len());
    assert_eq!(back.groups(), space.groups());
    assert!(space.iter().all(|id| back.unrank(id) == space.unrank(id)));
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
    let small = back.configuration(&[("TILE", 3.into()), ("THREADS", 2.into())], None).unwrap();
    assert_eq!(back.violated(&small)[0].name(), space.violated(&small)[0].name());
    assert_eq!(back.constraints()[2].closure_version(), Some(3));
}

#[test]
fn whatever_is_changed_in_a_stored_space_is_an_error_and_no_panic() {
    let text = serde_json::to_string(&space()).unwrap();
    let mut refused = 0;
    for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
        for other in [b'0', b'1', b'7', b'9'] {
            let mut changed = text.clone().into_bytes();
            changed[at] = other;
            // Constants, the constraints' texts and versions do not change the meaning of ranks.
            // Every other change is refused.
            let read = serde_json::from_slice::<Space>(&changed);
            let same = read.as_ref().is_ok_and(|read| read.iter().eq(space().iter()));
            assert!(other == byte || read.is_err() || same, "{other} at {at}");
            refused += u32::from(read.is_err());
        }
    }
    assert!(refused > 500, "{refused}");
}
