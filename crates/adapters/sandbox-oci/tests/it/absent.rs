//! Calls that a command finds absent, so that its libraries fall back to those before.

use crate::support::{bench, is_there};

const GETPID: &str = "39";
const MOUNT: &str = "165";
const CLONE3: &str = "435";

/// `clone3` is told as a call that does not exist (`ENOSYS`), where others are refused (`EPERM`). A C library that is refused
/// starts no thread at all.
async fn clone3_does_not_exist(runtime: &str) {
    let (bench, _directory) = bench(runtime);
    let staged = bench.staged("absent-calls").await;
    bench.allowed(&staged, &["call", GETPID]).await;
    bench.refused(&staged, &["call", MOUNT], &[1]).await;
    bench.refused(&staged, &["call", CLONE3, "0", "0"], &[38]).await;
    bench.destroy(&staged).await;
}

macro_rules! each {
    ($($runtime:ident)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $runtime() {
                if is_there(stringify!($runtime)) {
                    clone3_does_not_exist(stringify!($runtime)).await;
                }
            }
        )+
    };
}

each! { crun runc runsc }
