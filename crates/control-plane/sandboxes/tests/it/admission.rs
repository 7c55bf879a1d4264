use ambit_blueprint::{Document, ExecutionCapabilityProfile, builtin};
use ambit_ids::BackendId;
use ambit_ports::sandbox::{
    Cancellation, CapabilityManifest, Egress, Enforcer, Isolation, Preview, Probe, ProbeFamily,
    SecretDelivery,
};
use ambit_sandboxes::unmet;
use ambit_simulation::honest_manifest;

fn profile(builtin: &builtin::Builtin) -> ExecutionCapabilityProfile {
    match builtin.parse().unwrap() {
        Document::Profile(profile) => *profile,
        other => panic!("{} is no profile", other.name()),
    }
}

fn manifest() -> CapabilityManifest {
    honest_manifest(&BackendId::new("simulated").unwrap())
}

/// A way to fall short, and the requirement that is then not met.
type Shortfall = (&'static str, fn(&mut CapabilityManifest));

const SHORTFALLS: [Shortfall; 13] = [
    ("isolation: dedicated-sandbox-per-run", |it| it.isolation = Isolation::Unproven),
    ("egress: deny-all", |it| it.egress = Egress::Unproven),
    ("egress: deny-all", |it| it.egress = Egress::ExplicitAllowlist),
    ("egress: deny-all", |it| it.egress = Egress::TrustedProxy),
    ("secretDelivery: brokered-no-plaintext", |it| it.secret_delivery = SecretDelivery::Unproven),
    ("preview: disabled-until-explicit-grant", |it| it.preview = Preview::PossessionUrlPlusAppAuth),
    ("cancellation: process-stop-then-destroy", |it| it.cancellation = Cancellation::Unproven),
    ("evidence: immutable-positive-and-negative-probes", |it| it.evidence_probes.clear()),
    ("evidence: immutable-positive-and-negative-probes", |it| it.evidence_probes[0].passed = false),
    ("evidence: immutable-positive-and-negative-probes", |it| {
        // Another probe of the same family passed: that makes up for nothing.
        let failed = Probe { passed: false, ..it.evidence_probes[0].clone() };
        it.evidence_probes.push(failed);
    }),
    ("aggregateLimits: enforced", |it| it.limits.memory = Enforcer::RlimitPerProcess),
    ("aggregateLimits: enforced", |it| it.limits.processes = Enforcer::RlimitPerProcess),
    ("aggregateLimits: enforced", |it| it.limits.cpu = Enforcer::RlimitPerProcess),
];

// proves E-I05 E-I06 E-I10 C11
// break crates/control-plane/sandboxes/src/admission.rs: `("egress: deny-all", manifest.egress == Egress::DenyAll, format!("{:?}", manifest.egress)),` -> `("egress: deny-all", manifest.egress != Egress::Unproven, format!("{:?}", manifest.egress)),`
// break crates/control-plane/sandboxes/src/admission.rs: `.filter(|probe| !probe.passed)` -> `.filter(|probe| !probe.passed && probe.observed.is_empty())`
#[test]
fn whatever_falls_short_of_a_profile_is_named_and_nothing_is_filled_in() {
    let secure = profile(&builtin::SECURE_GENERATION_V1);
    assert_eq!(unmet(&secure, &manifest()), [], "what proves everything is admitted");
    for (requirement, fall_short) in SHORTFALLS {
        let mut manifest = manifest();
        fall_short(&mut manifest);
        let named: Vec<&str> = unmet(&secure, &manifest).iter().map(|unmet| unmet.requirement).collect();
        assert_eq!(named, [requirement]);
    }
    for equal in [SecretDelivery::OpaqueProviderPlaceholder, SecretDelivery::ShortLivedProxyToken] {
        let mut manifest = manifest();
        manifest.secret_delivery = equal;
        manifest.preview = Preview::Authenticated;
        assert_eq!(unmet(&secure, &manifest), [], "{equal:?}");
    }
}

#[test]
fn what_fails_many_probes_alike_is_told_once() {
    let mut manifest = manifest();
    for (at, probe) in manifest.evidence_probes.iter_mut().enumerate().take(3) {
        probe.passed = false;
        probe.observed = format!("CODE: why{}", if at == 1 { "; control: the same" } else { "" });
    }
    let ids: Vec<&str> = manifest.evidence_probes.iter().take(3).map(|probe| probe.id.as_str()).collect();
    let unmet = unmet(&profile(&builtin::SECURE_GENERATION_V1), &manifest);
    let told = &unmet[0].measured;
    assert!(told.ends_with(&format!("failed: {}: CODE: why", ids.join(", "))), "{told}");
}

// proves E-I11 E-I10
// break crates/control-plane/sandboxes/src/admission.rs: `manifest.evidence_probes.iter().filter(|probe| probe.passed).map(|probe| probe.family).collect();` -> `manifest.evidence_probes.iter().map(|_| ProbeFamily::Recovery).chain(FAMILIES).collect();`
#[test]
fn every_family_of_probes_is_needed() {
    let secure = profile(&builtin::SECURE_GENERATION_V1);
    let families: Vec<ProbeFamily> = manifest().evidence_probes.iter().map(|probe| probe.family).collect();
    assert_eq!(families.len(), 6);
    for family in families {
        let mut manifest = manifest();
        manifest.evidence_probes.retain(|probe| probe.family != family);
        let unmet = unmet(&secure, &manifest);
        assert_eq!(unmet.len(), 1, "{family:?}");
        assert!(unmet[0].measured.contains(&format!("{family:?}")), "{:?}", unmet[0]);
    }
}

#[test]
fn the_profile_of_a_laptop_takes_limits_of_single_processes_and_nothing_else_less() {
    let laptop = profile(&builtin::LAPTOP_V1);
    for (requirement, fall_short) in SHORTFALLS {
        let mut manifest = manifest();
        fall_short(&mut manifest);
        let named: Vec<&str> = unmet(&laptop, &manifest).iter().map(|unmet| unmet.requirement).collect();
        let lesser = requirement == "aggregateLimits: enforced";
        assert_eq!(named.is_empty(), lesser, "{requirement}");
    }
}
