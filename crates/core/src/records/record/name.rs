//! The name of a record: inside the record, and for a long name in pieces as well.

use super::shape::kind_bit;
use super::{
    CHAIN_LINE, INSIDE, LEN, LONG, LONG_LEN, NAME, NAME_HEAD, PIECE_BYTES, PIECE_HEAD, Record,
    SHAPE, TREE,
};
use crate::memory::casts::index;
use crate::memory::flat::{Memory, Span};
use crate::memory::hash::Kind;
use crate::memory::id::RecordId;

impl<'m> Record<'m> {
    #[inline]
    pub(crate) fn name_len(self) -> usize {
        let len = self.head.u32(SHAPE) & LEN;
        if len == LONG { self.long_len() } else { index(len) }
    }

    /// The name's length, or a number greater than [`INSIDE`].
    #[inline(always)]
    pub(crate) fn short_name_len(self) -> u32 {
        self.head.u32(SHAPE) & LEN
    }

    #[cold]
    fn long_len(self) -> usize {
        index(self.span.line(CHAIN_LINE).u32(LONG_LEN))
    }

    /// Whether this is the record of that name and kind. Compares the name in place.
    #[inline(always)]
    pub(crate) fn is(self, kind: Kind, name: &[u8]) -> bool {
        if name.len() > INSIDE {
            return Record::pieces_are(self.mem, self.id, kind, name);
        }
        let wanted = kind_bit(kind) | name.len() as u32;
        self.head.u32(SHAPE) & (TREE | LEN) == wanted && self.span.bytes_are(NAME, name)
    }

    /// [`Record::is`] for a long name. Takes a record's parts, so that the caller need not spill its record to the
    /// stack.
    #[cold]
    fn pieces_are(mem: &Memory, id: RecordId, kind: Kind, name: &[u8]) -> bool {
        let record = Record::new(mem, id);
        let mut same = record.name_len() == name.len() && record.kind() == kind;
        record.for_each_part(|span, at, from, to| {
            same = same && span.bytes_are(at, &name[from..to]);
        });
        same
    }

    /// Copies the name to a slice of exactly its length.
    #[inline]
    pub(crate) fn copy_name(self, to: &mut [u8]) {
        debug_assert_eq!(to.len(), self.name_len());
        if to.len() <= INSIDE {
            self.span.copy_out(NAME, to);
        } else {
            self.for_each_part(|span, at, from, end| {
                span.copy_out(at, &mut to[from..end]);
            });
        }
    }

    /// The first bytes of the name; if it is shorter, the bytes after it as well.
    #[inline(always)]
    pub(crate) fn name_start(self) -> [u8; NAME_HEAD] {
        self.head.bytes(NAME)
    }

    /// The first eight bytes of [`Record::name_start`], as a number that sorts as they do.
    #[inline(always)]
    pub(crate) fn name_key(self) -> u64 {
        u64::from_be_bytes(self.head.bytes(NAME))
    }

    /// The name as a vector: for reports, not for hot paths.
    pub(crate) fn name(self) -> Vec<u8> {
        let mut name = vec![0; self.name_len()];
        self.copy_name(&mut name);
        name
    }

    /// Calls `f(span, byte in it, from, to)` for each part of the name.
    fn for_each_part(self, mut f: impl FnMut(Span<'m>, usize, usize, usize)) {
        let len = self.name_len();
        f(self.span, NAME, 0, len.min(INSIDE));
        self.for_each_piece(|piece, from, to| f(self.mem.span(piece), PIECE_HEAD, from, to));
    }

    /// Calls `f(line, from, to)` for each piece of a long name, in order.
    pub(crate) fn for_each_piece(self, mut f: impl FnMut(u32, usize, usize)) {
        let len = self.name_len();
        if len <= INSIDE {
            return;
        }
        let mut from = INSIDE;
        let mut piece = self.first_piece();
        while from < len {
            let to = len.min(from + PIECE_BYTES);
            // `f` may free the piece, so read the link to the next one first.
            let next = self.mem.line(piece).u32(0);
            f(piece, from, to);
            (from, piece) = (to, next);
        }
    }

    /// The line of the first piece of a name that is longer than [`INSIDE`].
    pub(crate) fn first_piece(self) -> u32 {
        self.span.line(CHAIN_LINE).u32(0)
    }
}
