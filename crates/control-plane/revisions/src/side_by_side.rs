use std::sync::{Mutex, PoisonError};

use tokio::try_join;

/// Does some work for every item, and answers what came of each, in the order of the items. Several are waited for at
/// once: a store waits for the disk, and each wait costs more than what it waits for.
pub(crate) async fn side_by_side<I, T, E, F>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> F,
) -> Result<Vec<T>, E>
where
    F: Future<Output = Result<T, E>>,
{
    let left: Vec<(usize, I)> = items.into_iter().enumerate().collect();
    let (left, done) = (Mutex::new(left.into_iter()), Mutex::new(Vec::new()));
    let worker = || async {
        loop {
            let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, item)) = next else { return Ok(()) };
            let came = work(item).await?;
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, came));
        }
    };
    try_join!(worker(), worker(), worker(), worker(), worker(), worker(), worker(), worker())?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, came)| came).collect())
}
