//! Tests of a walk with limits: how much memory it takes, when, and what it reports if that is too much.

#[expect(dead_code, reason = "the world of the random tests")]
mod common;

use cftrag_core::{AllSeen, Edge, HeapMemory, Image, Interruptible, NoRoom, Prefix, Step, Walk};

/// `hubs` entities with `children` children each; all hubs have the same children.
fn hubs(hubs: usize, children: usize) -> HeapMemory {
    let heap = common::heap(7);
    let image = Image::open(&heap).unwrap();
    for hub in 0..hubs {
        for child in 0..children {
            let (parent, child) = (format!("hub {hub}"), format!("a child with number {child}"));
            let edge = Edge { tree: None, parent: parent.as_bytes(), child: child.as_bytes() };
            image.insert(&edge, None).unwrap();
        }
    }
    heap
}

/// Walks to the end; returns the number of rows in each part.
fn walk(walk: &mut Walk, image: Image<'_>, slots: usize) -> Result<Vec<usize>, NoRoom> {
    let (mut check_interrupts, mut parts) = (|| (), Vec::new());
    let work = &mut Interruptible::new(&mut check_interrupts);
    for steps in 1.. {
        assert!(steps < 1_000_000, "it comes no further: {:?}", walk.so_far());
        let before = walk.bytes();
        let step = walk.step(image, &AllSeen, slots);
        assert_eq!(walk.bytes(), before, "a step allocates nothing");
        match step {
            Step::Done => break,
            Step::Ask => unreachable!("everything is known"),
            Step::More => {
                if walk.has_part() {
                    walk.try_finish(work)?;
                    parts.push(walk.rows().len());
                    walk.take_part();
                }
                walk.make_room(slots, work)?;
            }
        }
    }
    walk.try_finish(work)?;
    parts.push(walk.rows().len());
    Ok(parts)
}

fn limited(limit: usize, part: usize, questions: usize) -> Walk {
    let mut walk = Walk::new(Prefix::LENGTH);
    walk.limit(limit, part);
    walk.make_room(1000, &mut Interruptible::new(&mut || ())).unwrap();
    walk.make_room_for(questions, questions * 8, &mut Interruptible::new(&mut || ())).unwrap();
    for hub in 0..questions {
        walk.begin(format!("hub {hub}").as_bytes(), 0, 1);
    }
    walk
}

#[test]
fn a_walk_with_limits_grows_between_its_steps_only() {
    let heap = hubs(3, 5000);
    for slots in [1, 100, 20_000] {
        let mut limited = limited(usize::MAX, usize::MAX, 3);
        assert_eq!(walk(&mut limited, Image::open(&heap).unwrap(), slots), Ok(vec![15_000]));
    }
}

#[test]
fn what_is_too_large_together_is_walked_one_by_one() {
    let heap = hubs(40, 2000);
    let image = Image::open(&heap).unwrap();
    assert_eq!(walk(&mut limited(1 << 20, usize::MAX, 40), image, 20_000), Ok(vec![2000; 40]));
    // A single answer exceeds the limit.
    let Err(NoRoom::Limit(bytes)) = walk(&mut limited(200 << 10, usize::MAX, 2), image, 20_000)
    else {
        panic!("a walk past its limit ends")
    };
    assert!((200 << 10..400 << 10).contains(&bytes), "{bytes} bytes");
}

#[test]
fn answers_are_taken_away_when_they_are_large() {
    let heap = hubs(100, 100);
    let image = Image::open(&heap).unwrap();
    // Each block has 32 questions with 3200 rows.
    let parts = walk(&mut limited(usize::MAX, 100_000, 100), image, 20_000);
    assert_eq!(parts, Ok(vec![3200, 3200, 3200, 400]));
}

#[test]
fn the_names_that_are_asked_for_do_not_make_an_answer_large() {
    let heap = hubs(100, 1);
    let parts = walk(&mut limited(usize::MAX, 40_000, 10_000), Image::open(&heap).unwrap(), 20_000);
    assert_eq!(parts, Ok(vec![100]));
}

#[test]
fn an_entity_of_many_trees_is_walked_to_the_end() {
    let heap = common::heap(10);
    let image = Image::open(&heap).unwrap();
    let trees = 140_000;
    for tree in 0..trees {
        let tree = format!("tree {tree}");
        let edge = Edge { tree: Some(tree.as_bytes()), parent: b"hub 0", child: b"child" };
        image.insert(&edge, None).unwrap();
    }
    let rows = walk(&mut limited(usize::MAX, usize::MAX, 1), image, 20_000);
    assert_eq!(rows, Ok(vec![trees]));
}
