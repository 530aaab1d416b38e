import type postgres from 'postgres';

/** Where a database is: the address of a server, or the socket of the built-in one. */
export type Place = { url: string } | { path: string; database: string; user: string; password: string };

/** A pool of connections, on which transactions are begun. */
export type Database = postgres.Sql<{ bigint: number }>;

/** What a storage function takes first: the pool, or one transaction of it. */
export type Connection = postgres.ISql<{ bigint: number }>;
