import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccountNotice } from '#contract/account.ts';
import { accountFields, accountUrl } from '#contract/account.ts';
import { queryNames } from '#contract/screens.ts';
import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { RefusalReason } from '../audit/audit-events.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { setCookie } from '../http/cookies.ts';
import { tellNextPage } from '../http/next-page.ts';
import { refuse } from '../http/refuse.ts';
import { languageOverride } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { toSignIn } from '../sessions/destination.ts';
import { tokenOfFirstSubmit } from '../sessions/session.ts';
import { type Visitor, visitorOf } from '../sessions/visitor.ts';
import { keptFields, showSection } from './account-route.ts';
import { type AccountVisit, accountVisitOf, isFormOf, personOf } from './account-visit.ts';
import { proofToAsk, prove } from './prove.ts';
import { type Fields, type Outcome, type Section, sectionsOfPart } from './section.ts';

const proveAction = 'prove';

/** `POST account/…`: does what a form on a page of this session says, and answers with 303 to the section. */
export function accountFormRoute(deps: Deps, section: Section) {
  const { config } = deps;

  return async function accountForm(request: FastifyRequest, reply: FastifyReply) {
    const visitor = visitorOf(deps, request);
    const fields = (request.body ?? {}) as Fields;
    const doing = fields[accountFields.action] ?? '';
    const isProof = doing === proveAction;
    // A proof is for what was begun; that is what comes back.
    const begun = isProof ? (fields[accountFields.begun] ?? '') : doing;
    const action = Object.hasOwn(section.actions, begun) ? section.actions[begun] : undefined;
    if (!action || (isProof && !action.needsProof))
      return await refuse(deps, reply, 400, { detail: 'Unknown action.', field: accountFields.action });
    const kept = keptFields(section, fields);
    const visit = await accountVisitOf(deps, visitor);
    if (!visit) return await goOnAfterEnd(visitor);
    if (!isFormOf(visit, fields)) return toSection({ notice: 'otherSession' }, false);
    if (visit.account.isPart && sectionsOfPart.every((name) => name !== section.name)) {
      const reference = await recordRefusal(visit, 'not-possible');
      return toSection({ notice: 'notPossible', reference }, false);
    }
    if (!isProof && action.needsProof && proofToAsk(visit, deps.now()) !== null) {
      await recordRefusal(visit, 'no-fresh-proof');
      return toSection({}, true);
    }
    const outcome = await (isProof ? prove : action.run)(deps, visit, fields);
    switch (outcome.kind) {
      case 'signedOut':
        return await goOnAfterEnd(visitor);
      case 'throttled': {
        const shown = { section, visit, begun, kept, notice: 'tooManyAttempts', ...outcome } as const;
        return await showSection(deps, request, reply, shown);
      }
      case 'refused': {
        const reason = reasonOfNotice[outcome.notice];
        const recorded = reason ? await recordRefusal(visit, reason) : outcome.reference;
        return toSection({ ...outcome, reference: recorded ?? referenceOfRequest(request.id) }, true);
      }
      case 'done':
        return answerDone(outcome, isProof);
    }

    /**
     * The second press of a form leads where the first one led, with the same cookie. Otherwise the session has ended, and nothing
     * that was typed is lost but secrets: the section comes back once the person has signed in.
     */
    async function goOnAfterEnd({ who, sessionToken: token }: Visitor) {
      const given = fields.current ?? fields.code ?? fields.password;
      const sessionToken = token && given ? await tokenOfFirstSubmit(deps, { token, given }) : null;
      if (sessionToken)
        return answerDone({ kind: 'done', notice: isProof ? 'proven' : 'passwordChanged', sessionToken }, isProof);
      const page = accountUrl(config.basePath, section.name, { [accountFields.action]: begun, ...kept });
      return toSignIn(deps, reply, { who: await who(), page, status: 303 });
    }

    function answerDone({ notice, to, sessionToken, deviceToken }: Done, goesOn: boolean): FastifyReply {
      if (sessionToken) setCookie(reply, config, 'session', sessionToken);
      if (deviceToken) setCookie(reply, config, 'device', deviceToken, limits.deviceLifetime);
      if (to) return reply.redirect(inLanguage(to, languageOverride(request)), 303);
      return toSection({ notice }, goesOn);
    }

    /**
     * To the section, with a notice; `goesOn`: to what was begun, after its proof or a refusal. `reference`: of the event of a
     * refusal, by which an operator finds it (`vestibule explain`).
     */
    function toSection(
      { notice, reason, reference }: { notice?: AccountNotice | undefined; reason?: number; reference?: string },
      goesOn: boolean,
    ): FastifyReply {
      const query = {
        ...(goesOn && { [accountFields.action]: begun, ...kept }),
        [queryNames.notice]: notice,
        [queryNames.reason]: reason === undefined ? undefined : String(reason),
        [queryNames.language]: languageOverride(request),
      };
      const url = accountUrl(config.basePath, section.name, query);
      if (reference) tellNextPage(reply, config, { username: '', refusal: { reference, url } });
      return reply.redirect(url, 303);
    }
  };

  /** Once a minute; returns the reference of what is recorded. */
  async function recordRefusal(visit: AccountVisit, reason: RefusalReason): Promise<string> {
    const event = { event: 'account-change-refused', reason, ...personOf(visit) } as const;
    return await insertEventOnceAMinute(deps.sql, event, `${reason}:${visit.session.userId}`, deps.now());
  }
}

type Done = Extract<Outcome, { kind: 'done' }>;

const reasonOfNotice: Partial<Record<AccountNotice, RefusalReason>> = {
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
