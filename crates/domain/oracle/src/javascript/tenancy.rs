//! Predicates that hold the rows of a query to one tenant.

use tree_sitter::Node;

use super::chain::Chain;
use super::said::arguments;
use super::text::Text;

/// Beginnings of columns that name a tenant, in lower case without underscores.
const COLUMNS: [&str; 9] = [
    "tenant",
    "orgid",
    "organizationid",
    "organisationid",
    "workspaceid",
    "accountid",
    "companyid",
    "customerid",
    "ownerid",
];
/// Methods of query builders and object mappers.
const QUERIES: [&str; 26] = [
    "where",
    "andWhere",
    "orWhere",
    "whereIn",
    "findMany",
    "findFirst",
    "findFirstOrThrow",
    "findUnique",
    "findUniqueOrThrow",
    "find",
    "findOne",
    "findAll",
    "findAndCountAll",
    "findBy",
    "findOneBy",
    "update",
    "updateMany",
    "updateOne",
    "delete",
    "deleteMany",
    "deleteOne",
    "destroy",
    "count",
    "aggregate",
    "eq",
    "match",
];

/// The column, where the word names one that holds a tenant.
fn column(word: &str) -> Option<String> {
    let last = word.rsplit('.').next().unwrap_or(word);
    let plain: String = last.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    COLUMNS.iter().any(|start| plain.starts_with(start)).then_some(plain)
}

/// The predicates of a piece of SQL; `None` where it is none.
pub(super) fn of_sql(text: &str) -> Option<Vec<String>> {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '`' | '\'' | '"')).collect();
    let has = |word: &str| words.contains(&word);
    let is_query =
        (has("select") && has("from")) || (has("update") && has("set")) || (has("delete") && has("from"));
    if !is_query {
        return None;
    }
    let after = words.iter().skip_while(|word| **word != "where").skip(1);
    let is_open = after.clone().any(|word| *word == "or");
    let columns = after.filter_map(|word| {
        column(word.split(['=', '<', '>', '!']).next().unwrap_or("")).filter(|_| !word.starts_with("${"))
    });
    Some(columns.map(|column| if is_open { format!("{column} or another") } else { column }).collect())
}

/// The predicates that the call at the end of a chain makes; `None` where it makes no query.
pub(super) fn of_chain(chain: &Chain<'_>, text: Text<'_>) -> Option<Vec<String>> {
    let last = chain.last();
    if !QUERIES.contains(&last.name) || chain.links.len() < 2 {
        return None;
    }
    let mut found = Vec::new();
    for link in chain.links.iter().filter(|link| QUERIES.contains(&link.name)) {
        let given = link.calls.iter().flat_map(|call| arguments(*call));
        for (at, argument) in given.enumerate() {
            match argument.kind() {
                "object" => keys(argument, text, &mut found),
                "string" if at == 0 => found.extend(column(text.unquoted(argument))),
                _ => {}
            }
        }
    }
    let is_open = chain.links.iter().any(|link| link.name == "orWhere");
    Some(
        found
            .into_iter()
            .map(|column| if is_open { format!("{column} or another") } else { column })
            .collect(),
    )
}

/// The keys of an object that name a tenant, at any depth but in what is written or chosen.
fn keys(object: Node<'_>, text: Text<'_>, found: &mut Vec<String>) {
    let mut pending = vec![object];
    while let Some(node) = pending.pop() {
        let mut cursor = node.walk();
        for part in node.named_children(&mut cursor) {
            let key = match part.kind() {
                "pair" => part.child_by_field_name("key"),
                "shorthand_property_identifier" => Some(part),
                _ => None,
            };
            let Some(key) = key.map(|key| text.unquoted(key)) else { continue };
            found.extend(column(key));
            let is_choice = matches!(key, "select" | "include" | "data" | "orderBy");
            pending.extend(
                part.child_by_field_name("value").filter(|value| value.kind() == "object" && !is_choice),
            );
        }
    }
}
