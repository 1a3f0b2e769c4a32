-- A transaction sees its own changes as the heap shows them: savepoints, exception blocks, levels, several commands.
\a\t
SET client_min_messages = warning;
CREATE TABLE tx (tree text, parent text, child text, note int);
INSERT INTO tx SELECT 't', 'n' || i / 3, 'n' || i, 0 FROM generate_series(1, 20) AS i;
SELECT cft_attach('tx', tree => 'tree');
SELECT oracle.build('tx');
SELECT oracle.all_same('tx');

-- Own changes are visible to the transaction, and gone after ROLLBACK.
BEGIN;
INSERT INTO tx VALUES ('t', 'n20', 'new');
SELECT * FROM cft_context('new', 2, 0);
UPDATE tx SET parent = 'n5' WHERE child = 'new';
SELECT * FROM cft_context('new', 2, 0);
DELETE FROM tx WHERE child = 'n1';
SELECT oracle.all_same('tx');
ROLLBACK;
SELECT oracle.all_same('tx');
SELECT * FROM cft_context('new', 2, 0);

-- Savepoints: ROLLBACK TO drops only its part; RELEASE keeps it; asked at every stage.
BEGIN;
INSERT INTO tx VALUES ('t', 'n1', 's1');
SAVEPOINT one;
INSERT INTO tx VALUES ('t', 's1', 's2');
SELECT oracle.all_same('tx');
SAVEPOINT two;
DELETE FROM tx WHERE child = 's1';
SELECT oracle.all_same('tx');
INSERT INTO tx VALUES ('t', 's2', 's3');
SELECT oracle.all_same('tx');
ROLLBACK TO two;
SELECT oracle.all_same('tx');
UPDATE tx SET note = note + 1 WHERE child LIKE 's%';
SELECT oracle.all_same('tx');
RELEASE two;
SELECT * FROM cft_context('s2', 5, 1);
ROLLBACK TO one;
SELECT oracle.all_same('tx');
SELECT * FROM cft_context('s2', 5, 1);
INSERT INTO tx VALUES ('t', 's1', 's4');
RELEASE one;
COMMIT;
SELECT * FROM cft_context('s1', 5, 2);
SELECT oracle.all_same('tx');
SELECT * FROM cft_verify('tx');

-- Savepoints without a question in between: nothing is flushed before COMMIT.
BEGIN;
SAVEPOINT one;
INSERT INTO tx VALUES ('t', 's1', 'a1');
SAVEPOINT two;
INSERT INTO tx VALUES ('t', 's1', 'a2');
ROLLBACK TO two;
DELETE FROM tx WHERE child = 'a1';
ROLLBACK TO one;
INSERT INTO tx VALUES ('t', 's1', 'a3');
SAVEPOINT three;
UPDATE tx SET child = 'a4' WHERE child = 'a3';
RELEASE three;
COMMIT;
SELECT * FROM cft_context('s1', 0, 2);
SELECT oracle.all_same('tx');
SELECT * FROM cft_verify('tx');

-- A row changed several times in one transaction, and by several commands of a subtransaction that is undone.
BEGIN;
UPDATE tx SET parent = 'n2' WHERE child = 'a4';
UPDATE tx SET parent = 'n3' WHERE child = 'a4';
SAVEPOINT s;
UPDATE tx SET parent = 'n4' WHERE child = 'a4';
SELECT * FROM cft_context('a4', 1, 0);
DELETE FROM tx WHERE child = 'a4';
SELECT * FROM cft_context('a4', 1, 0);
ROLLBACK TO s;
SELECT * FROM cft_context('a4', 1, 0);
UPDATE tx SET parent = 'n6' WHERE child = 'a4';
DELETE FROM tx WHERE child = 'a4';
INSERT INTO tx VALUES ('t', 'n7', 'a4');
SELECT oracle.all_same('tx');
COMMIT;
SELECT * FROM cft_context('a4', 1, 0);
SELECT * FROM cft_verify('tx');

-- plpgsql exception blocks.
DO $$
BEGIN
    INSERT INTO tx VALUES ('t', 'n1', 'e1');
    BEGIN
        INSERT INTO tx VALUES ('t', 'e1', 'e2');
        DELETE FROM tx WHERE child = 'e1';
        RAISE WARNING 'inside: %', oracle.all_same('tx');
        RAISE division_by_zero;
    EXCEPTION WHEN division_by_zero THEN
        INSERT INTO tx VALUES ('t', 'e1', 'e3');
    END;
    IF oracle.all_same('tx') NOT LIKE '% entities: same, % rows' THEN RAISE EXCEPTION '%', oracle.all_same('tx'); END IF;
    BEGIN
        UPDATE tx SET parent = 'e9' WHERE child = 'e3';
    EXCEPTION WHEN OTHERS THEN
        NULL;
    END;
END $$;
SELECT * FROM cft_context('e1', 1, 2);
SELECT * FROM cft_context('e3', 1, 2);
SELECT oracle.all_same('tx');

-- A hundred subtransactions, two of three undone, and asked in the middle.
DO $$
BEGIN
    FOR i IN 1..100 LOOP
        BEGIN
            INSERT INTO tx VALUES ('many', 'm' || i / 2, 'm' || i, i);
            IF i % 4 = 0 THEN UPDATE tx SET parent = 'm1' WHERE note = i - 1; END IF;
            IF i = 50 AND oracle.same('m1', 3, 9, 'tx') NOT LIKE 'same, %' THEN RAISE EXCEPTION '%', oracle.same('m1', 3, 9, 'tx'); END IF;
            IF i % 3 > 0 THEN RAISE division_by_zero; END IF;
        EXCEPTION WHEN division_by_zero THEN
            NULL;
        END;
    END LOOP;
END $$;
SELECT count(*) FROM tx WHERE tree = 'many';
SELECT oracle.all_same('tx');
SELECT * FROM cft_verify('tx');

-- The levels, alone in the server: the answer is the reference query's in each.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT oracle.same('n1', 3, 3, 'tx');
INSERT INTO tx VALUES ('t', 'n1', 'rr');
SELECT oracle.all_same('tx');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT oracle.same('n1', 3, 3, 'tx');
INSERT INTO tx VALUES ('t', 'n1', 'ser');
SELECT oracle.all_same('tx');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT oracle.all_same('tx');
COMMIT;
BEGIN READ ONLY;
SELECT oracle.all_same('tx');
COMMIT;
SELECT oracle.all_same('tx');

-- A failed statement is undone, the transaction before it with it.
BEGIN;
INSERT INTO tx VALUES ('t', 'n1', 'failed');
INSERT INTO tx SELECT 't', 'n1', 'f' || i, 1 / (3 - i) FROM generate_series(1, 5) AS i;
COMMIT;
SELECT * FROM cft_context('failed');
SELECT * FROM cft_context('f1');
SELECT * FROM cft_verify('tx');

-- Deferred constraint triggers write after everything else, right before the commit.
CREATE FUNCTION tx_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.note = 100 THEN INSERT INTO tx VALUES ('t', NEW.child, 'late', 101); END IF;
    IF oracle.same(NEW.child, 2, 2, 'tx') NOT LIKE 'same, %' THEN RAISE EXCEPTION '%', oracle.same(NEW.child, 2, 2, 'tx'); END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER tx_late AFTER INSERT ON tx DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tx_late();
BEGIN;
INSERT INTO tx VALUES ('t', 'n1', 'early', 100);
SELECT * FROM cft_context('early', 1, 1);
COMMIT;
SELECT * FROM cft_context('early', 1, 1);
SELECT oracle.all_same('tx');
-- A cursor WITH HOLD is filled by the commit.
BEGIN;
INSERT INTO tx VALUES ('t', 'n1', 'held', 100);
DECLARE held CURSOR WITH HOLD FOR SELECT oracle.all_same('tx'), c.* FROM cft_context('held', 1, 1) AS c;
DELETE FROM tx WHERE child = 'held';
COMMIT;
FETCH ALL FROM held;
CLOSE held;
SELECT oracle.all_same('tx');
SELECT * FROM cft_verify('tx');
DROP TABLE tx;
DROP FUNCTION tx_late;

-- What was flushed and rolled back is not taken for committed by the session that settles it later, as it takes its own commits.
CREATE TABLE tx_settled (tree text, parent text, child text);
SELECT cft_attach('tx_settled', tree => 'tree');
SELECT count(*) FROM cft_context('a', edges => 'tx_settled');
BEGIN;
INSERT INTO tx_settled VALUES ('t', 'a', 'rolled back');
SELECT relative FROM cft_context('a', 1, 1, 'tx_settled');
ROLLBACK;
DO $$ BEGIN
    FOR i IN 1..40 LOOP
        INSERT INTO tx_settled VALUES ('t', 'a', 'row ' || i);
        COMMIT;
    END LOOP;
END $$;
SELECT count(*), min(relative) FROM cft_context('a', 1, 1, 'tx_settled');
SELECT * FROM cft_verify('tx_settled');
DROP TABLE tx_settled;

-- More subtransactions open than are asked under the image's lock whether an xid is theirs: the answers are the same, as they are after some of
-- them are rolled back and released.
CREATE TABLE tx_deep (tree text, parent text, child text);
INSERT INTO tx_deep SELECT 't', 'hub', 'before' || n FROM generate_series(1, 5) AS n;
SELECT cft_attach('tx_deep', tree => 'tree');
SELECT oracle.build('tx_deep');
BEGIN;
SELECT format('SAVEPOINT s%s', n), format('INSERT INTO tx_deep VALUES (''t'', ''hub'', ''deep%s'')', n),
       CASE n % 7 WHEN 0 THEN format('DELETE FROM tx_deep WHERE child = ''deep%s''', n - 3) END FROM generate_series(1, 60) AS n \gexec
SELECT oracle.all_same('tx_deep');
SELECT count(*) FROM cft_context('hub', 0, 1, 'tx_deep');
ROLLBACK TO s50;
SELECT oracle.all_same('tx_deep');
SELECT count(*) FROM cft_context('hub', 0, 1, 'tx_deep');
RELEASE s40;
DELETE FROM tx_deep WHERE child LIKE 'before%';
SELECT oracle.all_same('tx_deep');
ROLLBACK TO s39;
SELECT count(*) FROM cft_context('hub', 0, 1, 'tx_deep');
SELECT oracle.all_same('tx_deep');
COMMIT;
SELECT oracle.all_same('tx_deep');
SELECT count(*) FROM cft_verify('tx_deep');
DROP TABLE tx_deep;
