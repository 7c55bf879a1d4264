use std::path::Path;

use ambit_blueprint::{Document, ExecutionCapabilityProfile};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::cli::{ProfileArg, ProfileVerb};
use crate::failure::Failure;
use crate::input_file::read_document;
use crate::verbs::blueprint::digest_of;
use crate::verbs::doctor::profiles;

pub(crate) fn run(verb: ProfileVerb) -> Result<Answer, Failure> {
    match verb {
        ProfileVerb::List => list(),
        ProfileVerb::Show { profile } => show(&profile),
        ProfileVerb::Validate { file } => {
            let profile = read_document(&file, ExecutionCapabilityProfile::parse)?;
            let name = profile.metadata.name.clone();
            let digest = digest_of(&Document::Profile(Box::new(profile)))?;
            Ok(Answer::new(
                format!("{} is an execution profile: {name}\n{digest}\n", file.display()),
                json!({"valid": true, "name": name, "digest": digest}),
            ))
        }
    }
}

/// A profile that is named where no project is, in which one could be registered.
pub(super) fn brought(named: &ProfileArg) -> Result<ExecutionCapabilityProfile, Failure> {
    let name = match named {
        ProfileArg::File(file) => return read_document(file, ExecutionCapabilityProfile::parse),
        ProfileArg::Name(name) => name,
    };
    let profiles = profiles()?;
    let known: Vec<&str> = profiles.iter().map(|profile| profile.metadata.name.as_str()).collect();
    let unknown = Failure::new("PROFILE_UNKNOWN", format!("no profile {name} comes with this program"))
        .help(format!("those that come along are {}; a file of another can be named", known.join(", ")))
        .meant(name.as_str(), known);
    profiles.into_iter().find(|profile| profile.metadata.name == *name).ok_or(unknown)
}

fn list() -> Result<Answer, Failure> {
    let mut text = String::new();
    let mut listed: Vec<Value> = Vec::new();
    for profile in profiles()? {
        let document = document(&profile)?;
        let limits = word(&document["spec"]["required"]["aggregateLimits"]);
        let (name, digest) =
            (&profile.metadata.name, digest_of(&Document::Profile(Box::new(profile.clone())))?);
        text.push_str(&format!("{:<24} limits of a sandbox as a whole: {limits}\n", name.as_str()));
        listed.push(json!({"name": name, "digest": digest, "required": document["spec"]["required"]}));
    }
    text.push_str("`ambit doctor` says which of them this machine meets\n");
    Ok(Answer::new(text, json!({"profiles": listed})).prose())
}

fn show(named: &str) -> Result<Answer, Failure> {
    let profile = if Path::new(named).is_file() {
        read_document(Path::new(named), ExecutionCapabilityProfile::parse)?
    } else {
        let profiles = profiles()?;
        let known: Vec<&str> = profiles.iter().map(|profile| profile.metadata.name.as_str()).collect();
        let unknown = Failure::new("PROFILE_UNKNOWN", format!("there is no file and no profile {named}"))
            .help(format!("those that come along are {}", known.join(", ")))
            .meant(named, known);
        profiles.into_iter().find(|profile| profile.metadata.name.as_str() == named).ok_or(unknown)?
    };
    let document = document(&profile)?;
    let digest = digest_of(&Document::Profile(Box::new(profile)))?;
    let mut text = format!("{}\n{digest}\n", word(&document["metadata"]["name"]));
    for (title, part) in
        [("required", "required"), ("refers to", "policyRefs"), ("ceilings of every run", "runBudget")]
    {
        let Some(words) = document["spec"][part].as_object() else { continue };
        text.push_str(&format!("\n{title}\n"));
        for (key, value) in words {
            text.push_str(&format!("  {key:<34} {}\n", word(value)));
        }
    }
    Ok(Answer::new(text, json!({"digest": digest, "profile": document})).prose())
}

/// A profile as its canonical document.
fn document(profile: &ExecutionCapabilityProfile) -> Result<Value, Failure> {
    let bytes = Document::Profile(Box::new(profile.clone()))
        .to_canonical()
        .map_err(|error| Failure::of("DOCUMENT_NOT_CANONICAL", &error))?;
    serde_json::from_slice(bytes.as_bytes()).map_err(|error| Failure::of("OUTPUT_UNWRITABLE", &error))
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
