//! cftrag-races: readers of an image under the shared lock, a writer under the exclusive one, as in the server. Built with
//! -Zsanitizer=thread it ends with an error at the first data race; each answer must always fit its snapshot.
//!
//!     cftrag-races [TRANSACTIONS]                3 readers beside a writer of this many transactions
//!     cftrag-races TRANSACTIONS --without-lock   the readers take no lock: proves that ThreadSanitizer finds races
//!
//! In transaction k the writer inserts child k below the hub and deletes child k - LIVE, so a snapshot sees the last LIVE children. Readers
//! walk in small slices, release the lock in between, store hints and raise temperatures; the writer moves slots, grows the filter, adds
//! chunks, settles versions that no snapshot needs, and orders buckets.
#![expect(unsafe_code, reason = "pthread's lock, and chunks of memory that several Memories map")]

use std::alloc::{Layout, alloc_zeroed};
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use cftrag_core::{
    Deleter, Deletion, Edge, Error, Fate, Hint, Hot, Image, Interruptible, LINE_BYTES, Memory, Prefix, RowVersion,
    Scan, Stamp, Step, View, Visibility, Walk, chunk_bytes,
};

/// A line of a copy.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE_BYTES]);

const READERS: usize = 3;
const LIVE: u64 = 40;
/// How many slots a reader visits before it releases the lock.
const CELLS: usize = 9;

/// The addresses of the chunks, under pthread's read-write lock.
struct Shared {
    lock: UnsafeCell<libc::pthread_rwlock_t>,
    chunks: UnsafeCell<Vec<NonNull<u8>>>,
    locked_readers: bool,
    committed: AtomicU64,
    /// The snapshot that each reader walks with; u64::MAX between walks.
    snapshots: [AtomicU64; READERS],
    over: AtomicBool,
}

// SAFETY: `chunks` is read and changed only under `lock` (except with --without-lock, where a race is wanted); the rest is atomic.
unsafe impl Sync for Shared {}

impl Shared {
    fn under_lock<R>(&self, exclusive: bool, work: impl FnOnce() -> R) -> R {
        // SAFETY: an initialised lock that lives as long as the threads.
        let taken = unsafe {
            match exclusive {
                true => libc::pthread_rwlock_wrlock(self.lock.get()),
                false if self.locked_readers => libc::pthread_rwlock_rdlock(self.lock.get()),
                false => 0,
            }
        };
        assert_eq!(taken, 0);
        let result = work();
        if exclusive || self.locked_readers {
            // SAFETY: taken above.
            unsafe { libc::pthread_rwlock_unlock(self.lock.get()) };
        }
        result
    }

    /// Maps the chunks that this thread has not mapped yet. Needs the lock.
    fn map(&self, memory: &mut Memory) {
        // SAFETY: no thread changes the list while another holds the lock.
        let chunks = unsafe { &*self.chunks.get() };
        while memory.mapped() < chunks.len() {
            // SAFETY: a chunk of its number's size, aligned, never freed; written under the exclusive lock or by atomics.
            assert!(unsafe { memory.map(chunks[memory.mapped()]) }, "memory for a list of chunks");
        }
    }

    /// Adds a chunk. Needs the exclusive lock.
    fn grow(&self, memory: &mut Memory) {
        let layout = Layout::from_size_align(chunk_bytes(memory.mapped()), LINE_BYTES).expect("a chunk's layout");
        // SAFETY: the size is not zero; under the exclusive lock no other thread uses the list.
        unsafe { (*self.chunks.get()).push(NonNull::new(alloc_zeroed(layout)).expect("memory")) };
        self.map(memory);
    }
}

struct Snapshot<'a> {
    at: u64,
    committed: &'a AtomicU64,
}

impl Visibility for Snapshot<'_> {
    fn view(&self, xid: u64, _hint: Hint) -> View {
        if xid <= self.at { View::Seen } else { View::Unseen }
    }
    fn learned(&self, xid: u64) -> Hint {
        if xid <= self.committed.load(SeqCst) { Hint::Committed } else { Hint::None }
    }
    fn curcid(&self) -> u32 {
        0
    }
}

fn child(k: u64) -> Vec<u8> {
    let mut name = format!("child {k}").into_bytes();
    name.resize(name.len() + (k as usize * 13) % 150, b'c');
    name
}

fn write(shared: &Shared, transactions: u64) {
    let mut memory = Memory::new();
    shared.under_lock(true, || {
        shared.grow(&mut memory);
        Image::format(&memory, 7).expect("chunk 0 is mapped");
    });
    for k in 1..=transactions {
        shared.under_lock(true, || {
            let name = child(k);
            let stamp = Some(Stamp { xmin: k, cmin: 0 });
            put(shared, &mut memory, &Edge { tree: None, parent: b"hub", child: &name }, stamp);
            // New entities, so that the filter grows.
            let other = format!("other {k}");
            put(shared, &mut memory, &Edge { tree: Some(b"t"), parent: other.as_bytes(), child: b"sink" }, None);
            if k > LIVE {
                take(shared, &mut memory, k);
            }
        });
        shared.committed.store(k, SeqCst);
        if k.is_multiple_of(16) {
            shared.under_lock(true, || {
                let horizon = shared.snapshots.iter().map(|s| s.load(SeqCst)).min().unwrap_or(k).min(k) + 1;
                let image = Image::open(&memory).expect("an image");
                image.settle(64, horizon, &|_| Fate::Committed, &mut Vec::new());
                image.cool(8);
            });
        }
    }
    shared.over.store(true, SeqCst);
}

fn put(shared: &Shared, memory: &mut Memory, edge: &Edge<'_>, stamp: Option<Stamp>) {
    loop {
        match Image::open(memory).and_then(|image| image.insert(edge, stamp)) {
            Ok(()) => return,
            Err(Error::Full { .. }) => more(shared, memory),
            Err(error) => panic!("{error}"),
        }
    }
}

fn take(shared: &Shared, memory: &mut Memory, k: u64) {
    let name = child(k - LIVE);
    let edge = Edge { tree: None, parent: b"hub", child: &name };
    let row = RowVersion { xmin: k - LIVE, raw_xmin: (k - LIVE) as u32, cmin: None };
    loop {
        let image = Image::open(memory).expect("an image");
        let by = Deleter { xmax: k, cmax: 0 };
        match image.delete(&edge, row, by, &|_| Fate::Committed, &mut Vec::new()) {
            Ok(done) => return assert_eq!(done, Deletion::Done),
            Err(Error::Full { .. }) => more(shared, memory),
            Err(error) => panic!("{error}"),
        }
    }
}

fn more(shared: &Shared, memory: &mut Memory) {
    shared.grow(memory);
    let chunks = memory.mapped();
    Image::open(memory).expect("an image").publish_chunks(chunks);
}

/// Walks until the writer is done; returns the number of walks.
fn read(shared: &Shared, me: usize) -> u64 {
    let (mut memory, mut walk, mut walks) = (Memory::new(), Walk::new(Prefix::LENGTH), 0);
    while !shared.over.load(SeqCst) {
        // Publishes the snapshot before the writer can settle versions that it needs.
        let at = shared.under_lock(false, || {
            let at = shared.committed.load(SeqCst);
            shared.snapshots[me].store(at, SeqCst);
            at
        });
        let seen = Snapshot { at, committed: &shared.committed };
        walk.clear();
        walk.begin(b"hub", 1, 2);
        while shared.under_lock(false, || {
            shared.map(&mut memory);
            // Before the first chunk there is nothing to read.
            memory.mapped() > 0 && walk.step(Image::open(&memory).expect("an image"), &seen, CELLS) != Step::Done
        }) {}
        walk.finish();
        let found = walk.rows().len() as u64;
        assert!(!shared.locked_readers || found == at.min(LIVE), "{found} children seen at {at}");
        walks += 1;
        if walks % 50 == me as u64 && at > 0 {
            // Reads a copy without the lock, and the image in steps, with the lock released in between.
            let mut chunks: Vec<Vec<Line>> = Vec::new();
            shared.under_lock(false, || {
                shared.map(&mut memory);
                let image = Image::open(&memory).expect("an image");
                chunks.extend((0..image.chunks()).map(|n| vec![Line([0; LINE_BYTES]); chunk_bytes(n) / LINE_BYTES]));
                let (mut chunk, mut at) = (0, 0);
                for segment in 0..image.segments() {
                    let lines = &mut chunks[chunk];
                    // SAFETY: the lines are bytes, side by side.
                    let bytes = unsafe {
                        std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<u8>(), lines.len() * LINE_BYTES)
                    };
                    at += image.copy_segment(segment, &mut bytes[at..]);
                    if at == bytes.len() {
                        (chunk, at) = (chunk + 1, 0);
                    }
                }
            });
            let mut copy = Memory::new();
            for lines in &mut chunks {
                let start = NonNull::from(&mut lines[0]).cast::<u8>();
                // SAFETY: a chunk of its number's size, which lives longer than `copy` is used.
                assert!(unsafe { copy.map(start) });
            }
            let (image, mut edges) = (Image::open(&copy).expect("a copy"), 0);
            while image.edges(&mut Scan::new(), usize::MAX, &seen, |_, _, _| edges += 1) == Step::More {}
            let (mut hot, mut nothing) = (Hot::new(3, usize::MAX), || ());
            let work = &mut Interruptible::new(&mut nothing);
            while shared.under_lock(false, || {
                shared.map(&mut memory);
                Image::open(&memory).expect("an image").hot(&mut hot, 1, &seen) != Ok(Step::Done)
            }) {
                hot.make_room(work).expect("room");
            }
            assert!(hot.finish(work).is_ok_and(|hot| hot.count() <= 3) && edges > 0);
        }
        shared.snapshots[me].store(u64::MAX, SeqCst);
    }
    walks
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let transactions = arguments.next().map_or(4000, |n| n.parse().expect("a number of transactions"));
    let shared = Shared {
        lock: UnsafeCell::new(libc::PTHREAD_RWLOCK_INITIALIZER),
        chunks: UnsafeCell::new(Vec::new()),
        locked_readers: arguments.next().as_deref() != Some("--without-lock"),
        committed: AtomicU64::new(0),
        snapshots: [const { AtomicU64::new(u64::MAX) }; READERS],
        over: AtomicBool::new(false),
    };
    let walks: u64 = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|me| {
                scope.spawn({
                    let shared = &shared;
                    move || read(shared, me)
                })
            })
            .collect();
        write(&shared, transactions);
        readers.into_iter().map(|reader| reader.join().expect("a reader")).sum()
    });
    assert!(walks > 100, "only {walks} walks beside {transactions} transactions: nothing was tried");
    println!("{walks} walks beside {transactions} transactions");
}
