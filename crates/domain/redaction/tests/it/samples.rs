//! A secret of every form, put together here so that none of them lies in a file as one.

use ambit_redaction::Rule;

/// Letters and digits that look drawn.
const DRAWN: &str = "q7Zr2Xw9Kc4Vb8Nm1Lp6Jh3Gf5Ds0AyTuIoPeRkWzQvXcBnMlKjHgFdSaYtUiOpErWqZxCvBnMaSdFgHjKlQwErTyUiOpZx2468013579";

pub(crate) fn drawn(len: usize) -> String {
    DRAWN.chars().cycle().take(len).collect()
}

fn upper(len: usize) -> String {
    DRAWN.to_ascii_uppercase().chars().cycle().take(len).collect()
}

/// Lines of a private key of no algorithm.
pub(crate) fn pem(kind: &str, newline: &str) -> String {
    let lines: Vec<String> = (0..6).map(|at| drawn(64 + at)[at..].to_owned()).collect();
    let lines = lines.join(newline);
    format!("-----BEGIN {kind}PRIVATE KEY-----{newline}{lines}{newline}-----END {kind}PRIVATE KEY-----")
}

/// Each rule with what it takes out, and what stands around that and stays.
pub(crate) fn secrets() -> Vec<(Rule, String, String, String)> {
    let plain = |rule, secret: String| (rule, String::new(), secret, String::new());
    let token = |rule, start: &str, len: usize| plain(rule, format!("{start}{}", drawn(len)));
    let mut all = vec![
        token(Rule::Github, "github_pat_", 82),
        token(Rule::Gitlab, "glpat-", 20),
        token(Rule::Slack, "xoxb-", 40),
        token(Rule::Slack, "xapp-", 40),
        token(Rule::Stripe, "sk_live_", 24),
        token(Rule::Stripe, "whsec_", 32),
        token(Rule::Openai, "sk-proj-", 60),
        token(Rule::Openai, "sk-", 48),
        token(Rule::Anthropic, "sk-ant-api03-", 90),
        token(Rule::Google, "AIza", 35),
        token(Rule::Google, "ya29.", 60),
        token(Rule::Npm, "npm_", 36),
        token(Rule::Pypi, "pypi-AgEIcHlwaS5vcmc", 120),
        token(Rule::Crates, "cio", 32),
        token(Rule::HuggingFace, "hf_", 34),
        token(Rule::Docker, "dckr_pat_", 27),
        token(Rule::Vault, "hvs.", 24),
        plain(Rule::DigitalOcean, format!("dop_v1_{}", "0123456789abcdef".repeat(4))),
        plain(Rule::Ambit, format!("ambit-approver-1-{}", "0123456789abcdef".repeat(4))),
        plain(Rule::Ambit, format!("ambit-approver-sealed-1-{}", drawn(160))),
        plain(Rule::Age, format!("AGE-SECRET-KEY-1{}", upper(58))),
        plain(Rule::Aws, format!("AKIA{}", upper(16))),
        plain(Rule::Aws, format!("ASIA{}", upper(16))),
        plain(Rule::Jwt, format!("eyJ{}.eyJ{}.{}", drawn(33), drawn(60), drawn(43))),
    ];
    for start in ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"] {
        all.push(token(Rule::Github, start, 36));
    }
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        for newline in ["\n", "\r\n", "\\n", "\"\n  \"", "\n  | "] {
            all.push(plain(Rule::Pem, pem(kind, newline)));
        }
    }
    let sealed =
        format!("RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{}\n\n", upper(32));
    all.push(plain(Rule::Pem, pem("", "\n").replacen("PRIVATE KEY-----\n", &sealed, 1)));
    let around =
        |rule, before: &str, secret: String, after: &str| (rule, before.to_owned(), secret, after.to_owned());
    for name in [
        "aws_secret_access_key = ",
        "AWS_SECRET_ACCESS_KEY=",
        "\"SecretAccessKey\": \"",
        "secretAccessKey: '",
    ] {
        all.push(around(Rule::Aws, name, format!("{}/+", drawn(38)), ""));
    }
    all.push(around(Rule::Aws, "AWS_SESSION_TOKEN=", drawn(140), ""));
    all.push(around(
        Rule::Slack,
        "https://hooks.slack.com/services/",
        format!("T{}/B{}/{}", upper(9), upper(9), drawn(24)),
        "",
    ));
    all.push(around(Rule::Url, "postgres://shop:", "c0rrect-h0rse".to_owned(), "@db.internal:5432/shop"));
    all.push(around(Rule::Url, "https://:", "c0rrect%2Fh0rse".to_owned(), "@shop.internal/a?b"));
    all
}
