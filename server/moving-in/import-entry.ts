import type { SourceRecord } from './source-user.ts';

/** What a file holds at a line, counted from 1: a record, or the problem with it. */
export type ImportEntry = { line: number; record: SourceRecord } | { line: number; problem: string };
