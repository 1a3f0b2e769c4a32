//! Settings (prefix `cftrag.`, reserved). Each is read where it is used; none is cached.
//!
//! All of them can be defined when a session loads the library: none is PGC_POSTMASTER, because defining such a setting
//! outside shared_preload_libraries kills the session.

#![expect(unsafe_code, reason = "reserving the prefix calls into PostgreSQL")]

use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, PostgresGucEnum, pg_sys};
use std::ffi::CString;

/// `cftrag.enable`: whether images may answer. Off: the reference query always does (every benchmark compares the two).
pub static ENABLE: GucSetting<bool> = GucSetting::<bool>::new(true);

/// `cftrag.memory_limit` in kB: shared memory of all images of the server together.
pub static MEMORY_LIMIT: GucSetting<i32> = GucSetting::<i32>::new(1024 * 1024);

/// `cftrag.build_in_place_limit` in kB: a reader builds the image of a table up to this size itself.
static BUILD_IN_PLACE_LIMIT: GucSetting<i32> = GucSetting::<i32>::new(32 * 1024);

/// `cftrag.work_memory` in kB: session memory that one call may use for what it reads or finds.
pub static WORK_MEMORY: GucSetting<i32> = GucSetting::<i32>::new(1024 * 1024);

/// `cftrag.build_on_start`: whether images are built when the server starts (builds/launcher.rs).
pub static BUILD_ON_START: GucSetting<bool> = GucSetting::<bool>::new(true);

/// `cftrag.wait_for_image`: whether a call whose definition reads the whole table waits for a build.
pub static WAIT_FOR_IMAGE: GucSetting<bool> = GucSetting::<bool>::new(true);

/// `cftrag.verify_interval` in minutes: how often a background worker verifies each image (api/verify_worker.rs); 0:
/// never.
static VERIFY_INTERVAL: GucSetting<i32> = GucSetting::<i32>::new(0);

/// `cftrag.temperature`: what is done with the counts of lookups.
pub static TEMPERATURE: GucSetting<Temperature> = GucSetting::<Temperature>::new(Temperature::Count);

/// What is done with the counts of entities' lookups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub enum Temperature {
    /// Lookups are not counted.
    #[name = c"off"]
    Off,
    /// Lookups are counted, for cft_hot_entities.
    #[name = c"count"]
    Count,
    /// Lookups are counted, and writers move the hotter entities of a bucket to its front.
    #[name = c"sort"]
    Sort,
}

/// `cftrag.budget`: the tokens of a prompt; 0: no limit.
static BUDGET: GucSetting<i32> = GucSetting::<i32>::new(4000);

/// `cftrag.template`: the format of cft_context_text; empty: the built-in words.
pub static TEMPLATE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// `cftrag.prompt_template`: the format of cft_prompt; empty: the built-in words.
pub static PROMPT_TEMPLATE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// `cftrag.document_template`: the format of a document in cft_prompt; empty: its number and its text.
pub static DOCUMENT_TEMPLATE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// `cftrag.left_out_template`: what a prompt says of what does not fit; empty: the built-in words.
pub static LEFT_OUT_TEMPLATE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// `cftrag.roles`: read by SQL, as the default of an argument of cft_allowed.
static ROLES: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// `cftrag.wording`: the built-in words of a prompt's sentences.
pub static WORDING: GucSetting<Wording> = GucSetting::<Wording>::new(Wording::Short);

/// The built-in words of a prompt's sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub enum Wording {
    /// "Above X: A, B."
    #[name = c"short"]
    Short,
    /// "The upward hierarchical relationships of X are: A, B."
    #[name = c"paper"]
    Paper,
}

/// `cftrag.match_case`: which names are found in their own case only.
pub static MATCH_CASE: GucSetting<MatchCase> = GucSetting::<MatchCase>::new(MatchCase::On);

/// Which names are found in their own case only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub enum MatchCase {
    #[name = c"off"]
    Off,
    /// Short names of capitals, and common words.
    #[name = c"on"]
    On,
    /// Also names with a capital, where the text has none.
    #[name = c"capitals"]
    Capitals,
}

impl From<MatchCase> for cftrag_core::MatchCase {
    fn from(case: MatchCase) -> Self {
        match case {
            MatchCase::Off => Self::Off,
            MatchCase::On => Self::On,
            MatchCase::Capitals => Self::Capitals,
        }
    }
}

/// `cftrag.match`: how far a text may write a name otherwise, where a call does not say.
pub static MATCH: GucSetting<Match> = GucSetting::<Match>::new(Match::Fuzzy);

/// How far a text may write a name otherwise (serve/tiers.rs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub enum Match {
    /// As it is written, but for case, blanks and punctuation.
    #[name = c"exact"]
    Exact,
    /// Also in another number, with or without accents, blanks and hyphens, in British or American spelling.
    #[name = c"inflected"]
    Inflected,
    /// Also with its words in another order, by an abbreviation that the text defines, with an error of typing, joined
    /// with others, or by a part of it.
    #[name = c"fuzzy"]
    Fuzzy,
}

impl Match {
    pub const ALL: [Self; 3] = [Self::Exact, Self::Inflected, Self::Fuzzy];

    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Inflected => "inflected",
            Self::Fuzzy => "fuzzy",
        }
    }

    /// The value of that name.
    pub fn of(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|matching| matching.name().as_bytes() == name)
    }
}

/// `cftrag.template` in the server's encoding, if it is set.
pub fn template() -> Option<CString> {
    TEMPLATE.get().filter(|text| !text.is_empty())
}

/// `cftrag.prompt_template` in the server's encoding, if it is set.
pub fn prompt_template() -> Option<CString> {
    PROMPT_TEMPLATE.get().filter(|text| !text.is_empty())
}

/// `cftrag.document_template` in the server's encoding, if it is set.
pub fn document_template() -> Option<CString> {
    DOCUMENT_TEMPLATE.get().filter(|text| !text.is_empty())
}

/// `cftrag.left_out_template` in the server's encoding, if it is set.
pub fn left_out_template() -> Option<CString> {
    LEFT_OUT_TEMPLATE.get().filter(|text| !text.is_empty())
}

/// `cftrag.budget`, unless it is 0.
pub fn budget() -> Option<i32> {
    Some(BUDGET.get()).filter(|budget| *budget > 0)
}

/// `cftrag.memory_limit` in bytes.
pub fn memory_bytes() -> u64 {
    MEMORY_LIMIT.get() as u64 * 1024
}

/// `cftrag.build_in_place_limit` in bytes.
pub fn in_place_bytes() -> u64 {
    BUILD_IN_PLACE_LIMIT.get() as u64 * 1024
}

/// `cftrag.verify_interval` in microseconds, unless it is 0.
pub fn verify_interval() -> Option<i64> {
    Some(i64::from(VERIFY_INTERVAL.get()) * 60_000_000).filter(|interval| *interval > 0)
}

/// `cftrag.work_memory` in bytes.
pub fn work_bytes() -> usize {
    WORK_MEMORY.get() as usize * 1024
}

pub fn define() {
    GucRegistry::define_bool_guc(
        c"cftrag.enable",
        c"Sets whether images in shared memory may answer.",
        c"When off, the reference query answers: the same rows, slower. Useful to compare.",
        &ENABLE,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"cftrag.memory_limit",
        c"Sets the most shared memory that the images of all tables may use together.",
        c"Where it is reached, the image that was asked for least recently goes, and is built again when it is asked \
            for.",
        &MEMORY_LIMIT,
        64,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_KB,
    );
    GucRegistry::define_int_guc(
        c"cftrag.build_in_place_limit",
        c"Sets the size of the largest table whose image its first reader builds itself.",
        c"Its call takes about two seconds per million edges longer. A larger table is built by a background worker, \
            beside its writers. 0 leaves every build to cft_build.",
        &BUILD_IN_PLACE_LIMIT,
        0,
        i32::MAX,
        GucContext::Suset,
        GucFlags::UNIT_KB,
    );
    GucRegistry::define_int_guc(
        c"cftrag.budget",
        c"Sets the most tokens of what cft_retrieve and cft_prompt return, where a call does not say it.",
        c"What does not fit is shortened or left out. 0 means no limit.",
        &BUDGET,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"cftrag.work_memory",
        c"Sets the most memory of the session that one call may use for what it reads or finds.",
        c"What needs more is refused: about 100 bytes a row of cft_context, 250 a relation, 500 a relation of a \
            graph, 450 an entity that a search finds. Rows past work_mem are on disk.",
        &WORK_MEMORY,
        64,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_KB,
    );
    GucRegistry::define_bool_guc(
        c"cftrag.build_on_start",
        c"Sets whether background workers build the images of all attached tables when the server starts.",
        c"Only if the library is in shared_preload_libraries. Also after a promotion.",
        &BUILD_ON_START,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_bool_guc(
        c"cftrag.wait_for_image",
        c"Sets whether a call that would else read the whole table waits while the table's image is built.",
        c"Recognising names in a text: no longer than reading the table would take. It never waits for a build that \
            waits for writers.",
        &WAIT_FOR_IMAGE,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"cftrag.verify_interval",
        c"Sets how often a background worker compares each image with its table, as cft_verify does.",
        c"Only if the library is in shared_preload_libraries. cft_health has the outcome. 0 means never.",
        &VERIFY_INTERVAL,
        0,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_MIN,
    );
    GucRegistry::define_enum_guc(
        c"cftrag.match_case",
        c"Sets which names are found in texts in their own case only.",
        c"on: short names of capitals and common words, so that IT, WHO and Set are not found in \"who told us to set \
            it up\". capitals: also names with a capital are found only where the text has one, for gazetteers \
            (Reading, Nice). off: none.",
        &MATCH_CASE,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_enum_guc(
        c"cftrag.match",
        c"Sets how far a text may write a name otherwise, for calls that do not say (match =>).",
        c"exact: case, blanks and punctuation aside. inflected: also plurals, accents, joined or split words, British \
            and American spelling. fuzzy: also words in another order, abbreviations that the text defines, errors of \
            typing, names that the text joins, and parts of names that list several things.",
        &MATCH,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_string_guc(
        c"cftrag.roles",
        c"Sets whose grants cft_allowed looks for, if a call does not say.",
        c"Names separated by commas, without blanks. Who can set it has the rights of any role: where users write \
            SQL, name a function in the call.",
        &ROLES,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_enum_guc(
        c"cftrag.wording",
        c"Sets the built-in words of the hierarchy in cft_retrieve and cft_prompt.",
        c"short: \"Above X: A, B.\" paper: \"The upward hierarchical relationships of X are: A, B.\" A table of \
            phrases comes before them.",
        &WORDING,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_enum_guc(
        c"cftrag.temperature",
        c"Sets whether lookups are counted, and whether buckets are sorted by the counts.",
        c"off leaves cft_hot_entities without new counts. sort is the paper's: hotter entities to the front of their \
            bucket, by whoever commits changes; a bucket's slots are compared all at once, so it gains nothing here.",
        &TEMPERATURE,
        GucContext::Userset,
        GucFlags::default(),
    );
}

/// Reserves the prefix, after all settings are defined.
pub fn reserve() {
    // SAFETY: a C string constant; the function copies it. Called once, from _PG_init.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"cftrag".as_ptr()) };
}
