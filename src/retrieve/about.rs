//! The documents about entities and their relatives, each once, with the nearest of these.

use crate::call::fmgr::{array_of_values, text_array};
use crate::call::text::Text;
use crate::call::work_memory::{Room, list};
use crate::catalog::attached_table::AttachedTable;
use crate::catalog::documents::Documents;
use crate::catalog::filter::Condition;
use crate::error::Fallible;
use crate::methods::breadth_first::{named, push};
use crate::pg::interrupt::check_interrupts;
use crate::retrieve::documents::Wanted;
use crate::retrieve::embedding::check_embedding;
use crate::retrieve::found::Found;
use crate::retrieve::search;
use crate::retrieve::search::{Belongs, Order};
use crate::retrieve::words::Weighed;
use crate::serve::answer;
use crate::serve::asked::Reach;
use crate::serve::plans::Planning;
use crate::serve::sink::{Relative, Sink};
use crate::serve::within;
use crate::serve::within::Within;
use cftrag_core::{Interruptible, NameId, Names};
use pgrx::pg_sys;
use std::collections::HashSet;

/// How a document's entity is related to one that was asked for. In the order in which it counts at one depth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Related {
    Itself,
    Descendant,
    Ancestor,
}

impl Related {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ancestor => "ancestor",
            Self::Descendant => "descendant",
            Self::Itself => "self",
        }
    }
}

/// A document, and why it is one of these.
pub struct About {
    /// The number of the entity that was asked for.
    pub of: usize,
    pub related: Related,
    pub depth: i32,
    pub relative: Vec<u8>,
    pub id: Option<Vec<u8>>,
    pub body: Option<Vec<u8>>,
    pub tokens: i32,
    pub distance: Option<f64>,
    /// The columns that are shown beside the text.
    pub shown: Option<Vec<u8>>,
    /// Whether its text mentions the relative, and whether it is about something else by its own column.
    pub is_mention: bool,
    pub is_aside: bool,
}

/// Which documents about entities and their relatives are wanted.
#[derive(Clone, Copy)]
pub struct Among<'a> {
    pub reach: Reach<'a>,
    /// At most so many: then those with most of the words are first, too, and the entities take turns.
    pub most: Option<usize>,
    pub words: Option<&'a Weighed>,
    /// None of these.
    pub others: &'a [Key],
}

/// A document's id and text.
pub type Key = (Option<Vec<u8>>, Option<Vec<u8>>);

/// Bytes of a document in the tables here, besides its texts.
const EACH: usize = 160;
/// Entities for which a plan is made.
const MANY: usize = 1000;
/// Bytes of an entity in the lists here, besides its name.
const PLACE: usize = 48;

/// Depth, relation, and the number of the entity asked for.
type How = (i32, Related, usize);

/// Entities of which documents are wanted, in the order in which these count.
struct Places {
    names: Names,
    all: Vec<(How, NameId)>,
}

/// The columns of the search's result.
const COLUMNS: [pg_sys::Oid; 6] =
    [pg_sys::INT4OID, pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::INT4OID, pg_sys::FLOAT8OID, pg_sys::TEXTOID];

impl Wanted<'_> {
    /// The documents about these distinct entities and their relatives: by depth, then by distance. Errors:
    /// 55000 (no entities attached), those of cft_context and of [`Wanted::condition`]; 53400, 53200 (memory).
    pub fn about_all(
        &self,
        function: pg_sys::Oid,
        documents: &Documents,
        names: &[&[u8]],
        among: &Among<'_>,
    ) -> Fallible<Vec<About>> {
        let Among { reach, most, others, words } = *among;
        self.condition(documents)?;
        documents.require_entities()?;
        if let Some(embedding) = self.embedding {
            check_embedding(embedding, &documents.embedding, &documents.distance, &documents.shown)?;
        }
        let others: HashSet<&Key> = others.iter().collect(); // bounded: those documents
        let mut room = Room::new();
        let places = self.places(function, names, reach, &mut room)?;
        // What is about the entities themselves is often enough.
        let own = match most {
            Some(_) => places.all.iter().take_while(|((depth, ..), _)| *depth == 0).count(),
            None => places.all.len(),
        };
        let (mut all, mut seen) = (Vec::new(), HashSet::new()); // bounded: `room` has them
        let ways = search::ways(documents);
        let passes = ways.iter().flat_map(|how| [(*how, &places.all[..own]), (*how, &places.all[own..])]);
        let mut passes = passes.filter(|(_, some)| !some.is_empty()).peekable();
        while let Some((how, some)) = passes.next() {
            if most.is_some_and(|most| all.len() >= most) {
                break;
            }
            let wanted = most.map(|most| (most + others.len() + seen.len()) as i64);
            let mut found = Found::of(&COLUMNS);
            let order = match wanted {
                None => Order::All,
                // One entity needs no turns.
                Some(_) if some.len() == 1 && words.is_none() => Order::All,
                Some(_) => Order::Turns(words.and_then(Weighed::value)),
            };
            let arrays = arrays(&places.names, some, most.is_some(), &mut room)?;
            self.about(documents, how, (arrays, some.len()), wanted, (order, words), &mut found)?;
            found.each(|row| {
                let (body, tokens) = self.body(row, 2, &mut room)?;
                let key: Key = (row.copy(1, &mut room)?, body);
                let is_enough = most.is_some_and(|most| all.len() >= most);
                if is_enough || others.contains(&key) || seen.contains(&key) {
                    return Ok(());
                }
                let bytes = |text: &Option<Vec<u8>>| text.as_ref().map_or(0, Vec::len);
                let ((depth, related, of), relative) = &some[row.int(0).unwrap_or(1) as usize - 1];
                room.take(EACH + bytes(&key.0) + bytes(&key.1) + places.names.get(*relative).len())?;
                all.push(About {
                    of: *of,
                    related: *related,
                    depth: *depth,
                    relative: places.names.get(*relative).to_vec(), // bounded: `room` has it
                    id: key.0.clone(),
                    body: key.1.clone(),
                    tokens,
                    distance: row.float(4),
                    shown: row.copy(5, &mut room)?,
                    is_mention: documents.is_linked() && (how == Belongs::Mapped || documents.entity.is_none()),
                    is_aside: how == Belongs::Mapped,
                });
                // Only what comes later has to know it.
                if passes.peek().is_some() {
                    seen.insert(key);
                }
                Ok(())
            })?;
        }
        Ok(all)
    }

    /// Finds the documents about entities, at most so many: the number of the entity, id, body, tokens, distance.
    fn about(
        &self,
        of: &Documents,
        how: Belongs,
        ([names, depths, places], count): ([pg_sys::Datum; 3], usize),
        most: Option<i64>,
        (order, words): (Order<'_>, Option<&Weighed>),
        found: &mut Found,
    ) -> Fallible<()> {
        let filter = self.condition(of)?;
        let condition = filter.as_ref().map(|filter| filter.sql.as_str());
        let sql = search::about(of, how, self.embedding.is_some(), condition, order)?;
        let each = words.map(Weighed::each);
        let values = [
            (self.vector, self.embedding.map(Text::datum)),
            (pg_sys::TEXTARRAYOID, Some(names)),
            (pg_sys::INT4ARRAYOID, Some(depths)),
            (pg_sys::TEXTARRAYOID, filter.as_ref().map(Condition::parameter)),
            (pg_sys::INT4ARRAYOID, Some(places)),
            (pg_sys::INT8OID, most.map(pg_sys::Datum::from)),
            (pg_sys::TEXTARRAYOID, each.map(|each| each[0])),
            (pg_sys::FLOAT8ARRAYOID, each.map(|each| each[1])),
            (pg_sys::TEXTOID, words.map(Weighed::any)),
        ];
        // A plan for these names takes longer to make than to run, unless they are many.
        let planning =
            if filter.is_some() || count > MANY { Planning::Auto } else { Planning::Generic(of.size_class()?) };
        found.run(&sql, planning, &values);
        Ok(())
    }

    /// The entities and their relatives, each with its nearest relation, in the order in which their documents count.
    fn places(&self, function: pg_sys::Oid, names: &[&[u8]], reach: Reach, room: &mut Room) -> Fallible<Places> {
        let of = AttachedTable::of(function, self.edges)?;
        let (mut known, mut nearest): (Names, Vec<How>) = (Names::default(), Vec::new());
        let mut add = |name: &[u8], how: How| {
            let id = named(&mut known, name, room)?;
            match nearest.get_mut(id.number()) {
                Some(known) => *known = how.min(*known),
                None => {
                    room.take(PLACE)?;
                    push(&mut nearest, how)?;
                }
            }
            Ok(())
        };
        let are_there = match reach.trees {
            Some(_) => within::there(&of, names, reach.trees)?,
            None => names.to_vec(), // bounded: the names
        };
        let mut there = are_there.into_iter().peekable();
        for (n, name) in names.iter().enumerate() {
            if there.next_if(|is| is == name).is_some() {
                add(name, (0, Related::Itself, n))?;
            }
        }
        let mut at = 0;
        let mut take = |rows: &[Relative<'_>]| {
            for row in rows {
                while names[at] != row.entity {
                    at += 1;
                }
                let related = if row.ancestor { Related::Ancestor } else { Related::Descendant };
                add(row.name, (row.depth, related, at))?;
            }
            Ok(())
        };
        answer::check_levels(reach)?;
        answer::answer_of(&of, names, reach, &mut Sink::Nodes { take: &mut take, own: false })?;
        let mut all: Vec<(How, NameId)> = list(nearest.len(), room)?;
        all.extend(nearest.into_iter().zip(known.ids()));
        let mut check_interrupts = check_interrupts;
        // Of one depth and relation by name; the place decides where an entity is a relative of several only.
        Interruptible::new(&mut check_interrupts).sort_with(&mut all, |(a, one), (b, other), work| {
            (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| work.compare(known.get(*one), known.get(*other)))
        });
        if let Some(tops) = self.within {
            let names: Vec<&[u8]> = all.iter().map(|(_, name)| known.get(*name)).collect(); // bounded: `room` has it
            let mut are_within =
                Within::of(&of, &tops.copied(&mut Room::new())?, reach.trees).those_of(&names)?.into_iter();
            all.retain(|_| are_within.next() == Some(true));
        }
        Ok(Places { names: known, all })
    }
}

/// The arguments of the search: names, depths, places. In the order of relations what is below stands before what is
/// above in the same depth.
fn arrays(known: &Names, places: &[(How, NameId)], by_relation: bool, room: &mut Room) -> Fallible<[pg_sys::Datum; 3]> {
    let mut names = list(places.len(), room)?;
    names.extend(places.iter().map(|(_, name)| known.get(*name)));
    let rank = |depth: i32, related| {
        if by_relation { depth.saturating_mul(2) + i32::from(related == Related::Ancestor) } else { depth }
    };
    let depths = places.iter().map(|((depth, related, _), _)| rank(*depth, *related).to_ne_bytes());
    let numbers = places.iter().map(|((.., of), _)| (*of as i32).to_ne_bytes());
    Ok([text_array(&names), array_of_values(pg_sys::INT4OID, depths), array_of_values(pg_sys::INT4OID, numbers)])
}
