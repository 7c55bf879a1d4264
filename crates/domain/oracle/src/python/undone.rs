//! Tests that stand in their file and are taken away again by what stands beside them.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::Reader;
use super::nodes::first;
use crate::outline::{Told, Unit};
use crate::reading::Reading as _;

/// Calls that tell less than the value that they are given.
const LOSSY: [&str; 11] =
    ["bool", "len", "str", "type", "set", "frozenset", "sorted", "abs", "hash", "any", "all"];

/// Whether a condition holds in no run of the tests.
pub(super) fn is_dead(condition: &str) -> bool {
    matches!(
        condition.trim_matches(['(', ')']),
        "False"
            | "0"
            | "None"
            | "TYPE_CHECKING"
            | "typing.TYPE_CHECKING"
            | "not __debug__"
            | "not True"
            | "\"\""
    )
}

/// What both sides of a comparison are given to, where that tells less than the values themselves.
pub(super) fn unwrapped(one: &str, other: &str) -> Option<(String, String)> {
    let (mut one, mut other) = (one, other);
    let mut is_wrapped = false;
    while let Some(name) = LOSSY.iter().find(|name| {
        [one, other].iter().all(|side| side.starts_with(&format!("{name}(")) && is_one_call(side))
    }) {
        let inside = |side: &'_ str| (name.len() + 1, side.len() - 1);
        let ((start, end), (from, to)) = (inside(one), inside(other));
        (one, other, is_wrapped) = (&one[start..end], &other[from..to], true);
    }
    is_wrapped.then(|| (one.to_owned(), other.to_owned()))
}

/// Whether the bracket that opens first closes last.
fn is_one_call(text: &str) -> bool {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1 == text.len();
                }
            }
            _ => {}
        }
    }
    false
}

/// The value of which `value % 5 == 0` tells the rest alone.
pub(super) fn divided<'a>(one: &'a str, other: &str) -> Option<&'a str> {
    let (value, by) = one.rsplit_once('%').filter(|_| other == "0")?;
    (by.parse::<u32>().is_ok() && !value.contains('"')).then_some(value)
}

/// Whether a list is cut to nothing.
pub(super) fn is_cut(list: &str) -> bool {
    list.ends_with("[:0]") || list.ends_with("[0:0]") || (list.contains("islice(") && list.ends_with(",0)"))
}

impl Reader<'_> {
    /// A statement beside tests that takes one away.
    pub(super) fn undoes(&mut self, statement: Node<'_>) {
        match statement.kind() {
            "delete_statement" => {
                let text = self.tight(statement);
                let names = text.trim_start_matches("del").trim_matches([' ', '(', ')']);
                let found = names.split(',').map(str::trim).find(|name| self.is_test_name(name));
                if let Some(name) = found.map(str::to_owned) {
                    self.find(FactKind::TestShadowed, Told::WhereAdded, statement, &name);
                }
            }
            "expression_statement" => {
                let Some(inner) = first(statement) else { return };
                let text = self.tight(inner);
                let left = self.tight_field(inner, "left");
                let is_scope = |text: &str| {
                    ["globals()", "vars()", "locals()", "sys.modules[__name__]"]
                        .iter()
                        .any(|of| text.starts_with(of))
                };
                let rebinds = inner.kind() == "assignment"
                    && (is_scope(&left)
                        || self.is_test_name(&left) && !self.field(inner, "right").contains(left.as_str()));
                let takes = inner.kind() == "call"
                    && is_scope(&text)
                    && [".pop(", ".clear(", ".update(", ".__delitem__(", ".__setitem__("]
                        .iter()
                        .any(|call| text.contains(call));
                if rebinds || takes {
                    self.find(FactKind::TestShadowed, Told::WhereAdded, statement, &text);
                }
            }
            "for_statement" | "while_statement" => {
                let text = self.tight(statement);
                if ["globals()[", "vars()["].iter().any(|of| text.contains(of)) && text.contains("test") {
                    self.find(FactKind::TestShadowed, Told::WhereAdded, statement, &text);
                }
            }
            _ => {}
        }
    }

    /// Whether a name is that of a test of this file.
    fn is_test_name(&self, name: &str) -> bool {
        let last = name.rsplit('.').next().unwrap_or(name);
        (last.starts_with("test") && self.functions.contains(last))
            || (name.starts_with("Test") && self.text().contains(&format!("class {name}")))
    }

    /// Decorators that put something in the place of a test that is none.
    pub(super) fn replaced_by(&self, decorators: &[Node<'_>], unit: &mut Unit) {
        for decorator in decorators {
            let text = self.tight(*decorator);
            let name = text.trim_start_matches('@').split('(').next().unwrap_or("");
            let last = name.rsplit('.').next().unwrap_or("");
            if unit.is_collected && matches!(last, "property" | "cached_property") {
                unit.obstacles.push(self.obstacle(FactKind::TestUncollected, "property", *decorator));
            }
            if self.returns_nothing.contains(name) {
                unit.obstacles.push(self.obstacle(FactKind::TestShadowed, "nothing", *decorator));
            }
        }
    }
}
