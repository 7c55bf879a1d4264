//! Configuration that decides who is let in, and whether the other side of a connection is who it says.

use ambit_ids::RepoPath;
use ambit_policy::FactKind;

use super::node::{Node, Value};
use super::told::{Spot, Told};

/// Names that keep something closed where they are true, without what parts their words.
const CLOSING: [&str; 22] = [
    "verifyssl",
    "sslverify",
    "verifytls",
    "tlsverify",
    "strictssl",
    "verifycertificate",
    "verifyhostname",
    "rejectunauthorized",
    "requireauth",
    "requireauthentication",
    "authenabled",
    "authenticationenabled",
    "enableauth",
    "loginrequired",
    "requiremfa",
    "mfaenabled",
    "csrfenabled",
    "csrfprotection",
    "verifysignature",
    "verifyexp",
    "validateaudience",
    "rbacenabled",
];
/// Names that open something where they are true.
const OPENING: [&str; 12] = [
    "insecureskipverify",
    "insecureskiptlsverify",
    "skiptlsverify",
    "allowanonymous",
    "anonymousauth",
    "anonymousenabled",
    "disableauth",
    "authdisabled",
    "skipauth",
    "noverifyssl",
    "insecure",
    "ignorecertificateerrors",
];
/// Names that list who may ask from elsewhere.
const ORIGINS: [&str; 6] = [
    "alloworigins",
    "allowedorigins",
    "alloworigin",
    "accesscontrolalloworigin",
    "corsorigins",
    "corsallowedorigins",
];
/// Parts of names of files that are about nothing else.
const FILES: [&str; 9] =
    ["auth", "authentication", "authorization", "oidc", "saml", "jwt", "rbac", "iam", "oauth"];

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Compares the settings of access in a file that was there before.
pub(super) fn compare(path: &RepoPath, before: &Node, after: &Node, told: &mut Told) {
    let (was, is) = (leaves(before), leaves(after));
    for (place, name, node) in &is {
        let text = node.text().unwrap_or_default().to_ascii_lowercase();
        let old = was.iter().find(|(there, called, _)| there == place && called == name);
        let old_text = old.map(|(.., node)| node.shown().to_ascii_lowercase());
        if old_text.as_deref() == Some(text.as_str()) {
            continue;
        }
        let off = matches!(text.as_str(), "false" | "no" | "off" | "0" | "none");
        let on = matches!(text.as_str(), "true" | "yes" | "on" | "1");
        let key = plain(name);
        let opens = (off && CLOSING.contains(&key.as_str()))
            || (on && OPENING.contains(&key.as_str()))
            || (text == "*" && ORIGINS.contains(&key.as_str()));
        if opens {
            let old = old_text.map(|text| format!("{name}: {text}")).unwrap_or_default();
            told.tell(
                FactKind::AuthenticationChanged,
                Spot::after(path, node.line),
                &old,
                &format!("{name}: {text}"),
            );
        }
    }
    if is_roles(before) || is_roles(after) || is_about_access(path) {
        let said = |side: &[(String, String, &Node)]| -> Vec<String> {
            let mut said: Vec<String> =
                side.iter().map(|(place, name, node)| format!("{place}/{name}={}", node.shown())).collect();
            said.sort();
            said
        };
        let (old, new) = (said(&was), said(&is));
        if old != new && !old.is_empty() {
            let new_one = is.iter().zip(said_in_order(&is)).find(|(_, text)| !old.contains(text));
            let spot = new_one.map_or(Spot::before(path, 0), |((.., node), _)| Spot::after(path, node.line));
            let lost = old.iter().find(|text| !new.contains(text)).cloned().unwrap_or_default();
            let gained = new.iter().find(|text| !old.contains(text)).cloned().unwrap_or_default();
            told.tell(FactKind::AuthenticationChanged, spot, &lost, &gained);
        }
    }
}

fn said_in_order(side: &[(String, String, &Node)]) -> Vec<String> {
    side.iter().map(|(place, name, node)| format!("{place}/{name}={}", node.shown())).collect()
}

/// Every scalar with the place and the name that it has. Items of lists stand in no order.
fn leaves(node: &Node) -> Vec<(String, String, &Node)> {
    let mut found = Vec::new();
    below(node, "", "", &mut found);
    found
}

fn below<'a>(node: &'a Node, place: &str, name: &str, found: &mut Vec<(String, String, &'a Node)>) {
    match &node.value {
        Value::Scalar(_) => found.push((place.to_owned(), name.to_owned(), node)),
        Value::List(items) => items.iter().for_each(|item| below(item, place, name, found)),
        Value::Map(entries) => {
            for (key, entry) in entries {
                below(entry, &format!("{place}/{name}"), key, found);
            }
        }
    }
}

fn is_roles(node: &Node) -> bool {
    let is_one = |node: &Node| {
        let kind = node.field("kind").unwrap_or_default();
        matches!(kind, "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding")
            && node.get("apiVersion").is_some()
    };
    is_one(node) || node.entries().iter().any(|(_, node)| is_one(node))
}

fn is_about_access(path: &RepoPath) -> bool {
    let name = String::from_utf8_lossy(path.file_name()).to_ascii_lowercase();
    let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let in_pipeline = path.as_bytes().starts_with(b".github/");
    let in_tests = path
        .components()
        .any(|part| matches!(part, b"tests" | b"test" | b"locales" | b"i18n" | b"locale" | b"docs"));
    !in_pipeline && !in_tests && stem.split(['-', '_']).any(|part| FILES.contains(&part))
}

/// Compares who owns which paths.
pub(super) fn owners(path: &RepoPath, before: &Node, after: &Node, told: &mut Told) {
    let lines = |node: &Node| -> Vec<(String, u32)> {
        let lines = node.get("codeowners").map(Node::items).unwrap_or_default().iter();
        lines
            .filter_map(|line| {
                Some((line.text()?.split_whitespace().collect::<Vec<_>>().join(" "), line.line))
            })
            .collect()
    };
    let (was, is) = (lines(before), lines(after));
    for (lost, line) in was.iter().filter(|(old, _)| !is.iter().any(|(new, _)| new == old)) {
        told.tell(FactKind::AuthenticationChanged, Spot::before(path, *line), lost, "");
    }
}

/// Lines of a web server's configuration that open a place.
pub(super) fn web_server(path: &RepoPath, before: &str, after: &str, told: &mut Told) {
    const OPEN: [&str; 7] = [
        "auth_basic off",
        "satisfy any",
        "allow all",
        "require all granted",
        "ssl_verify_client off",
        "proxy_ssl_verify off",
        "auth_request off",
    ];
    const CLOSED: [&str; 6] = [
        "auth_basic ",
        "auth_request ",
        "deny all",
        "require valid-user",
        "auth_jwt ",
        "ssl_verify_client on",
    ];
    let said = |text: &str| -> Vec<(String, u32)> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
        let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
        lines.map(|(number, line)| (plain(line), super::node::line(number + 1))).collect()
    };
    let (was, is) = (said(before), said(after));
    let missing = |side: &[(String, u32)], text: &String| !side.iter().any(|(there, _)| there == text);
    for (text, line) in is.iter().filter(|(text, _)| missing(&was, text)) {
        let wide = text.contains("access-control-allow-origin") && text.contains('*');
        if wide || OPEN.iter().any(|open| text.starts_with(open)) {
            told.tell(FactKind::AuthenticationChanged, Spot::after(path, *line), "", text);
        }
    }
    for (text, line) in was.iter().filter(|(text, _)| missing(&is, text)) {
        if CLOSED.iter().any(|closed| text.starts_with(closed)) {
            told.tell(FactKind::AuthenticationChanged, Spot::before(path, *line), text, "");
        }
    }
}
