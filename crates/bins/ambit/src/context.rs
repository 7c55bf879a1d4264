use std::io::{IsTerminal as _, Write as _};
use std::sync::OnceLock;

use ambit_evidence::Project;
use ambit_ids::{ProjectId, RunId, RunName, Scope};
use ambit_orchestrator::{DriveError, RunRef};
use ambit_run::State;

use crate::bound::Bound;
use crate::cli::{Global, ORGANIZATION, PROJECT};
use crate::compose::Services;
use crate::failure::Failure;
use crate::home::Home;
use crate::terminal::{columns, folded, printable};

/// Where a command acts, and how it talks.
pub(crate) struct Context {
    pub(crate) home: Home,
    pub(crate) scope: Scope,
    pub(crate) json: bool,
    /// The repository in which this stands, if it is bound to a project.
    pub(crate) bound: Option<Bound>,
    /// Whether the project was named, instead of following from where this stands.
    pub(crate) is_project_named: bool,
    quiet: bool,
    no_input: bool,
}

/// The project of the repository in which this process stands, for commands that are told for copying.
static PROJECT_HERE: OnceLock<ProjectId> = OnceLock::new();

impl Context {
    pub(crate) fn new(global: &Global) -> Result<Self, Failure> {
        let home = Home::find(global.home.as_deref())?;
        let bound = Bound::here(&home, &global.org)?;
        let project = match (&global.project, &bound) {
            (Some(project), _) => project.clone(),
            (None, Some(bound)) => bound.record.project.clone(),
            (None, None) => ProjectId::new(PROJECT.1).map_err(|error| Failure::of("USAGE_VALUE", &error))?,
        };
        if let Some(bound) = &bound {
            // Only the first is ever set, and there is one place where this process stands.
            let _ = PROJECT_HERE.set(bound.record.project.clone());
        }
        Ok(Self {
            home,
            scope: Scope { organization: global.org.clone(), project },
            json: global.json,
            bound,
            is_project_named: global.project.is_some(),
            quiet: global.quiet,
            no_input: global.no_input,
        })
    }

    /// The same, acting on another home and project.
    pub(crate) fn elsewhere(&self, home: Home, scope: Scope) -> Self {
        Self {
            home,
            scope,
            json: self.json,
            bound: None,
            is_project_named: true,
            quiet: self.quiet,
            no_input: self.no_input,
        }
    }

    /// The same, acting on the project of a repository.
    pub(crate) fn within(&self, bound: &Bound) -> Self {
        if Bound::holds_this_place(&bound.root) {
            // One that is set already belongs to a repository around this one.
            let _ = PROJECT_HERE.set(bound.record.project.clone());
        }
        let scope =
            if self.is_project_named { self.scope.clone() } else { bound.scope(&self.scope.organization) };
        Self {
            bound: Some(bound.clone()),
            is_project_named: self.is_project_named,
            ..self.elsewhere(self.home.clone(), scope)
        }
    }

    /// Opens the services over the home.
    pub(crate) fn open(&self) -> Result<Services, Failure> {
        Services::open(&self.home)
    }

    /// Whether nothing is to be said while working.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Says something about the progress of the work.
    pub(crate) fn note(&self, line: &str) {
        if !self.quiet {
            Self::warn(line);
        }
    }

    /// Says what must not be missed, whether or not anything else is said.
    pub(crate) fn warn(line: &str) {
        let line = folded(&printable(line), columns(std::io::stderr()));
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// Whether a person must not be waited for.
    pub(crate) const fn is_alone(&self) -> bool {
        self.no_input
    }

    /// Whether a person can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        !self.no_input && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Who acts, as far as this machine tells: the user's name. It is a label; approving needs a credential.
    pub(crate) fn user() -> String {
        let name = std::env::var("USER").ok().filter(|name| RunName::new(name.clone()).is_ok());
        name.unwrap_or_else(|| "user".to_owned())
    }
}

/// How a command that is told for copying begins: with the options that it needs to act on this project where it is told.
pub(crate) fn ambit(organization: &str, project: &str) -> String {
    let mut words = "ambit".to_owned();
    let project_here = PROJECT_HERE.get().map_or(PROJECT.1, ProjectId::as_str);
    for (option, (variable, default), wanted) in
        [("--org", ORGANIZATION, organization), ("--project", (PROJECT.0, project_here), project)]
    {
        if std::env::var(variable).as_deref().unwrap_or(default) != wanted {
            words.extend([" ", option, " ", wanted]);
        }
    }
    words
}

/// The same, for a scope.
pub(crate) fn ambit_in(scope: &Scope) -> String {
    ambit(scope.organization.as_str(), scope.project.as_str())
}

impl Services {
    /// What follows from the project's stream.
    pub(crate) async fn project(&self, scope: &Scope) -> Result<Project, Failure> {
        self.projects.project(scope).await.map_err(|error| Failure::of(error.code(), &error))
    }

    /// A run by its name or id, with its state. Whatever is not found is answered alike.
    pub(crate) async fn run(&self, scope: &Scope, named: &str) -> Result<(RunRef, State), Failure> {
        let run = self.find(scope, named).await?;
        match self.orchestrator.state(&run).await {
            Ok(state) => Ok((run, state)),
            Err(DriveError::NotFound) => Err(run_missing(scope, named)),
            Err(error) => Err(Failure::of(error.code(), &error)),
        }
    }

    /// The state of the run that has a name, if one has it.
    pub(crate) async fn called(&self, scope: &Scope, name: &RunName) -> Result<Option<State>, Failure> {
        match self.holder(scope, name).await? {
            Some(_) => self.run(scope, name.as_str()).await.map(|(_, state)| Some(state)),
            None => Ok(None),
        }
    }

    /// The id of the run that has a name, as the list of names has it.
    async fn holder(&self, scope: &Scope, name: &RunName) -> Result<Option<String>, Failure> {
        let holder = self.store.claim(scope, &format!("run-name/{name}")).await;
        holder.map_err(|error| Failure::of(error.code(), &error))
    }

    /// A run by its name or id, whatever became of its records: a name or an id that the project knows is a run.
    pub(crate) async fn find(&self, scope: &Scope, named: &str) -> Result<RunRef, Failure> {
        let by_name = match RunName::new(named) {
            Ok(name) => self.holder(scope, &name).await?,
            Err(_) => None,
        };
        let is_named = by_name.is_some();
        let Ok(run) = RunId::new(by_name.unwrap_or_else(|| named.to_owned())) else {
            return Err(self.not_among(scope, named, &self.run_ids(scope).await?).await);
        };
        if !is_named {
            let known = self.run_ids(scope).await?;
            if !known.contains(&run) {
                return Err(self.not_among(scope, named, &known).await);
            }
        }
        let run = RunRef { scope: scope.clone(), run };
        if is_named {
            self.must_be_called(&run, named).await?;
        }
        Ok(run)
    }

    /// The list of names is not signed, and the records of a run are: where those can be read, they must agree.
    async fn must_be_called(&self, run: &RunRef, name: &str) -> Result<(), Failure> {
        let Ok(state) = self.orchestrator.state(run).await else { return Ok(()) };
        let pinned = state.dossier().and_then(|dossier| dossier.pins.name.as_ref());
        if pinned.is_some_and(|pinned| pinned.as_str() == name) {
            return Ok(());
        }
        Err(Failure::new(
            "TRACE_REFUTED",
            format!("{name} stands for {}, whose own records say otherwise", run.run),
        )
        .help(
            "the list of names was altered; `ambit run list` shows each run under the name that it recorded",
        ))
    }

    /// That none of these runs is meant, and which name is closest to the one that was given.
    async fn not_among(&self, scope: &Scope, named: &str, runs: &[RunId]) -> Failure {
        let mut names = Vec::new();
        for run in runs.iter().rev().take(COMPARED_RUNS) {
            let run = RunRef { scope: scope.clone(), run: run.clone() };
            let Ok(state) = self.orchestrator.state(&run).await else { continue };
            names.extend(
                state.dossier().and_then(|dossier| dossier.pins.name.as_ref()).map(ToString::to_string),
            );
        }
        run_missing(scope, named).meant(named, names.iter().map(String::as_str))
    }

    /// Every run of a project, oldest first.
    pub(crate) async fn run_ids(&self, scope: &Scope) -> Result<Vec<RunId>, Failure> {
        let mut runs: Vec<RunId> = Vec::new();
        loop {
            let page = self
                .store
                .runs(scope, runs.last(), PAGE)
                .await
                .map_err(|error| Failure::of(error.code(), &error))?;
            let last = page.len() < PAGE;
            runs.extend(page);
            if last {
                return Ok(runs);
            }
        }
    }
}

const PAGE: usize = 256;
/// How many runs are read to find the one whose name was meant.
const COMPARED_RUNS: usize = 64;

fn run_missing(scope: &Scope, named: &str) -> Failure {
    Failure::new("RUN_NOT_FOUND", format!("there is no run {named} in {scope}"))
        .help("`ambit run list` shows the runs of the project")
}
