//! Documents of other crates whose shape serde knows, with problems told as the ones here.

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use serde_path_to_error::Segment;

use crate::DocumentError;
use crate::cursor::{Cursor, Step, read_document};
use crate::problem::{Finding, ProblemCode};
use crate::suggest::{closest, quoted};
use crate::untyped::json;

/// Reads YAML or JSON of the strict subset as a type, and answers it with the plain values that it was read from.
///
/// The first thing that does not fit is told at its place, with the closest name that would.
///
/// # Errors
/// [`DocumentError`].
pub fn read_typed<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<(T, Json), DocumentError> {
    read_document(file, bytes, |cursor| {
        let value = json(cursor, cursor.node())?;
        let typed = serde_path_to_error::deserialize(value.clone()).map_err(|error| {
            let steps: Vec<Step<'_>> = error.path().iter().filter_map(step).collect();
            refuse(cursor, &steps, &error.inner().to_string())
        })?;
        Ok((typed, value))
    })
}

fn step(segment: &Segment) -> Option<Step<'_>> {
    match segment {
        Segment::Seq { index } => Some(Step::Item(*index)),
        Segment::Map { key } => Some(Step::Member(key)),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}

/// Tells what serde found, at the place where it found it.
fn refuse(cursor: &Cursor<'_>, steps: &[Step<'_>], told: &str) -> crate::cursor::Reported {
    let at = cursor.descend(steps);
    let words: Vec<&str> = told.split('`').skip(1).step_by(2).collect();
    let Some((found, valid)) = words.split_first() else {
        return at.refuse(Finding::new(code(told), format!("{} is refused: {told}", at.name()), ""));
    };
    if told.starts_with("missing field") {
        let message = format!("{} lacks the field `{found}`", at.name());
        return at.refuse(Finding::new(
            ProblemCode::MissingField,
            message,
            format!("`{found}` must stand here"),
        ));
    }
    let meant = closest(found, valid.iter().copied());
    let label = meant.map(|meant| format!("did you mean `{meant}`?")).unwrap_or_default();
    let help = (meant.is_none() && !valid.is_empty())
        .then(|| format!("what may stand here: {}", crate::suggest::all_of(valid.iter().copied())));
    let (message, is_key) = if told.starts_with("unknown field") {
        (format!("there is no field {} here", quoted(found)), true)
    } else if told.starts_with("unknown variant") {
        (format!("{} cannot be {}", at.name(), quoted(found)), false)
    } else {
        (format!("{} is refused: {told}", at.name()), false)
    };
    let mut finding = Finding::new(code(told), message, label);
    if let Some(help) = help {
        finding = finding.with_help(help);
    }
    if is_key { at.refuse_key(finding) } else { at.refuse(finding) }
}

fn code(told: &str) -> ProblemCode {
    let starts = [
        ("unknown field", ProblemCode::UnknownField),
        ("unknown variant", ProblemCode::UnknownWord),
        ("invalid type", ProblemCode::WrongType),
        ("invalid length", ProblemCode::OutOfRange),
        ("duplicate field", ProblemCode::DuplicateKey),
    ];
    starts.iter().find(|(start, _)| told.starts_with(start)).map_or(ProblemCode::Malformed, |(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape matters")]
    struct Form {
        api_version: String,
        turns: Vec<Turn>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape matters")]
    struct Turn {
        cost_usd: u32,
        then: Option<Then>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Then {
        Finish,
        Silence,
    }

    #[test]
    fn what_serde_refuses_is_told_at_its_place_with_the_closest_name() {
        let good = "apiVersion: x\nturns:\n  - costUsd: 1\n    then: finish\n";
        assert!(read_typed::<Form>("t.yaml", good.as_bytes()).is_ok());
        for (from, to, code, line, column, says) in [
            ("costUsd", "costUds", ProblemCode::UnknownField, 3, 5, "did you mean `costUsd`?"),
            ("then: finish", "then: finnish", ProblemCode::UnknownWord, 4, 11, "did you mean `finish`?"),
            ("then: finish", "then: no-word", ProblemCode::UnknownWord, 4, 11, "`finish` and `silence`"),
            ("costUsd: 1\n    ", "", ProblemCode::MissingField, 3, 5, "`costUsd` must stand here"),
            ("costUsd: 1", "costUsd: [1]", ProblemCode::WrongType, 3, 5, "invalid type"),
            ("apiVersion: x", "apiVersion: 1", ProblemCode::WrongType, 1, 13, "invalid type"),
        ] {
            let text = good.replace(from, to);
            let error = read_typed::<Form>("t.yaml", text.as_bytes()).unwrap_err();
            let problem = error.problems().next().unwrap();
            assert_eq!(
                (problem.code, problem.line, problem.column),
                (code, line, column),
                "{}",
                error.render()
            );
            assert!(error.render().contains(says), "{}", error.render());
        }
    }
}
