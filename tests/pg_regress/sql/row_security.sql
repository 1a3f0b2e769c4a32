-- Row-level security: a policy that applies to the caller is applied, whatever the image knows.
\a\t
SET client_min_messages = warning;
CREATE ROLE regress_cft_owner;
CREATE ROLE regress_cft_limited LOGIN;
CREATE ROLE regress_cft_bypass BYPASSRLS;
CREATE SCHEMA rls AUTHORIZATION regress_cft_owner;
GRANT USAGE ON SCHEMA rls TO regress_cft_limited, regress_cft_bypass;
SET ROLE regress_cft_owner;
CREATE TABLE rls.edges (tree text, parent text, child text);
GRANT SELECT ON rls.edges TO regress_cft_limited, regress_cft_bypass;
INSERT INTO rls.edges VALUES ('open', 'a', 'b'), ('open', 'b', 'c'), ('closed', 'boss', 'b'), ('closed', 'b', 'spy');
SELECT cft_attach('rls.edges', tree => 'tree');
SELECT oracle.build('rls.edges');
RESET ROLE;
-- Before: all rows.
SET ROLE regress_cft_limited;
SELECT * FROM cft_context('b', edges => 'rls.edges');
RESET ROLE;
ALTER TABLE rls.edges ENABLE ROW LEVEL SECURITY;
-- The reference query is run without JIT compilation, whatever the session has: policies can see that. (Its estimates are far above its rows.)
SET jit = on;
SET jit_above_cost = 0;
CREATE POLICY without_jit ON rls.edges FOR SELECT TO regress_cft_limited USING (current_setting('jit') = 'off');
SET ROLE regress_cft_limited;
SELECT count(*) FROM cft_context('b', edges => 'rls.edges');
SELECT count(*) FROM cft_entities('A b is a c.', edges => 'rls.edges');
SELECT count(*) FROM cft_roots('rls.edges');
DO $$ BEGIN PERFORM cft_context('b', edges => 'rls.edges'), 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END $$;
SHOW jit;
RESET ROLE;
DROP POLICY without_jit ON rls.edges;
RESET jit;
RESET jit_above_cost;
-- No policy: no rows, for those it applies to.
SET ROLE regress_cft_limited;
SELECT * FROM cft_context('b', edges => 'rls.edges');
SELECT * FROM cft_hot_entities(10, 'rls.edges');
SELECT count(*) FROM pg_stat_cftrag;
RESET ROLE;
CREATE POLICY only_open ON rls.edges FOR SELECT TO regress_cft_limited USING (tree = 'open');
SET ROLE regress_cft_limited;
SELECT * FROM cft_context('b', edges => 'rls.edges');
SELECT oracle.all_same('rls.edges');
SELECT * FROM cft_context(ARRAY['spy', 'b', 'boss'], edges => 'rls.edges');
RESET ROLE;
-- Left out, it is found by search_path: with its policies, as by any statement.
SET ROLE regress_cft_limited;
SELECT * FROM cft_context('b');
SET search_path = rls, public;
SELECT * FROM cft_context('b');
SELECT * FROM cft_entities('the spy is b');
RESET search_path;
RESET ROLE;
-- It does not apply to the owner, to BYPASSRLS, to superusers.
SET ROLE regress_cft_owner;
SELECT oracle.all_same('rls.edges');
SELECT * FROM cft_context('spy', edges => 'rls.edges');
RESET ROLE;
SET ROLE regress_cft_bypass;
SELECT * FROM cft_context('spy', edges => 'rls.edges');
RESET ROLE;
SELECT oracle.all_same('rls.edges');
-- FORCE: to the owner too.
ALTER TABLE rls.edges FORCE ROW LEVEL SECURITY;
SET ROLE regress_cft_owner;
SELECT * FROM cft_context('spy', edges => 'rls.edges');
SELECT oracle.all_same('rls.edges');
RESET ROLE;
ALTER TABLE rls.edges NO FORCE ROW LEVEL SECURITY;
-- A policy that depends on the session.
DROP POLICY only_open ON rls.edges;
CREATE POLICY by_setting ON rls.edges FOR SELECT TO regress_cft_limited USING (tree = current_setting('rls.tree'));
SET ROLE regress_cft_limited;
SET rls.tree = 'closed';
SELECT * FROM cft_context('b', edges => 'rls.edges');
SET rls.tree = 'open';
SELECT * FROM cft_context('b', edges => 'rls.edges');
-- row_security = off: an error instead of fewer rows, as for the table.
SET row_security = off;
\set VERBOSITY sqlstate
SELECT count(*) FROM rls.edges;
SELECT * FROM cft_context('b', edges => 'rls.edges');
RESET row_security;
RESET ROLE;
-- Switched back to one who sees all, in one prepared statement.
PREPARE ask AS SELECT * FROM cft_context('spy', edges => 'rls.edges');
EXECUTE ask;
SET ROLE regress_cft_limited;
EXECUTE ask;
RESET ROLE;
EXECUTE ask;
ALTER TABLE rls.edges DISABLE ROW LEVEL SECURITY;
SET ROLE regress_cft_limited;
EXECUTE ask;
RESET ROLE;
SELECT * FROM cft_verify('rls.edges');
DROP OWNED BY regress_cft_owner, regress_cft_limited, regress_cft_bypass CASCADE;
DROP ROLE regress_cft_owner, regress_cft_limited, regress_cft_bypass;
