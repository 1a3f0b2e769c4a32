//! Compares random transactions with the naive model of `common`: after each operation every invariant holds, and the
//! answer of each walk is that of its snapshot's edges.
//!
//! The seed is fixed unless CFTRAG_SEED gives another; a failing case is shrunk, printed and
//! kept in model.regressions, which is committed and run first.

#[expect(dead_code, reason = "what tests without a world use")]
mod common;

use common::{Op, World, quick};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};

fn op() -> impl Strategy<Value = Op> {
    let by = || prop::option::weighted(0.7, any::<u8>());
    let i = any::<u8>;
    prop_oneof![
        3 => Just(Op::Begin),
        2 => i().prop_map(Op::Commit),
        1 => i().prop_map(Op::Abort),
        2 => i().prop_map(Op::Command),
        12 => (any::<[u8; 3]>(), by()).prop_map(|(edge, by)| Op::Insert { edge, by }),
        6 => (i(), i(), any::<bool>(), any::<bool>())
            .prop_map(|(row, by, frozen, forgetful)| Op::Delete { row, by, frozen, forgetful }),
        3 => (0..20_u8, any::<bool>()).prop_map(|(max, forgetful)| Op::Settle { max, forgetful }),
        1 => (0..64_u8).prop_map(Op::Cool),
        6 => (i(), i(), i(), by(), 1..40_u8, any::<bool>()).prop_map(
            |(entity, up, down, own, slots, forgetful)| {
                Op::Context { entity, up, down, own, slots, forgetful }
            }
        ),
        1 => (by(), any::<bool>()).prop_map(|(own, forgetful)| Op::Edges { own, forgetful }),
        1 => (0..6_u8).prop_map(Op::Hot),
        5 => (by(), 1..40_u8, any::<bool>())
            .prop_map(|(own, budget, forgetful)| Op::Roots { own, budget, forgetful }),
        5 => (any::<[u8; 12]>(), any::<bool>(), by(), 1..40_u8, any::<bool>()).prop_map(
            |(text, overlapping, own, slots, forgetful)| {
                Op::Recognise { text, overlapping, own, slots, forgetful }
            }
        ),
    ]
}

#[test]
fn the_image_agrees_with_the_heap() {
    let seed = std::env::var("CFTRAG_SEED").map_or(20_241, |seed| seed.parse().unwrap());
    println!("CFTRAG_SEED={seed}");
    let config = Config {
        cases: if quick() { 120 } else { 3000 },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/model.regressions",
        ))),
        rng_seed: RngSeed::Fixed(seed),
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    runner
        .run(&(prop::collection::vec(op(), 1..200), any::<u64>()), |(ops, seed)| {
            let mut world = World::new(seed);
            for op in &ops {
                world.apply(op);
            }
            world.finish();
            Ok(())
        })
        .unwrap();
}
