import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AskedProof, accountFields } from '#contract/account.ts';
import { type DeskAct, type DeskNotice, type DeskView, deskFields, deskPath } from '#contract/desk.ts';
import { queryNames } from '#contract/screens.ts';
import { isFormOf } from '../account/account-visit.ts';
import { proofToAsk, prove } from '../account/prove.ts';
import type { Outcome } from '../account/section.ts';
import { insertAuditEvent, listAuditEventsByReference } from '../audit/audit-event.ts';
import { referenceOfText } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { setCookie } from '../http/cookies.ts';
import { refuse } from '../http/refuse.ts';
import { languageOverride, splitUrl } from '../http/request-url.ts';
import { nothingThere } from '../http/unexpected-error.ts';
import { visitorOf } from '../sessions/visitor.ts';
import type { Asked, DeskPageRoom, Fields } from './desk-page.ts';
import { type DeskVisit, deskVisitOf, Refused } from './desk-visit.ts';
import { eventRowOf } from './event-row.ts';
import { mayAct, rules } from './may-act.ts';

/** What the form of a proof does. */
const proveAction = 'prove';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once `admitToDesk` has let the request in. */
    desk?: DeskVisit;
  }
}

/** Before a body is read: for whoever has no role there is no such address. */
export function admitToDesk(deps: Deps) {
  return async function admit(request: FastifyRequest, reply: FastifyReply) {
    const desk = await deskVisitOf(deps, visitorOf(deps, request));
    if (!desk) return await nothingThere(deps, request, reply);
    request.desk = desk;
    return undefined;
  };
}

/** `GET` and `POST` of a page of the desk. A form is done once its session, its right and its proof are as they must be. */
export function deskRoute<Found>(deps: Deps, room: DeskPageRoom<Found>) {
  return async function deskPage(request: FastifyRequest, reply: FastifyReply) {
    const desk = request.desk as DeskVisit;
    // PostgreSQL has no text with a NUL in it.
    const search = splitUrl(request.url).search.replaceAll('%00', '');
    const query = Object.fromEntries(new URLSearchParams(search)) as Fields;
    const asked: Asked = { desk, request, query, params: request.params as Fields };
    if (!['GET', 'HEAD', 'POST'].includes(request.method)) return await nothingThere(deps, request, reply);
    if (desk.visit.session.proof !== 'code' && desk.visit.session.proof !== 'passkey')
      return await secondFactor(asked, reply);
    const found = await room.find(deps, asked);
    if (found === null) return await foreign(asked, reply, null);
    if (request.method !== 'POST')
      return room.file ? await room.file(deps, asked, found, reply) : await show(asked, found, reply);

    const fields = (request.body ?? {}) as Fields;
    const doing = fields[accountFields.action] ?? '';
    const begun = (doing === proveAction ? fields[accountFields.begun] : doing) as DeskAct;
    const act = Object.hasOwn(room.acts, begun) ? room.acts[begun] : undefined;
    if (!act)
      return await refuse(deps, request, reply, 400, { detail: 'Unknown action.', field: accountFields.action });
    if (!isFormOf(desk.visit, fields)) return await show(asked, found, reply, { notice: 'otherSession', status: 409 });
    const target = room.target(found);
    if (!target || !mayAct(desk.actor, begun, target)) return await foreign(asked, reply, begun);

    const kept = Object.fromEntries(
      [...room.kept, deskFields.seen].flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
    );
    if (rules[begun].needsProof) {
      const proven = doing === proveAction ? await prove(deps, desk.visit, fields) : null;
      const refusal = proven && noticeOf(proven);
      if (proven?.kind === 'done' && proven.sessionToken) setCookie(reply, deps.config, 'session', proven.sessionToken);
      const ask = proven?.kind === 'done' ? null : proofToAsk(desk.visit, deps.now());
      if (ask !== null)
        return await show(asked, found, reply, { begun, ask, kept, notice: refusal, status: refusal ? 400 : 200 });
    }
    try {
      const result = await act(deps, asked, found, fields);
      if (result === 'foreign') return await foreign(asked, reply, begun);
      if (result === 'look') return await show(asked, found, reply, { begun, kept }, fields);
      const query = new URLSearchParams({ [deskFields.done]: desk.by.reference ?? '' });
      const lang = languageOverride(request);
      if (lang) query.set(queryNames.language, lang);
      return reply.redirect(typeof result === 'string' ? `${splitUrl(request.url).path}?${query}` : result.to, 303);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      // What it was refused for may have changed the page.
      const now = (await room.find(deps, asked)) ?? found;
      const { notice, field } = error;
      return await show(asked, now, reply, {
        begun,
        kept,
        notice,
        field,
        status: notice === 'changedMeanwhile' ? 409 : 400,
      });
    }
  };

  type Shown = {
    begun?: DeskAct;
    ask?: AskedProof;
    kept?: Record<string, string>;
    notice?: DeskNotice | null;
    field?: string | null;
    status?: number;
  };

  async function show(asked: Asked, found: Found, reply: FastifyReply, shown: Shown = {}, fields: Fields = {}) {
    return await send(asked, reply, await room.view(deps, asked, found, fields), shown);
  }

  async function send({ desk, request, query }: Asked, reply: FastifyReply, view: DeskView, shown: Shown) {
    const { actor, visit } = desk;
    const { begun = null, ask = null, kept = {}, notice = null, field = null, status = 200 } = shown;
    // What another site's link says was done, was not: only what our own page leads to.
    const site = request.headers['sec-fetch-site'];
    const done = site === undefined || site === 'same-origin' ? referenceOfText(query[deskFields.done] ?? '') : null;
    // Whoever is invited was added before: the last event says what it came to.
    const event = done ? (await listAuditEventsByReference(desk.sql, done)).at(-1) : null;
    return await deps.pages.sendDesk(request, reply, status, {
      view,
      actor: { name: actor.name, username: actor.username, isAdministrator: actor.role === null },
      path: splitUrl(request.url).path.slice((deps.config.basePath + deskPath).length),
      sessionId: visit.session.id,
      notice,
      field,
      result: event?.actor === desk.by.actor ? eventRowOf(desk, event) : null,
      begun,
      ask,
      kept,
    });
  }

  /** The desk opens to who has proven a second factor in this session; whoever has none sets one up. */
  async function secondFactor(asked: Asked, reply: FastifyReply) {
    const { request, desk } = asked;
    const { visit } = desk;
    const fields = (request.body ?? {}) as Fields;
    const asks = visit.account.hasApp ? 'code' : (await hasPasskey(visit.session.userId)) ? 'signIn' : 'setUp';
    const view = { name: 'prove', asks } as const;
    if (request.method !== 'POST' || fields[accountFields.action] !== proveAction || asks !== 'code')
      return await send(asked, reply, view, {});
    if (!isFormOf(visit, fields)) return await send(asked, reply, view, { notice: 'otherSession', status: 409 });
    const proven = await prove(deps, visit, fields);
    const notice = noticeOf(proven);
    if (notice) return await send(asked, reply, view, { notice, status: 400 });
    if (proven.kind === 'done' && proven.sessionToken) setCookie(reply, deps.config, 'session', proven.sessionToken);
    return reply.redirect(request.url, 303);
  }

  async function hasPasskey(userId: string): Promise<boolean> {
    return (await deps.sql`select from passkey where user_id = ${userId} limit 1`).length > 0;
  }

  /** An id of somebody else's, or an act that is not theirs: as if it did not exist, and recorded. */
  async function foreign({ desk, request }: Asked, reply: FastifyReply, act: DeskAct | null) {
    const steps = [
      { step: 'page', outcome: splitUrl(request.url).path },
      ...(act ? [{ step: 'act', outcome: act }] : []),
    ];
    const { now, ...who } = desk.by;
    const { userId, username } = desk.actor;
    await insertAuditEvent(deps.sql, { event: 'desk-refused', userId, username, ...who, steps }, now);
    return await nothingThere(deps, request, reply);
  }
}

/** Why a proof was refused; null if it was not. */
function noticeOf(outcome: Outcome): DeskNotice | null {
  if (outcome.kind === 'done') return null;
  if (outcome.kind === 'throttled') return 'tooManyAttempts';
  if (outcome.kind === 'signedOut') return 'otherSession';
  const { notice } = outcome;
  return notice === 'codeWrong' || notice === 'passwordWrong' || notice === 'entryMissing' ? notice : 'notPossible';
}
