"""What statements run on: a connection or a pool of the caller's, or a pool of our own for a DSN.

A caller's connection stays in its transaction, a caller's pool does as it was set up. Our own commits each statement.
Drivers are not imported here before somebody gives one of their objects.
"""

import asyncio
import os
import sys
import threading
from typing import Any

GIVE = "give a psycopg connection, a psycopg_pool.ConnectionPool or a DSN ('host=... dbname=...')"
GIVE_ASYNC = "give an AsyncConnection or AsyncConnectionPool of psycopg, a connection or pool of asyncpg, or a DSN ('host=... dbname=...')"

CLOSED = "it is closed: take a new one, or open it again by a with statement"


class Connections:
    """Runs statements; any thread may, and any process: pools are by process, since after a fork the parent's sockets are the parent's."""

    def __init__(self, target: Any) -> None:
        self._dsn = _dsn(target)
        self._target = target
        self._pools: dict[int, Any] = {}
        self._locks: dict[int, threading.Lock] = {}
        self._closed = False
        if self._dsn is None:
            if _is(target, "psycopg", "AsyncConnection") or _is(target, "psycopg_pool", "AsyncConnectionPool") or _is_asyncpg(target):
                raise TypeError(f"{_name(target)} is asynchronous: take AsyncHierarchy, or {GIVE}")
            if not (_is(target, "psycopg", "Connection") or _is(target, "psycopg_pool", "ConnectionPool")):
                raise TypeError(f"{_name(target)} runs no statements here: {GIVE}")

    def fetch(self, statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
        target = self._target if self._dsn is None else self._pool()
        if not hasattr(target, "getconn"):
            return self._run(target, statement, values)
        if target.closed:
            raise TypeError("the pool is not open: ConnectionPool(..., open=True), pool.open(), or with pool:")
        with target.connection() as connection:
            return self._run(connection, statement, values)

    def _run(self, connection: Any, statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
        from psycopg import RawCursor
        from psycopg.rows import tuple_row

        with RawCursor(connection, row_factory=tuple_row) as cursor:
            return cursor.execute(statement, values).fetchall()

    def open(self) -> None:
        """Makes the pool of a DSN, also where it was closed."""
        self._closed = False
        if self._dsn is not None:
            self._pool()

    def _pool(self) -> Any:
        if self._closed:
            raise RuntimeError(CLOSED)
        process = os.getpid()
        with self._locks.setdefault(process, threading.Lock()):
            if process not in self._pools:
                psycopg, psycopg_pool = _psycopg()
                psycopg.connect(self._dsn).close()  # A pool would try for half a minute, and not say what was wrong.
                made = psycopg_pool.ConnectionPool
                self._pools[process] = made(self._dsn, open=True, min_size=1, max_size=4, kwargs={"autocommit": True}, check=made.check_connection)
            return self._pools[process]

    def close(self) -> None:
        if self._dsn is not None:
            self._closed = True
            pool = self._pools.pop(os.getpid(), None)
            if pool is not None:
                pool.close()


class AsyncConnections:
    """Runs statements in an event loop."""

    def __init__(self, target: Any) -> None:
        self._dsn = _dsn(target)
        self._target = target
        self._pools: dict[int, Any] = {}
        self._locks: dict[int, asyncio.Lock] = {}
        self._closed = False
        if self._dsn is None:
            if _is(target, "psycopg", "Connection") or _is(target, "psycopg_pool", "ConnectionPool"):
                raise TypeError(f"{_name(target)} is not asynchronous: take Hierarchy, or {GIVE_ASYNC}")
            if not (_is(target, "psycopg", "AsyncConnection") or _is(target, "psycopg_pool", "AsyncConnectionPool") or _is_asyncpg(target)):
                raise TypeError(f"{_name(target)} runs no statements here: {GIVE_ASYNC}")

    async def fetch(self, statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
        target = self._target if self._dsn is None else await self._pool()
        if _is_asyncpg(target):
            if not getattr(target, "_initialized", True):
                raise TypeError("the pool is not open: await asyncpg.create_pool(...), or async with pool:")
            return [tuple(row) for row in await target.fetch(statement, *values)]
        if not hasattr(target, "getconn"):
            return await self._run(target, statement, values)
        if target.closed:
            raise TypeError("the pool is not open: await pool.open(), or async with pool:")
        async with target.connection() as connection:
            return await self._run(connection, statement, values)

    async def _run(self, connection: Any, statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
        from psycopg import AsyncRawCursor
        from psycopg.rows import tuple_row

        async with AsyncRawCursor(connection, row_factory=tuple_row) as cursor:
            await cursor.execute(statement, values)
            return await cursor.fetchall()

    async def open(self) -> None:
        """Makes the pool of a DSN, also where it was closed."""
        self._closed = False
        if self._dsn is not None:
            await self._pool()

    async def _pool(self) -> Any:
        if self._closed:
            raise RuntimeError(CLOSED)
        process = os.getpid()
        async with self._locks.setdefault(process, asyncio.Lock()):
            if process not in self._pools:
                psycopg, psycopg_pool = _psycopg()
                await (await psycopg.AsyncConnection.connect(self._dsn)).close()
                made = psycopg_pool.AsyncConnectionPool
                pool = made(self._dsn, open=False, min_size=1, max_size=4, kwargs={"autocommit": True}, check=made.check_connection)
                await pool.open(wait=True)  # Else a program that ends without close() may hang in a connection half made.
                self._pools[process] = pool
            return self._pools[process]

    async def close(self) -> None:
        if self._dsn is not None:
            self._closed = True
            pool = self._pools.pop(os.getpid(), None)
            if pool is not None:
                await pool.close()


def _dsn(target: Any) -> str | None:
    if isinstance(target, str) and target.startswith("postgresql+"):
        raise TypeError("that is a URL of SQLAlchemy's: write postgresql://..., without the driver's name")
    return target if isinstance(target, str) else None


def _psycopg() -> tuple[Any, Any]:
    try:
        import psycopg
        import psycopg_pool
    except ImportError as error:
        raise ImportError("a DSN needs psycopg and its pool: install cftrag with its extra psycopg (its README says how, from a checkout)") from error
    return psycopg, psycopg_pool


def _is(target: Any, module: str, name: str) -> bool:
    """Whether it is of that class; if its module was never imported, it is not."""
    found = getattr(sys.modules.get(module), name, None)
    return found is not None and isinstance(target, found)


def _is_asyncpg(target: Any) -> bool:
    return _is(target, "asyncpg", "Connection") or _is(target, "asyncpg", "Pool") or _is(target, "asyncpg.pool", "PoolConnectionProxy")


def _name(target: Any) -> str:
    return f"{type(target).__module__}.{type(target).__qualname__}"
