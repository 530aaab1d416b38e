import type { FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { visitsOfBrowser, visitTokenHash } from '../http/visit-cookies.ts';
import { limits } from '../limits.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { findUserOfReplacement } from '../storage/replaced-session.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import { endQuestions, putQuestion, questionPlace, type SsoRequestRow } from '../storage/sso-request.ts';
import { turnHash } from '../visitor/turn-hash.ts';
import { visitorOf } from '../visitor/visitor.ts';
import { answersOfBrowser } from './answer-cookie.ts';
import type { Identity } from './identity.ts';
import { isOfBrowser } from './visits.ts';

/** Who is fully signed in in a browser. */
type Here = { userId: string; username: string } | null;

/** What a provider said, the user it would sign in after confirmation, and who was signed in when the page asked. */
export type Question = { identity: Identity; username: string; here: Here };

/** Why the person is asked, for the record; null if only because somebody else is signed in. */
export type Asked = Question & { doubt: AuditStep | null; connection: SsoConnection; address: string };

/**
 * Who is signed in in this browser at this moment; an open second factor counts as nobody. This includes a person whose
 * sign-in the browser has sent, although it has not read the response yet.
 */
export async function signedInHere(deps: Deps, request: FastifyRequest): Promise<Here> {
  const visitor = visitorOf(deps, request);
  const hash = turnHash(visitor);
  const next = hash && (await findUserOfReplacement(deps.sql, hash, deps.now()));
  if (next) return next;
  const known = await visitor.who();
  return known.kind === 'full' ? { userId: known.session.userId, username: known.session.username } : null;
}

/**
 * Keeps an answer that would sign in a person other than the expected one; returns the token of the browser that shows
 * the question. Its cookie ends like a visit's, with a sign-in or sign-out. If it was asked before, it ends when that ends.
 */
export async function askWho(
  deps: Deps,
  request: FastifyRequest,
  { id, questionEndsAt }: SsoRequestRow,
  { identity, username, here, ...why }: Asked,
): Promise<string> {
  const token = newToken();
  await putQuestion(deps.sql, id, {
    sealedQuestion: sealQuestion(deps, id, { identity, username, here }),
    questionHash: tokenHash(token),
    endsAt: questionEndsAt ?? new Date(deps.now().getTime() + limits.questionOfAnswer),
  });
  await recordQuestion(deps, request, 'account-change-asked', { identity, username, here, ...why });
  return token;
}

/** Asks again in the same browser, for as long as before, because someone else has signed in there since. */
export async function askAnew(
  deps: Deps,
  request: FastifyRequest,
  row: SsoRequestRow,
  { identity, username, here, ...why }: Asked,
): Promise<void> {
  await putQuestion(deps.sql, row.id, {
    sealedQuestion: sealQuestion(deps, row.id, { identity, username, here }),
    questionHash: row.questionHash as Buffer,
    endsAt: row.questionEndsAt as Date,
  });
  await recordQuestion(deps, request, 'account-change-asked', { identity, username, here, ...why });
}

/** Records that the person was asked, or agreed. A user may be made only then, so the event names them. */
export async function recordQuestion(
  deps: Deps,
  request: FastifyRequest,
  event: 'account-change-asked' | 'account-change-agreed',
  { username, here, doubt, connection, address }: Asked,
): Promise<void> {
  const steps: AuditStep[] = [{ step: 'signed in here', outcome: here?.username ?? 'nobody' }];
  if (doubt !== null) steps.push(doubt);
  const { key, customerKey } = connection;
  const more = { username, connection: key, customerKey, address, requestId: request.id, steps };
  await insertAuditEvent(deps.sql, { event, ...more }, deps.now());
}

/** The page that asks. */
export function questionUrl({ config }: Deps, id: string): string {
  return `${callUrl(config.basePath, 'otherAccount')}?request=${id}`;
}

/** Whether the person who was signed in when the page asked has left since, and nobody has followed. */
export function hasLeft({ here }: Question, now: Here): boolean {
  return here !== null && now === null;
}

/**
 * Whether this browser was asked, even if the question is no longer open: it shows the question's token, and still that
 * of the visit, so that neither alone is worth a session.
 */
export function isAskedHere(deps: Deps, request: FastifyRequest, row: SsoRequestRow): boolean {
  const hash = visitTokenHash(request, deps.config, tokenHash(row.id));
  return hash !== null && row.questionHash?.equals(hash) === true && isOfBrowser(deps, request, row);
}

/** The open question of a request to this browser; null if there is none, or no longer. */
export function openQuestion(deps: Deps, request: FastifyRequest, row: SsoRequestRow): Question | null {
  const { questionEndsAt } = row;
  if (!questionEndsAt || questionEndsAt <= deps.now()) return null;
  return isAskedHere(deps, request, row) ? questionIn(deps, row) : null;
}

/** Ends every open question of this browser, also one that it has not read yet. */
export async function endQuestionsHere({ config, sql, now }: Deps, request: FastifyRequest): Promise<void> {
  const visits = [...visitsOfBrowser(request, config).values()].filter((token) => token !== null);
  await endQuestions(sql, [...visits, ...answersOfBrowser(request, config)].map(tokenHash), now());
}

function sealQuestion({ keys }: Deps, id: string, question: Question): Buffer {
  return seal(keys.seal, JSON.stringify(question), questionPlace(id));
}

/** The question of a request, open or over, whoever asks. Null if there is none, or no current secret opens it. */
export function questionIn({ keys }: Deps, { id, sealedQuestion }: SsoRequestRow): Question | null {
  const text = sealedQuestion && unseal(keys.seal, sealedQuestion, questionPlace(id));
  return text === null ? null : (JSON.parse(text) as Question);
}
