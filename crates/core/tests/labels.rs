//! Tests of labels: edges of the tree of labels, which walks and roots leave out, and by which texts name entities.

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use std::collections::{BTreeMap, BTreeSet};

use cftrag_core::{
    AllSeen, Edge, HeapMemory, Image, Interruptible, LABELS, MORE_LABELS, OTHER_NAMES, Prefix,
    Reader, Recogniser, Roots, Seek, Step, Walk, label_of,
};
use common::{heap, verify};

/// Ids 0 to 59, each the child of id / 4, in two trees. Some have no label, some several, and some share one; some have
/// other names, before their label by bytes, after it, or alike.
struct World {
    heap: HeapMemory,
    labels: BTreeMap<String, BTreeSet<String>>,
    more: BTreeMap<String, BTreeSet<String>>,
    others: BTreeMap<String, BTreeSet<String>>,
}

impl World {
    /// What an entity is called.
    fn least(&self, name: &str) -> Option<String> {
        [&self.labels, &self.more, &self.others]
            .into_iter()
            .find_map(|of| of.get(name)?.first().cloned())
    }
}

fn insert(heap: &mut HeapMemory, tree: Option<&[u8]>, parent: &[u8], child: &[u8]) {
    let edge = Edge { tree, parent, child };
    while Image::open(heap).unwrap().free_bytes() < Image::insert_bound(&edge) {
        assert!(heap.grow());
        Image::open(heap).unwrap().publish_chunks(heap.mapped());
    }
    Image::open(heap).unwrap().insert(&edge, None).unwrap();
}

fn world() -> World {
    let (mut heap, mut labels) = (heap(1), BTreeMap::<String, BTreeSet<String>>::new());
    let (mut more, mut others) = (labels.clone(), labels.clone());
    for id in 0..60_u32 {
        let name = id.to_string();
        let (tree, parent) = (format!("tree {}", id % 2), (id / 4).to_string());
        insert(&mut heap, Some(tree.as_bytes()), parent.as_bytes(), name.as_bytes());
        let all = match id % 5 {
            0 => vec![],
            1 => vec![format!("Shoes {}", id % 7), "Shoes".into()],
            2 => vec![format!("a long label of more than thirty-two bytes, number {id}")],
            _ => vec![format!("Boots {}", id % 3)],
        };
        for label in all {
            // Each label is inserted twice, because rows may be equal.
            for _ in 0..2 {
                let label = [label.as_bytes(), LABELS].concat();
                insert(&mut heap, Some(LABELS), &label, name.as_bytes());
            }
            labels.entry(name.clone()).or_default().insert(label);
        }
        let names: &[(&[u8], &str)] = match id % 4 {
            0 => &[(OTHER_NAMES, "Hats"), (OTHER_NAMES, "Aprons")],
            1 => &[(MORE_LABELS, "Shoes")],
            2 => &[(MORE_LABELS, "Hats"), (OTHER_NAMES, "Hats"), (OTHER_NAMES, "Aprons")],
            _ => &[],
        };
        for (tree, other) in names {
            let label = [other.as_bytes(), LABELS].concat();
            insert(&mut heap, Some(tree), &label, name.as_bytes());
            let all = if *tree == MORE_LABELS { &mut more } else { &mut others };
            all.entry(name.clone()).or_default().insert((*other).into());
        }
    }
    World { heap, labels, more, others }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_walk_leaves_labels_out_and_gives_the_smallest_of_each_relative() {
    let world = world();
    let image = Image::open(&world.heap).unwrap();
    verify(image);
    for (wanted, slots) in [(false, 100), (true, 100), (true, 1)] {
        for id in 0..60 {
            let name = id.to_string();
            let mut walk = Walk::new(Prefix::LENGTH);
            walk.answer_labels(wanted);
            walk.begin(name.as_bytes(), 3, 3);
            while walk.step(image, &AllSeen, slots) != Step::Done {}
            walk.finish();
            let least = |name: &str| world.least(name);
            for row in walk.rows() {
                assert!(row.tree.is_none_or(|tree| !walk.name(tree).starts_with(LABELS)));
                let relative = text(walk.name(row.relative));
                let label = row.label.map(|label| text(walk.name(label)));
                assert_eq!(label, least(&relative).filter(|_| wanted), "{relative} of {name}");
            }
            let own = walk.label(0).map(|label| text(walk.name(label)));
            assert_eq!(own, least(&name).filter(|_| wanted));
            if wanted {
                let said = text(walk.text());
                let first = said.lines().next().unwrap_or_default();
                let called = least(&name).unwrap_or(name);
                assert!(first.contains(&format!("of {called} ")), "{first}");
            }
        }
    }
}

/// Two entities in 2,000 trees, with a label in each row; the second row of each tree has a label of its own.
fn in_many_trees() -> HeapMemory {
    let mut heap = heap(1);
    for n in 0..2000 {
        let tree = format!("tree {n}");
        insert(&mut heap, Some(tree.as_bytes()), b"0", b"1");
        insert(&mut heap, Some(tree.as_bytes()), b"0", b"2");
        for (label, id) in [("Shoes".into(), b"1"), (format!("Boots {n:04}"), b"2")] {
            insert(&mut heap, Some(LABELS), &[label.as_bytes(), LABELS].concat(), id);
        }
    }
    heap
}

#[test]
fn the_labels_of_an_entity_in_many_trees_are_read_once() {
    let heap = in_many_trees();
    let image = Image::open(&heap).unwrap();
    let (mut steps, mut walk) = (0, Walk::new(Prefix::LENGTH));
    walk.answer_labels(true);
    // A walk is used again.
    for _ in 0..2 {
        walk.clear();
        walk.begin(b"0", 0, 1);
        while walk.step(image, &AllSeen, 1000) != Step::Done {
            steps += 1;
            assert!(steps < 200, "each row's label costs as much as all of them");
            walk.make_room(1000, &mut Interruptible::new(&mut || ())).unwrap();
        }
        walk.finish();
        assert_eq!(walk.rows().len(), 4000);
        for row in walk.rows() {
            let label = text(walk.name(row.label.unwrap()));
            let one = walk.name(row.relative) == b"1";
            assert_eq!(label, if one { "Shoes" } else { "Boots 0000" });
        }
    }
}

#[test]
fn an_entity_with_a_label_in_many_rows_is_found_once_for_each_mention() {
    let heap = in_many_trees();
    let image = Image::open(&heap).unwrap();
    for (seek, slots) in [(Seek::Labelled, 20_000), (Seek::Labelled, 100), (Seek::Aliased, 1)] {
        let recogniser = recognised(image, &"shoes, Boots 0007. ".repeat(20), seek, slots);
        let found: Vec<_> =
            recogniser.mentions().iter().map(|one| text(recogniser.name(one.entity))).collect();
        assert_eq!(found, ["1", "2"].repeat(20));
    }
}

#[test]
fn labels_are_no_roots_and_make_none() {
    let World { heap, .. } = world();
    let image = Image::open(&heap).unwrap();
    let (mut roots, mut found) = (Roots::new(), Vec::new());
    loop {
        let step = image.roots(&mut roots, 10, &AllSeen, |tree, root| {
            found.push((text(tree.unwrap()), text(root)));
        });
        match step {
            Step::Done => break,
            _ => assert!(roots.make_room()),
        }
    }
    found.sort();
    // An odd id is a child only in tree 1; ids / 4 are parents in both trees.
    assert!(found.iter().all(|(_, root)| root.parse::<u32>().is_ok()), "{found:?}");
    assert!(found.contains(&("tree 0".into(), "0".into())));
    assert!(found.contains(&("tree 0".into(), "1".into())));
    assert!(found.contains(&("tree 1".into(), "2".into())));
    assert!(!found.contains(&("tree 0".into(), "2".into())));
}

fn recognised(image: Image<'_>, question: &str, seek: Seek, budget: usize) -> Recogniser {
    let mut work = || ();
    let mut recogniser = Recogniser::new(Prefix::LENGTH);
    recogniser.begin(seek, false);
    let mut reader = Reader::of(question.as_bytes(), &mut Interruptible::new(&mut work)).unwrap();
    loop {
        recogniser.read(&mut reader, &mut Interruptible::new(&mut work)).unwrap();
        if recogniser.step(image, &AllSeen, budget, &reader) == Step::Done {
            return recogniser;
        }
    }
}

#[test]
fn a_text_names_entities_by_their_labels_and_not_by_their_names() {
    let World { heap, labels, more, others } = world();
    let image = Image::open(&heap).unwrap();
    let question = "SHOES, aprons, boots-1, shoes 3; 17 and 42, a long label of more than thirty two bytes number 7";
    let recogniser = recognised(image, question, Seek::Labelled, 1000);
    // As aliases they are found as well, and each mention has its alias.
    let aliased = recognised(image, question, Seek::Aliased, 1000);
    // The result is the same in steps that end in the middle of a label's list.
    for budget in 1..10 {
        for (whole, seek) in [(&recogniser, Seek::Labelled), (&aliased, Seek::Aliased)] {
            let stepped = recognised(image, question, seek, budget);
            let all = |of: &Recogniser| -> Vec<_> {
                let name = |name| text(of.name(name));
                of.mentions()
                    .iter()
                    .map(|m| (name(m.entity), m.alias.map(name), m.from, m.to))
                    .collect()
            };
            assert_eq!(all(&stepped), all(whole), "{budget}");
        }
    }
    let entities = |of: &Recogniser| -> Vec<String> {
        of.mentions().iter().map(|mention| text(of.name(mention.entity))).collect()
    };
    assert_eq!(entities(&aliased), entities(&recogniser));
    assert!(recogniser.mentions().iter().all(|mention| mention.alias.is_none()));
    for mention in aliased.mentions() {
        let said = text(&question.as_bytes()[mention.from..mention.to]).to_lowercase();
        let alias = text(aliased.name(mention.alias.unwrap())).to_lowercase();
        assert_eq!(alias.replace('-', " ").replace(',', ""), said.replace('-', " "));
    }
    let mut found = BTreeMap::<String, BTreeSet<String>>::new();
    for mention in recogniser.mentions() {
        let said = text(&question.as_bytes()[mention.from..mention.to]);
        found.entry(said).or_default().insert(text(recogniser.name(mention.entity)));
    }
    let with = |label: &str| -> BTreeSet<String> {
        let has = labels.iter().chain(&more).chain(&others).filter(|(_, all)| all.contains(label));
        has.map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!(found["aprons"], with("Aprons"));
    assert_eq!(found["SHOES"], with("Shoes"));
    assert_eq!(found["boots-1"], with("Boots 1"));
    assert_eq!(found["shoes 3"], with("Shoes 3"));
    assert_eq!(
        found["a long label of more than thirty two bytes number 7"],
        with("a long label of more than thirty-two bytes, number 7")
    );
}

#[test]
fn the_name_of_a_label_ends_as_no_text_does() {
    assert_eq!(label_of(b"Shoes\0"), Some(&b"Shoes"[..]));
    assert_eq!(label_of(b"\0"), Some(&b""[..]));
    assert_eq!(label_of(b"Shoes"), None);
    assert_eq!(label_of(b""), None);
}
