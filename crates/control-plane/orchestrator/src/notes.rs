//! The notes that a project keeps for agents: a file of its base revision, written by whoever wrote the project.

use ambit_broker::{Broker, Ground};
use ambit_ids::RepoPath;
use ambit_revision::FileKind;
use serde_json::{Value, json};

/// Where they stand: the file that <https://agents.md> describes, at the root.
const PATH: &str = "AGENTS.md";
/// The most bytes of them that an agent is given.
const BYTES: usize = 16 << 10;

/// The notes as an agent gets them, `null` where there are none. Bytes that are no UTF-8 are replaced; whatever else the
/// text holds is for whoever shows it to escape.
pub(crate) async fn read(broker: &Broker, ground: &Ground) -> Result<Value, &'static str> {
    let (revisions, scope) = (broker.revisions(), &ground.pins.scope);
    let Ok(path) = PATH.parse::<RepoPath>() else { return Ok(Value::Null) };
    let tree = revisions.load(scope, ground.pins.base.tree).await.map_err(|error| error.code())?;
    let Some(file) = tree.get(&path).filter(|file| file.kind != FileKind::Link) else {
        return Ok(Value::Null);
    };
    let bytes = revisions.content(scope, &path, file).await.map_err(|error| error.code())?;
    let clean = broker.redactor().bytes(&bytes).text;
    let text = String::from_utf8_lossy(&clean);
    let shown = &text[..text.floor_char_boundary(BYTES)];
    Ok(json!({
        "path": PATH,
        "sha256": file.content,
        "text": shown,
        "truncated": shown.len() < text.len(),
    }))
}

/// What an agent gets where the notes could not be read.
pub(crate) fn unreadable(code: &str) -> Value {
    json!({"path": PATH, "unreadable": code})
}
