//! A copy of an image in a temporary file, for work that takes long and needs all of it as it was at one moment:
//! cft_verify.
//!
//! Segments are copied one by one; between a few of them the lock is released, so no commit waits. A segment is written
//! to the file if it is not what is there (by its hash, with a random key). Once all segments were looked at in a row
//! without a writer between them, the file is the image. So a writer costs one more look, which takes as long as
//! reading the image.

use crate::error;
use crate::error::Fallible;
use crate::image::copied::Copied;
use crate::image::reason::Reason;
use crate::pg::temp_file::TempFile;
use crate::serve::conditions::Ticket;
use cftrag_core::SEGMENT_BYTES;
use std::hash::BuildHasher;

/// Segments copied before the lock is released: 1 MB, a tenth of a millisecond.
const AT_ONCE: usize = 16;

/// Looks at all of the image, after which writers leave no time for a copy.
const LOOKS: usize = 200;

/// The result of a step under the lock.
struct Step {
    /// How often the image had been written to.
    writes: u64,
    chunks: usize,
    segments: usize,
}

/// Takes a copy of the ticket's image. `Err(None)`: writers left no time for it. NoImage as [`Ticket::read`]. 53400
/// (temp_file_limit), 53100, 58030.
pub fn copy(ticket: &Ticket) -> Result<Fallible<Option<Copied>>, Reason> {
    let file = TempFile::new();
    let hasher = foldhash::quality::RandomState::default();
    // By segment, what the file has. 8 bytes for 64 kB.
    let mut has: Vec<Option<u64>> = Vec::new();
    let mut buffer = vec![0; AT_ONCE * SEGMENT_BYTES]; // bounded: 1 MB
    // The next segment, how many were looked at since a writer came, and in all.
    let (mut at, mut same, mut looked, mut writes) = (0, 0, 0, None);
    let slot = ticket.control.slot(ticket.index);
    loop {
        let mut copied = [(0, 0); AT_ONCE];
        let mut count = 0;
        let step = ticket.read(|image, _| {
            let segments = image.segments();
            for (i, (n, bytes)) in copied.iter_mut().enumerate() {
                if slot.is_wanted() || i == segments {
                    break;
                }
                *n = (at + i) % segments;
                *bytes = image.copy_segment(*n, &mut buffer[i * SEGMENT_BYTES..][..SEGMENT_BYTES]);
                count += 1;
            }
            Step { writes: slot.writes(), chunks: image.chunks(), segments }
        })?;
        if writes.replace(step.writes) != Some(step.writes) {
            same = 0;
        }
        if has.try_reserve(step.segments.saturating_sub(has.len())).is_err() {
            return Ok(Err(error::no_memory_to_work(step.segments * size_of::<Option<u64>>())));
        }
        has.resize(step.segments.max(has.len()), None);
        for (i, (n, bytes)) in copied[..count].iter().enumerate() {
            let bytes = &buffer[i * SEGMENT_BYTES..][..*bytes];
            let hash = Some(hasher.hash_one(bytes));
            if has[*n] != hash {
                if let Err(why) = file.write(n * SEGMENT_BYTES, bytes) {
                    return Ok(Err(error::temporary_file(&why)));
                }
                has[*n] = hash;
            }
        }
        (at, same, looked) = ((at + count) % step.segments, same + count, looked + count.max(1));
        if same >= step.segments {
            return Ok(Copied::map(file, step.chunks).map(Some));
        }
        if looked > LOOKS * step.segments {
            return Ok(Ok(None));
        }
        ticket.pause();
    }
}
