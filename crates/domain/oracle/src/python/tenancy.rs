//! Predicates that hold rows to one tenant.

use std::collections::BTreeSet;

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::Reader;
use crate::outline::{Outline, Told};
use crate::reading::Reading as _;

/// What columns and fields that name a tenant are called, whole or with `_id` behind.
const TENANTS: [&str; 9] =
    ["tenant", "org", "organization", "organisation", "account", "workspace", "customer", "company", "owner"];
/// What stands before the function's name in the key of a finding.
const KEY: &str = "tenant in ";

impl Reader<'_> {
    /// A comparison with a tenant, in code, in SQL or as an argument of a query.
    pub(super) fn tenant(&mut self, node: Node<'_>, function: &str) {
        if self.is_test_file || function.is_empty() {
            return;
        }
        let text = self.tight(node).to_ascii_lowercase();
        let holds = match node.kind() {
            "string" => {
                is_sql(&text) && text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(is_tenant)
            }
            "comparison_operator" => {
                text.contains("==")
                    && text.split("==").any(|side| side.split(['.', '[', ']', '"', '\'']).any(is_tenant))
            }
            _ => {
                let name = self.field(node, "name");
                if !is_tenant(name) {
                    return;
                }
                let call = node.parent().and_then(|list| list.parent());
                let called = call.map_or("", |call| self.field(call, "function"));
                let last = called.rsplit('.').next().unwrap_or("");
                matches!(last, "filter" | "filter_by" | "get" | "where" | "exclude" | "get_or_404")
            }
        };
        let always = ["or1=1", "or 1=1", "or true", "ortrue"];
        let is_open = node.kind() == "string" && is_sql(&text) && always.iter().any(|or| text.contains(or));
        // A docstring asks for nothing.
        let is_docstring = || {
            node.kind() == "string"
                && node.parent().is_some_and(|parent| parent.kind() == "expression_statement")
        };
        if !(holds || is_open) || is_docstring() {
            return;
        }
        if holds {
            self.find(FactKind::TenancyWidened, Told::WhereDropped, node, &format!("{KEY}{function}"));
        }
        if is_open {
            self.find(FactKind::TenancyWidened, Told::WhereAdded, node, &format!("always in {function}"));
        }
    }
}

fn is_sql(text: &str) -> bool {
    text.contains("where ") || text.contains(" and ") || text.contains(" join ")
}

fn is_tenant(word: &str) -> bool {
    let word = word.strip_suffix("_id").unwrap_or(word);
    TENANTS.contains(&word)
}

/// A predicate that went with its whole function widens nothing.
pub(super) fn forget_what_went_with_its_function(before: &mut Outline, after: &BTreeSet<String>) {
    before.findings.retain(|finding| match finding.key.strip_prefix(KEY) {
        Some(function) => after.contains(function),
        None => true,
    });
}
