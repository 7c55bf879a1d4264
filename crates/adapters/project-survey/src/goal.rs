use ambit_blueprint::Blueprint;
use ambit_ids::{BlueprintId, Digest, is_unprintable};

/// The longest goal that a blueprint holds.
const GOAL_BYTES: usize = 4000;
/// The longest title.
const TITLE_BYTES: usize = 200;

/// Why a text is not a goal. Nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum GoalError {
    /// Nothing but white space.
    #[error("the goal is empty; nothing was started")]
    Empty,
    /// More than a blueprint holds.
    #[error("the goal has {found} bytes, and a blueprint holds {GOAL_BYTES}; nothing was started")]
    TooLong {
        /// How many it has.
        found: usize,
    },
    /// It holds something that whoever approves it would not see.
    #[error("the goal holds the character {0:?}, which nobody would see; nothing was started")]
    Unprintable(char),
    /// The template cannot be named.
    #[error("the template has no canonical form; nothing was started")]
    Template(#[from] ambit_canonical::EncodeError),
}

impl GoalError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "GOAL_EMPTY",
            Self::TooLong { .. } => "GOAL_TOO_LONG",
            Self::Unprintable(_) => "GOAL_UNPRINTABLE",
            Self::Template(_) => "DOCUMENT_NOT_CANONICAL",
        }
    }
}

/// The blueprint of one goal: the template with the goal in it, under a name that follows from both. The same goal on
/// the same template is the same blueprint.
///
/// # Errors
/// [`GoalError`].
pub fn blueprint_of_goal(template: &Blueprint, goal: &str) -> Result<Blueprint, GoalError> {
    let goal = goal.trim();
    if goal.is_empty() {
        return Err(GoalError::Empty);
    }
    if goal.len() > GOAL_BYTES {
        return Err(GoalError::TooLong { found: goal.len() });
    }
    if let Some(hidden) = goal.chars().find(|c| is_unprintable(*c) && *c != '\n' && *c != '\t') {
        return Err(GoalError::Unprintable(hidden));
    }
    let template_digest = template.digest()?;
    let name = Digest::of_parts(&[template_digest.as_bytes(), goal.as_bytes()]);
    let mut blueprint = template.clone();
    // INVARIANT: letters and digits are a name.
    #[expect(clippy::expect_used, reason = "`goal-` and hexadecimal digits are an id")]
    let id = BlueprintId::new(format!("goal-{}", &name.to_hex()[..16])).expect("an id of letters and digits");
    blueprint.metadata.name = id;
    blueprint.metadata.version = 1;
    blueprint.metadata.title = title(goal);
    goal.clone_into(&mut blueprint.spec.goal);
    Ok(blueprint)
}

/// The beginning of a goal, in one line.
fn title(goal: &str) -> String {
    let line = goal.lines().next().unwrap_or(goal).replace('\t', " ");
    let line = line.trim();
    if line.len() <= TITLE_BYTES {
        return line.to_owned();
    }
    let end = (0..=TITLE_BYTES - 3).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    format!("{}...", line[..end].trim_end())
}
