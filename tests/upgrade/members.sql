-- Lists the extension's members, one row each and without OIDs: two installations are equal if these rows are.
SET search_path = pg_catalog;
CREATE FUNCTION pg_temp.acl(aclitem[]) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(a::text, ',' ORDER BY a::text COLLATE "C") FROM unnest($1) AS a $$;

WITH extension AS (SELECT * FROM pg_extension WHERE extname = 'cftrag'),
member AS (SELECT d.classid, d.objid FROM pg_depend AS d, extension AS e
            WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e')
SELECT i.type, i.identity,
       CASE m.classid
       WHEN 'pg_proc'::regclass THEN (SELECT concat_ws(E'\n', pg_get_functiondef(p.oid), pg_get_userbyid(proowner), pg_temp.acl(coalesce(proacl, acldefault('f', proowner)))) FROM pg_proc AS p WHERE p.oid = m.objid)
       WHEN 'pg_namespace'::regclass THEN (SELECT concat_ws(E'\n', nspname, pg_get_userbyid(nspowner), pg_temp.acl(coalesce(nspacl, acldefault('n', nspowner)))) FROM pg_namespace AS n WHERE n.oid = m.objid)
       WHEN 'pg_class'::regclass THEN (SELECT concat_ws(E'\n', relkind, pg_get_viewdef(c.oid), reloptions::text, pg_get_userbyid(relowner), pg_temp.acl(coalesce(relacl, acldefault('r', relowner))),
            (SELECT string_agg(concat_ws(' ', attnum, attname, format_type(atttypid, atttypmod), attnotnull, pg_temp.acl(attacl), col_description(c.oid, attnum)), E'\n' ORDER BY attnum)
               FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)) FROM pg_class AS c WHERE c.oid = m.objid AND relkind = 'v')
       WHEN 'pg_type'::regclass THEN (SELECT concat_ws(E'\n', pg_get_userbyid(typowner), pg_temp.acl(coalesce(typacl, acldefault('T', typowner))),
            (SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid)) FROM pg_type AS t WHERE t.oid = m.objid AND typtype = 'e')
       END AS definition,
       obj_description(m.objid, (SELECT relname FROM pg_class WHERE oid = m.classid)) AS comment,
       (SELECT string_agg(concat_ws(' ', privtype, objsubid, pg_temp.acl(initprivs)), E'\n' ORDER BY objsubid) FROM pg_init_privs AS p WHERE p.classoid = m.classid AND p.objoid = m.objid) AS initial,
       (SELECT string_agg(concat_ws(' ', deptype, pg_describe_object(refclassid, refobjid, refobjsubid)), E'\n' ORDER BY deptype, pg_describe_object(refclassid, refobjid, refobjsubid))
          FROM pg_depend AS d WHERE d.classid = m.classid AND d.objid = m.objid AND d.objsubid = 0) AS depends
  INTO TEMP members
  FROM member AS m, pg_identify_object(m.classid, m.objid, 0) AS i
 -- Without row types and array types, which 17 makes members too: they follow from their views and element types.
 WHERE NOT (m.classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type WHERE oid = m.objid AND (typrelid <> 0 OR typcategory = 'A')));

-- Fails for a member of a kind that the query above does not describe, since that would compare as equal.
DO $$ BEGIN
    IF EXISTS (SELECT FROM members WHERE definition IS NULL OR identity IS NULL) THEN
        RAISE 'tests/upgrade/members.sql must learn to compare: %', (SELECT string_agg(type || ' ' || identity, ', ') FROM members WHERE definition IS NULL);
    END IF;
END $$;

SELECT * FROM members ORDER BY type COLLATE "C", identity COLLATE "C";
SELECT extversion, extrelocatable, extconfig::regclass[], extcondition, extnamespace::regnamespace,
       (SELECT string_agg(pg_describe_object(refclassid, refobjid, 0), ',' ORDER BY refobjid) FROM pg_depend WHERE classid = 'pg_extension'::regclass AND objid = pg_extension.oid)
  FROM pg_extension WHERE extname = 'cftrag';
