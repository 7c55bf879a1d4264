//! Calls that check: those of unittest, of pytest, of mocks and of numeric libraries.

use tree_sitter::Node;

use super::Reader;
use super::condition::{is_the_same, tolerance};
use super::nodes::argument;
use crate::outline::{Check, Relation};
use crate::reading::Reading as _;

/// Calls that say that two values are the same.
const EQUALITIES: [&str; 16] = [
    "assertEqual",
    "assertEquals",
    "assertIs",
    "assertListEqual",
    "assertDictEqual",
    "assertSetEqual",
    "assertTupleEqual",
    "assertSequenceEqual",
    "assertMultiLineEqual",
    "assertCountEqual",
    "assert_equal",
    "assert_array_equal",
    "assert_frame_equal",
    "assert_series_equal",
    "assertItemsEqual",
    "assert_string_equal",
];

impl Reader<'_> {
    /// What a call checks; nothing for a call that is none of these.
    pub(super) fn test_call(&self, call: Node<'_>) -> Vec<Check> {
        let name = self.tight_field(call, "function");
        let Some((receiver, method)) = name.rsplit_once('.').or(Some(("", name.as_str()))) else {
            return Vec::new();
        };
        let arguments = self.arguments(call);
        let new = |relation, subject: &str, expected: &str| {
            Check::new(self.line(call), self.shown(call), relation, subject, expected)
        };
        let is_pytest = matches!(receiver, "pytest" | "");
        match method {
            "raises" | "warns" | "deprecated_call" if is_pytest && !arguments.is_empty() => {
                vec![self.expected_error(call, method, &arguments)]
            }
            "fail" if !receiver.is_empty() && arguments.len() <= 2 => vec![new(Relation::Fails, "", "")],
            _ if method.starts_with("assert") => {
                self.unit_call(call, receiver, method, &arguments).into_iter().flatten().collect()
            }
            _ => Vec::new(),
        }
    }

    fn expected_error(&self, call: Node<'_>, method: &str, arguments: &[String]) -> Check {
        // Where a name is imported from is no part of what is expected, and any error at all is nothing expected.
        let kind = arguments.first().map_or("", String::as_str);
        let kind = if kind.contains(['(', ',']) { kind } else { kind.rsplit('.').next().unwrap_or(kind) };
        let is_any = matches!(kind, "Exception" | "BaseException");
        let expected = if is_any { "" } else { kind };
        let pattern = arguments.iter().find_map(|argument| argument.strip_prefix("match="));
        // Any warning or none at all.
        let relation = if kind == "None" { Relation::Nothing } else { Relation::Shaped };
        let mut check = Check::new(self.line(call), self.shown(call), relation, method, expected);
        check.alternatives = crate::outline::alternatives(kind.trim_matches(['(', ')']), &[","]);
        if is_any {
            check.alternatives = 9;
        }
        if let Some(pattern) = pattern {
            check.expected = format!("{expected},{pattern}");
            check.resolved.1.clone_from(&check.expected);
        }
        check
    }

    fn unit_call(
        &self,
        call: Node<'_>,
        receiver: &str,
        method: &str,
        arguments: &[String],
    ) -> Option<Vec<Check>> {
        let new = |relation, subject: &str, expected: &str, measure: &str, is_negated: bool| {
            let mut check = Check::new(self.line(call), self.shown(call), relation, subject, expected);
            measure.clone_into(&mut check.measure);
            check.is_negated = is_negated;
            Some(vec![check])
        };
        let first = || argument(call, 0);
        let at = |place: usize| arguments.get(place).map_or("", String::as_str);
        match method {
            "assertTrue" | "assert_" => Some(self.condition(first()?, false, 0)),
            "assertFalse" => Some(self.condition(first()?, true, 0)),
            _ if EQUALITIES.contains(&method) && arguments.len() >= 2 => {
                let is_same = is_the_same(at(0), at(1));
                let relation = if is_same { Relation::Nothing } else { Relation::Equals };
                new(relation, at(0), at(1), "", false)
            }
            "assertNotEqual" | "assertNotEquals" | "assertIsNot" => {
                new(Relation::Differs, at(0), at(1), "", false)
            }
            "assertIsNone" => new(Relation::Equals, at(0), "None", "", false),
            "assertIsNotNone" => new(Relation::Differs, at(0), "None", "", false),
            "assertIn" | "assertNotIn" => {
                new(Relation::Shaped, at(1), at(0), "contains", method == "assertNotIn")
            }
            "assertIsInstance" => new(Relation::Shaped, at(0), at(1), "type", false),
            "assertGreater" => new(Relation::Ordered, at(0), at(1), ">", false),
            "assertGreaterEqual" => new(Relation::Ordered, at(0), at(1), ">=", false),
            "assertLess" => new(Relation::Ordered, at(0), at(1), "<", false),
            "assertLessEqual" => new(Relation::Ordered, at(0), at(1), "<=", false),
            "assertRegex" | "assertRegexpMatches" => new(Relation::Shaped, at(0), at(1), "matches", false),
            "assertRaises" | "assertWarns" | "assertRaisesRegex" | "assertWarnsRegex"
            | "assertRaisesRegexp" => {
                let mut check = self.expected_error(call, "raises", arguments);
                if method.contains("Regex") {
                    check.expected = format!("{},{}", at(0), at(1));
                    check.resolved.1.clone_from(&check.expected);
                }
                Some(vec![check])
            }
            _ => self
                .numeric(call, method, arguments)
                .or_else(|| self.mocked(call, receiver, method, arguments)),
        }
    }

    /// Calls of numeric libraries, and near values of unittest.
    fn numeric(&self, call: Node<'_>, method: &str, arguments: &[String]) -> Option<Vec<Check>> {
        let [value, expected, rest @ ..] = arguments else { return None };
        let measure = match method {
            "assertAlmostEqual" | "assertAlmostEquals" | "assert_almost_equal" => places(rest),
            "assert_allclose" | "assert_approx_equal" | "assert_array_almost_equal" => tolerance(rest),
            _ => return None,
        };
        let mut check = Check::new(self.line(call), self.shown(call), Relation::Near, value, expected);
        check.measure = measure;
        Some(vec![check])
    }

    /// What a mock is asked of its calls.
    fn mocked(
        &self,
        call: Node<'_>,
        receiver: &str,
        method: &str,
        arguments: &[String],
    ) -> Option<Vec<Check>> {
        let (relation, expected) = match method {
            "assert_called_once_with"
            | "assert_called_with"
            | "assert_any_call"
            | "assert_has_calls"
            | "assert_awaited_with"
            | "assert_awaited_once_with" => (Relation::Equals, arguments.join(",")),
            "assert_called" | "assert_called_once" | "assert_awaited" | "assert_awaited_once" => {
                (Relation::Present, String::new())
            }
            "assert_not_called" | "assert_not_awaited" => (Relation::Equals, "None".to_owned()),
            _ => return None,
        };
        let calls = format!("{receiver}.calls");
        Some(vec![Check::new(self.line(call), self.shown(call), relation, &calls, &expected)])
    }
}

/// What `places` or `delta` lets pass; seven places where neither stands.
fn places(arguments: &[String]) -> String {
    let digits = arguments.iter().find_map(|argument| {
        argument.strip_prefix("places=").or_else(|| argument.parse::<u32>().ok().map(|_| argument.as_str()))
    });
    match (digits, arguments.iter().find_map(|argument| argument.strip_prefix("delta="))) {
        (_, Some(delta)) => delta.to_owned(),
        (Some(digits), None) => format!("1e-{digits}"),
        (None, None) => "1e-7".to_owned(),
    }
}
