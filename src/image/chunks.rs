//! Chunks of images: allocated from the area (area.rs), mapped into this process, freed. See slot.rs for the locks.
//!
//! What the area does may raise, so every call is outside the image's lock and contained (pg/contain.rs). The image's
//! owner words hold each chunk's token, a `Memory` its address in this process.

#![expect(unsafe_code, reason = "dynamic shared memory")]

use crate::error::Damage;
use crate::image::control::{Control, Entry};

use crate::image::slot::{Header, Slot, State};
use crate::pg::contain;
use crate::pg::contain::Unbroken;
use crate::pg::lwlock::{EXCLUSIVE, SHARED};
use cftrag_core::{Image, MAX_CHUNKS, Memory, chunk_bytes};
use std::cell::RefCell;
use std::sync::atomic::Ordering::SeqCst;

thread_local! {
    /// The chunks of the images that are mapped here.
    pub static MAPPED: RefCell<AllMapped> = const { RefCell::new(AllMapped(Vec::new())) };
}

/// By the number of an image's slot.
pub struct AllMapped(Vec<Option<Box<Mapped>>>);

impl AllMapped {
    /// What is mapped of a slot's image, if anything ever was.
    pub fn of(&mut self, index: usize) -> Option<&mut Mapped> {
        self.0.get_mut(index)?.as_deref_mut()
    }

    fn of_or_new(&mut self, index: usize) -> &mut Mapped {
        if self.0.len() <= index {
            self.0.resize_with(index + 1, || None); // bounded: 8 bytes for each entry of the directory
        }
        self.0[index].get_or_insert_default()
    }
}

/// The generation of an image, and its chunks that are mapped here.
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

/// Frees chunks 0.. of an image that no process can find any more, or that was never published.
fn free(control: &Control, slot: &Slot, tokens: &[u64]) {
    let _unbroken = Unbroken::enter();
    // A process that is mapping this image's chunks now holds `map` shared, and has checked the generation under it.
    slot.map.with(EXCLUSIVE, || ());
    for (i, token) in tokens.iter().enumerate() {
        release(control, *token, chunk_bytes(i));
    }
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
    /// Chunks that this process must map first: their generation and tokens.
    Map(u64, Vec<u64>),
    /// Chunk 0 must be mapped first: its generation and token.
    MapRoot(u64, u64),
}

/// Runs `f` with the image, all of whose chunks are mapped, under the shared lock.
pub fn read<R>(control: &Control, index: usize, f: impl FnOnce(&Header, Image<'_>) -> R) -> Result<R, Unusable> {
    let slot = control.slot(index);
    locked(control, index, f, |inner| slot.read(|header| inner(header)))
}

/// Runs `f` with the image under the exclusive lock.
pub fn write<R>(control: &Control, index: usize, f: impl FnOnce(&Header, Image<'_>) -> R) -> Result<R, Unusable> {
    let slot = control.slot(index);
    locked(control, index, f, |inner| slot.write(|header| inner(header)))
}

/// Does what [`write`] does, but only if all chunks are mapped and the image is sound: then nothing is mapped, and
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
    let (entry, slot) = (control.entry(index), control.slot(index));
    let mut f = Some(f);
    MAPPED.with_borrow_mut(|mapped| {
        let mapped = mapped.of(index).filter(|mapped| mapped.memory.mapped() > 0)?;
        lock(slot, &mut |header| {
            let mine = header.state == State::Ready && mapped.generation == slot.generation.load(SeqCst);
            if !mine || entry.spoiled.load(SeqCst) != 0 {
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
    let (entry, slot) = (control.entry(index), control.slot(index));
    let mut f = Some(f);
    MAPPED.with_borrow_mut(|all| {
        let mapped = all.of_or_new(index);
        loop {
            let outcome = lock(&mut |header| {
                if entry.spoiled.load(SeqCst) != 0 {
                    return Step::Unusable(Unusable::Incomplete);
                }
                if header.state == State::Empty {
                    return Step::Unusable(Unusable::Empty);
                }
                let generation = slot.generation.load(SeqCst);
                if mapped.generation != generation || mapped.memory.mapped() == 0 {
                    return Step::MapRoot(generation, header.root);
                }
                let Ok(image) = Image::open(&mapped.memory) else { return torn(entry) };
                let (have, all) = (mapped.memory.mapped(), image.chunks());
                if have < all {
                    // The rest of them when these are mapped.
                    let addresses = have..all.min(image.addressed());
                    return Step::Map(generation, addresses.map(|i| image.address(i)).collect()); // bounded: chunks of an image
                }
                if image.mutating() {
                    return torn(entry);
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

fn torn<R>(entry: &Entry) -> Step<R> {
    entry.spoil(Damage::Torn);
    Step::Unusable(Unusable::Incomplete)
}

/// Maps chunks of `mapped`'s generation; false on failure, or if the image is gone by now.
pub fn map(control: &Control, slot: &Slot, tokens: &[u64], mapped: &mut Mapped) -> bool {
    let generation = mapped.generation;
    let addresses = contain::attempt(|| {
        slot.map.with(SHARED, || {
            if slot.generation.load(SeqCst) != generation {
                return None;
            }
            // The generation is current and `map` is held, so no process frees these chunks now.
            tokens.iter().map(|token| control.memory(*token)).collect::<Option<Vec<_>>>() // bounded: chunks of an image
        })
    });
    let Some(Some(addresses)) = addresses else { return false };
    for base in addresses {
        // SAFETY: a chunk of its number's size, page aligned, pinned; it stays
        // mapped while this generation lives, and a memory of another generation is cleared before use.
        if !unsafe { mapped.memory.map(base) } {
            return false;
        }
    }
    true
}

/// Maps the chunks that hold the addresses of all, of an image whose root is mapped; false on failure, or if the image
/// is gone by now.
fn map_addresses(control: &Control, slot: &Slot, mapped: &mut Mapped) -> bool {
    let tokens = slot.read(|_| {
        let image = Image::open(&mapped.memory).ok().filter(|_| slot.generation.load(SeqCst) == mapped.generation)?;
        let missing = if image.chunks() > image.addressed() { mapped.memory.mapped()..image.addressed() } else { 0..0 };
        Some(missing.map(|i| image.address(i)).collect::<Vec<_>>()) // bounded: the chunks whose addresses the root has
    });
    tokens.is_some_and(|tokens| map(control, slot, &tokens, mapped))
}

/// Frees memory of an image or a log that no process can find any more, or that was never published.
pub fn release(control: &Control, token: u64, bytes: usize) {
    let _unbroken = Unbroken::enter();
    // SAFETY: allocated from this area, and freed once.
    unsafe { control.free_memory(token, bytes) };
    control.memory_used.fetch_sub(bytes as u64, SeqCst);
}

/// Takes the image out of its slot and frees it. Used when its table is gone, or no snapshot can use it any more.
pub fn drop_image(control: &Control, index: usize) {
    swap_image(control, index, None, || true);
}

/// Puts another image (or none) into the slot if `ready`, called under the lock, agrees, and frees the old one. Returns
/// false if `ready` did not agree, or if the old image's chunks cannot be mapped now.
pub fn swap_image(control: &Control, index: usize, new: Option<Header>, ready: impl FnOnce() -> bool) -> bool {
    let (entry, slot) = (control.entry(index), control.slot(index));
    // Free an incomplete image too: ignore the mark, which must not be cleared while processes can find the image.
    let old = slot.read(|header| (header.state == State::Ready).then_some((header.root, slot.generation.load(SeqCst))));
    let mut mapped = Mapped::default();
    if let Some((root, generation)) = old {
        mapped.generation = generation;
        // Without their addresses its chunks would leak, and count as used for ever.
        if !map(control, slot, &[root], &mut mapped) || !map_addresses(control, slot, &mut mapped) {
            return false;
        }
    }
    // Reserved here, because nothing may be allocated under the lock.
    let mut tokens = Vec::new();
    if tokens.try_reserve_exact(MAX_CHUNKS).is_err() {
        return false;
    }
    let replaced = slot.write(|header| {
        let same = old.is_some_and(|(_, generation)| slot.generation.load(SeqCst) == generation);
        // Only the chunks with addresses are mapped.
        if same && let Ok(image) = Image::open(&mapped.memory) {
            if image.chunks() > image.addressed() {
                // It has grown past them a moment ago.
                return false;
            }
            tokens.extend((0..image.chunks()).map(|i| image.address(i)));
        }
        // Cleared before `ready` looks at the log: a commit that lost a change marks the log, then the image
        // (Entry::lose_log).
        let spoiled = if new.is_some() { entry.spoiled.swap(0, SeqCst) } else { 0 };
        if !ready() {
            let _ = entry.spoiled.compare_exchange(0, spoiled, SeqCst, SeqCst);
            return false;
        }
        match new {
            Some(new) => {
                *header = new;
                slot.loading.store(0, SeqCst);
            }
            None if same => {
                header.state = State::Empty;
                // An image for which memory ran out is built again when there is some.
                let _ = entry.spoiled.compare_exchange(Damage::Memory as u8, 0, SeqCst, SeqCst);
            }
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
