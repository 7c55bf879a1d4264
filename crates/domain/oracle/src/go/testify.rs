//! The assertions of testify.

use crate::outline::{Check, Relation, is_literal, squeezed};

/// What an assertion by this name asks of its arguments, the handle of the test left out.
pub(super) fn check(method: &str, parts: &[&str], line: u32, shown: &str) -> Option<Check> {
    // A name with a format at its end is the same one with a message.
    let name = method.strip_suffix('f').filter(|name| *name != "Sel").unwrap_or(method);
    let part = |at: usize| parts.get(at).copied().unwrap_or("");
    let make = |relation, subject: &str, expected: &str| Check::new(line, shown, relation, subject, expected);
    let measured = |relation, subject: &str, expected: &str, measure: &str| {
        let mut check = make(relation, subject, expected);
        measure.clone_into(&mut check.measure);
        check
    };
    let check = match name {
        "Equal" | "EqualValues" | "Exactly" | "Same" | "ElementsMatch" | "JSONEq" | "YAMLEq" => {
            let is_vacuous =
                squeezed(part(0)) == squeezed(part(1)) || (is_literal(part(0)) && is_literal(part(1)));
            make(if is_vacuous { Relation::Nothing } else { Relation::Equals }, part(1), part(0))
        }
        "ErrorIs" | "ErrorAs" | "EqualError" => make(Relation::Equals, part(0), part(1)),
        "Len" => make(Relation::Equals, &format!("len({})", part(0)), part(1)),
        "NotEqual" | "NotSame" | "NotEqualValues" => make(Relation::Differs, part(1), part(0)),
        "NoError" => make(Relation::Present, part(0), "nothing"),
        "Error" => make(Relation::Present, part(0), "something"),
        "Nil" => make(Relation::Present, part(0), "nil"),
        "NotNil" | "NotEmpty" | "NotZero" => make(Relation::Present, part(0), "not nil"),
        "Empty" | "Zero" => make(Relation::Equals, part(0), "0"),
        "True" if part(0) == "true" => make(Relation::Nothing, part(0), ""),
        "True" | "False" => {
            let mut check = make(Relation::Holds, part(0), "");
            check.is_negated = name == "False";
            check
        }
        "Contains" | "ErrorContains" | "Regexp" | "Subset" => {
            measured(Relation::Shaped, part(0), part(1), "contains")
        }
        "NotContains" => {
            let mut check = measured(Relation::Shaped, part(0), part(1), "contains");
            check.is_negated = true;
            check
        }
        "InDelta" | "InEpsilon" | "WithinDuration" => measured(Relation::Near, part(1), part(0), part(2)),
        "Greater" => measured(Relation::Ordered, part(0), part(1), ">"),
        "GreaterOrEqual" => measured(Relation::Ordered, part(0), part(1), ">="),
        "Less" => measured(Relation::Ordered, part(0), part(1), "<"),
        "LessOrEqual" => measured(Relation::Ordered, part(0), part(1), "<="),
        "New" | "Skip" | "Run" | "T" | "SetT" | "Require" | "Assert" => return None,
        _ if name.starts_with(char::is_uppercase) => {
            make(Relation::Helper, &format!("{name}({})", parts.join(",")), "")
        }
        _ => return None,
    };
    Some(check)
}
