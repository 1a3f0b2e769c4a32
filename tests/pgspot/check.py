"""Prints what pgspot finds in an extension script, a finding a line: CODE|OBJECT|line N.

pgspot itself stops at the first function with a parsed body (BEGIN ATOMIC). Its names are resolved once, by CREATE FUNCTION, so here they are
checked like those of any statement of the script.
"""

import sys
from argparse import Namespace

from pgspot import state, visitors


class Counter(state.Counter):
    def print_issue(self, code, context):
        print(f"{code}|{context}|line {self.line_number()}")

    def unknown(self, message):
        print(f"unknown|{message}|line {self.line_number()}")


class Visitor(visitors.SQLVisitor):
    def visit_CreateFunctionStmt(self, ancestors, node):
        if node.sql_body is None:
            super().visit_CreateFunctionStmt(ancestors, node)
        elif node.replace:
            self.state.warn("PS002", visitors.format_function(node))


# visit_sql makes its visitors by this name.
visitors.SQLVisitor = Visitor
options = Namespace(ignore=[], ignore_lang=[], plpgsql=True, summary_only=False, proc_without_search_path=[], sql_fn=[])
with open(sys.argv[1], encoding="utf8") as script:
    visitors.visit_sql(state.State(Counter(options)), script.read(), toplevel=True)
