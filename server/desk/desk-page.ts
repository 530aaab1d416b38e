import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DeskAct, DeskNotice, DeskView } from '#contract/desk.ts';
import type { Deps } from '../deps.ts';
import type { Reading } from '../names/read-name.ts';
import type { DeskVisit } from './desk-visit.ts';
import type { Target } from './may-act.ts';

export type Fields = Partial<Record<string, string>>;

/** What a request to a page of the desk comes with; `params`: of the address. */
export type Asked = { desk: DeskVisit; params: Fields; query: Fields; request: FastifyRequest };

/** One page of the desk: what it is about, what it shows, and what its forms do. `Found`: read anew for each request. */
export type DeskPageRoom<Found> = {
  /** Below `/desk`, with parameters. */
  path: string;
  /** The most bytes that a form of it may have, if not the usual. */
  bodyLimit?: number;
  /** What the page is about; null if there is no such thing, or none for whoever asks. */
  find: (deps: Deps, asked: Asked) => Promise<Found | null>;
  /** What its forms are done to. */
  target?: (found: Found) => Target;
  /** `fields`: of a form whose act shows something before it is done, such as a rehearsal. */
  view: (deps: Deps, asked: Asked, found: Found, fields: Fields) => Promise<DeskView>;
  acts?: Partial<Record<DeskAct, Act<Found>>>;
  /** Sends a file in place of the page. */
  file?: (desk: DeskVisit, found: Found, reply: FastifyReply) => Promise<FastifyReply>;
};

/**
 * Does what a form says, or throws Refused. Returns where that leads: `done` back to the page, with what was recorded; `look` shows
 * the page with the fields, and has changed nothing; `to` another address.
 */
export type Act<Found> = (deps: Deps, asked: Asked, found: Found, fields: Fields) => Promise<ActResult>;
type ActResult = 'done' | 'look' | { to: string };

/** Why nothing was done; `field`: which entry. `foreign`: a form names something of somebody else's. */
export class Refused extends Error {
  readonly notice: DeskNotice | 'foreign';
  readonly field: string | null;
  constructor(notice: DeskNotice | 'foreign', field: string | null = null) {
    super(notice);
    this.notice = notice;
    this.field = field;
  }
}

/** An entry as it is stored; refused if it was not read. */
export function accepted<T>(reading: Reading<T>, field: string): T {
  if (reading.kind === 'refused') throw new Refused('entryRefused', field);
  return reading.value;
}

/** Why an act on accounts was not done, by its result or by what the problem of a refusal begins with. */
const refusals: Partial<Record<string, [DeskNotice, field?: string]>> = {
  notFound: ['notPossible'],
  useless: ['notPossible'],
  nothing: ['nothingChanged'],
  unchanged: ['nothingChanged'],
  changedMeanwhile: ['changedMeanwhile'],
  notAgreed: ['entryRefused', 'connection'],
  refused: ['entryRefused'],
  role: ['lastOperator'],
  email: ['entryRefused', 'email'],
  username: ['entryRefused', 'email'],
  customer: ['entryRefused', 'customers'],
  group: ['entryRefused', 'groups'],
  invitation: ['entryRefused', 'invitation'],
};

/** Back to the page, if that is how an act on accounts went. */
export function done(result: number | boolean | null | { kind: string; problem?: string }): 'done' {
  if (result === null || result === false) throw new Refused('notPossible');
  const { kind, problem = '' } = typeof result === 'object' ? result : { kind: 'done' };
  const refusal = refusals[problem.split(':', 1)[0] ?? ''] ?? refusals[kind];
  if (refusal) throw new Refused(...refusal);
  return 'done';
}
