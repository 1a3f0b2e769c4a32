//! Arguments for a declared type, as SQL (right, extreme, NULL, of another type) and as bytes of the protocol.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::client::Bytes;

pub fn pick<'a, T: ?Sized>(rng: &mut ChaCha8Rng, from: &[&'a T]) -> &'a T {
    from[rng.random_range(0..from.len())]
}

pub fn one_in(rng: &mut ChaCha8Rng, n: u32) -> bool {
    rng.random_range(0..n) == 0
}

const TABLES: [&str; 10] = [
    "'hostile.edges'",
    "'hostile.edges'::regclass",
    "'hostile.numbers'",
    "'hostile.ids'",
    "'hostile.\"Odd \"\"names''\"'",
    "'hostile.mine'",
    "'hostile.policed'",
    "'hostile.documents_of'",
    "'hostile.vectors_of'",
    "'hostile.summaries_of'",
];

/// Arguments that name no attached table, some not even a relation.
const NO_TABLES: [&str; 34] = [
    "'hostile.plain'",
    "'hostile.nothing'",
    "'hostile.documents'",
    "'hostile.view'",
    "'hostile.matview'",
    "'hostile.index'",
    "'hostile.sequence'",
    "'hostile.partitioned'",
    "'hostile.partition'",
    "'hostile.partitioned_index'",
    "'hostile.ancestor'",
    "'hostile.heir'",
    "'hostile.composite'",
    "'hostile.foreign'",
    "'hostile.generated'",
    "'pg_class'",
    "'pg_catalog.pg_database'",
    "'pg_toast.pg_toast_1255'",
    "'information_schema.tables'",
    "'pg_stat_cftrag'",
    "'pg_locks'",
    "'no such table'",
    "'a.b.c.d'",
    "''",
    "0",
    "1",
    "4294967295::oid",
    "-1",
    "(SELECT oid::regclass FROM hostile.oids WHERE what = 'dropped')",
    "(SELECT oid FROM hostile.oids WHERE what = 'toast')",
    "(SELECT max(oid) FROM pg_class WHERE relpersistence = 't')",
    "(SELECT oid::regclass FROM pg_class ORDER BY random() LIMIT 1)",
    "(SELECT oid FROM pg_proc LIMIT 1)",
    "(SELECT max(oid)::bigint + 1 FROM pg_class)::oid",
];

const TEXTS: [&str; 16] = [
    "'n1'",
    "'n2'",
    "'1'",
    "''",
    "'secret'",
    "'Ä'",
    r"E'\x01\x7f'",
    r"U&'\+01F600'",
    "repeat('x', 5000)",
    "repeat('x', 2000000)",
    "repeat(chr(128512), 300000)",
    "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 40000) AS i)",
    "'quote '' back\\slash \"double\" %s $1 {tree}'",
    r"E'\xe4'",
    r"E'\xc0\x80'",
    r"chr(0)",
];

const ARRAYS: [&str; 14] = [
    "ARRAY['n1', 'n2']",
    "'{n1,n1,NULL,n3}'",
    "'{}'",
    "'{NULL,NULL}'",
    "'{{n1,n2},{n3,n4}}'",
    "'[5:6]={n1,n2}'",
    "'[-2147483648:-2147483647]={n1,n2}'",
    "(SELECT array_agg('n' || i) FROM generate_series(1, 5000) AS i)",
    "ARRAY[repeat('x', 2000000), 'n1']",
    "ARRAY[NULL::text]",
    "(SELECT array_agg(DISTINCT parent) FROM hostile.edges)",
    "ARRAY[ARRAY[]::text[]]",
    "ARRAY(SELECT oid::text FROM pg_class)",
    "'{malformed'",
];

const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "1000",
    "1001",
    "2147483647",
    "-2147483648",
    "2147483648",
    "9223372036854775807",
    "'7'",
    "NULL::int",
    "(random() * 5)::int",
];

const VECTORS: [&str; 8] = [
    "'[1,2,3]'",
    "'[0.5,1,0]'::vector",
    "'[0,0,0]'",
    "'[1,2]'",
    "'[NaN,1,2]'",
    "ARRAY[1,2,3]::vector",
    "(SELECT embedding FROM hostile.vectors_of LIMIT 1)",
    "array_fill(1, ARRAY[2000])::vector",
];

const NAMES: [&str; 13] = [
    "'parent'",
    "'child'",
    "'tree'",
    "'note'",
    "''",
    "'ctid'",
    "'xmin'",
    "'tableoid'",
    "repeat('p', 63)::name",
    "repeat('p', 500)::name",
    "'........pg.dropped.1........'",
    "'pa rent'",
    "'Child'",
];

/// Values of any type, mostly the wrong one.
const OTHERS: [&str; 24] = [
    "NULL",
    "DEFAULT",
    "*",
    "1.5",
    "'NaN'::float8",
    "true",
    "now()",
    "ROW(1, 'a')",
    "NULL::record",
    "'{}'::jsonb",
    r"'\xdeadbeef'::bytea",
    "ARRAY[1, 2]",
    "'(1,2)'::point",
    "'[1,2]'::vector",
    "ARRAY[ROW(1, 'a')]",
    "(SELECT 1 WHERE false)",
    "(SELECT generate_series(1, 2))",
    "generate_series(1, 2)",
    "'1 day'::interval",
    "'x'::\"char\"",
    "'pg_class'::regclass::text",
    "'n1'::varchar(1)",
    "'a'::hostile.composite",
    "$1",
];

/// An argument for a parameter of that type.
pub fn argument(rng: &mut ChaCha8Rng, type_name: &str) -> String {
    match rng.random_range(0..20) {
        0 => return format!("NULL::{type_name}"),
        1 => return pick(rng, &OTHERS).to_string(),
        2 if one_in(rng, 3) => return format!("{}::{type_name}", pick(rng, &TEXTS)),
        _ => {}
    }
    match type_name {
        "regclass" if one_in(rng, 3) => pick(rng, &NO_TABLES),
        "regclass" => pick(rng, &TABLES),
        "text" => pick(rng, &TEXTS),
        "text[]" => pick(rng, &ARRAYS),
        "integer" | "bigint" | "smallint" | "double precision" | "real" | "numeric" | "oid" => {
            if one_in(rng, 2) {
                pick(rng, &NUMBERS[..4])
            } else {
                pick(rng, &NUMBERS)
            }
        }
        "name" => pick(rng, &NAMES),
        "vector" => pick(rng, &VECTORS),
        "jsonb" => {
            pick(rng, &["'{}'", "'[1,{\"a\":null}]'", "'{\"rows\":[]}'", "'null'", "to_jsonb(repeat('x', 200000))"])
        }
        "boolean" => pick(rng, &["true", "false", "NULL::bool"]),
        _ => pick(rng, &OTHERS),
    }
    .to_string()
}

/// A reasonable argument: most functions answer, or say why not.
pub fn friendly(rng: &mut ChaCha8Rng, type_name: &str) -> String {
    match type_name {
        "regclass" => pick(rng, &TABLES).to_string(),
        "text" => pick(rng, &TEXTS[..3]).to_string(),
        "text[]" => pick(rng, &ARRAYS[..3]).to_string(),
        "integer" | "bigint" => pick(rng, &NUMBERS[..4]).to_string(),
        "name" => pick(rng, &NAMES[..3]).to_string(),
        "vector" => VECTORS[0].to_string(),
        "jsonb" => "'{}'".to_string(),
        "boolean" => "true".to_string(),
        "regprocedure" => "'cftrag_internal.cft_documents()'".to_string(),
        other => format!("NULL::{other}"),
    }
}

/// An argument as the protocol carries it; `binary` says how the server will read it.
pub fn bytes(rng: &mut ChaCha8Rng, type_name: &str, binary: bool) -> Bytes {
    let right: Vec<u8> = match (type_name, binary) {
        ("regclass", true) => 1259_u32.to_be_bytes().to_vec(),
        ("regclass", false) => b"hostile.edges".to_vec(),
        ("integer", true) => [0, 1, 5, 1000, -1, i32::MAX, i32::MIN][rng.random_range(0..7)].to_be_bytes().to_vec(),
        ("integer", false) => b"2".to_vec(),
        ("text[]", true) => vec![0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, b'n', b'1'],
        ("text[]", false) => b"{n1,n2}".to_vec(),
        _ => b"n1".to_vec(),
    };
    match rng.random_range(0..10) {
        0 => None,
        1 => Some(Vec::new()),
        2 => Some(vec![0xff, 0xfe, 0xc3]),
        3 => Some(b"nul\0inside".to_vec()),
        4 => Some(vec![0xff; rng.random_range(1..40)]),
        5 => Some(vec![b'x'; 1_500_000]),
        6 => Some((0..rng.random_range(1..60)).map(|_| rng.random()).collect()),
        _ => Some(right),
    }
}
