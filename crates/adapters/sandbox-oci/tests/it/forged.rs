//! What a command cannot say about itself.

use ambit_gates::Ending;

use crate::support::{bench, is_there};

/// A command that reaches for the socket of the first process gives no account of its own.
async fn no_account_but_the_first_processes(runtime: &str) {
    let (bench, _directory) = bench(runtime);
    let staged = bench.staged("forged-account").await;
    let forged = "ended exited 77 itself 0 1\n";
    for descriptor in 0..6 {
        let at = format!("/proc/1/fd/{descriptor}");
        let seen = bench.probe(&staged, &["write", &at, forged]).await;
        let own = if seen.stdout.head.starts_with("errno ") { 1 } else { 0 };
        assert_eq!(seen.ending, Ending::Exited { code: own }, "{at}: {}", seen.stdout.head);
        assert!(!seen.stdout.head.contains("77"), "{at}: {}", seen.stdout.head);
    }
    // With the same words, where a command may write.
    bench.allowed(&staged, &["write", "/tmp/account", forged]).await;
    bench.destroy(&staged).await;
}

macro_rules! each {
    ($($runtime:ident)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $runtime() {
                if is_there(stringify!($runtime)) {
                    no_account_but_the_first_processes(stringify!($runtime)).await;
                }
            }
        )+
    };
}

each! { crun runc runsc }
