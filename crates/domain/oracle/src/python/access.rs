//! Who is let in: what asks for a login or a permission, and what opens a door.

use std::collections::BTreeSet;

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::{Reader, decorator};
use crate::outline::{Outline, Told};
use crate::reading::Reading as _;

/// Parts of names that ask for a login.
const LOGINS: [&str; 10] = [
    "login_required",
    "auth_required",
    "jwt_required",
    "token_required",
    "requires_auth",
    "require_auth",
    "require_login",
    "requires_login",
    "authenticated",
    "current_user",
];
/// Parts of names that ask for more than a login.
const PERMISSIONS: [&str; 9] = [
    "permission_required",
    "user_passes_test",
    "roles_required",
    "roles_accepted",
    "role_required",
    "admin_required",
    "require_admin",
    "require_role",
    "staff_member_required",
];
/// Calls that open a connection or read a token.
const CONNECTS: [&str; 12] = [
    "get",
    "post",
    "put",
    "patch",
    "delete",
    "head",
    "options",
    "request",
    "Client",
    "AsyncClient",
    "Session",
    "decode",
];
/// What stands before the function's name in the key of a finding.
const LOGIN: &str = "login of ";
const PERMISSION: &str = "permission of ";

fn asks(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| text.contains(name))
}

impl Reader<'_> {
    /// A place that asks who somebody is, or no more.
    pub(super) fn access(&mut self, node: Node<'_>, function: &str) {
        if self.is_test_file {
            return;
        }
        match node.kind() {
            "decorated_definition" => self.asked_by_decorators(node),
            "default_parameter" | "typed_default_parameter" | "typed_parameter" => {
                let text = self.tight(node);
                if text.contains("Depends(") || text.contains("Security(") {
                    self.asked(node, &text, function);
                }
            }
            "keyword_argument" => self.opened_by_argument(node),
            "pair" => {
                let text = self.tight(node).replace('\'', "\"");
                if matches!(text.as_str(), "\"verify_signature\":False" | "\"verify_exp\":False") {
                    self.find(FactKind::AuthenticationChanged, Told::WhereAdded, node, &text);
                }
            }
            "assignment" => self.opened_by_setting(node),
            _ => {}
        }
    }

    fn asked_by_decorators(&mut self, node: Node<'_>) {
        let (item, decorators) = decorator::taken_apart(node);
        let name = self.field(item, "name");
        for decorator in decorators {
            let text = self.tight(decorator);
            if text.ends_with("csrf_exempt") {
                let key = format!("{text} {name}");
                self.find(FactKind::AuthenticationChanged, Told::WhereAdded, decorator, &key);
            }
            self.asked(decorator, &text, name);
        }
    }

    /// What asks for a permission asks for a login as well: the stricter one may take the place of the milder.
    fn asked(&mut self, node: Node<'_>, text: &str, function: &str) {
        let is_permission = asks(text, &PERMISSIONS);
        for (is_asked, what) in [(is_permission || asks(text, &LOGINS), LOGIN), (is_permission, PERMISSION)] {
            let key = format!("{what}{function}");
            let is_new = !self.outline.findings.iter().any(|finding| finding.key == key);
            if is_asked && is_new {
                self.find(FactKind::AuthenticationChanged, Told::WhereDropped, node, &key);
            }
        }
    }

    fn opened_by_argument(&mut self, node: Node<'_>) {
        let call = node.parent().and_then(|list| list.parent());
        let called = call.map_or("", |call| self.field(call, "function")).rsplit('.').next().unwrap_or("");
        let value = self.tight_field(node, "value").replace('\'', "\"");
        let opens = match self.field(node, "name") {
            "verify" => value == "False" && CONNECTS.contains(&called),
            "algorithms" => called == "decode" && value.to_ascii_lowercase().contains("\"none\""),
            "allow_origins" => value.contains("\"*\""),
            "dependencies" if asks(&value, &LOGINS) || asks(&value, &PERMISSIONS) => {
                self.asks_of_all = true;
                self.find(FactKind::AuthenticationChanged, Told::WhereDropped, node, "login of all");
                return;
            }
            _ => return,
        };
        if opens {
            let key = format!("{called} {}", self.tight(node));
            self.find(FactKind::AuthenticationChanged, Told::WhereAdded, node, &key);
        }
    }

    fn opened_by_setting(&mut self, node: Node<'_>) {
        let (name, value) = (self.tight_field(node, "left"), self.tight_field(node, "right"));
        let opens = match name.as_str() {
            "permission_classes" => value.contains("AllowAny") || matches!(value.as_str(), "[]" | "()"),
            "CORS_ALLOW_ALL_ORIGINS" | "CORS_ORIGIN_ALLOW_ALL" => value == "True",
            _ => name.contains("CSRF_ENABLED") && value == "False",
        };
        if opens {
            self.find(FactKind::AuthenticationChanged, Told::WhereAdded, node, &format!("{name}={value}"));
        }
    }
}

/// What went with its function opens nothing, nor does what is asked of all functions now.
pub(super) fn forget_what_is_asked_elsewhere(
    before: &mut Outline,
    functions: &BTreeSet<String>,
    is_asked_of_all: bool,
) {
    before.findings.retain(|finding| {
        match (finding.key.strip_prefix(LOGIN), finding.key.strip_prefix(PERMISSION)) {
            (Some("all"), _) => true,
            (Some(function), _) => functions.contains(function) && !is_asked_of_all,
            (_, Some(function)) => functions.contains(function),
            _ => true,
        }
    });
}
