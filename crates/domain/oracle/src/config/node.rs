//! What a configuration file says, whatever it is written in.

/// The deepest nesting that is read.
pub(super) const MAX_DEPTH: usize = 64;
/// The most values of one file.
pub(super) const MAX_NODES: usize = 200_000;

/// A value and the line that it stands on, counted from 1; 0 for one that stands nowhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) line: u32,
    pub(super) value: Value,
}

/// A scalar is its text: whether `true` stood in quotation marks makes no difference to those who compare.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Default for Value {
    fn default() -> Self {
        Self::Map(Vec::new())
    }
}

impl Node {
    pub(super) fn scalar(line: u32, text: impl Into<String>) -> Self {
        Self { line, value: Value::Scalar(text.into()) }
    }

    pub(super) fn map(line: u32, entries: Vec<(String, Self)>) -> Self {
        Self { line, value: Value::Map(entries) }
    }

    pub(super) fn list(line: u32, items: Vec<Self>) -> Self {
        Self { line, value: Value::List(items) }
    }

    pub(super) fn entries(&self) -> &[(String, Self)] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Scalar(_) | Value::List(_) => &[],
        }
    }

    pub(super) fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            Value::Scalar(_) | Value::Map(_) => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text) => Some(text),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The text of a member.
    pub(super) fn field(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Self::text)
    }

    /// Puts a value below a path of names, into what stands there already.
    pub(super) fn put(&mut self, path: &[&str], node: Self) {
        let Some((first, rest)) = path.split_first() else {
            match (&mut self.value, node.value) {
                (Value::Map(there), Value::Map(more)) => there.extend(more),
                (_, value) => *self = Self { line: node.line, value },
            }
            return;
        };
        if !matches!(self.value, Value::Map(_)) {
            self.value = Value::default();
        }
        let Value::Map(entries) = &mut self.value else { return };
        let at = entries.iter().position(|(name, _)| name == first).unwrap_or_else(|| {
            entries.push(((*first).to_owned(), Self { line: node.line, ..Self::default() }));
            entries.len() - 1
        });
        entries[at].1.put(rest, node);
    }

    /// The whole value on one line, the same for the same value in any order of its names.
    pub(super) fn shown(&self) -> String {
        match &self.value {
            Value::Scalar(text) => text.clone(),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(Self::shown).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Map(entries) => {
                let mut entries: Vec<String> =
                    entries.iter().map(|(name, node)| format!("{name} = {}", node.shown())).collect();
                entries.sort();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// Every node below and this one, with the name that it has in its map; those of lists have the list's.
    pub(super) fn walk<'a>(&'a self, name: &'a str, visit: &mut impl FnMut(&'a str, &'a Self)) {
        visit(name, self);
        match &self.value {
            Value::Scalar(_) => {}
            Value::List(items) => items.iter().for_each(|item| item.walk(name, visit)),
            Value::Map(entries) => entries.iter().for_each(|(name, node)| node.walk(name, visit)),
        }
    }

    /// The nodes that a pattern of names names: `*` is any one name or item, an item is also named by its `name`.
    pub(super) fn matching<'a>(&'a self, pattern: &[&str], at: &str, found: &mut Vec<(String, &'a Self)>) {
        let Some((first, rest)) = pattern.split_first() else {
            found.push((at.to_owned(), self));
            return;
        };
        for (name, node) in self.entries().iter().filter(|(name, _)| *first == "*" || name == first) {
            node.matching(rest, &format!("{at}/{name}"), found);
        }
        if *first == "*" {
            for (number, item) in self.items().iter().enumerate() {
                let name = item.field("name").map_or_else(|| number.to_string(), str::to_owned);
                item.matching(rest, &format!("{at}/{name}"), found);
            }
        }
    }
}

/// Lines of a text by the byte where they start.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect())
    }

    pub(super) fn line(&self, byte: usize) -> u32 {
        line(self.0.partition_point(|start| *start <= byte))
    }
}

/// A number of lines as facts hold it.
pub(super) fn line(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
