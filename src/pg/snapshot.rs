//! What a snapshot sees: the heap's own rule (HeapTupleSatisfiesMVCC), for versions in an image.
//!
//! The rule: own transaction by command id, XidInMVCCSnapshot before TransactionIdDidCommit, aborted deleters ignored.
//! PostgreSQL decides which xids a snapshot treats as running: an overflowed snapshot does not list subtransactions, a
//! copy of one keeps their number without the list, one taken in recovery lists all in the other array. Under the
//! image's lock we make no call that may do I/O, raise or take long: XidInMVCCSnapshot where it would read pg_subtrans;
//! TransactionIdDidCommit, which does I/O and raises when the commit log is gone; and the check whether an xid is one
//! of many open subtransactions. There the answer is "unknown": unknown xids are collected and learned after the lock
//! is released, and the walk runs again. For one snapshot each fact is final.

#![expect(unsafe_code, reason = "snapshots and the commit log")]

use crate::pg::compat::{plain, unguarded};
use cftrag_core::{Fate, Fates, Hint, View, Visibility};
use pgrx::{check_for_interrupts, pg_sys};
use std::cell::Cell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

thread_local! {
    /// The next xid, 64 bits, and when the transaction began that read it.
    static NEXT: Cell<(u64, pg_sys::TimestampTz)> = const { Cell::new((0, 0)) };
}

/// Microseconds for which the next xid is remembered: reading it takes XidGenLock, which all writers need. An idle
/// session must not keep an old epoch while 2 billion xids pass.
const REMEMBERED: i64 = 1_000_000;

/// The 64-bit form of an xid that is less than 2 billion xids from now.
pub fn full_xid(xid: u32) -> u64 {
    // 0 in workers that set no clock.
    let now = plain::GetCurrentTransactionStartTimestamp();
    let (mut next, read_at) = NEXT.get();
    if now == 0 || !(0..REMEMBERED).contains(&now.wrapping_sub(read_at)) {
        // SAFETY: reads shared state under XidGenLock.
        next = unsafe { pg_sys::ReadNextFullTransactionId().value };
        NEXT.set((next, now));
    }
    next.wrapping_add_signed(i64::from(xid.wrapping_sub(next as u32) as i32))
}

pub fn is_active() -> bool {
    // SAFETY: reads a backend variable.
    unsafe { pg_sys::ActiveSnapshotSet() }
}

/// A snapshot that is active or registered for so long.
#[derive(Clone, Copy)]
pub struct Snapshot<'s>(NonNull<pg_sys::SnapshotData>, PhantomData<&'s ()>);

impl Snapshot<'_> {
    fn of(snapshot: pg_sys::Snapshot) -> Self {
        Self(NonNull::new(snapshot).expect("a snapshot"), PhantomData)
    }

    /// SnapshotSelf: what is committed now.
    pub fn of_self() -> Self {
        Self::of(&raw mut pg_sys::SnapshotSelfData)
    }

    pub fn get(&self) -> &pg_sys::SnapshotData {
        // SAFETY: active or registered.
        unsafe { self.0.as_ref() }
    }

    /// What PostgreSQL's scans take, for which a null pointer is now.
    pub fn raw(snapshot: Option<Self>) -> pg_sys::Snapshot {
        snapshot.map_or(null_mut(), |snapshot| snapshot.0.as_ptr())
    }
}

/// Runs `work` with the active snapshot: there is one in every SQL function.
pub fn with_active<R>(work: impl FnOnce(Snapshot<'_>) -> R) -> R {
    work(Snapshot::of(active()))
}

fn active() -> pg_sys::Snapshot {
    // SAFETY: reads a backend variable.
    unsafe { plain::GetActiveSnapshot() }
}

/// Runs `work` under a snapshot that sees what is committed now.
pub fn under_latest<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: in a transaction.
    under(|| unsafe { pg_sys::GetLatestSnapshot() }, work)
}

/// Runs `work` under the transaction's snapshot, as a statement of a session does.
pub fn under_transactions<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: in a transaction.
    under(|| unsafe { pg_sys::GetTransactionSnapshot() }, work)
}

fn under<R>(take: impl FnOnce() -> pg_sys::Snapshot, work: impl FnOnce() -> R) -> R {
    // SAFETY: pushed and popped; after an ERROR in between the abort pops it.
    unsafe {
        pg_sys::PushActiveSnapshot(take());
        let done = work();
        pg_sys::PopActiveSnapshot();
        done
    }
}

/// Runs `work` with a snapshot of now, which stays registered meanwhile.
pub fn with_registered<R>(work: impl FnOnce(Snapshot<'_>) -> R) -> R {
    // SAFETY: registered and unregistered; after an ERROR in between the abort forgets it.
    unsafe {
        let snapshot = pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot());
        let done = work(Snapshot::of(snapshot));
        pg_sys::UnregisterSnapshot(snapshot);
        done
    }
}

fn short(xid: u64) -> pg_sys::TransactionId {
    pg_sys::TransactionId::from(xid as u32)
}

/// The caller's snapshot, in the form that the core uses.
pub struct SnapshotView {
    snapshot: pg_sys::Snapshot,
    xmin: u64,
    xmax: u64,
    curcid: u32,
    /// This transaction's xid, if it has one. Its subtransactions' xids are greater, so only a version at or above it
    /// can be our own.
    own: Option<u64>,
    /// Whether so many subtransactions are open that checking whether an xid belongs to one takes too long under the
    /// image's lock.
    deep: bool,
    known: HashMap<u64, (View, Hint)>,
}

/// PostgreSQL checks open subtransactions one after the other.
const DEEP: i32 = 32;

impl SnapshotView {
    /// The view of the active snapshot, if an image can answer under it: an MVCC snapshot taken on a primary. It is used
    /// by what runs under that snapshot.
    pub fn active() -> Option<Self> {
        // SAFETY: active.
        Self::of_active().filter(|view| unsafe { !(*view.snapshot).takenDuringRecovery })
    }

    /// The view of the active snapshot, if that is an MVCC snapshot, for an image without versions of rows.
    pub fn of_active() -> Option<Self> {
        let snapshot = active();
        // SAFETY: active.
        unsafe {
            let is_mvcc = !snapshot.is_null() && (*snapshot).snapshot_type == pg_sys::SnapshotType::SNAPSHOT_MVCC;
            is_mvcc.then(|| Self::new(snapshot))
        }
    }

    /// # Safety
    /// `snapshot` is an MVCC snapshot that stays active while `SnapshotView` lives.
    pub unsafe fn new(snapshot: pg_sys::Snapshot) -> Self {
        // SAFETY: the caller's promise; reads backend state.
        unsafe {
            Self {
                snapshot,
                xmin: full_xid(u32::from((*snapshot).xmin)),
                xmax: full_xid(u32::from((*snapshot).xmax)),
                curcid: (*snapshot).curcid,
                own: match plain::GetTopFullTransactionIdIfAny().value {
                    0 => None,
                    xid => Some(xid),
                },
                deep: pg_sys::GetCurrentTransactionNestLevel() > DEEP,
                known: HashMap::new(),
            }
        }
    }

    pub fn xmin(&self) -> u64 {
        self.xmin
    }

    pub fn xmax(&self) -> u64 {
        self.xmax
    }

    /// Top-level xids running at the snapshot, unsorted.
    pub fn running(&self) -> impl Iterator<Item = u64> {
        // SAFETY: xip has xcnt entries while the snapshot lives, however it was made. It may be null if xcnt is 0.
        let xip: &[pg_sys::TransactionId] = unsafe {
            match (*self.snapshot).xcnt as usize {
                0 => &[],
                count => std::slice::from_raw_parts((*self.snapshot).xip, count),
            }
        };
        xip.iter().map(|xid| full_xid(u32::from(*xid)))
    }

    /// Whether the xid began after the snapshot was taken. PostgreSQL compares with xmin first, and so must we: in a
    /// snapshot made by logical decoding, xmin may be greater than xmax, and the transactions between them have ended.
    fn is_later(&self, xid: u64) -> bool {
        xid >= self.xmin && xid >= self.xmax
    }

    /// Learns the fates of these xids; not called under a lock. None if one is older than the commit log.
    pub fn learn(&mut self, xids: &[u64]) -> Option<()> {
        for &xid in xids {
            if self.deep && self.own.is_some_and(|own| xid >= own) {
                check_for_interrupts!();
                if unguarded::TransactionIdIsCurrentTransactionId(short(xid)) {
                    self.known.insert(xid, (View::Own, Hint::None));
                    continue;
                }
            }
            if self.is_later(xid) {
                self.known.insert(xid, (View::Unseen, Hint::None));
                continue;
            }
            // SAFETY: a snapshot that is active; may do I/O.
            let running = xid >= self.xmin && unsafe { pg_sys::XidInMVCCSnapshot(short(xid), self.snapshot) };
            let fact = if running {
                (View::Unseen, Hint::None)
            } else {
                let mut fact = (View::Unseen, Hint::Aborted);
                did_commit(&[xid], |_, committed| {
                    if committed {
                        fact = (View::Seen, Hint::Committed);
                    }
                })?;
                fact
            };
            self.known.insert(xid, fact);
        }
        Some(())
    }
}

impl Visibility for SnapshotView {
    fn view(&self, xid: u64, hint: Hint) -> View {
        if self.own.is_some_and(|own| xid >= own) {
            if self.deep {
                return self.known.get(&xid).map_or(View::Unknown, |(view, _)| *view);
            }
            // Looks through this backend's own list of xids; no I/O.
            if unguarded::TransactionIdIsCurrentTransactionId(short(xid)) {
                return View::Own;
            }
        }
        if self.is_later(xid) {
            return View::Unseen;
        }
        if let Some((view, _)) = self.known.get(&xid) {
            return *view;
        }
        if xid >= self.xmin {
            // SAFETY: a snapshot that is active. One that is not overflowed lists all running xids: no I/O, nothing is
            // raised.
            unsafe {
                if (*self.snapshot).suboverflowed {
                    // It may be a subtransaction of a running one: only pg_subtrans knows, and that needs I/O.
                    return View::Unknown;
                }
                if plain::XidInMVCCSnapshot(short(xid), self.snapshot) {
                    return View::Unseen;
                }
            }
        }
        match hint {
            Hint::Committed => View::Seen,
            Hint::Aborted => View::Unseen,
            Hint::None => View::Unknown,
        }
    }

    fn learned(&self, xid: u64) -> Hint {
        self.known.get(&xid).map_or(Hint::None, |(_, hint)| *hint)
    }

    fn curcid(&self) -> u32 {
        self.curcid
    }
}

/// Whether the xid is so old that its 32 bits name a later transaction.
fn too_old(xid: u64) -> bool {
    full_xid(xid as u32) != xid
}

/// Whether transactions that are not running have committed. None if the commit log no longer reaches back to one of
/// them.
fn did_commit(xids: &[u64], mut each: impl FnMut(u64, bool)) -> Option<()> {
    // SAFETY: XactTruncationLock keeps the commit log's tail in place; TransactionIdDidCommit may do I/O under it, as
    // pg_xact_status (transam/xid8funcs.c) does.
    unsafe {
        let lock = &raw mut (*pg_sys::MainLWLockArray.add(XACT_TRUNCATION_LOCK)).lock;
        let mut all = true;
        for few in xids.chunks(64) {
            pg_sys::LWLockAcquire(lock, pg_sys::LWLockMode::LW_SHARED);
            #[cfg(any(feature = "pg15", feature = "pg16"))]
            let oldest = (*pg_sys::ShmemVariableCache).oldestClogXid;
            #[cfg(not(any(feature = "pg15", feature = "pg16")))]
            let oldest = (*pg_sys::TransamVariables).oldestClogXid;
            let oldest = full_xid(u32::from(oldest));
            for &xid in few {
                let reaches = !too_old(xid) && xid >= oldest;
                all &= reaches;
                each(xid, reaches && pg_sys::TransactionIdDidCommit(short(xid)));
            }
            pg_sys::LWLockRelease(lock);
        }
        all.then_some(())
    }
}

/// XactTruncationLock in storage/lmgr/lwlocknames.txt (the same in 15 to 18).
const XACT_TRUNCATION_LOCK: usize = 44;

thread_local! {
    /// The last transactions that this session committed with changes to flush: their fates need no lookup.
    static COMMITTED: Cell<[u64; 32]> = const { Cell::new([0; 32]) };
}

/// Notes that this session committed that transaction. Cannot fail: called at COMMIT.
pub fn committed(xid: u64) {
    let mut xids = COMMITTED.get();
    xids.rotate_right(1);
    xids[0] = xid;
    COMMITTED.set(xids);
}

fn is_committed_here(xid: u64) -> bool {
    COMMITTED.with(|xids| {
        let xids: &Cell<[u64]> = xids;
        xids.as_slice_of_cells().iter().any(|known| known.get() == xid)
    })
}

/// Facts about transactions for a writer of the image, ascending by xid.
#[derive(Default)]
pub struct XidFates(pub Vec<(u64, Fate)>);

impl XidFates {
    /// Learns the fates of these xids; not called under a lock. None if one is older than the commit log.
    pub fn learn(&mut self, xids: &[u64]) -> Option<()> {
        let (mut running, mut ended) = (Vec::new(), Vec::new());
        for &xid in xids {
            // SAFETY: looks at running transactions; the order (running before committed) is the one of transam/README.
            let runs = !too_old(xid)
                && unsafe {
                    pg_sys::TransactionIdIsCurrentTransactionId(short(xid))
                        || pg_sys::TransactionIdIsInProgress(short(xid))
                };
            if runs { running.push(xid) } else { ended.push(xid) }
        }
        running.into_iter().for_each(|xid| self.add(xid, Fate::Running));
        self.learn_ended(&ended)
    }

    /// Learns the fates of xids that no running transaction has.
    pub fn learn_ended(&mut self, xids: &[u64]) -> Option<()> {
        did_commit(xids, |xid, committed| self.add(xid, if committed { Fate::Committed } else { Fate::Aborted }))
    }

    fn add(&mut self, xid: u64, fate: Fate) {
        match self.0.binary_search_by_key(&xid, |known| known.0) {
            Ok(at) => self.0[at].1 = fate,
            Err(at) => self.0.insert(at, (xid, fate)),
        }
    }
}

impl Fates for XidFates {
    fn fate(&self, xid: u64) -> Fate {
        match self.0.binary_search_by_key(&xid, |known| known.0) {
            Ok(at) => self.0[at].1,
            Err(_) if is_committed_here(xid) => Fate::Committed,
            Err(_) => Fate::Unknown,
        }
    }
}
