import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountFields } from '#contract/account.ts';
import { type DeskAct, type DeskNotice, type DeskPage, type DeskView, deskFields } from '#contract/desk.ts';
import { queryNames } from '#contract/screens.ts';
import { isFormOf } from '../account/account-visit.ts';
import { proofToAsk, prove } from '../account/prove.ts';
import { insertAuditEvent, listAuditEvents } from '../audit/audit-event.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import { referenceOfText } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { setCookie } from '../http/cookies.ts';
import { refuse } from '../http/refuse.ts';
import { languageOverride, recordable, splitUrl } from '../http/request-url.ts';
import { nothingThere } from '../http/unexpected-error.ts';
import { type Asked, type DeskPageRoom, type Fields, Refused } from './desk-page.ts';
import type { DeskVisit } from './desk-visit.ts';
import { eventRowOf } from './events.ts';
import { mayAct, rules } from './may-act.ts';

const proveAction = 'prove';

/** The fields of a form that are no entries, or secret: all others come back after a refusal or a proof. */
const notKept: readonly string[] = [...Object.values(accountFields), 'code', 'password'];

/** Of the notices of a proof, those that the desk has too. */
const told = ['codeWrong', 'passwordWrong', 'entryMissing'] as const;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request was let in. */
    desk?: DeskVisit;
  }
}

/** `GET` and `POST` of a page of the desk. A form is done once its session, its right and its proof are as they must be. */
export function deskRoute<Found>(deps: Deps, room: Omit<DeskPageRoom<Found>, 'path'>) {
  return async function deskPage(request: FastifyRequest, reply: FastifyReply) {
    const desk = request.desk as DeskVisit;
    const { visit, actor } = desk;
    const fields = (request.body ?? {}) as Fields;
    const doing = fields[accountFields.action] ?? '';
    const { path, search } = splitUrl(request.url);
    // PostgreSQL has no text with a NUL in it.
    const asText = [...new URLSearchParams(search)].map(([name, value]) => [name, value.replaceAll('\0', '')]);
    const query = Object.fromEntries(asText) as Fields;
    const asked: Asked = { desk, request, query, params: request.params as Fields };
    if (!['GET', 'HEAD', 'POST'].includes(request.method)) return await nothingThere(deps, request, reply);
    if (visit.session.proof !== 'code' && visit.session.proof !== 'passkey') return await secondFactor();
    const found = await room.find(deps, asked);
    if (found === null) return await foreign(null);
    const view = (fields: Fields = {}) => room.view(deps, asked, found, fields);
    if (request.method !== 'POST') return room.file ? await room.file(desk, found, reply) : await show(await view());

    const begun = (doing === proveAction ? fields[accountFields.begun] : doing) as DeskAct;
    const act = room.acts && Object.hasOwn(room.acts, begun) ? room.acts[begun] : undefined;
    if (!act) return await refuse(deps, reply, 400, { detail: 'Unknown action.', field: accountFields.action });
    if (!isFormOf(visit, fields)) return await show(await view(), { notice: 'otherSession' }, 409);
    const target = room.target?.(found);
    if (!target || !mayAct(actor, begun, target)) return await foreign(begun);

    const entries = Object.entries(fields).filter(([name]) => !notKept.includes(name));
    const kept = Object.fromEntries(entries) as Record<string, string>;
    if (rules[begun].needsProof) {
      const refusal = doing === proveAction ? await takeProof() : 'none given';
      const notice = refusal === 'none given' ? null : refusal;
      const ask = refusal === null ? null : proofToAsk(visit, deps.now());
      if (ask !== null) return await show(await view(), { begun, ask, kept, notice }, notice ? 400 : 200);
    }
    try {
      const result = await act(deps, asked, found, fields);
      if (result === 'look') return await show(await view(fields), { begun, kept });
      const query = new URLSearchParams({ [deskFields.done]: desk.by.reference ?? '' });
      const lang = languageOverride(request);
      if (lang) query.set(queryNames.language, lang);
      return reply.redirect(result === 'done' ? `${path}?${query}` : result.to, 303);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { notice, field } = error;
      if (notice === 'foreign') return await foreign(begun);
      if (field === 'email' || field === 'username')
        await record([
          { step: 'act', outcome: begun },
          { step: 'refused', outcome: field },
        ]);
      // What it was refused for may have changed the page.
      const now = (await room.find(deps, asked)) ?? found;
      const shown = await room.view(deps, asked, now, {});
      return await show(shown, { begun, kept, notice, field }, notice === 'changedMeanwhile' ? 409 : 400);
    }

    async function show(view: DeskView, shown: Partial<DeskPage> = {}, status = 200) {
      // What another site's link says was done, was not: only what our own page leads to.
      const site = request.headers['sec-fetch-site'];
      const done = site === undefined || site === 'same-origin' ? referenceOfText(query[deskFields.done] ?? '') : null;
      // Whoever is invited was added before: the last event says what it came to.
      const [event] = done ? await listAuditEvents(desk.sql, { reference: done, limit: 1 }) : [];
      return await deps.pages.sendDesk(reply, status, {
        view,
        actor: { name: actor.name, username: actor.username, isAdministrator: actor.role === null },
        sessionId: visit.session.id,
        result: event?.actor === desk.by.actor ? eventRowOf(desk, event) : null,
        ...{ notice: null, field: null, begun: null, ask: null, kept: {} },
        ...shown,
      });
    }

    /** The desk opens to who has proven a second factor in this session; whoever has none sets one up. */
    async function secondFactor() {
      const { userId } = visit.session;
      const passkeys = await deps.sql`select from passkey where user_id = ${userId} limit 1`;
      const asks = visit.account.hasApp ? 'code' : passkeys.length > 0 ? 'signIn' : 'setUp';
      const view = { name: 'prove', asks } as const;
      if (request.method !== 'POST' || doing !== proveAction || asks !== 'code') return await show(view);
      if (!isFormOf(visit, fields)) return await show(view, { notice: 'otherSession' }, 409);
      const notice = await takeProof();
      return notice ? await show(view, { notice }, 400) : reply.redirect(request.url, 303);
    }

    /** Why the proof of a form was refused; null if it was right. */
    async function takeProof(): Promise<DeskNotice | null> {
      const outcome = await prove(deps, visit, fields);
      if (outcome.kind === 'throttled') return 'tooManyAttempts';
      if (outcome.kind === 'signedOut') return 'otherSession';
      const { notice } = outcome;
      if (outcome.kind === 'refused') return told.find((one) => one === notice) ?? 'notPossible';
      if (outcome.sessionToken) setCookie(reply, deps.config, 'session', outcome.sessionToken);
      return null;
    }

    /** An id of somebody else's, or an act that is not theirs: as if it did not exist, and recorded. */
    async function foreign(act: DeskAct | null) {
      await record([{ step: 'page', outcome: recordable(path) }, ...(act ? [{ step: 'act', outcome: act }] : [])]);
      return await nothingThere(deps, request, reply);
    }

    /** What was refused, also a name that somebody has: whoever asks for many learns who has an account. */
    async function record(steps: AuditStep[]): Promise<void> {
      const { now, ...who } = desk.by;
      const { userId, username } = actor;
      await insertAuditEvent(deps.sql, { event: 'desk-refused', userId, username, ...who, steps }, now);
    }
  };
}
