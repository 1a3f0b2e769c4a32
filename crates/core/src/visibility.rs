//! How a reader says which transactions its snapshot sees.

/// What a version record remembers about one of its xids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Nothing yet.
    None,
    /// It committed.
    Committed,
    /// It rolled back.
    Aborted,
}

/// What a snapshot makes of one xid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The caller's own transaction (or one of its subtransactions): command ids decide.
    Own,
    /// Committed, and the snapshot sees it.
    Seen,
    /// Running, aborted, or committed after the snapshot was taken.
    Unseen,
    /// The caller cannot tell without I/O: counts as unseen, and the walk asks.
    Unknown,
}

/// A snapshot, as the core needs it. No method may block, allocate or raise.
pub trait Visibility {
    /// What the snapshot makes of `xid`, given what the version remembers of it.
    fn view(&self, xid: u64, hint: Hint) -> View;
    /// A fact worth storing in the version. Asked only if the hint was
    /// [`Hint::None`] and the view was not [`View::Unknown`].
    fn learned(&self, xid: u64) -> Hint;
    /// Rows the own transaction wrote at this command id or later are invisible.
    fn curcid(&self) -> u32;
}

/// Every xid is committed and seen: for tools, and for images without versions.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllSeen;

impl Visibility for AllSeen {
    fn view(&self, _xid: u64, _hint: Hint) -> View {
        View::Seen
    }
    fn learned(&self, _xid: u64) -> Hint {
        Hint::None
    }
    fn curcid(&self) -> u32 {
        0
    }
}
