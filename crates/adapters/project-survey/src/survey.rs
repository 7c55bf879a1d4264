use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{NothingToCheck, SurveyError};
use crate::gate::{Ecosystem, GateKind, ProposedGate};
use crate::limits;
use crate::listing::Listing;
use crate::look::{self, Look};
use crate::parts::Parts;
use crate::plan::Plan;
use crate::question::Question;
use crate::walk;

/// What was seen of a repository, and what could not be seen.
#[derive(Clone, Debug)]
pub struct Survey {
    /// What it is made of, each with the signs that it was recognised by.
    pub found: Vec<(Ecosystem, Vec<String>)>,
    /// What a person must say, because more than one answer is as likely. The first choice of each is the default.
    pub questions: Vec<Question>,
    /// What somebody should know before they agree to a proposal.
    pub remarks: Vec<String>,
    pub(crate) parts: Parts,
    pub(crate) tops: Vec<(String, bool)>,
}

/// Looks at a repository. Nothing in it is executed, followed or changed.
///
/// # Errors
/// [`SurveyError`] where the directory itself cannot be read. Whatever else cannot be read is passed over, and told
/// among the remarks where it matters.
pub fn survey(dir: &Path) -> Result<Survey, SurveyError> {
    Ok(Survey::of(&walk::list(dir)?))
}

/// Looks at a repository of which runs get to see these files alone, such as those that its `.gitignore` does not leave
/// out.
///
/// # Errors
/// As [`survey`].
pub fn survey_of_source(dir: &Path, source: &BTreeSet<String>) -> Result<Survey, SurveyError> {
    let mut listing = walk::list(dir)?;
    listing.keep_only(source);
    Ok(Survey::of(&listing))
}

impl Survey {
    fn of(listing: &Listing) -> Self {
        let mut looks = look::projects(listing);
        if looks.is_empty() {
            looks = below(listing);
        }
        let tests = |looks: &[Look]| {
            let is_test = |gate: &ProposedGate| gate.kind == GateKind::Test;
            looks.iter().any(|look| look.parts.gates.iter().any(is_test) || !look.questions.is_empty())
        };
        // A recipe calls what was recognised already, and often fetches something first.
        if !tests(&looks) {
            looks.extend(look::recipes(listing));
        }
        let tops = listing.tops().into_iter().map(|(name, is_dir)| (name.to_owned(), is_dir)).collect();
        let mut survey = Self {
            found: Vec::new(),
            questions: Vec::new(),
            remarks: Vec::new(),
            parts: Parts::default(),
            tops,
        };
        if listing.is_partial {
            survey
                .remarks
                .push("the repository is larger than what is looked at: the rest was not seen".into());
        }
        for look in looks {
            survey.found.push((look.ecosystem, look.signs));
            survey.questions.extend(look.questions);
            survey.remarks.extend(look.remarks);
            survey.parts.take(look.parts);
        }
        survey
    }

    /// The plan that follows from the answers: for each question the number of a choice, counted from 0. A question
    /// without an answer, or with one that is no choice of it, takes its default.
    ///
    /// # Errors
    /// [`NothingToCheck`] where no gate can be proposed.
    pub fn settle(self, answers: &[usize]) -> Result<Plan, NothingToCheck> {
        let mut parts = self.parts;
        for (index, question) in self.questions.into_iter().enumerate() {
            let answer = answers.get(index).copied().unwrap_or(0);
            let answer = if answer < question.choices.len() { answer } else { 0 };
            if let Some(choice) = question.choices.into_iter().nth(answer) {
                parts.take(choice.parts);
            }
        }
        Plan::of(parts, &self.tops, self.remarks)
    }
}

/// What is recognised in the directories below, where the top shows nothing.
fn below(listing: &Listing) -> Vec<Look> {
    let is_word = |name: &&String| {
        name.len() <= 30
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    let mut looks = Vec::new();
    let mut projects = 0;
    for directory in listing.directories.iter().filter(|path| !path.contains('/')).filter(is_word) {
        let found = look::projects(&listing.within(directory));
        if found.is_empty() || projects == limits::PROJECTS {
            continue;
        }
        projects += 1;
        looks.extend(found.into_iter().map(|look| Look {
            signs: look.signs.iter().map(|sign| format!("{directory}/{sign}")).collect(),
            parts: look.parts.moved_below(directory),
            questions: look.questions.into_iter().map(|question| question.moved_below(directory)).collect(),
            ..look
        }));
    }
    looks
}
