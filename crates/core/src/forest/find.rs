//! Finds an entity by its name, and tells whether it exists at all.

use crate::filter::bucket::Candidates;
use crate::filter::counters::Counters;
use crate::filter::table::{Spot, TOGETHER};
use crate::memory::hash::{Hash, Kind};
use crate::records::record::Record;
use crate::records::trees::Trees;
use crate::records::unknown_xids::UnknownXids;
use crate::records::visibility::has_visible_edge;
use crate::{Image, Visibility};

impl Image<'_> {
    /// Reader: the entity of that name, as the number of its record's first line. While the entity exists, no other
    /// entity has that number.
    #[must_use]
    #[inline(always)]
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        let hash = Hash::of(self.root().seed(), Kind::Entity, name);
        let found = self.names().find(Kind::Entity, hash, name, &mut Counters::default());
        found.map(|spot| spot.record().id().line())
    }

    /// Reader: [`Image::find`] for many names: those looked up together wait for memory only once.
    pub fn find_all<'n>(
        &self,
        names: impl IntoIterator<Item = &'n [u8]>,
        mut found: impl FnMut(Option<u32>),
    ) {
        let mut names = names.into_iter().peekable();
        while names.peek().is_some() {
            let spot = |spot: Option<Spot<'_>>| found(spot.map(|spot| spot.record().id().line()));
            self.names().find_together(
                Kind::Entity,
                names.by_ref().take(TOGETHER),
                &mut Counters::default(),
                spot,
            );
        }
    }

    /// Reader: the answer of the filter alone: no, or perhaps. For absent names it says perhaps once in 8192 times if
    /// every slot is full, less often otherwise.
    #[must_use]
    #[inline]
    pub fn may_have(&self, name: &[u8]) -> bool {
        let hash = Hash::of(self.root().seed(), Kind::Entity, name);
        Candidates::of(hash, self.names().buckets_of(hash)).next().is_some()
    }

    /// Reader: whether there is an entity of that name with an edge that the snapshot sees, in one of these trees if
    /// some are given. Xids that the snapshot does not know go to `ask`; then the answer is void.
    #[must_use]
    pub fn sees(
        &self,
        name: &[u8],
        only: Option<&mut Trees>,
        seen: &impl Visibility,
        ask: &mut UnknownXids,
    ) -> bool {
        let entity = self.key(Kind::Entity, name).record;
        let only = only.map(|trees| {
            let mut whole = usize::MAX;
            trees.look_up(*self, &mut whole);
            &*trees
        });
        entity.is_some_and(|id| {
            let record = Record::new(self.mem(), id);
            has_visible_edge(self.mem(), record, only, seen, ask, &mut 0)
        })
    }
}
