use std::fmt::Write as _;
use std::sync::OnceLock;

use ambit_ids::{Digest, vocabulary};

use crate::class::Class;

vocabulary!(
    /// What a text that was taken out was taken for. Each word covers every form of its kind.
    Rule {
        /// A token of GitHub.
        Github = "github",
        /// A token of GitLab.
        Gitlab = "gitlab",
        /// Either half of an access key of AWS, or a token of a session.
        Aws = "aws",
        /// A token or a webhook of Slack.
        Slack = "slack",
        /// A key of Stripe.
        Stripe = "stripe",
        /// A key of OpenAI.
        Openai = "openai",
        /// A key of Anthropic.
        Anthropic = "anthropic",
        /// A key, a token or a client's secret of Google.
        Google = "google",
        /// A token of npm.
        Npm = "npm",
        /// A token of PyPI.
        Pypi = "pypi",
        /// A token of the registry of crates.
        Crates = "crates",
        /// A token of Hugging Face.
        HuggingFace = "hugging-face",
        /// A token of DigitalOcean.
        DigitalOcean = "digital-ocean",
        /// A token of Docker Hub.
        Docker = "docker-hub",
        /// A token of Vault.
        Vault = "vault",
        /// An identity of age.
        Age = "age",
        /// The credential of an approver of this system, plain or sealed.
        Ambit = "ambit",
        /// A private key as PEM, or the base64 of one.
        Pem = "pem",
        /// A JSON web token.
        Jwt = "jwt",
        /// The password in a URL.
        Url = "url",
        /// A key that this program holds itself.
        Key = "key",
    }
);

/// How a mark begins.
pub const MARK: &str = "[redacted:";
/// The first byte of a mark. No secret has it.
pub const MARK_OPENS: u8 = b'[';

impl Rule {
    /// What stands in the place of a secret.
    #[must_use]
    pub fn mark(self) -> String {
        format!("{MARK}{self}]")
    }
}

/// Where a form may begin, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Left {
    /// Where no word goes on.
    AtWord,
    /// The same, and behind an underscore.
    AtPart,
    Anywhere,
}

/// What a secret looks like behind the text by which it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// At least so many bytes of the class; all that follow belong to it.
    Token(Class, usize),
    /// The same, where the text itself and the few bytes behind it stay, since they say what it is a secret of.
    Value(Class, usize),
    Jwt,
    Pem,
    /// The password between a user and a host.
    Password,
}

/// One form of a secret.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) rule: Rule,
    pub(crate) start: &'static str,
    pub(crate) left: Left,
    pub(crate) shape: Shape,
}

const fn token(rule: Rule, start: &'static str, class: Class, least: usize) -> Form {
    Form { rule, start, left: Left::AtWord, shape: Shape::Token(class, least) }
}

const fn value(rule: Rule, start: &'static str, left: Left, class: Class, least: usize) -> Form {
    Form { rule, start, left, shape: Shape::Value(class, least) }
}

/// Version 1 of the rules. What was found by it is on record under its digest, so it never changes: other rules are another
/// version beside it. Of several forms that begin alike the longest stands first.
pub(crate) const FORMS: &[Form] = &[
    token(Rule::Github, "github_pat_", Class::Dashed, 60),
    token(Rule::Github, "ghp_", Class::Alphanumeric, 36),
    token(Rule::Github, "gho_", Class::Alphanumeric, 36),
    token(Rule::Github, "ghu_", Class::Alphanumeric, 36),
    token(Rule::Github, "ghs_", Class::Alphanumeric, 36),
    token(Rule::Github, "ghr_", Class::Alphanumeric, 36),
    token(Rule::Gitlab, "glpat-", Class::Dotted, 20),
    token(Rule::Gitlab, "gldt-", Class::Dotted, 20),
    token(Rule::Gitlab, "glrt-", Class::Dotted, 20),
    token(Rule::Gitlab, "glcbt-", Class::Dotted, 20),
    token(Rule::Gitlab, "glptt-", Class::Dotted, 20),
    token(Rule::Gitlab, "glsoat-", Class::Dotted, 20),
    token(Rule::Aws, "AKIA", Class::Upper, 16),
    token(Rule::Aws, "ASIA", Class::Upper, 16),
    value(Rule::Aws, "secret_access_key", Left::AtPart, Class::Base64, 40),
    value(Rule::Aws, "secretAccessKey", Left::AtPart, Class::Base64, 40),
    value(Rule::Aws, "SecretAccessKey", Left::Anywhere, Class::Base64, 40),
    value(Rule::Aws, "SECRET_ACCESS_KEY", Left::AtPart, Class::Base64, 40),
    value(Rule::Aws, "session_token", Left::AtPart, Class::Base64, 100),
    value(Rule::Aws, "sessionToken", Left::AtPart, Class::Base64, 100),
    value(Rule::Aws, "SessionToken", Left::Anywhere, Class::Base64, 100),
    value(Rule::Aws, "SESSION_TOKEN", Left::AtPart, Class::Base64, 100),
    token(Rule::Slack, "xoxb-", Class::Dashed, 20),
    token(Rule::Slack, "xoxp-", Class::Dashed, 20),
    token(Rule::Slack, "xoxa-", Class::Dashed, 20),
    token(Rule::Slack, "xoxr-", Class::Dashed, 20),
    token(Rule::Slack, "xoxs-", Class::Dashed, 20),
    token(Rule::Slack, "xoxe-", Class::Dashed, 20),
    token(Rule::Slack, "xapp-", Class::Dashed, 20),
    value(Rule::Slack, "hooks.slack.com/services/", Left::AtWord, Class::Steps, 40),
    token(Rule::Stripe, "sk_live_", Class::Alphanumeric, 24),
    token(Rule::Stripe, "rk_live_", Class::Alphanumeric, 24),
    token(Rule::Stripe, "sk_test_", Class::Alphanumeric, 24),
    token(Rule::Stripe, "rk_test_", Class::Alphanumeric, 24),
    token(Rule::Stripe, "whsec_", Class::Base64, 32),
    token(Rule::Anthropic, "sk-ant-", Class::Dashed, 40),
    token(Rule::Openai, "sk-proj-", Class::Dashed, 40),
    token(Rule::Openai, "sk-svcacct-", Class::Dashed, 40),
    token(Rule::Openai, "sk-admin-", Class::Dashed, 40),
    token(Rule::Openai, "sk-", Class::Alphanumeric, 40),
    token(Rule::Google, "AIza", Class::Dashed, 35),
    token(Rule::Google, "ya29.", Class::Dashed, 30),
    token(Rule::Google, "GOCSPX-", Class::Dashed, 28),
    token(Rule::Npm, "npm_", Class::Alphanumeric, 36),
    token(Rule::Pypi, "pypi-AgE", Class::Dashed, 60),
    token(Rule::Crates, "cio", Class::Alphanumeric, 32),
    token(Rule::HuggingFace, "hf_", Class::Alphanumeric, 34),
    token(Rule::DigitalOcean, "dop_v1_", Class::Hex, 64),
    token(Rule::Docker, "dckr_pat_", Class::Dashed, 27),
    token(Rule::Vault, "hvs.", Class::Dashed, 24),
    token(Rule::Age, "AGE-SECRET-KEY-1", Class::Upper, 58),
    token(Rule::Ambit, "ambit-approver-sealed-1-", Class::Dashed, 64),
    token(Rule::Ambit, "ambit-approver-1-", Class::Hex, 64),
    Form { rule: Rule::Pem, start: "-----BEGIN ", left: Left::Anywhere, shape: Shape::Pem },
    // What `-----BEGIN ` is in base64, with the start of the words before `PRIVATE KEY`.
    token(Rule::Pem, "LS0tLS1CRUdJTiBQUklWQVRF", Class::Base64, 64),
    token(Rule::Pem, "LS0tLS1CRUdJTiBSU0EgUFJJVkFUR", Class::Base64, 64),
    token(Rule::Pem, "LS0tLS1CRUdJTiBFQyBQUklWQVRF", Class::Base64, 64),
    token(Rule::Pem, "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg", Class::Base64, 64),
    token(Rule::Pem, "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFUR", Class::Base64, 64),
    Form { rule: Rule::Jwt, start: "eyJ", left: Left::AtWord, shape: Shape::Jwt },
    Form { rule: Rule::Url, start: "://", left: Left::Anywhere, shape: Shape::Password },
];

/// The digest of the rules: what is on record beside what was found by them.
#[must_use]
pub fn rules_digest() -> Digest {
    static DIGEST: OnceLock<Digest> = OnceLock::new();
    *DIGEST.get_or_init(|| Digest::of(described().as_bytes()))
}

/// The rules in words. The first line speaks for everything about them that is no row.
pub(crate) fn described() -> String {
    let mut text = "ambit-redaction/1\n".to_owned();
    for form in FORMS {
        let left = match form.left {
            Left::Anywhere => "anywhere",
            Left::AtWord => "at-word",
            Left::AtPart => "at-part",
        };
        let _ = write!(text, "{} {left} {} ", form.rule, form.start.trim_end());
        let _ = match form.shape {
            Shape::Token(class, least) => writeln!(text, "token {} {least}", class.name()),
            Shape::Value(class, least) => writeln!(text, "value {} {least}", class.name()),
            Shape::Jwt => writeln!(text, "jwt"),
            Shape::Pem => writeln!(text, "pem"),
            Shape::Password => writeln!(text, "password"),
        };
    }
    text
}
