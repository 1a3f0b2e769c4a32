//! The directory of tables: an entry for each table of any database that was asked about, and a slot (slot.rs) for each
//! entry.
//!
//! ```text
//!   heads[hash of database and table] --> entry --next--> entry        in the control block
//!   entries[i]: database, table, next | spoiled, log_lost              in the control block
//!   blocks[i / 64] --> slots[i % 64]                                   in the area of all images
//! ```
//!
//! What must never fail is in the entry, which every process has mapped: that an image lost a change. Blocks of slots
//! are allocated when entries need them and stay: a slot takes less than 2 kB, and serves the next table.
//!
//! Promises: a table has one entry; [`Control::find`] takes a lock only if this process has not used the table lately.
//! An entry may become another table's at any time, so whoever reads an image checks `is_of` under its lock.

#![expect(unsafe_code, reason = "shared memory")]

use crate::image::control::{BLOCK, BLOCKS, Control, Entry, HEADS, MOST};
use crate::image::slot::Slot;
use crate::pg::backend;
use crate::pg::contain;
use crate::pg::contain::Unbroken;
use crate::pg::lwlock::{EXCLUSIVE, SHARED};
use pgrx::pg_sys;
use std::cell::Cell;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Tables whose entries a process remembers.
const KNOWN: usize = 1 << 10;

thread_local! {
    /// Entries that this process has found lately, plus 1, by the table's hash.
    static FOUND: [Cell<u16>; KNOWN] = const { [const { Cell::new(0) }; KNOWN] };
}

/// The addresses of the blocks in this process. They stay mapped.
static MAPPED: [AtomicPtr<Slot>; BLOCKS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; BLOCKS];

impl Entry {
    pub fn is_of(&self, table: pg_sys::Oid) -> bool {
        self.table.load(Relaxed) == u32::from(table) && self.is_here()
    }

    /// Whether the entry belongs to a table of this database.
    pub fn is_here(&self) -> bool {
        self.table.load(Relaxed) != 0 && self.database.load(Relaxed) == this_database()
    }

    /// Marks the log of a running load as lost, so that the load fails. Takes no lock and cannot fail. Called before
    /// spoil(), so that a builder that is just publishing sees one mark or the other.
    pub fn lose_log(&self) {
        self.log_lost.store(1, SeqCst);
    }

    /// Marks the image incomplete; the first reason stays. Takes no lock and cannot fail: callbacks of COMMIT may call
    /// it.
    pub fn spoil(&self, why: crate::error::Damage) {
        let _ = self.spoiled.compare_exchange(0, why as u8, SeqCst, SeqCst);
    }
}

fn this_database() -> u32 {
    backend::database()
}

/// A hash of a table, by Knuth's multiplication.
fn hash(database: u32, table: u32) -> usize {
    let of = (u64::from(database) << 32 | u64::from(table)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (of >> 50) as usize
}

const _: () = assert!(HEADS == 1 << (64 - 50));

impl Control {
    pub fn entry(&self, index: usize) -> &Entry {
        &self.directory.entries[index]
    }

    /// The slot of an entry that `find` or `slots` returned.
    pub fn slot(&self, index: usize) -> &Slot {
        match self.mapped(index) {
            Some(slot) => slot,
            None => unreachable!("slot {index} was found, so its block is mapped"),
        }
    }

    /// The number of the table's entry, if it has one. Takes a lock at most; cannot fail.
    pub fn find_entry(&self, table: pg_sys::Oid) -> Option<usize> {
        let (database, oid) = (this_database(), u32::from(table));
        let hash = hash(database, oid);
        FOUND.with(|found| {
            let found = &found[hash % KNOWN];
            let known = usize::from(found.get());
            if known != 0 && self.entry(known - 1).is_of(table) {
                return Some(known - 1);
            }
            let index = self.lock.with(SHARED, || self.in_chain(database, oid))?;
            found.set(index as u16 + 1);
            Some(index)
        })
    }

    /// The table's slot, if it has one. None also if the slot cannot be mapped here.
    pub fn find(&self, table: pg_sys::Oid) -> Option<(usize, &Slot)> {
        let index = self.find_entry(table)?;
        Some((index, self.map_slot(index)?))
    }

    /// The table's slot; takes one if it has none. None if all are taken, or if there is no memory for more.
    pub fn find_or_take(&self, table: pg_sys::Oid) -> Option<(usize, &Slot)> {
        self.find(table).or_else(|| {
            self.take(table);
            self.find(table)
        })
    }

    /// Every entry that is taken, with its slot. Leaves out those whose slots cannot be mapped here.
    pub fn slots(&self) -> impl Iterator<Item = (usize, &Entry, &Slot)> {
        self.entries().filter_map(|(index, entry)| Some((index, entry, self.map_slot(index)?)))
    }

    /// Every entry that is taken.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &Entry)> {
        let taken = self.directory.taken.load(SeqCst) as usize;
        self.directory.entries[..taken].iter().enumerate().filter(|(_, entry)| entry.table.load(SeqCst) != 0)
    }

    /// Whether no table finds an entry any more.
    pub fn is_full(&self) -> bool {
        self.most_entries() >= MOST && self.directory.free.load(SeqCst) == 0
    }

    /// How many entries were ever taken.
    pub fn most_entries(&self) -> usize {
        self.directory.taken.load(SeqCst) as usize
    }

    /// Called under the lock.
    fn in_chain(&self, database: u32, table: u32) -> Option<usize> {
        let mut next = self.directory.heads[hash(database, table)].load(Relaxed);
        while let Some(index) = usize::from(next).checked_sub(1) {
            let entry = self.entry(index);
            if entry.table.load(Relaxed) == table && entry.database.load(Relaxed) == database {
                return Some(index);
            }
            next = entry.next.load(Relaxed);
        }
        None
    }

    fn take(&self, table: pg_sys::Oid) {
        let (database, oid) = (this_database(), u32::from(table));
        if self.directory.free.load(SeqCst) == 0 && !self.make_room_for_entry() {
            return;
        }
        self.lock.with(EXCLUSIVE, || {
            if self.in_chain(database, oid).is_some() {
                return;
            }
            let directory = &self.directory;
            let free = directory.free.load(Relaxed) as usize;
            let index = if let Some(index) = free.checked_sub(1) {
                directory.free.store(u32::from(self.entry(index).next.load(Relaxed)), SeqCst);
                index
            } else {
                let next = directory.taken.load(Relaxed) as usize;
                if next >= MOST || directory.blocks[next / BLOCK].load(Relaxed) == 0 {
                    return;
                }
                directory.taken.store(next as u32 + 1, SeqCst);
                next
            };
            let (entry, head) = (self.entry(index), &directory.heads[hash(database, oid)]);
            entry.next.store(head.load(Relaxed), Relaxed);
            entry.database.store(database, Relaxed);
            entry.table.store(oid, SeqCst);
            head.store(index as u16 + 1, Relaxed);
        });
    }

    /// Gives an entry back, if it is still the table's. Its image was dropped, by the process that made itself its
    /// builder.
    pub fn give_back(&self, index: usize, database: u32, table: u32) {
        let directory = &self.directory;
        self.lock.with(EXCLUSIVE, || {
            let entry = self.entry(index);
            if entry.table.load(SeqCst) != table || entry.database.load(Relaxed) != database {
                return;
            }
            let mut link = &directory.heads[hash(database, table)];
            while let Some(other) = usize::from(link.load(Relaxed)).checked_sub(1) {
                if other == index {
                    link.store(entry.next.load(Relaxed), Relaxed);
                    break;
                }
                link = &self.entry(other).next;
            }
            entry.table.store(0, SeqCst);
            entry.database.store(0, SeqCst);
            entry.spoiled.store(0, SeqCst);
            self.slot(index).forget();
            entry.next.store(directory.free.load(Relaxed) as u16, Relaxed);
            directory.free.store(index as u32 + 1, SeqCst);
        });
    }

    /// Whether there is a slot for the next entry, allocated now if need be.
    fn make_room_for_entry(&self) -> bool {
        let next = self.directory.taken.load(SeqCst) as usize;
        if next >= MOST {
            return false;
        }
        let block = &self.directory.blocks[next / BLOCK];
        if block.load(SeqCst) != 0 {
            return true;
        }
        let _unbroken = Unbroken::enter();
        let Some((token, start)) = self.take_memory(BLOCK * size_of::<Slot>()) else { return false };
        // SAFETY: fresh memory that only we know; all-zero is a valid Slot except for its locks.
        unsafe {
            std::ptr::write_bytes(start.as_ptr(), 0, BLOCK * size_of::<Slot>());
            let slots = std::slice::from_raw_parts(start.as_ptr().cast::<Slot>(), BLOCK);
            slots.iter().flat_map(Slot::locks).for_each(|lock| lock.init(self.tranche()));
        }
        let published = self.lock.with(EXCLUSIVE, || block.compare_exchange(0, token, SeqCst, SeqCst).is_ok());
        if !published {
            // SAFETY: allocated above, and known to nobody else.
            unsafe { self.free_memory(token, BLOCK * size_of::<Slot>()) };
        }
        true
    }

    fn mapped(&self, index: usize) -> Option<&'static Slot> {
        let block = MAPPED[index / BLOCK].load(Relaxed);
        // SAFETY: a block has BLOCK slots and is never freed; the area's mapping is pinned.
        (!block.is_null()).then(|| unsafe { &*block.add(index % BLOCK) })
    }

    /// The slot of an entry. None if it cannot be mapped here.
    pub fn map_slot(&self, index: usize) -> Option<&'static Slot> {
        self.mapped(index).or_else(|| {
            let token = self.directory.blocks[index / BLOCK].load(SeqCst);
            let block = contain::attempt(|| self.memory(token))??;
            MAPPED[index / BLOCK].store(block.as_ptr().cast(), Relaxed);
            self.mapped(index)
        })
    }
}
