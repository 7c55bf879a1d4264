//! Looks at a repository and proposes the documents that bound a run on it.
//!
//! [`survey`] reads a directory and says what it is made of, how it is checked and what decides about it. Nothing of it
//! is executed, no symbolic link is followed, and how much is read is bounded, whatever lies there. Everything that is
//! answered is a proposal to a person: the texts in it that come from the repository are told as what they are.
//!
//! [`Survey::settle`] takes the answers to what could not be seen, and [`Plan`] writes the three documents. The same
//! repository gives the same text. [`blueprint_of_goal`] makes the blueprint of one goal from the template among them,
//! and [`Requests`] is what a repository may ask of every run on it, which is less and never more.

#![forbid(unsafe_code)]

mod error;
mod gate;
mod goal;
pub mod limits;
mod listing;
mod look;
mod name;
mod narrower;
mod parts;
mod plan;
mod proposal;
mod question;
mod requests;
mod requests_schema;
mod survey;
mod walk;

pub use error::{NothingToCheck, SurveyError};
pub use gate::{Ecosystem, GateKind, ImageTool, ProposedGate, Resources, VolumeNeed};
pub use goal::{GoalError, blueprint_of_goal};
pub use plan::Plan;
pub use proposal::{
    CATALOG_NAME, PROFILE_NAME, RUN_CHANGED_FILES, RUN_COST, RUN_TURNS, TEMPLATE_NAME, catalog_mark, profile,
};
pub use question::{Choice, Question};
pub use requests::{REQUESTS_FILE, Requests, RequestsError};
pub use requests_schema::{REQUESTS_KIND, requests_schema};
pub use survey::{Survey, survey, survey_of_source};
