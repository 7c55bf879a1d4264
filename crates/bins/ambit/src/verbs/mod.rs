//! One file per noun of the command line.

mod approve;
mod approver;
mod artifacts;
mod backend;
mod backend_schemas;
mod bare_home;
pub(crate) mod begin;
pub(crate) mod blueprint;
mod brought;
mod catalog;
mod checklist;
pub(crate) mod doctor;
mod drive;
mod everyday;
pub(crate) mod export;
pub(crate) mod gate;
mod goal;
mod grants;
mod hidden;
pub(crate) mod image;
mod import_git;
mod init;
mod init_page;
mod model;
mod oracle;
mod oracle_schema;
mod packages;
pub(crate) mod patch;
mod policy;
mod prepared;
mod probe;
mod profile;
pub(crate) mod register;
pub(crate) mod revision;
pub(crate) mod run;
pub(crate) mod run_view;
mod sandbox;
mod schema;
mod shell;
mod tools;
pub(crate) mod trace;
pub(crate) mod tree;
mod unread;
mod volume;

use crate::answer::Answer;
use crate::cli::Verb;
use crate::context::Context;
use crate::failure::Failure;
use crate::lab;

pub(crate) async fn dispatch(context: Context, verb: Verb) -> Result<Answer, Failure> {
    match verb {
        Verb::Init(arguments) => init::run(&context, arguments).await,
        Verb::Approver(verb) => approver::run(&context, verb).await,
        Verb::Grants => grants::run(&context).await,
        Verb::Blueprint(verb) => blueprint::run(&context, verb).await,
        Verb::Profile(verb) => profile::run(verb),
        Verb::Catalog(verb) => catalog::run(&context, verb).await,
        Verb::Image(verb) => image::run(&context, verb).await,
        Verb::Volume(verb) => volume::run(&context, verb).await,
        Verb::Run(verb) => run::run(&context, verb).await,
        Verb::Model(verb) => model::run(verb),
        Verb::Gate(verb) => gate::run(&context, verb).await,
        Verb::Revision(verb) => revision::run(&context, verb).await,
        Verb::Patch(verb) => patch::run(&verb, context.json),
        Verb::Oracle(verb) => oracle::run(&verb, context.json),
        Verb::Tree(verb) => tree::run(&verb, context.json),
        Verb::Approve(arguments) => approve::decide(&context, arguments, true).await,
        Verb::Deny(arguments) => approve::decide(&context, arguments, false).await,
        Verb::Trace(verb) => trace::run(&context, verb).await,
        Verb::Backend(verb) => backend::run(&context, verb).await,
        Verb::Sandbox(verb) => sandbox::run(&context, verb).await,
        Verb::Tools(verb) => tools::run(&verb),
        Verb::Policy(verb) => policy::run(&verb),
        Verb::Probe(verb) => probe::run(&verb),
        Verb::Schema(verb) => schema::run(&verb),
        Verb::Completion { shell } => shell::completion(shell),
        Verb::Man { out } => shell::man(&out),
        Verb::Doctor { backend } => doctor::run(&context, &backend).await,
        Verb::Lab(arguments) => lab::run(&context, arguments).await,
        Verb::Smoke => lab::smoke(&context).await,
    }
}
