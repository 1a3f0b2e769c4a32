"""docs/clients/with_postgrest.py against a stand-in for PostgREST, which cannot be installed from a registry.

The stand-in chooses a function as PostgREST 14 does, by the names of its arguments (300 if several fit), and sends the statement of its source: the
arguments by json_to_record, a transaction that is read only for a STABLE function, the role and the search_path set in it.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.error import HTTPError

import psycopg
from psycopg import sql
from with_postgrest import contexts, prompt, rpc

ROLE = "cftrag_clients_web"
FORMS = """
    SELECT p.oid, p.proretset, p.provolatile, t.typtype = 'c' OR coalesce(p.proargmodes::text[] && '{t,b,o}', false), a.names, a.types, p.pronargdefaults
      FROM pg_proc AS p JOIN pg_type AS t ON t.oid = p.prorettype, LATERAL (
            SELECT coalesce(array_agg(p.proargnames[n] ORDER BY n), '{}') AS names, coalesce(array_agg(format_type(u.type, NULL) ORDER BY n), '{}') AS types
              FROM unnest(p.proargtypes) WITH ORDINALITY AS u(type, n)) AS a
     WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'f' AND t.oid <> 'trigger'::regtype AND p.proname = %s"""


def matching(connection, function, keys):
    """The forms that take exactly these arguments: all that are required, and any of those with a default."""
    return [
        form for form in connection.execute(FORMS, (function,)).fetchall()
        if set(form[4][: len(form[4]) - form[6]]) <= keys <= set(form[4])
    ]


class PostgREST(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        function, arguments = self.path.removeprefix("/rpc/"), json.loads(body)
        with psycopg.connect(autocommit=True) as connection:
            forms = matching(connection, function, set(arguments))
            if len(forms) != 1:
                return self.answer(404 if not forms else 300, {"forms": len(forms)})
            _, is_set, volatile, composite, names, types, _ = forms[0]
            name, given = sql.Identifier(function), [(n, t) for n, t in zip(names, types) if n in arguments]
            passed = sql.SQL(", ").join(sql.SQL("{0} := pgrst_body.{0}").format(sql.Identifier(n)) for n, _ in given)
            fields = sql.SQL(", ").join(sql.SQL("{0} {1}").format(sql.Identifier(n), sql.SQL(t)) for n, t in given)
            columns = sql.SQL(", ").join(sql.Identifier(n) for n, _ in given)
            call = sql.SQL("public.{}({}) pgrst_call" if composite else "(SELECT public.{}({}) pgrst_scalar) pgrst_call").format(name, passed)
            aggregate = "json_agg(_postgrest_t)" if composite else "json_agg(_postgrest_t.pgrst_scalar)"
            statement = sql.SQL(
                "WITH pgrst_source AS (SELECT {} FROM (SELECT %s::json AS json_data) pgrst_payload, "
                "LATERAL (SELECT {} FROM json_to_record(pgrst_payload.json_data) AS _({})) pgrst_body, LATERAL {}) "
                "SELECT coalesce({}, {})::text FROM (SELECT * FROM pgrst_source) _postgrest_t"
            ).format(
                sql.SQL("pgrst_call.*" if composite else "pgrst_call.pgrst_scalar"), columns, fields, call,
                sql.SQL(aggregate if is_set else aggregate + "->0"), "[]" if is_set else "null",
            )
            connection.read_only = volatile != "v"
            try:
                with connection.transaction():
                    connection.execute("SELECT set_config('search_path', '\"public\"', true), set_config('role', %s, true)", (ROLE,))
                    self.answer(200, connection.execute(statement, (body,)).fetchone()[0])
            except psycopg.Error as error:
                diag = error.diag
                self.answer(400, {"code": error.sqlstate, "message": diag.message_primary, "details": diag.message_detail, "hint": diag.message_hint})

    def answer(self, status, body):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def refused(url, function, **arguments):
    try:
        return rpc(url, function, **arguments)
    except HTTPError as error:
        return error.code, json.load(error)


server = HTTPServer(("127.0.0.1", 0), PostgREST)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"

with psycopg.connect(autocommit=True) as connection:
    # Every form can be called: no other has its required arguments, whatever else is given. (cft_under is a condition of WHERE, with one form for each type.)
    for (function,) in connection.execute("SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname ~ '^cft_' AND proname <> 'cft_under'").fetchall():
        for form in connection.execute(FORMS, (function,)).fetchall():
            for keys in (form[4][: len(form[4]) - form[6]], form[4]):
                assert [f[0] for f in matching(connection, function, set(keys))] == [form[0]], (function, keys)

    connection.execute(f"DROP ROLE IF EXISTS {ROLE}")
    connection.execute(f"CREATE ROLE {ROLE}; GRANT SELECT ON entity_edges, documents TO {ROLE}")
    question, embedding = connection.execute("SELECT question, embedding::text FROM questions ORDER BY id LIMIT 1").fetchone()
    assert prompt(url, question, json.loads(embedding)) == connection.execute("SELECT cft_prompt(%s, %s::vector, k => 3)", (question, embedding)).fetchone()[0]

    rows = contexts(url, ["diabetes", "sleep clinic"])
    assert [(r["entity"], r["relation"], r["depth"], r["relative"]) for r in rows] == connection.execute(
        "SELECT entity, relation, depth, relative FROM cft_context(ARRAY['diabetes', 'sleep clinic'], 2, 1)"
    ).fetchall() and len(rows) > 5
    assert rpc(url, "cft_context_json", entity="diabetes", up=2) == connection.execute("SELECT cft_context_json('diabetes', up => 2)").fetchone()[0]
    assert rpc(url, "cft_context", entity="no such entity") == [] and rpc(url, "cft_context_text", entity="no such entity") is None
    assert rpc(url, "cft_context", id=3) == [] and rpc(url, "cft_context", uuids=["0b9d8a4e-7d0c-4c3e-9a51-6d4a0f3c8a11"]) == []

    # Errors have their SQLSTATE and hint; a role that may not read the table is told so.
    status, error = refused(url, "cft_context", entity="diabetes", edges="documents")
    assert status == 400 and error["code"] == "42P01" and error["hint"], error
    assert refused(url, "cft_context", name="diabetes")[0] == 404
    connection.execute(f"REVOKE SELECT ON entity_edges FROM {ROLE}")
    error = refused(url, "cft_context", entity="diabetes", edges="entity_edges")[1]
    assert error["code"] == "42501", error
    connection.execute(f"DROP OWNED BY {ROLE}; DROP ROLE {ROLE}")
server.shutdown()
