//! The schemas for editors, held against what reading a document says.

use ambit_blueprint::{Document, DocumentKind, ProblemCode, builtin, schema::schema};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::page::sample;

/// What reading refuses and a schema cannot know: references within a document, and texts that types read.
const BEYOND_A_SCHEMA: [ProblemCode; 6] = [
    ProblemCode::UnknownReference,
    ProblemCode::Contradiction,
    ProblemCode::NotCovered,
    ProblemCode::DuplicateId,
    ProblemCode::Malformed,
    ProblemCode::EnvironmentRefused,
];

fn validator(kind: DocumentKind) -> Validator {
    jsonschema::draft202012::new(&schema(kind)).unwrap()
}

/// The samples of every kind, in canonical form: the page's, and what comes with the program.
fn samples() -> Vec<(DocumentKind, Value)> {
    let page =
        DocumentKind::ALL.iter().map(|kind| Document::parse("page", sample(*kind).as_bytes()).unwrap());
    let own = builtin::ALL.iter().map(|document| document.parse().unwrap());
    page.chain(own)
        .map(|document| {
            let canonical = document.to_canonical().unwrap();
            (document.kind(), serde_json::from_slice(canonical.as_bytes()).unwrap())
        })
        .collect()
}

/// One value of a document, changed.
struct Change {
    what: String,
    document: Value,
}

/// Every change of shape that a schema should see, at every place of a document.
fn changes(document: &Value) -> Vec<Change> {
    let mut places = Vec::new();
    collect(document, "", &mut places);
    let mut changes = Vec::new();
    for place in places {
        let old = document.pointer(&place).unwrap();
        for new in replacements(old) {
            let mut changed = document.clone();
            *changed.pointer_mut(&place).unwrap() = new.clone();
            let new: String = new.to_string().chars().take(40).collect();
            changes.push(Change { what: format!("{place} = {new}"), document: changed });
        }
        if let Value::Object(members) = old {
            for name in members.keys() {
                let mut changed = document.clone();
                changed.pointer_mut(&place).unwrap().as_object_mut().unwrap().remove(name);
                changes.push(Change { what: format!("{place} without {name}"), document: changed });
            }
            let mut changed = document.clone();
            changed.pointer_mut(&place).unwrap()["nothingLikeIt"] = json!("x");
            changes.push(Change { what: format!("{place} with more"), document: changed });
        }
    }
    changes
}

fn collect(value: &Value, at: &str, places: &mut Vec<String>) {
    places.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                collect(member, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), places);
            }
        }
        // The first items stand for the others.
        Value::Array(items) => {
            items
                .iter()
                .take(2)
                .enumerate()
                .for_each(|(index, item)| collect(item, &format!("{at}/{index}"), places));
        }
        _ => {}
    }
}

fn replacements(old: &Value) -> Vec<Value> {
    let mut new = vec![json!(null), json!([]), json!({}), json!("no-such-word"), json!(""), json!(true)];
    match old {
        Value::Number(_) => {
            let edges = [
                0_u64,
                1,
                9,
                10,
                20,
                21,
                50,
                51,
                64,
                65,
                100,
                101,
                1000,
                1001,
                1440,
                1441,
                3650,
                3651,
                4096,
                4097,
                36_500,
                36_501,
                65_536,
                65_537,
                86_400,
                86_401,
                256_000,
                256_001,
                262_144,
                262_145,
                1_048_576,
                1_048_577,
                100_000_000,
                100_000_001,
                4_294_967_295,
                4_294_967_296,
                17_179_869_184,
                17_179_869_185,
            ];
            new.extend(edges.map(|edge| json!(edge)));
            new.push(json!(-1));
        }
        Value::String(_) => {
            let lengths =
                [64, 65, 96, 97, 128, 200, 201, 256, 257, 500, 501, 1000, 1001, 1024, 4000, 4001, 4096, 4097];
            new.extend(lengths.map(|length| json!("a".repeat(length))));
            new.extend(
                ["/absolute", "two words", "Upper", "policy://x/v0", "sha256:0"].map(|text| json!(text)),
            );
        }
        Value::Array(items) => {
            if let Some(first) = items.first() {
                new.extend(
                    [17, 32, 33, 64, 65, 128, 129, 256, 257].map(|many| json!(vec![first.clone(); many])),
                );
            }
        }
        _ => {}
    }
    new
}

#[test]
fn a_schema_takes_what_reading_takes_and_refuses_no_less_than_shapes() {
    let mut refused_by_both = 0;
    for (kind, document) in samples() {
        let validator = validator(kind);
        assert!(validator.is_valid(&document), "{kind}: {:?}", validator.validate(&document));
        for change in changes(&document) {
            let read = Document::parse("changed.json", change.document.to_string().as_bytes());
            let valid = validator.is_valid(&change.document);
            match read {
                Ok(_) => assert!(valid, "{kind}: reads, and the schema refuses: {}", change.what),
                Err(_) if !valid => refused_by_both += 1,
                Err(error) => {
                    let beyond = error.problems().all(|problem| BEYOND_A_SCHEMA.contains(&problem.code));
                    assert!(beyond, "{kind}: the schema takes {}\n{}", change.what, error.render());
                }
            }
        }
    }
    assert!(refused_by_both > 1000, "{refused_by_both}");
}

#[test]
fn what_people_write_is_valid_as_it_stands() {
    for kind in DocumentKind::ALL {
        let mut written = ambit_blueprint::read_untyped("page", sample(*kind).as_bytes()).unwrap();
        amounts(&mut written);
        assert!(validator(*kind).is_valid(&written), "{kind}");
    }
}

/// Amounts as numbers, which is what an editor sees; Ambit reads their digits.
fn amounts(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match member.as_str().and_then(|text| text.parse::<f64>().ok()) {
                    Some(amount) if name.ends_with("Usd") => *member = json!(amount),
                    _ => amounts(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(amounts),
        _ => {}
    }
}
