//! Who is let in: what asks for a login or a permission before a route or a method, and what opens a door.

use ambit_policy::{Fact, FactKind, Side};
use tree_sitter::Node;

use super::chain::Chain;
use super::compared::{Sides, told};
use super::found::Place;
use super::said::arguments;
use super::walk::Walk;

/// Parts of names that ask for a login, in lower case without underscores.
const LOGINS: [&str; 21] = [
    "requireauth",
    "requirelogin",
    "requireuser",
    "requiresession",
    "requiresauth",
    "isauthenticated",
    "isloggedin",
    "ensureauth",
    "ensurelogged",
    "ensurelogin",
    "authenticate",
    "verifytoken",
    "verifyjwt",
    "checkjwt",
    "checkauth",
    "authguard",
    "jwtguard",
    "authmiddleware",
    "loginrequired",
    "protectroute",
    "expressjwt",
];
/// Parts of names that ask for more than a login.
const PERMISSIONS: [&str; 15] = [
    "requirerole",
    "requireadmin",
    "requirepermission",
    "requirescope",
    "requiredscope",
    "isadmin",
    "checkrole",
    "checkpermission",
    "hasrole",
    "haspermission",
    "rolesguard",
    "permissionsguard",
    "permissionguard",
    "authorize",
    "adminonly",
];
/// Decorators whose whole name asks for more than a login.
const PERMITS: [&str; 4] = ["roles", "permissions", "authorized", "scopes"];
/// Decorators that let everybody in.
const PUBLIC: [&str; 6] = ["public", "ispublic", "skipauth", "noauth", "allowanonymous", "unauthenticated"];
/// Methods by which a route is declared.
const ROUTES: [&str; 9] = ["get", "post", "put", "patch", "delete", "all", "head", "options", "use"];

/// What is asked of whoever comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Login,
    /// Which asks for a login as well.
    Permission,
}

/// Something that asks, before a route, a class or a method of one.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) asked: Asked,
    /// What it stands before.
    pub(super) before: String,
    pub(super) place: Place,
}

/// What the name of a function or a decorator asks for.
fn asks(name: &str) -> Option<Asked> {
    let last = name.split('(').next().unwrap_or("").rsplit('.').next().unwrap_or("");
    let plain: String = last.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let named = |parts: &[&str]| parts.iter().any(|part| plain.contains(part));
    if ["unauth", "noauth", "notauth", "skipauth"].iter().any(|start| plain.starts_with(start)) {
        return None;
    }
    if named(&PERMISSIONS) {
        return Some(Asked::Permission);
    }
    named(&LOGINS).then_some(Asked::Login)
}

impl<'t> Walk<'_, 't> {
    /// A route with what stands before its handler, or what is asked of all that follow.
    pub(super) fn routed(&mut self, node: Node<'t>, chain: &Chain<'t>) {
        let last = chain.last();
        let is_global = last.name == "useGlobalGuards";
        if chain.links.len() < 2 || !(is_global || ROUTES.contains(&last.name)) {
            return;
        }
        let given: Vec<Node<'t>> = last.calls.iter().flat_map(|call| arguments(*call)).collect();
        let paths = chain.links.iter().flat_map(|link| link.calls.iter().flat_map(|call| arguments(*call)));
        let path = paths.filter(|part| part.kind() == "string").map(|part| self.text.unquoted(part)).next();
        let route = match (last.name, path) {
            ("use" | "useGlobalGuards", None) => "all".to_owned(),
            (_, None) => return,
            (method, Some(path)) if path.starts_with(['/', '*', ':']) || path.is_empty() => {
                format!("{method} {path}")
            }
            _ => return,
        };
        for part in given {
            self.guards(part, &route, node);
        }
        self.found.routes.insert(route);
    }

    /// What an argument of a route asks for; a list of them is what its parts are.
    fn guards(&mut self, part: Node<'t>, route: &str, node: Node<'t>) {
        match part.kind() {
            "array" => {
                let mut cursor = part.walk();
                let parts: Vec<Node<'t>> = part.named_children(&mut cursor).collect();
                parts.into_iter().for_each(|part| self.guards(part, route, node));
            }
            "identifier" | "member_expression" | "call_expression" | "new_expression" => {
                let text = self.text.of(part);
                let name = text.strip_prefix("new ").unwrap_or(text);
                if let Some(asked) = asks(name) {
                    let place = self.place(node);
                    self.found.guards.push(Guard { asked, before: route.to_owned(), place });
                }
            }
            _ => {}
        }
    }

    /// A decorator of a class or of one of its methods.
    pub(super) fn decorated(&mut self, node: Node<'t>) {
        let text = self.text.of(node).trim_start_matches('@');
        let name = text.split('(').next().unwrap_or("").rsplit('.').next().unwrap_or("");
        let plain: String =
            name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        let place = self.place(node);
        if PUBLIC.contains(&plain.as_str()) {
            self.found.doors.push(place);
            return;
        }
        // What `UseGuards` uses stands in its brackets.
        let guards = text.split_once('(').map_or("", |(_, guards)| guards);
        let asked = match plain.as_str() {
            "useguards" => guards.split(',').filter_map(asks).max_by_key(|asked| *asked == Asked::Permission),
            whole if PERMITS.contains(&whole) => Some(Asked::Permission),
            _ => asks(name),
        };
        let before = item_of(node).map(|item| self.item(item));
        if let (Some(asked), Some(before)) = (asked, before) {
            self.found.guards.push(Guard { asked, before, place });
        }
    }

    /// A class or a method by its name, the class before the method.
    fn item(&self, item: Node<'t>) -> String {
        let name = item.child_by_field_name("name").map_or("", |name| self.text.of(name));
        let class =
            item.parent().and_then(|body| body.parent()).filter(|_| item.kind() == "method_definition");
        match class.and_then(|class| class.child_by_field_name("name")) {
            Some(class) => format!("{}.{name}", self.text.of(class)),
            None => name.to_owned(),
        }
    }

    /// Notes a class or a method, so that what is asked of it is missed only while it is there.
    pub(super) fn noted_item(&mut self, item: Node<'t>) {
        let item = self.item(item);
        self.found.routes.insert(item);
    }

    /// A property that opens a door.
    pub(super) fn opened(&mut self, node: Node<'t>) {
        let part = |name| node.child_by_field_name(name).map_or("", |part| self.text.unquoted(part));
        let value = part("value");
        let opens = match part("key") {
            "rejectUnauthorized" | "csrf" | "csrfProtection" => value == "false",
            "ignoreExpiration" => value == "true",
            "algorithms" => value.contains("'none'") || value.contains("\"none\""),
            "origin" => value == "*" && self.is_of_cors(node),
            _ => false,
        };
        if opens {
            let place = self.place(node);
            self.found.doors.push(place);
        }
    }

    fn is_of_cors(&self, pair: Node<'t>) -> bool {
        let call = pair.parent().and_then(|object| object.parent()).and_then(|list| list.parent());
        let called = call.and_then(|call| call.child_by_field_name("function"));
        called.is_some_and(|called| self.text.of(called).to_ascii_lowercase().contains("cors"))
    }
}

/// What a decorator stands before: a class, or the next member of one that is no decorator.
fn item_of(decorator: Node<'_>) -> Option<Node<'_>> {
    let up = decorator.parent()?;
    match up.kind() {
        "class_body" => {
            let mut next = decorator.next_named_sibling();
            while next.is_some_and(|item| matches!(item.kind(), "decorator" | "comment")) {
                next = next.and_then(|item| item.next_named_sibling());
            }
            next
        }
        "export_statement" => up.child_by_field_name("declaration"),
        _ => Some(up),
    }
}

/// What is asked no more of something that is still there, and doors that were opened.
pub(super) fn facts(sides: &Sides<'_>) -> Vec<Fact> {
    let (before, after) = (&sides.before, &sides.after);
    let asks = |guards: &[Guard], asked: Asked, of: &str| {
        // A permission asks for a login too.
        guards.iter().any(|guard| guard.before == of && (guard.asked == asked || asked == Asked::Login))
    };
    let is_asked_of_more = |guard: &Guard| {
        let class = guard.before.split_once('.').map_or("", |(class, _)| class);
        ["all", class].into_iter().any(|of| {
            asks(&after.guards, guard.asked, of)
                && !asks(&before.guards, guard.asked, of)
                && guard.before != of
        })
    };
    let mut dropped: Vec<&Guard> = Vec::new();
    for guard in &before.guards {
        let is_there = after.routes.contains(&guard.before) || guard.before == "all";
        let is_told = dropped.iter().any(|other| other.before == guard.before);
        if is_there
            && !is_told
            && !asks(&after.guards, guard.asked, &guard.before)
            && !is_asked_of_more(guard)
        {
            dropped.push(guard);
        }
    }
    let kind = FactKind::AuthenticationChanged;
    let closed = dropped
        .into_iter()
        .filter_map(|guard| told(kind, sides.path, guard.place.line, Side::Before, &guard.place.shown, ""));
    let opened = super::told::added(&before.doors, &after.doors);
    let opened = opened
        .into_iter()
        .filter_map(|place| told(kind, sides.path, place.line, Side::After, "", &place.shown));
    closed.chain(opened).collect()
}
