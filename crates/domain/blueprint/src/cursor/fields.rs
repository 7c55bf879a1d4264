use super::position::Cursor;
use super::report::{Read, Reported};
use crate::located::{Entry, Span, Value};
use crate::problem::{Finding, ProblemCode};
use crate::suggest::{all_of, any_of, closest, quoted, shown};

/// The members of a mapping. Every member that is valid must be asked for before [`Fields::finish`], which refuses what
/// is left over and what is missing.
#[must_use = "only `finish` tells of unknown and of missing fields"]
pub(crate) struct Fields<'a> {
    mapping: Cursor<'a>,
    entries: &'a [Entry],
    asked: Vec<&'static str>,
    missing: Vec<&'static str>,
}

/// A member that may stand alone in a mapping, and how its value is read.
pub(crate) type Choice<'r, 'a, T> = (&'static str, &'r dyn Fn(&Cursor<'a>) -> Read<T>);

impl<'a> Cursor<'a> {
    /// The node as a mapping with known members.
    pub(crate) fn fields(&self) -> Read<Fields<'a>> {
        match &self.node.value {
            Value::Mapping(entries) => {
                Ok(Fields { mapping: self.clone(), entries, asked: Vec::new(), missing: Vec::new() })
            }
            Value::Text(_) | Value::Plain(_) | Value::Sequence(_) => Err(self.wrong_type("a mapping", "")),
        }
    }

    /// The node as a mapping whose keys are data.
    pub(crate) fn members(&self) -> Read<Vec<(&'a str, Cursor<'a>)>> {
        let fields = self.fields()?;
        Ok(fields.entries.iter().map(|entry| (entry.name.as_str(), fields.cursor(entry))).collect())
    }

    /// The node as a mapping with exactly one member, which says what it is.
    pub(crate) fn one_of<T>(&self, choices: &[Choice<'_, 'a, T>]) -> Read<T> {
        let mut fields = self.fields()?;
        let chosen = fields.chosen(choices);
        fields.finish()?;
        let (at, cursor) = chosen?;
        choices[at].1(&cursor)
    }
}

impl<'a> Fields<'a> {
    fn cursor(&self, entry: &'a Entry) -> Cursor<'a> {
        self.mapping.child(&entry.node, Some(entry.name_span), &shown(&entry.name))
    }

    /// A member that may be absent.
    pub(crate) fn optional(&mut self, name: &'static str) -> Option<Cursor<'a>> {
        self.asked.push(name);
        let entry = self.entries.iter().find(|entry| entry.name == name)?;
        Some(self.cursor(entry))
    }

    /// A member that must stand there. That it does not is told by [`Fields::finish`].
    pub(crate) fn required(&mut self, name: &'static str) -> Read<Cursor<'a>> {
        self.optional(name).ok_or_else(|| {
            self.missing.push(name);
            Reported
        })
    }

    /// A member without which nothing else of the mapping can be understood.
    pub(crate) fn at_once(&mut self, name: &'static str) -> Read<Cursor<'a>> {
        self.optional(name).ok_or_else(|| self.refuse_missing(name))
    }

    /// Which of several members stands there alone, and the member.
    fn chosen<C>(&mut self, choices: &[(&'static str, C)]) -> Read<(usize, Cursor<'a>)> {
        let mut found: Option<(usize, Cursor<'a>)> = None;
        for (at, (name, _)) in choices.iter().enumerate() {
            let Some(cursor) = self.optional(name) else { continue };
            if let Some((first, _)) = found {
                let message = format!("{} has both `{}` and `{name}`", self.mapping.name(), choices[first].0);
                let finding = Finding::new(ProblemCode::Contradiction, message, "exactly one may stand");
                return Err(cursor.refuse_key(finding));
            }
            found = Some((at, cursor));
        }
        found.ok_or_else(|| {
            // What stands there in its place is told by `finish`.
            if self.unknown().next().is_some() {
                return Reported;
            }
            let names = any_of(choices.iter().map(|(name, _)| *name));
            let message = format!("{} has none of {names}", self.mapping.name());
            let finding = Finding::new(ProblemCode::MissingField, message, "exactly one must stand here");
            self.mapping.refuse(finding)
        })
    }

    fn unknown(&self) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(|entry| !self.asked.contains(&entry.name.as_str()))
    }

    /// Tells of every member that was not asked for, and of every required one that is missing.
    pub(crate) fn finish(mut self) -> Read<()> {
        let mut refused = Ok(());
        let unknown: Vec<&Entry> = self.unknown().take(crate::problem::MAX_PROBLEMS).collect();
        for entry in unknown {
            let meant = closest(&entry.name, self.asked.iter().copied());
            self.missing.retain(|name| Some(*name) != meant);
            refused = Err(self.refuse_unknown(&entry.name, entry.name_span, meant));
        }
        for name in &self.missing {
            refused = Err(self.refuse_missing(name));
        }
        refused
    }

    fn refuse_missing(&self, name: &str) -> Reported {
        let message = format!("{} lacks the field `{name}`", self.mapping.name());
        let label = format!("`{name}` must stand here");
        self.mapping.refuse(Finding::new(ProblemCode::MissingField, message, label))
    }

    fn refuse_unknown(&self, name: &str, span: Span, meant: Option<&str>) -> Reported {
        let message = format!("{} has no field {}", self.mapping.name(), quoted(name));
        let finding = Finding::new(
            ProblemCode::UnknownField,
            message,
            meant.map(|meant| format!("did you mean `{meant}`?")).unwrap_or_default(),
        );
        let valid = format!("the fields here are {}", all_of(self.asked.iter().copied()));
        self.mapping.report.tell(if meant.is_some() { finding } else { finding.with_help(valid) }, span)
    }
}
