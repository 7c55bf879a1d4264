//! From the names of tools to the plan of an image.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ambit_ids::{ByteCount, ImageName};
use ambit_ports::images::Image;

use crate::closure::Closure;
use crate::error::CaptureError;
use crate::go::COMPILER as GO_COMPILER;
use crate::left_out::LeftOut;
use crate::loader::Loader;
use crate::plan::{Plan, Share};
use crate::tool::{PROGRAM_DIRECTORIES, Tool};
use crate::{limits, needs, skeleton};

/// What to capture.
#[derive(Clone, Debug)]
pub struct CaptureRequest {
    /// The name of the image.
    pub name: ImageName,
    /// The tools, 1 to [`limits::CAPTURED_TOOLS`](crate::limits::CAPTURED_TOOLS).
    pub tools: Vec<Tool>,
    /// Where tools are looked for, in order: the directories of `PATH`. A version manager that stands there answers as it
    /// does where no project lies: by its own settings and its variables, such as `RUSTUP_TOOLCHAIN`.
    pub search_path: Vec<PathBuf>,
}

/// What was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureReport {
    /// The image.
    pub image: Image,
    /// Whether the image was here already, whole, and only got its name.
    pub reused: bool,
    /// The tools, sorted by name.
    pub tools: Vec<CapturedTool>,
    /// What was left out although it belongs to a tool, sorted.
    pub left_out: Vec<LeftOut>,
}

/// One tool of an image. What two tools share counts for both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedTool {
    /// The name by which it is called.
    pub name: String,
    /// The program, by its path in the image and on this machine.
    pub program: PathBuf,
    /// The files and links that it needs.
    pub entries: u64,
    /// The size of these files.
    pub size_bytes: ByteCount,
}

/// A plan with what is to be told about it.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    pub(crate) index_directories: BTreeSet<PathBuf>,
    pub(crate) tools: Vec<CapturedTool>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Finds everything that the tools of `request` need. Nothing is written.
pub(crate) fn plan(request: &CaptureRequest) -> Result<Planned, CaptureError> {
    let found = locate(request)?;
    let loader = Loader::of_this_machine();
    let mut plan = Plan::default();
    skeleton::lay(&mut plan)?;
    // The skeleton belongs to no tool.
    plan.share();
    let mut closure = Closure::new(plan, &loader, &request.search_path);
    let mut tools = Vec::new();
    for (name, path) in &found {
        let program = needs::take_tool(&mut closure, name, path)?;
        let Share { entries, size_bytes } = closure.plan.share();
        tools.push(CapturedTool { name: (*name).to_owned(), program, entries, size_bytes });
    }
    for tool in &tools {
        check_call(&closure.plan, tool)?;
    }
    let Closure { plan, mut left_out, index_directories, .. } = closure;
    left_out.extend(missing_linker(&plan, &tools));
    // One tool may have missed what another one brought later.
    left_out.retain(|left| left.what != Path::new(GO_COMPILER) || !is_callable(&plan, &left.what));
    Ok(Planned { plan, index_directories, tools, left_out: left_out.into_iter().collect() })
}

/// Finds the file of every tool, or tells of all that are missing.
fn locate(request: &CaptureRequest) -> Result<BTreeMap<&str, PathBuf>, CaptureError> {
    if !(1..=limits::CAPTURED_TOOLS).contains(&request.tools.len()) {
        return Err(CaptureError::ToolCount { found: request.tools.len() });
    }
    let mut found: BTreeMap<&str, PathBuf> = BTreeMap::new();
    let mut missing = Vec::new();
    for tool in &request.tools {
        match tool.locate(&request.search_path) {
            Ok(path) => match found.insert(tool.name(), path.clone()) {
                Some(first) if first != path => {
                    return Err(CaptureError::Ambiguous {
                        name: tool.name().to_owned(),
                        first,
                        second: path,
                    });
                }
                Some(_) | None => {}
            },
            Err(error) => missing.push(error),
        }
    }
    if missing.is_empty() { Ok(found) } else { Err(CaptureError::ToolsMissing(missing)) }
}

/// Rust compiles without a compiler of C, but calls one to link.
fn missing_linker(plan: &Plan, tools: &[CapturedTool]) -> Option<LeftOut> {
    let links = |tool: &&CapturedTool| matches!(tool.name.as_str(), "cargo" | "cargo-clippy" | "rustc");
    let tool = tools.iter().find(links)?;
    let why = format!("{} calls it to link programs and build scripts, and it was not named", tool.name);
    (!is_callable(plan, Path::new("cc"))).then(|| LeftOut { what: "cc".into(), why })
}

fn is_callable(plan: &Plan, name: &Path) -> bool {
    PROGRAM_DIRECTORIES.iter().any(|directory| plan.get(&Path::new(directory).join(name)).is_some())
}

/// Checks that the name of a tool calls that tool inside the image, and not something else that was taken along.
fn check_call(plan: &Plan, tool: &CapturedTool) -> Result<(), CaptureError> {
    let candidates = PROGRAM_DIRECTORIES.map(|directory| Path::new(directory).join(&tool.name));
    match candidates.iter().find(|path| plan.get(path).is_some()) {
        Some(path) if !plan.leads_to(path, &tool.program) => Err(CaptureError::Ambiguous {
            name: tool.name.clone(),
            first: path.clone(),
            second: tool.program.clone(),
        }),
        Some(_) | None => Ok(()),
    }
}
