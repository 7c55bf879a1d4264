//! Slots that are ready before a run asks for one.
//!
//! Almost all of the time that a sandbox takes needs nothing of the run but its image. A slot serves one run at most and
//! is never returned. Whoever finds none that fits makes one; that is counted, and takes the same way.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use ambit_ids::{Digest, Incarnation, Scope};
use ambit_ownership::ProcessIdentity;
use ambit_ports::runtime::IdGenerator;
use ambit_ports::sandbox::SandboxError;
use ambit_sandbox_guest::wire::Request;

use crate::forecast::Forecast;
use crate::guest::Nursery;
use crate::slot::{Fittings, Site, Slot};
use crate::trees::Held;

/// How long the run that took a slot has the machine for itself before the next one is made.
const REFILL_PAUSE: Duration = Duration::from_millis(20);
/// So many such pauses at most while runs go on to come, or more of them begin than there are processors, and all find
/// slots that wait.
const PAUSES: u32 = 10;
/// So many make slots at a time: the kernel makes network namespaces one after the other.
const MAKERS: usize = 2;

/// What a pool did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolCounts {
    /// Leases that found a slot.
    pub hits: u64,
    /// Leases that found none, and waited for one to be made.
    pub misses: u64,
    /// Slots that waited and were of no use: their guest had ended, or no run of their kind came any more.
    pub dropped: u64,
    /// Leases whose tree was in their slot already.
    pub foreseen: u64,
    /// Slots that were made ahead.
    pub refills: u64,
    /// Processor time that those took inside, where control groups count it.
    pub refill_cpu_us: u64,
    /// Slots that wait now.
    pub waiting: u64,
}

/// Slots that wait.
pub(crate) struct Pool {
    nursery: Nursery,
    ids: Arc<dyn IdGenerator>,
    size: usize,
    /// Below it lie the directories that leases take over.
    place: PathBuf,
    state: Mutex<State>,
    makers: Arc<AtomicUsize>,
    /// How many runs took a slot whose first command has not ended.
    beginnings: Arc<AtomicUsize>,
    made: AtomicU64,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Slot>,
    /// What the next leases will most likely ask for.
    forecast: Forecast,
    /// Slots of a kind that are being made.
    coming: BTreeMap<Digest, usize>,
    counts: PoolCounts,
}

impl State {
    fn count_of(&self, kind: Digest) -> usize {
        let waiting = self.waiting.iter().filter(|slot| slot.kind == kind).count();
        waiting + self.coming.get(&kind).copied().unwrap_or(0)
    }

    /// Takes out what nobody will ask for.
    fn surplus(&mut self, size: usize) -> Vec<Slot> {
        let mut room: BTreeMap<Digest, usize> =
            self.forecast.wanted(size).into_iter().map(|(kind, (count, _))| (kind, count)).collect();
        let (kept, surplus): (VecDeque<Slot>, Vec<Slot>) =
            self.waiting.drain(..).fold((VecDeque::new(), Vec::new()), |(mut kept, mut surplus), slot| {
                match room.get_mut(&slot.kind).filter(|room| **room > 0) {
                    Some(room) => {
                        *room -= 1;
                        kept.push_back(slot);
                    }
                    None => surplus.push(slot),
                }
                (kept, surplus)
            });
        self.waiting = kept;
        self.counts.dropped += surplus.len() as u64;
        surplus
    }
}

impl Pool {
    pub(crate) fn new(nursery: Nursery, ids: Arc<dyn IdGenerator>, size: usize, place: PathBuf) -> Self {
        let (state, makers, made) = (Mutex::default(), Arc::default(), AtomicU64::new(0));
        Self { nursery, ids, size, place, state, makers, beginnings: Arc::default(), made }
    }

    /// A run begins, until the answer is dropped.
    pub(crate) fn begin(&self) -> Beginning {
        self.beginnings.fetch_add(1, Ordering::AcqRel);
        Counted(Arc::clone(&self.beginnings))
    }

    pub(crate) fn nursery(&self) -> &Nursery {
        &self.nursery
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn counts(&self) -> PoolCounts {
        let state = self.state();
        PoolCounts { waiting: state.waiting.len() as u64, ..state.counts }
    }

    /// A slot of this kind that waited and was asked to prove with `nonce` that it still answers; `None` where there is
    /// none. One with the tree that a lease of the scope will most likely bring goes before one without any.
    pub(crate) async fn take(&self, fittings: &Arc<Fittings>, scope: &Scope, nonce: u64) -> Option<Slot> {
        self.state().forecast.remember(fittings, scope, self.size);
        loop {
            let slot = {
                let mut state = self.state();
                let likely = state.forecast.likely(fittings, scope).kind();
                let find = |kind| state.waiting.iter().position(|slot| slot.kind == kind);
                let at = find(likely).or_else(|| find(fittings.kind()))?;
                state.waiting.remove(at)?
            };
            if slot.guest.send(&Request::Prove { nonce }, 0, &[]).await.is_ok() {
                return Some(slot);
            }
            self.count_dropped();
            discard(vec![slot]).await;
        }
    }

    /// Learns which tree a lease of this scope brought first, and whether its slot had it.
    pub(crate) fn brought(
        self: &Arc<Self>,
        scope: &Scope,
        tree: Digest,
        held: Arc<Held>,
        was_foreseen: bool,
    ) {
        let changes = {
            let mut state = self.state();
            state.counts.foreseen += u64::from(was_foreseen);
            state.forecast.brought(scope, tree, held)
        };
        if changes {
            self.refill();
        }
    }

    /// Counts a slot that did not answer.
    pub(crate) fn count_dropped(&self) {
        self.state().counts.dropped += 1;
    }

    /// Counts a lease that was served.
    pub(crate) fn count(&self, waited: bool) {
        let counts = &mut self.state().counts;
        *(if waited { &mut counts.hits } else { &mut counts.misses }) += 1;
    }

    /// Makes slots in the background until enough wait, and drops those that nobody will ask for.
    pub(crate) fn refill(self: &Arc<Self>) {
        if self.size == 0 {
            return;
        }
        let added = self.makers.fetch_update(Ordering::AcqRel, Ordering::Acquire, |makers| {
            (makers < MAKERS).then_some(makers + 1)
        });
        if added.is_err() {
            return;
        }
        let (pool, place) = (Arc::downgrade(self), Counted(Arc::clone(&self.makers)));
        tokio::spawn(async move {
            let _place = place;
            pause(&pool).await;
            while let Some(pool) = pool.upgrade() {
                let surplus = pool.state().surplus(pool.size);
                discard(surplus).await;
                let Some(fittings) = pool.next_short() else { return };
                // Where none can be made, the next allocation meets the same failure, and reports it.
                let made = pool.make(&fittings).await.ok();
                let failed = made.is_none();
                pool.arrive(fittings.kind(), made);
                if failed {
                    return;
                }
            }
        });
    }

    /// What there are too few of. It counts as coming from now on.
    fn next_short(&self) -> Option<Arc<Fittings>> {
        let mut state = self.state();
        let short = state
            .forecast
            .wanted(self.size)
            .into_iter()
            .find(|(kind, (count, _))| state.count_of(*kind) < *count);
        let (kind, (_, fittings)) = short?;
        *state.coming.entry(kind).or_default() += 1;
        Some(fittings)
    }

    /// Takes in what was made, if anything was.
    fn arrive(&self, kind: Digest, slot: Option<Slot>) {
        let mut state = self.state();
        if let Some(coming) = state.coming.get_mut(&kind) {
            *coming = coming.saturating_sub(1);
        }
        if let Some(slot) = slot {
            state.counts.refills += 1;
            let counted = slot.counted.and_then(|usage| usage.cpu_us);
            state.counts.refill_cpu_us += counted.or_else(|| slot.guest.group.cpu_us()).unwrap_or(0);
            state.waiting.push_back(slot);
        }
    }

    /// Makes a slot, whether or not its asker waits for it to the end: half an exchange with the spawner would leave the
    /// answer to the next asker.
    pub(crate) async fn make_whole(self: &Arc<Self>, fittings: &Arc<Fittings>) -> Result<Slot, SandboxError> {
        let (pool, fittings) = (Arc::clone(self), Arc::clone(fittings));
        let making = tokio::spawn(async move { pool.make(&fittings).await });
        making.await.map_err(|panic| SandboxError::during("making a slot")(std::io::Error::other(panic)))?
    }

    async fn make(&self, fittings: &Fittings) -> Result<Slot, SandboxError> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let mark = ProcessIdentity::own_mark();
        let name = format!("{}-{number}-{}{mark}", std::process::id(), self.ids.next());
        let pick = Digest::of(name.as_bytes());
        let [a, b, c, d, ..] = *pick.as_bytes();
        let by_path = self.nursery.by_path();
        let lay_out = |owner| Site::lay_out(&self.place, &name, owner, &fittings.image, by_path);
        let (guest, site) = self.nursery.make(&name, u32::from_le_bytes([a, b, c, d]), lay_out).await?;
        let incarnation = Incarnation::new(format!("inc_{}", self.ids.next())).map_err(|error| {
            SandboxError::during("naming the life of the sandbox")(std::io::Error::other(error))
        })?;
        Slot::furnish(guest, site, fittings, self.nursery.filter(), incarnation).await
    }
}

/// Waits until no run has come for a while and they do not hold up each other, as long as those that come find slots.
async fn pause(pool: &Weak<Pool>) {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (mut seen, mut missed) = (None, None);
    for _ in 0..PAUSES {
        tokio::time::sleep(REFILL_PAUSE).await;
        let Some(pool) = pool.upgrade() else { return };
        let counts = pool.counts();
        let is_crowded = pool.beginnings.load(Ordering::Acquire) > processors;
        let found_none = *missed.get_or_insert(counts.misses) < counts.misses;
        let leases = Some(counts.hits + counts.misses);
        if found_none || !is_crowded && (counts.waiting == 0 || leases == seen) {
            return;
        }
        seen = leases;
    }
}

/// A run that took a slot, and whose first command has not ended.
pub(crate) type Beginning = Counted;

/// One of those that are counted, until this value goes.
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Ends slots where blocking is allowed: each is waited for.
pub(crate) async fn discard(slots: Vec<Slot>) {
    if !slots.is_empty() {
        let _ = tokio::task::spawn_blocking(move || drop(slots)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use ambit_control_groups::Layout;
    use ambit_ids::{ByteCount, DurationMs, ExecutionLimits, Scope};

    use super::*;

    struct Numbers(AtomicU32);

    impl IdGenerator for Numbers {
        fn next(&self) -> String {
            format!("{:032}", self.0.fetch_add(1, Ordering::Relaxed))
        }
    }

    const LIMITS: ExecutionLimits = ExecutionLimits {
        memory_bytes: ByteCount::new(64 << 20),
        processes: 8,
        cpu_millis: 1000,
        cpu_time_ms: DurationMs::new(1000),
        wall_ms: DurationMs::new(1000),
        disk_bytes: ByteCount::new(1 << 20),
        output_bytes: ByteCount::new(1 << 10),
    };

    fn scope(name: &str) -> Scope {
        Scope { organization: name.parse().unwrap(), project: "pool".parse().unwrap() }
    }

    fn pool(size: usize) -> (Arc<Pool>, Arc<Fittings>, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let (image, slots) = (directory.path().join("image"), directory.path().join("slots"));
        for place in [&image, &slots] {
            std::fs::create_dir(place).unwrap();
        }
        let ids = Arc::new(Numbers(AtomicU32::new(0)));
        let pool = Pool::new(Nursery::new(Layout::detect()), ids, size, slots);
        let fittings = Fittings::new(image, Vec::new(), LIMITS, &scope("one"));
        (Arc::new(pool), Arc::new(fittings), directory)
    }

    /// Until so many wait; the makers pause before they start.
    async fn filled(pool: &Arc<Pool>, slots: u64) {
        let filled = async {
            while pool.counts().waiting < slots {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), filled).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_slot_that_waits_answers_with_the_number_it_is_given_and_is_handed_out_once() {
        let (pool, fittings, _directory) = pool(2);
        assert!(pool.take(&fittings, &scope("one"), 1).await.is_none());
        pool.refill();
        filled(&pool, 2).await;
        let slot = pool.take(&fittings, &scope("one"), 77).await.unwrap();
        let proof = slot.guest.receive().await.unwrap().0;
        assert_eq!(proof, ambit_sandbox_guest::wire::Response::Proven { nonce: 77 });
        let other = pool.take(&fittings, &scope("one"), 78).await.unwrap();
        assert_ne!(slot.guest.identity, other.guest.identity);
        assert!(pool.take(&fittings, &scope("one"), 79).await.is_none());
        discard(vec![slot, other]).await;
        assert_eq!(std::fs::read_dir(&pool.place).unwrap().count(), 0, "a slot leaves its directory");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_slot_whose_guest_has_ended_is_dropped() {
        let (pool, fittings, _directory) = pool(1);
        pool.state().forecast.remember(&fittings, &scope("one"), 1);
        pool.refill();
        filled(&pool, 1).await;
        let process = Arc::clone(&pool.state().waiting[0].guest.process);
        process.kill().unwrap();
        assert!(process.ended().await);
        assert!(pool.take(&fittings, &scope("one"), 1).await.is_none());
        assert_eq!(pool.counts().dropped, 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_slot_with_volumes_is_of_one_tenant_and_one_without_of_none() {
        let (pool, plain, directory) = pool(1);
        let volume = VolumeOf(directory.path());
        let kinds = ["one", "two"].map(|name| volume.fittings(&plain, name).kind());
        assert_ne!(kinds[0], kinds[1]);
        let plain_of = |name| Fittings::new(plain.image.clone(), Vec::new(), LIMITS, &scope(name)).kind();
        assert_eq!(plain_of("one"), plain_of("two"));
        pool.state().forecast.remember(&plain, &scope("one"), 1);
        pool.refill();
        filled(&pool, 1).await;
        assert!(pool.take(&Arc::new(volume.fittings(&plain, "one")), &scope("one"), 1).await.is_none());
    }

    struct VolumeOf<'a>(&'a std::path::Path);

    impl VolumeOf<'_> {
        fn fittings(&self, plain: &Fittings, tenant: &str) -> Fittings {
            let mount = ambit_ids::VolumeMount { name: "v".parse().unwrap(), digest: Digest::of(b"volume") };
            Fittings::new(plain.image.clone(), vec![(mount, self.0.into())], LIMITS, &scope(tenant))
        }
    }
}
