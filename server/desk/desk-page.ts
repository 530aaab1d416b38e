import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DeskAct, DeskView } from '#contract/desk.ts';
import type { Deps } from '../deps.ts';
import type { DeskVisit } from './desk-visit.ts';
import type { Target } from './may-act.ts';

export type Fields = Partial<Record<string, string>>;

/** What a request to a page of the desk comes with. */
export type Asked = {
  desk: DeskVisit;
  /** Of the address. */
  params: Fields;
  query: Fields;
  request: FastifyRequest;
};

/** One page of the desk: what it is about, what it shows, and what its forms do. `Found`: read anew for each request. */
export type DeskPageRoom<Found> = {
  /** Below `/desk`, with parameters. */
  path: string;
  /** The most bytes that a form of it may have, if not the usual. */
  bodyLimit?: number;
  /** What the page is about; null if there is no such thing, or none for whoever asks. */
  find: (deps: Deps, asked: Asked) => Promise<Found | null>;
  /** What its forms are done to, and whether that is as the page knew it; null where there are none. */
  target: (found: Found) => Target | null;
  /** The fields that are no secrets: they come back after a refusal or a proof. */
  kept: readonly string[];
  /** `fields`: of a form whose act shows something before it is done, such as a rehearsal. */
  view: (deps: Deps, asked: Asked, found: Found, fields: Fields) => Promise<DeskView>;
  acts: Partial<Record<DeskAct, Act<Found>>>;
  /** Sends a file in place of the page. */
  file?: (deps: Deps, asked: Asked, found: Found, reply: FastifyReply) => Promise<FastifyReply>;
};

/**
 * Does what a form says, or throws Refused. Returns where that leads: `done` back to the page, with what was recorded; `look` shows
 * the page with the fields, and has changed nothing; `foreign`: it names something of somebody else's; `to` another address.
 */
export type Act<Found> = (deps: Deps, asked: Asked, found: Found, fields: Fields) => Promise<ActResult>;
export type ActResult = 'done' | 'look' | 'foreign' | { to: string };
