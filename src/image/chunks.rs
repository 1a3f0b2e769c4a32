//! Chunks of images: allocated from one DSA area, mapped into this process, freed. See slot.rs for the locks.
//!
//! dsa_* calls raise, allocate, map and take locks, whatever flags they get, so every call here is outside the image's
//! lock and contained (pg/contain.rs). The image's owner words hold each chunk's dsa_pointer, a `Memory` its address in
//! this process.

#![expect(unsafe_code, reason = "dynamic shared memory")]

use crate::error::Damage;
use crate::guc;
use crate::image::control::Control;
use crate::image::slot::{Header, Slot, State};
use crate::pg::contain;
use crate::pg::contain::Unbroken;
use crate::pg::lwlock::{EXCLUSIVE, SHARED};
use cftrag_core::{Image, MAX_CHUNKS, Memory, chunk_bytes};
use pgrx::pg_sys;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::sync::atomic::Ordering::SeqCst;

/// Owner words 0 .. MAX_CHUNKS hold the dsa_pointer of each chunk; after them come the xids that were running at the
/// build snapshot.
pub const RUNNING_WORDS: usize = MAX_CHUNKS;

const _: () = assert!(RUNNING_WORDS + 1024 <= cftrag_core::OWNER_WORDS);

thread_local! {
    static AREA: Cell<*mut pg_sys::dsa_area> = const { Cell::new(std::ptr::null_mut()) };
    /// The generation and the chunks of each slot's image that are mapped here, by slot number.
    pub static MAPPED: RefCell<Vec<Mapped>> = const { RefCell::new(Vec::new()) };
}

#[derive(Default)]
pub struct Mapped {
    pub generation: u64,
    pub memory: Memory,
}

impl Mapped {
    pub fn forget(&mut self) {
        self.generation = 0;
        self.memory.clear();
    }
}

/// The area of all images, in this process; created when first needed. Raises when memory is short, so contain it.
pub fn area(control: &Control) -> *mut pg_sys::dsa_area {
    let known = AREA.get();
    if !known.is_null() {
        return known;
    }
    // SAFETY: the area's own memory must outlive the transaction, so it is in TopMemoryContext; pinned, so that
    // segments stay mapped and the area survives its creator. If an ERROR leaves Control.lock held, the containing
    // subtransaction releases it.
    unsafe {
        let context = pg_sys::MemoryContextSwitchTo(pg_sys::TopMemoryContext);
        control.lock.acquire(EXCLUSIVE);
        crate::pg::inject::fails();
        let handle = control.area.load(SeqCst);
        let area = if handle == 0 {
            let area = create(control);
            pg_sys::dsa_pin(area);
            control.area.store(pg_sys::dsa_get_handle(area), SeqCst);
            area
        } else {
            pg_sys::dsa_attach(handle)
        };
        pg_sys::dsa_pin_mapping(area);
        control.lock.release();
        pg_sys::MemoryContextSwitchTo(context);
        AREA.set(area);
        area
    }
}

/// # Safety
/// In TopMemoryContext, under Control.lock.
unsafe fn create(control: &Control) -> *mut pg_sys::dsa_area {
    let tranche = control.tranche();
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        return pg_sys::dsa_create(tranche);
        // DSA_DEFAULT_INIT_SEGMENT_SIZE, which is a macro.
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        return pg_sys::dsa_create_ext(tranche, 1 << 20, largest_segment());
    }
}

/// Size limit of a segment. The kernel clears a new one, half a millisecond a MB, while a writer waits. But a server
/// has only a few hundred segments in all: with this limit, ours are about 64.
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
fn largest_segment() -> usize {
    (guc::MEMORY_LIMIT.get() as usize * 1024 / 64).max(16 << 20)
}

/// What ran out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// cftrag.memory_limit, or the owner's share of it.
    Limit,
    /// The system's dynamic shared memory.
    System,
}

thread_local! {
    /// Why the last allocation of this process failed, if it did.
    pub static SHORTAGE: Cell<Shortage> = const { Cell::new(Shortage::Limit) };
}

/// Allocates a chunk; returns its dsa_pointer and its address here. None if cftrag.memory_limit or the system's memory
/// is exhausted.
pub fn allocate(control: &Control, bytes: usize) -> Option<(u64, NonNull<u8>)> {
    let limit = guc::MEMORY_LIMIT.get() as u64 * 1024;
    let _unbroken = Unbroken::enter();
    let noted = Noted::of(control, bytes);
    SHORTAGE.set(if noted.all > limit { Shortage::Limit } else { Shortage::System });
    if noted.all > limit {
        return None;
    }
    let flags = (pg_sys::DSA_ALLOC_HUGE | pg_sys::DSA_ALLOC_NO_OOM) as i32;
    let chunk = contain::attempt(|| {
        let area = area(control);
        if crate::pg::inject::fails() {
            return None;
        }
        // SAFETY: pinned area; a pointer just allocated has an address.
        unsafe {
            let token = control.allocating.with(SHARED, || pg_sys::dsa_allocate_extended(area, bytes, flags));
            (token != 0).then(|| (token, pg_sys::dsa_get_address(area, token)))
        }
    });
    let chunk = chunk.flatten().and_then(|(token, address)| Some((token, NonNull::new(address.cast::<u8>())?)))?;
    noted.keep();
    Some(chunk)
}

/// Bytes counted as used before they are allocated. Drop takes them back on every way out, also when an ERROR passes
/// the caller within another attempt (pg/contain.rs): a FATAL waits (`Unbroken`), and after a crash the control block
/// is created anew.
struct Noted<'c> {
    control: &'c Control,
    bytes: u64,
    /// memory_used, these bytes included.
    all: u64,
}

impl<'c> Noted<'c> {
    fn of(control: &'c Control, bytes: usize) -> Self {
        let bytes = bytes as u64;
        Self { control, bytes, all: control.memory_used.fetch_add(bytes, SeqCst) + bytes }
    }

    /// The bytes are now in use.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.control.memory_used.fetch_sub(self.bytes, SeqCst);
    }
}

/// Frees chunks 0.. of an image that no process can find any more, or that was never published.
fn free(control: &Control, slot: &Slot, tokens: &[u64]) {
    let _unbroken = Unbroken::enter();
    contain::attempt(|| {
        let area = area(control);
        // A process that is mapping this image's chunks now holds `map` shared, and has checked the generation under
        // it.
        slot.map.with(EXCLUSIVE, || {
            for (i, token) in tokens.iter().enumerate() {
                // SAFETY: allocated from this area, freed once: the image that held it is unreachable.
                unsafe { pg_sys::dsa_free(area, *token) };
                control.memory_used.fetch_sub(chunk_bytes(i) as u64, SeqCst);
            }
        });
    });
}

/// Why the image cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unusable {
    /// There is no image.
    Empty,
    /// The image lost a change, or a writer died while changing it.
    Incomplete,
    /// The image's chunks cannot be mapped here.
    Unmapped,
}

enum Step<R> {
    Done(R),
    Unusable(Unusable),
    /// Chunks that this process must map first: their generation and dsa_pointers.
    Map(u64, Vec<u64>),
    /// Chunk 0 must be mapped first: its generation and dsa_pointer.
    MapRoot(u64, u64),
}

/// Runs `f` with the image, all of whose chunks are mapped, under the shared lock.
pub fn read<R>(control: &Control, index: usize, f: impl FnOnce(&Header, Image<'_>) -> R) -> Result<R, Unusable> {
    let slot = &control.slots[index];
    locked(control, index, f, |inner| slot.read(|header| inner(header)))
}

/// Runs `f` with the image under the exclusive lock.
pub fn write<R>(control: &Control, index: usize, f: impl FnOnce(&Header, Image<'_>) -> R) -> Result<R, Unusable> {
    let slot = &control.slots[index];
    locked(control, index, f, |inner| slot.write(|header| inner(header)))
}

/// Does what [`write`] does, but only if all chunks are mapped and the image is sound: then there is no dsa call, and
/// nothing can raise.
pub fn write_if_mapped<R>(control: &Control, index: usize, f: impl FnOnce(&Header, Image<'_>) -> R) -> Option<R> {
    at_once(control, index, f, |slot, inner| slot.write(|header| inner(header)))
}

/// Does what [`write_if_mapped`] does, but only if the lock is free: for work that can be put off.
pub fn write_if_free<R>(control: &Control, index: usize, f: impl FnOnce(&Header, Image<'_>) -> R) -> Option<R> {
    at_once(control, index, f, |slot, inner| slot.write_if_free(|header| inner(header)).flatten())
}

fn at_once<R>(
    control: &Control,
    index: usize,
    f: impl FnOnce(&Header, Image<'_>) -> R,
    lock: impl FnOnce(&Slot, &mut dyn FnMut(&Header) -> Option<R>) -> Option<R>,
) -> Option<R> {
    let slot = &control.slots[index];
    let mut f = Some(f);
    MAPPED.with_borrow(|mapped| {
        let mapped = mapped.get(index).filter(|mapped| mapped.memory.mapped() > 0)?;
        lock(slot, &mut |header| {
            let mine = header.state == State::Ready && mapped.generation == slot.generation.load(SeqCst);
            if !mine || slot.spoiled.load(SeqCst) != 0 {
                return None;
            }
            let image = Image::open(&mapped.memory).ok()?;
            let usable = mapped.memory.mapped() >= image.chunks() && !image.mutating();
            usable.then(|| f.take().map(|f| f(header, image))).flatten()
        })
    })
}

type Inner<'i, R> = &'i mut dyn FnMut(&Header) -> Step<R>;

fn locked<R>(
    control: &Control,
    index: usize,
    f: impl FnOnce(&Header, Image<'_>) -> R,
    mut lock: impl FnMut(Inner<'_, R>) -> Step<R>,
) -> Result<R, Unusable> {
    let slot = &control.slots[index];
    let mut f = Some(f);
    MAPPED.with_borrow_mut(|all| {
        if all.len() <= index {
            all.resize_with(index + 1, Mapped::default);
        }
        loop {
            let mapped = &mut all[index];
            let outcome = lock(&mut |header| {
                if slot.spoiled.load(SeqCst) != 0 {
                    return Step::Unusable(Unusable::Incomplete);
                }
                if header.state == State::Empty {
                    return Step::Unusable(Unusable::Empty);
                }
                let generation = slot.generation.load(SeqCst);
                if mapped.generation != generation || mapped.memory.mapped() == 0 {
                    return Step::MapRoot(generation, header.root);
                }
                let Ok(image) = Image::open(&mapped.memory) else { return torn(slot) };
                let (have, all) = (mapped.memory.mapped(), image.chunks());
                if have < all {
                    return Step::Map(generation, (have..all).map(|i| image.owner_get(i)).collect());
                }
                if image.mutating() {
                    return torn(slot);
                }
                match f.take() {
                    Some(f) => Step::Done(f(header, image)),
                    None => unreachable!("the closure runs once: its outcome ends the loop"),
                }
            });
            let (generation, tokens) = match outcome {
                Step::Done(result) => return Ok(result),
                Step::Unusable(why) => return Err(why),
                Step::MapRoot(generation, root) => {
                    mapped.forget();
                    (generation, vec![root])
                }
                Step::Map(generation, tokens) => (generation, tokens),
            };
            let mapped = &mut all[index];
            mapped.generation = generation;
            if !map(control, slot, &tokens, mapped) {
                mapped.forget();
                if slot.generation.load(SeqCst) == generation {
                    return Err(Unusable::Unmapped);
                }
            }
        }
    })
}

fn torn<R>(slot: &Slot) -> Step<R> {
    slot.spoil(Damage::Torn);
    Step::Unusable(Unusable::Incomplete)
}

/// Maps chunks of `mapped`'s generation; false on failure, or if the image is gone by now.
pub fn map(control: &Control, slot: &Slot, tokens: &[u64], mapped: &mut Mapped) -> bool {
    let generation = mapped.generation;
    let addresses = contain::attempt(|| {
        let area = area(control);
        slot.map.with(SHARED, || {
            crate::pg::inject::fails();
            if slot.generation.load(SeqCst) != generation {
                return None;
            }
            // SAFETY: the generation is current and `map` is held, so no process frees these chunks now.
            Some(tokens.iter().map(|token| unsafe { pg_sys::dsa_get_address(area, *token) }).collect::<Vec<_>>())
        })
    });
    let Some(Some(addresses)) = addresses else { return false };
    for address in addresses {
        let Some(base) = NonNull::new(address.cast::<u8>()) else { return false };
        // SAFETY: a chunk of its number's size, page aligned (DSA gives large objects whole pages), pinned; it stays
        // mapped while this generation lives, and a memory of another generation is cleared before use.
        if !unsafe { mapped.memory.map(base) } {
            return false;
        }
    }
    true
}

/// Frees one chunk that was never published.
pub fn release(control: &Control, token: u64, bytes: usize) {
    let _unbroken = Unbroken::enter();
    contain::attempt(|| {
        // SAFETY: allocated from this area and known to no other process.
        unsafe { pg_sys::dsa_free(area(control), token) };
        control.memory_used.fetch_sub(bytes as u64, SeqCst);
    });
}

/// Takes the image out of its slot and frees it. Used when its table is gone, or no snapshot can use it any more.
pub fn drop_image(control: &Control, index: usize) {
    swap_image(control, index, None, || true);
}

/// Puts another image (or none) into the slot if `ready`, called under the lock, agrees, and frees the old one. Returns
/// false if `ready` did not agree, or if the old image's chunks cannot be mapped now.
pub fn swap_image(control: &Control, index: usize, new: Option<Header>, ready: impl FnOnce() -> bool) -> bool {
    let slot = &control.slots[index];
    // Free an incomplete image too: ignore the mark, which must not be cleared while processes can find the image.
    let old = slot.read(|header| (header.state == State::Ready).then_some((header.root, slot.generation.load(SeqCst))));
    let mut mapped = Mapped::default();
    if let Some((root, generation)) = old {
        mapped.generation = generation;
        if !map(control, slot, &[root], &mut mapped) {
            // We cannot find its chunks: if we replaced the image, they would leak, and count as used for ever.
            return false;
        }
    }
    // Reserved here, because nothing may be allocated under the lock.
    let mut tokens = Vec::new();
    if tokens.try_reserve_exact(MAX_CHUNKS).is_err() {
        return false;
    }
    let replaced = slot.write(|header| {
        // Cleared before `ready` looks at the log: a commit that lost a change marks the log, then the image
        // (Slot::lose_log).
        let spoiled = if new.is_some() { slot.spoiled.swap(0, SeqCst) } else { 0 };
        if !ready() {
            let _ = slot.spoiled.compare_exchange(0, spoiled, SeqCst, SeqCst);
            return false;
        }
        let same = old.is_some_and(|(_, generation)| slot.generation.load(SeqCst) == generation);
        // Only the root is mapped; it holds chunks() and the owner words.
        if same && let Ok(image) = Image::open(&mapped.memory) {
            tokens.extend((0..image.chunks()).map(|i| image.owner_get(i)));
        }
        match new {
            Some(new) => {
                *header = new;
                slot.loading.store(0, SeqCst);
            }
            None if same => header.state = State::Empty,
            None => return false,
        }
        // Dropping an image leaves build_bytes counted, which belong to one still being built.
        let bytes = if new.is_some() { slot.build_bytes.swap(0, SeqCst) } else { 0 };
        slot.image_bytes.store(bytes, SeqCst);
        slot.generation.fetch_add(1, SeqCst);
        true
    });
    if replaced {
        free(control, slot, &tokens);
    }
    replaced
}

/// The address of an allocation in this process. May raise.
pub fn address(control: &Control, token: u64) -> *mut u8 {
    crate::pg::inject::fails();
    // SAFETY: an allocation of this area that no process frees meanwhile.
    unsafe { pg_sys::dsa_get_address(area(control), token).cast() }
}
