//! Proves, for every request that the schema allows and every entity store, what the policies around every run promise.
//!
//! Cedar's symbolic compiler turns each claim into a question for the solver `cvc5`, which looks for a request that breaks it.
//! Beside each kind of claim stands one that is false, so that a solver that answers anything is seen.

use std::collections::BTreeSet;
use std::process::ExitCode;

use cedar_policy::{Policy, PolicySet, RequestEnv, Schema};
use cedar_policy_symcc::solver::LocalSolver;
use cedar_policy_symcc::{CedarSymCompiler, CompiledPolicy, CompiledPolicySet};

const SCHEMA: &str = include_str!("../cedar/calls.cedarschema");
const STANDING: &str = include_str!("../cedar/standing.cedar");
const BUNDLE: &str = include_str!("../cedar/generation-tools-v2.cedar");
const BEFORE: &str = include_str!("../cedar/generation-tools-v1.cedar");

/// The widest bundle that there could be.
const EVERYTHING: &str = "permit (principal, action, resource);";

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// What is claimed of each kind of request.
struct Claim {
    says: &'static str,
    /// Whether it must hold, or is the control that must not.
    holds: bool,
    of: Of,
}

/// What a claim is about.
enum Of {
    /// No policy of the set fails to evaluate.
    NeverErrors(&'static [&'static str]),
    /// The set denies every request for an action that is no tool.
    DeniesBeyondTheTools(&'static [&'static str]),
    /// The set denies every request for a tool.
    DeniesTools(&'static [&'static str]),
    /// Whatever the first set permits the second one does.
    Implies(&'static [&'static str], &'static [&'static str]),
}

const OVERFLOWING: &str = "permit (principal, action, resource)
    when { 9223372036854775807 + (if context.facts.isEmpty() then 1 else 0) > 0 };";
const OWN_PROJECT: &str = "permit (principal, action, resource) when { principal in resource };";
const OWN_POLICY: &str = "permit (principal, action, resource) when { context.policy == principal.policy };";
const CLASSIFIED: &str = r#"permit (principal, action, resource)
    unless { context.facts.contains(FactKind::"unclassified") };"#;
const NOTHING_EXTERNAL: &str = r#"permit (principal, action, resource)
    unless { context has asked && [Capability::"publish", Capability::"merge.protected", Capability::"deploy",
    Capability::"production.configure", Capability::"secret.rotate", Capability::"message.external"].contains(context.asked) };"#;
const UNPROTECTED: &str = r#"permit (principal, action, resource)
    unless { action == Action::"apply_project_patch" && context.facts.containsAny([
    FactKind::"protected-path-touched", FactKind::"assertion-removed", FactKind::"runner-changed",
    FactKind::"test-removed", FactKind::"authentication-changed", FactKind::"skip-marker-added",
    FactKind::"check-silenced", FactKind::"blanket-directive-added"]) };"#;
const SILENCED: &str = r#"permit (principal, action, resource)
    unless { action == Action::"apply_project_patch" && context.facts.contains(FactKind::"directive-added") &&
    !(context has approval && context.approval.capability == Capability::"check.silence" &&
    context.approval.subject == context.arguments) };"#;
/// Everything but a directive that names its check, and the question about one.
const NO_DIRECTIVE: &str = r#"forbid (principal, action, resource)
    when { action == Action::"apply_project_patch" && context.facts.contains(FactKind::"directive-added") };
forbid (principal, action, resource)
    when { context has asked && context.asked == Capability::"check.silence" };"#;
const APPROVED: &str = r#"permit (principal, action, resource)
    unless { action == Action::"apply_project_patch" && context.facts.contains(FactKind::"dependency-added") &&
    !(context has approval && context.approval.capability == Capability::"dependency.add" &&
    context.approval.subject == context.arguments) };"#;

const CLAIMS: &[Claim] = &[
    Claim {
        says: "no standing policy and no policy of the bundle ever fails to evaluate",
        holds: true,
        of: Of::NeverErrors(&[STANDING, BUNDLE]),
    },
    Claim {
        says: "control: a policy that overflows does fail",
        holds: false,
        of: Of::NeverErrors(&[OVERFLOWING]),
    },
    Claim {
        says: "whatever a bundle permits, a run is denied every network, every secret and everything external",
        holds: true,
        of: Of::DeniesBeyondTheTools(&[STANDING, EVERYTHING]),
    },
    Claim {
        says: "control: that is not so for the tools",
        holds: false,
        of: Of::DeniesTools(&[STANDING, EVERYTHING]),
    },
    Claim {
        says: "whatever a bundle permits, a run acts in its own project alone",
        holds: true,
        of: Of::Implies(&[STANDING, EVERYTHING], &[OWN_PROJECT]),
    },
    Claim {
        says: "control: without the standing policies that is not so",
        holds: false,
        of: Of::Implies(&[EVERYTHING], &[OWN_PROJECT]),
    },
    Claim {
        says: "whatever a bundle permits, a run that is pinned to another policy set is denied",
        holds: true,
        of: Of::Implies(&[STANDING, EVERYTHING], &[OWN_POLICY]),
    },
    Claim {
        says: "whatever a bundle permits, what cannot be classified is denied",
        holds: true,
        of: Of::Implies(&[STANDING, EVERYTHING], &[CLASSIFIED]),
    },
    Claim {
        says: "whatever a bundle permits, nothing external can be asked for",
        holds: true,
        of: Of::Implies(&[STANDING, EVERYTHING], &[NOTHING_EXTERNAL]),
    },
    Claim {
        says: "no approval lifts a protected path, a weaker or skipped test, another runner or authentication, a check that is \
               silenced by configuration, or a directive that names no check",
        holds: true,
        of: Of::Implies(&[STANDING, BUNDLE], &[UNPROTECTED]),
    },
    Claim {
        says: "a dependency is added only with an approval of exactly the arguments",
        holds: true,
        of: Of::Implies(&[STANDING, BUNDLE], &[APPROVED]),
    },
    Claim {
        says: "a check is silenced in source only with an approval of exactly the arguments",
        holds: true,
        of: Of::Implies(&[STANDING, BUNDLE], &[SILENCED]),
    },
    Claim {
        says: "the second version of the bundle permits nothing that the first one denied, but a directive that names its \
               check, and to ask for one",
        holds: true,
        of: Of::Implies(&[STANDING, BUNDLE, NO_DIRECTIVE], &[STANDING, BEFORE]),
    },
    Claim {
        says: "control: with such a directive and its approval it permits more",
        holds: false,
        of: Of::Implies(&[STANDING, BUNDLE], &[STANDING, BEFORE]),
    },
    Claim {
        says: "control: the first one permits what the second one denies",
        holds: false,
        of: Of::Implies(&[STANDING, BEFORE], &[STANDING, BUNDLE]),
    },
];

/// The actions that are tools: those of the three classes in which a run acts.
const TOOLS: [&str; 6] = [
    "read_project_file",
    "list_project_files",
    "search_project_text",
    "apply_project_patch",
    "run_named_gate",
    "request_scoped_approval",
];

fn is_tool(environment: &RequestEnv) -> bool {
    TOOLS.contains(&environment.action().id().unescaped())
}

fn set(texts: &[&str]) -> Outcome<PolicySet> {
    Ok(texts.join("\n").parse()?)
}

/// In how many kinds of request the claim was asked about, and in which it did not hold.
async fn ask(
    compiler: &mut CedarSymCompiler<LocalSolver>,
    schema: &Schema,
    environments: &[RequestEnv],
    of: &Of,
) -> Outcome<(usize, BTreeSet<String>)> {
    let mut asked = 0;
    let mut broken = BTreeSet::new();
    for environment in environments {
        let compiled = |texts: &[&str]| -> Outcome<CompiledPolicySet> {
            Ok(CompiledPolicySet::compile(&set(texts)?, environment, schema)?)
        };
        let holds = match of {
            Of::DeniesBeyondTheTools(_) if is_tool(environment) => continue,
            Of::DeniesTools(_) if !is_tool(environment) => continue,
            Of::DeniesBeyondTheTools(texts) | Of::DeniesTools(texts) => {
                compiler.check_always_denies_opt(&compiled(texts)?).await?
            }
            Of::Implies(first, second) => {
                compiler.check_implies_opt(&compiled(first)?, &compiled(second)?).await?
            }
            Of::NeverErrors(texts) => {
                let policies = set(texts)?;
                let policies: Vec<&Policy> = policies.policies().collect();
                let mut never = true;
                for policy in policies {
                    let compiled = CompiledPolicy::compile(policy, environment, schema)?;
                    never &= compiler.check_never_errors_opt(&compiled).await?;
                }
                never
            }
        };
        asked += 1;
        if !holds {
            broken.insert(environment.action().id().unescaped().to_owned());
        }
    }
    Ok((asked, broken))
}

async fn prove() -> Outcome<bool> {
    let (schema, _) = Schema::from_cedarschema_str(SCHEMA)?;
    let environments: Vec<RequestEnv> = schema.request_envs().collect();
    let mut compiler = CedarSymCompiler::new(LocalSolver::cvc5()?)?;
    let mut all = true;
    println!("{} kinds of request", environments.len());
    for claim in CLAIMS {
        let (asked, broken) = ask(&mut compiler, &schema, &environments, &claim.of).await?;
        let as_claimed = asked > 0 && broken.is_empty() == claim.holds;
        all &= as_claimed;
        let word = match (as_claimed, claim.holds) {
            (true, true) => "proved ",
            (true, false) => "refuted",
            (false, _) => "WRONG  ",
        };
        println!("{word} {} ({asked} kinds of request)", claim.says);
        if !broken.is_empty() {
            println!("        not for {}", broken.into_iter().collect::<Vec<_>>().join(", "));
        }
    }
    Ok(all)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match prove().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("nothing is proved: {error}");
            ExitCode::from(2)
        }
    }
}
