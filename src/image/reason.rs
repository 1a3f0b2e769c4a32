//! Why the reference query answered instead of the image: a reason for each condition of design.md section 2, counted
//! per table in pg_stat_cftrag.

use crate::image::chunks::Unusable;

/// Why the image cannot answer. Each has a column ref_<name> in pg_stat_cftrag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Reason {
    /// cftrag.enable is off.
    Disabled,
    /// There is no shared memory: not preloaded (15, 16), another version of the library uses it, every slot is taken,
    /// or mapping it failed.
    NoMemory,
    /// The image is not built yet.
    NoImage,
    /// The image lost a change: no memory, a torn write, a change that could not be captured.
    Incomplete,
    /// The snapshot is older than the build's, or of another kind.
    OldSnapshot,
    /// A statement that changes the table is running: the heap shows rows that our trigger has not seen.
    PendingTrigger,
    /// SERIALIZABLE: another backend's delta cannot raise the conflict that a heap scan would.
    Serializable,
    /// This transaction created the table or gave it a new relfilenode: its own rewrites fire no triggers.
    CreatedHere,
    /// The table's relfilenode is not the build's.
    Rewritten,
    /// The triggers are not the build's, or not ENABLE ALWAYS: changes may have been lost.
    Triggers,
    /// The columns do not resolve as they did at the build.
    Columns,
    /// The relation is not a plain heap table without children.
    NotPlainTable,
    /// Row-level security applies to the caller: the image knows no policies.
    RowSecurity,
    /// The caller may not read the columns: PostgreSQL's own error is raised.
    Privilege,
    /// The caller is a parallel worker of a transaction that has written, or a leader with changes of its own.
    Parallel,
    /// The server is a standby: triggers do not run here.
    Recovery,
    /// A version's transaction is older than the commit log.
    XidTooOld,
    /// cft_entities only: the database's encoding is not UTF8.
    Encoding,
}

pub const REASONS: [&str; 18] = [
    "disabled",
    "no_memory",
    "no_image",
    "incomplete",
    "old_snapshot",
    "pending_trigger",
    "serializable",
    "created_here",
    "rewritten",
    "triggers",
    "columns",
    "not_plain_table",
    "row_security",
    "privilege",
    "parallel",
    "recovery",
    "xid_too_old",
    "encoding",
];

impl From<Unusable> for Reason {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Empty => Reason::NoImage,
            Unusable::Incomplete => Reason::Incomplete,
            Unusable::Unmapped => Reason::NoMemory,
        }
    }
}
