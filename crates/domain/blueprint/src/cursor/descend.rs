use super::position::Cursor;
use crate::located::Value;
use crate::suggest::shown;

/// One step from a node to one below it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'s> {
    /// The member of this name.
    Member(&'s str),
    /// The item at this place, counted from 0.
    Item(usize),
}

impl<'a> Cursor<'a> {
    /// The node at the end of a way, or the last one on it that there is.
    pub(crate) fn descend(&self, steps: &[Step<'_>]) -> Self {
        let mut at = self.clone();
        for step in steps {
            let next = match (&at.node.value, *step) {
                (Value::Mapping(entries), Step::Member(name)) => entries
                    .iter()
                    .find(|entry| entry.name == name)
                    .map(|entry| at.child(&entry.node, Some(entry.name_span), &shown(name))),
                (Value::Sequence(items), Step::Item(index)) => {
                    items.get(index).map(|node| at.child(node, None, &format!("[{index}]")))
                }
                _ => None,
            };
            let Some(next) = next else { return at };
            at = next;
        }
        at
    }
}
