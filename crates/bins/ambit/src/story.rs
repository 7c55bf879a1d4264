use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::context::Context;
use crate::failure::{Failure, exit};

/// A story that is told while it is played, and that holds only if everything in it was as it should be.
pub(crate) struct Story<'c> {
    context: &'c Context,
    title: &'static str,
    chapters: Vec<Chapter>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Chapter {
    title: String,
    facts: Vec<Fact>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Fact {
    holds: bool,
    what: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    evidence: String,
}

impl<'c> Story<'c> {
    pub(crate) fn new(context: &'c Context, title: &'static str) -> Self {
        context.note(title);
        Self { context, title, chapters: Vec::new() }
    }

    /// Begins a chapter.
    pub(crate) fn chapter(&mut self, title: impl Into<String>) {
        let title = title.into();
        self.context.note(&format!("\n{title}"));
        self.chapters.push(Chapter { title, facts: Vec::new() });
    }

    /// Tells a fact, with the id under which its evidence can be looked at. The story goes on if it does not hold: what
    /// comes after shows how far the damage goes.
    pub(crate) fn check(&mut self, holds: bool, what: impl Into<String>, evidence: impl Into<String>) {
        let (what, evidence) = (what.into(), evidence.into());
        let mark = if holds { "ok   " } else { "WRONG" };
        let mut line = format!("  {mark} {what}");
        if !evidence.is_empty() {
            let _ = write!(line, "  [{evidence}]");
        }
        self.context.note(&line);
        if let Some(chapter) = self.chapters.last_mut() {
            chapter.facts.push(Fact { holds, what, evidence });
        }
    }

    /// Tells what was done. Where it could not be done, the story ended before.
    pub(crate) fn done(&mut self, what: impl Into<String>, evidence: impl Into<String>) {
        self.check(true, what, evidence);
    }

    /// The end: the exit code says whether every fact held.
    pub(crate) fn end(self, closing: &str, more: &Value) -> Result<Answer, Failure> {
        let facts = || self.chapters.iter().flat_map(|chapter| &chapter.facts);
        let (all, wrong) = (facts().count(), facts().filter(|fact| !fact.holds).count());
        let text = if wrong == 0 {
            format!("\n{}: all {all} facts hold\n{closing}", self.title)
        } else {
            format!("\n{}: {wrong} of {all} facts do not hold\n", self.title)
        };
        let mut json = json!({
            "story": self.title, "holds": wrong == 0, "facts": all, "wrong": wrong, "chapters": self.chapters,
        });
        if let (Some(json), Some(more)) = (json.as_object_mut(), more.as_object()) {
            json.extend(more.clone());
        }
        Ok(Answer::new(text, json).prose().exiting(if wrong == 0 { exit::OK } else { exit::INTERNAL }))
    }
}
