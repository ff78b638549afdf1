//! Reads CSV of BaCO and HyperMapper: the parameters, one objective, the feasibility of the
//! configuration if that is learned, and `timestamp`.

use super::columns::{Columns, Role};
use super::stated::{Statement, usual_direction};
use std::borrow::Cow;
use tunesmith_core::Direction;
use tunesmith_core::recording::Column;

/// Returns the columns of such a file and its objective, or `None` for a file that does not end with `timestamp`. The
/// objective, whose name is the user's, is the column before `timestamp`. It is minimised, and taken as
/// milliseconds unless its name says otherwise. A column of truth values after the objective is the feasibility.
pub(super) fn columns<'a>(
    names: &[&str],
    rows: impl Iterator<Item = &'a [Cow<'a, str>]>,
) -> Option<(Columns, Statement, String)> {
    let (last, before) = names.split_last()?;
    let mut before = before.len();
    if *last != "timestamp" || before < 2 {
        return None;
    }
    let mut roles = vec![Role::Further];
    let mut texts = rows.map(|row| row[before - 1].trim()).peekable();
    if before > 2 && texts.peek().is_some() && texts.all(|text| truth(text).is_some()) {
        roles.push(Role::Feasible);
        before -= 1;
    }
    let objective = names[before - 1];
    let is_time = Statement { name: Some(objective.to_string()), ..Statement::default() }.measures_time();
    // Of an unknown name, the tools' own examples measure a time.
    roles.push(if is_time || usual_direction(objective, None).is_none() { Role::Time(1.0) } else { Role::Further });
    roles.extend((0..before - 1).rev().map(Role::Parameter));
    roles.reverse();
    let parameters = names[..before - 1].iter().map(|name| Column::of_rows(*name)).collect();
    let is_time = roles.contains(&Role::Time(1.0));
    let stated = Statement {
        name: (!is_time).then(|| objective.to_string()),
        direction: Some(Direction::Minimise),
        ..Statement::default()
    };
    let what = if is_time { "taken as a time in milliseconds" } else { "minimised, as these tools do" };
    Some((Columns { roles, parameters }, stated, format!("the objective `{objective}` is {what}")))
}

/// Returns the truth value that Python writes as `text`.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text {
        "True" | "true" => Some(true),
        "False" | "false" => Some(false),
        _ => None,
    }
}
