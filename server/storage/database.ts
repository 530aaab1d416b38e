import type postgres from 'postgres';

/** The location of a database: the address of a server, or the socket of the built-in one. */
export type Place = { url: string } | { path: string; database: string; user: string; password: string };

/** A pool of connections, on which transactions are begun. */
export type Database = postgres.Sql<{ bigint: number }>;

/** The first parameter of storage functions: the pool, or one of its transactions. */
export type Connection = postgres.ISql<{ bigint: number }>;
