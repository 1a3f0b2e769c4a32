//! Lists what can be called, and checks whether the answers are still right.

use crate::client::{Client, Lost, Reply};

const WORLD: &str = include_str!("world.sql");

/// Tables that stay attached: name, and the columns as cft_attach wants them.
const ATTACHED: [(&str, &str); 6] = [
    ("hostile.edges", "'parent', 'child', 'tree'"),
    ("hostile.numbers", "'parent', 'child'"),
    ("hostile.ids", "'parent', 'child', 'tree'"),
    (r#"hostile."Odd ""names'""#, "'pa rent', 'Child', 'tree%s'"),
    ("hostile.mine", "'parent', 'child', 'tree'"),
    ("hostile.policed", "'parent', 'child'"),
];

/// Removes what earlier calls may have left on permanent tables, and refills these.
const TIDY: &str = r#"
DO $tidy$
DECLARE sql text;
BEGIN
    FOR sql IN
        SELECT format('DROP EVENT TRIGGER %I', evtname) FROM pg_event_trigger
    LOOP EXECUTE sql; END LOOP;
    FOR sql IN
        SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) FROM pg_trigger
         WHERE NOT tgisinternal AND tgname NOT LIKE 'cftrag\_%' AND tgparentid = 0
           AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'hostile'::regnamespace)
        UNION ALL
        SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index AS i JOIN pg_class AS c ON c.oid = indexrelid
         WHERE relnamespace = 'hostile'::regnamespace AND relname ~ '^xc?\d'
        UNION ALL
        SELECT format('DROP POLICY %I ON %s', polname, polrelid::regclass) FROM pg_policy WHERE polname <> 'hides'
    LOOP EXECUTE sql; END LOOP;
END $tidy$;
DROP SCHEMA scratch CASCADE;
CREATE SCHEMA scratch;
GRANT ALL ON SCHEMA scratch TO PUBLIC;
CREATE TABLE scratch.sink (a text);
DELETE FROM hostile.edges WHERE parent NOT LIKE 'n%' AND (SELECT count(*) > 300 FROM hostile.edges);
DELETE FROM hostile.numbers WHERE child > 60 AND (SELECT count(*) > 300 FROM hostile.numbers);
SELECT cft_attach_documents('hostile.documents_of', entity => 'entity');
SELECT cft_attach_embeddings('hostile.vectors_of', edges => 'hostile.edges');
SELECT cft_attach_summaries('hostile.summaries_of', embedding => 'embedding', edges => 'hostile.edges', documents => 'hostile.documents_of');
INSERT INTO hostile.edges SELECT 'n' || i, 'n' || (i * 7 + 1) % 40, NULL FROM generate_series(0, 39) AS i WHERE NOT EXISTS (SELECT FROM hostile.edges);
INSERT INTO hostile.numbers SELECT i / 2, i FROM generate_series(1, 60) AS i WHERE NOT EXISTS (SELECT FROM hostile.numbers);
INSERT INTO hostile.ids SELECT md5(i::text)::uuid, md5((i + 1)::text)::uuid, i % 2 FROM generate_series(1, 20) AS i
    WHERE NOT EXISTS (SELECT FROM hostile.ids);
"#;

/// A function or a view of the extension.
#[derive(Debug, Clone)]
pub struct Callable {
    pub oid: u32,
    /// Schema-qualified.
    pub name: String,
    pub types: Vec<String>,
    pub names: Vec<String>,
    pub view: bool,
    pub trigger: bool,
}

impl Callable {
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.types.join(", "))
    }
}

/// Everything that belongs to the extension, by pg_depend, and can be called or read, in an order that does not depend on OIDs.
const CALLABLES: &str = r#"
SELECT p.oid::text, p.pronamespace::regnamespace || '.' || quote_ident(proname),
       array_to_string(ARRAY(SELECT format_type(t, NULL) FROM unnest(proargtypes::oid[]) WITH ORDINALITY AS u(t, n) ORDER BY n), '|'),
       coalesce(array_to_string(proargnames[1:pronargs], '|'), ''), 'f', (prorettype = 'trigger'::regtype)::text
  FROM pg_extension AS e JOIN pg_depend AS d ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid AND deptype = 'e'
  JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND objid = p.oid
 WHERE extname = 'cftrag'
UNION ALL
SELECT c.oid::text, c.relnamespace::regnamespace || '.' || quote_ident(relname), '', '', 't', 'false'
  FROM pg_extension AS e JOIN pg_depend AS d ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid AND deptype = 'e'
  JOIN pg_class AS c ON classid = 'pg_class'::regclass AND objid = c.oid AND relkind IN ('r', 'v', 'm')
 WHERE extname = 'cftrag'
 ORDER BY 2, 3
"#;

/// Runs the driver's own statement, whose error is an error of the test.
pub fn must(client: &mut Client, sql: &str) -> Result<Reply, String> {
    let reply = client.query(sql.as_bytes()).map_err(|Lost(text)| format!("LOST CONNECTION in {sql:.200}: {text}"))?;
    match reply.errors.first() {
        Some(error) => Err(format!("the driver's own statement failed: {} {}\n{sql:.2000}", error.code, error.text)),
        None => Ok(reply),
    }
}

pub fn set_up(client: &mut Client) -> Result<Vec<Callable>, String> {
    must(client, "SET client_min_messages = warning")?;
    must(client, WORLD)?;
    for (table, columns) in ATTACHED {
        must(client, &format!("SELECT cft_attach({}, {columns})", literal(table)))?;
    }
    must(client, TIDY)?;
    let text = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
    let split = |value: &Option<Vec<u8>>| -> Vec<String> {
        text(value).split('|').filter(|part| !part.is_empty()).map(String::from).collect()
    };
    let rows = must(client, CALLABLES)?.rows;
    let callables: Vec<Callable> = rows
        .iter()
        .map(|row| Callable {
            oid: text(&row[0]).parse().unwrap_or(0),
            name: text(&row[1]),
            types: split(&row[2]),
            names: split(&row[3]),
            view: text(&row[4]) == "t",
            trigger: text(&row[5]) == "true",
        })
        .collect();
    if callables.is_empty() {
        return Err("pg_depend lists nothing of the extension".into());
    }
    Ok(callables)
}

/// Verifies every table as it is and compares its image's answer with the reference query's; then tidies up and checks again.
pub fn check(client: &mut Client) -> Result<(), String> {
    sound(client, false)?;
    for gid in must(client, "SELECT gid FROM pg_prepared_xacts WHERE database = current_database()")?.rows {
        let gid = String::from_utf8_lossy(gid[0].as_deref().unwrap_or_default()).into_owned();
        must(client, &format!("ROLLBACK PREPARED {}", literal(&gid)))?;
    }
    for (table, columns) in ATTACHED {
        must(client, &format!("SELECT cft_attach({}, {columns})", literal(table)))?;
    }
    must(client, TIDY)?;
    sound(client, true)
}

/// How many calls the table's image has answered.
fn image_calls(client: &mut Client, table: &str) -> Result<String, String> {
    Ok(must(client, &format!("SELECT image_calls FROM pg_stat_cftrag WHERE edges = {table}::regclass"))?.text())
}

/// With `attached`, every table must be attached and answered from its image.
fn sound(client: &mut Client, attached: bool) -> Result<(), String> {
    for (table, columns) in ATTACHED {
        let name = literal(table);
        let is = format!("SELECT count(*) FROM pg_trigger WHERE tgrelid = {name}::regclass AND tgname = 'cftrag_row'");
        if must(client, &is)?.text() == "0" {
            if attached {
                return Err(format!("{table} is not attached after cft_attach"));
            }
            continue;
        }
        let verified = must(client, &format!("SELECT v::text FROM cft_verify({name}) AS v LIMIT 5"))?;
        if !verified.rows.is_empty() {
            return Err(format!("cft_verify({table}): {}", verified.text()));
        }
        let mut column = columns.split(", ").map(|c| c.replace('\'', "\""));
        let (parent, child) = (column.next().unwrap_or_default(), column.next().unwrap_or_default());
        let all = format!(
            "ARRAY(SELECT DISTINCT {parent}::text FROM {table} UNION SELECT {child}::text FROM {table} ORDER BY 1)"
        );
        let ask = format!("SELECT * FROM cft_context({all}, 3, 3, {name})");
        let before = image_calls(client, &name)?;
        let image = must(client, &ask)?.rows;
        if attached && image_calls(client, &name)? == before {
            return Err(format!("{table}: attached again without other sessions, but the image does not answer"));
        }
        must(client, "SET cftrag.enable = off")?;
        let reference = must(client, &ask)?.rows;
        must(client, "RESET cftrag.enable")?;
        if image != reference {
            return Err(format!(
                "{table}: the image's answer has {} rows, the reference query's {}, and they differ",
                image.len(),
                reference.len()
            ));
        }
    }
    Ok(())
}

pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
