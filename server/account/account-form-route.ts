import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountFields, accountUrl } from '#contract/account.ts';
import type { AccountNotice } from '#contract/account-page.ts';
import { queryNames } from '#contract/screens.ts';
import type { AccountRefusalReason } from '../audit/audit-events.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import type { Deps } from '../deps/deps.ts';
import { setCookie } from '../http/cookies.ts';
import { setLastRefusal } from '../http/last-refusal.ts';
import { refuse } from '../http/refuse.ts';
import { languageOverride } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { tokenOfFirstPress } from '../session/next-token.ts';
import { toSignIn } from '../session/to-sign-in.ts';
import { insertEventOnceAMinute } from '../storage/event-once-a-minute.ts';
import { type KnownVisitor, knownVisitorOf } from '../visitor/visitor.ts';
import { keptFields, showSection } from './account-route.ts';
import { type AccountVisit, accountVisitOf, isFormOf, personOf } from './account-visit.ts';
import { proofToAsk } from './proof-to-ask.ts';
import { prove } from './prove.ts';
import type { Fields, Outcome, Section } from './section.ts';

/** What the form of a proof does, in every section. */
const proveAction = 'prove';

/**
 * `POST account/…`: does what a form of the section says, and answers with 303 to the section. The guard has checked that it
 * comes from our own page, and the form says that it comes from a page of this session.
 */
export function accountFormRoute(deps: Deps, section: Section) {
  const { config } = deps;

  return async function accountForm(request: FastifyRequest, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const fields = (request.body ?? {}) as Fields;
    const doing = fields[accountFields.action] ?? '';
    // A proof is for what was begun; that is what comes back.
    const begun = doing === proveAction ? (fields[accountFields.begun] ?? '') : doing;
    const action = Object.hasOwn(section.actions, begun) ? section.actions[begun] : undefined;
    if (!action || (doing === proveAction && !action.needsProof))
      return await refuse(deps, request, reply, 400, { detail: 'Unknown action.', field: accountFields.action });
    const kept = keptFields(section, fields);
    const visit = await accountVisitOf(deps, visitor);
    if (!visit) return await goOnAfterEnd(visitor);
    if (!isFormOf(visit, fields)) return to(request, reply, { notice: 'otherSession' });
    if (action.needsProof && visit.account.isPart)
      return to(request, reply, { notice: 'notPossible', reference: await recordRefusal(visit, 'not-possible') });
    const asked = doing !== proveAction && action.needsProof ? proofToAsk(visit, deps.now()) : null;
    if (asked !== null) {
      await recordRefusal(visit, 'no-fresh-proof');
      return to(request, reply, { begun, kept });
    }
    const run = doing === proveAction ? prove : action.run;
    const outcome = await run(deps, visit, fields);
    if (outcome.kind === 'signedOut') return await goOnAfterEnd(visitor);
    if (outcome.kind === 'throttled')
      return await showSection(deps, request, reply, {
        section,
        visit,
        begun,
        kept,
        notice: 'tooManyAttempts',
        ...outcome,
      });
    // What was begun goes on after its proof, and after a refusal.
    const goesOn = doing === proveAction || outcome.kind === 'refused';
    const reason = outcome.kind === 'refused' ? reasonOfNotice[outcome.notice] : undefined;
    const recorded = reason ? { ...outcome, reference: await recordRefusal(visit, reason) } : outcome;
    return answer(request, reply, recorded, goesOn ? { begun, kept } : {});

    /**
     * The second press of a form leads where the first one led, with the same cookie. Otherwise the session has ended, and nothing
     * that was typed is lost but secrets: the section comes back once the person has signed in.
     */
    async function goOnAfterEnd({ who, sessionToken: token }: KnownVisitor) {
      const given = fields.current ?? fields.code ?? fields.password ?? fields.credential;
      const sessionToken = token && given ? await tokenOfFirstPress(deps, { token, given }) : null;
      if (sessionToken && doing === proveAction)
        return answer(request, reply, { kind: 'done', notice: 'proven', sessionToken }, { begun, kept });
      if (sessionToken) return answer(request, reply, { kind: 'done', notice: 'passwordChanged', sessionToken }, {});
      const page = accountUrl(config.basePath, section.name, { [accountFields.action]: begun, ...kept });
      return toSignIn(deps, request, reply, { who: await who(), page, status: 303 });
    }
  };

  function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    outcome: Extract<Outcome, { kind: 'done' | 'refused' }>,
    goesOn: { begun?: string; kept?: Record<string, string> },
  ): FastifyReply {
    if (outcome.kind === 'refused')
      return to(request, reply, {
        ...goesOn,
        notice: outcome.notice,
        reason: outcome.reason,
        reference: outcome.reference ?? referenceOfRequest(request.id),
      });
    if (outcome.sessionToken) setCookie(reply, config, 'session', outcome.sessionToken);
    if (outcome.deviceToken) setCookie(reply, config, 'device', outcome.deviceToken, limits.deviceLifetime);
    if (outcome.to) return reply.redirect(inLanguage(outcome.to, languageOverride(request)), 303);
    return to(request, reply, { ...goesOn, notice: outcome.notice });
  }

  function to(
    request: FastifyRequest,
    reply: FastifyReply,
    where: {
      begun?: string;
      kept?: Record<string, string>;
      notice?: AccountNotice | undefined;
      reason?: number | undefined;
      /** Of the event of a refusal, by which an operator finds it (`vestibule explain`). */
      reference?: string;
    },
  ): FastifyReply {
    const { begun, kept = {}, notice, reason, reference } = where;
    const query = {
      [accountFields.action]: begun,
      ...kept,
      [queryNames.notice]: notice,
      [queryNames.reason]: reason === undefined ? undefined : String(reason),
      [queryNames.language]: languageOverride(request),
    };
    const url = accountUrl(config.basePath, section.name, query);
    if (reference) setLastRefusal(reply, config, { reference, username: '', url });
    return reply.redirect(url, 303);
  }

  /** Once a minute; returns the reference of what is recorded. */
  async function recordRefusal(visit: AccountVisit, reason: AccountRefusalReason): Promise<string> {
    const event = { event: 'account-change-refused', reason, ...personOf(visit) } as const;
    return await insertEventOnceAMinute(deps.sql, event, `${reason}:${visit.session.userId}`, deps.now());
  }
}

/** The refusals that nothing else has recorded. */
const reasonOfNotice: Partial<Record<AccountNotice, AccountRefusalReason>> = {
  notPossible: 'not-possible',
  entryMissing: 'entry-missing',
  passkeyName: 'entry-refused',
  changedMeanwhile: 'changed-meanwhile',
};

/** An address of ours with the language that this one asks for. */
function inLanguage(url: string, language: string | undefined): string {
  return language === undefined || url.includes(`${queryNames.language}=`)
    ? url
    : `${url}${url.includes('?') ? '&' : '?'}${queryNames.language}=${language}`;
}
