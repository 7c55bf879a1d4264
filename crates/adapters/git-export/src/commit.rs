use crate::author::Author;
use crate::envelope::Envelope;
use crate::object::ObjectName;

/// The object of a commit. It is committed by this program, whoever it is from.
pub(crate) fn commit(tree: ObjectName, parent: Option<ObjectName>, envelope: &Envelope) -> Vec<u8> {
    let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
    let (author, program, at) = (&envelope.author, Author::program(), envelope.seconds());
    let below = envelope.below_subject();
    let gap = if below.is_empty() { "" } else { "\n" };
    format!(
        "tree {tree}\n{parent}author {author} {at} +0000\ncommitter {program} {at} +0000\n\n{}\n{gap}{below}",
        envelope.message.subject()
    )
    .into_bytes()
}
