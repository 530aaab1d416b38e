import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { calls } from '#contract/calls.ts';
import type { Deps } from '../deps/deps.ts';
import { isAheadOfPerson } from '../http/navigation.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { browserToBegin } from '../passkeys/browser-to-begin.ts';
import { beginEnrolment, enrol, standingOf } from '../passkeys/enrol.ts';
import { waitOfPasskeys } from '../passkeys/refuse-passkey.ts';
import { tokenHash } from '../secrets/token.ts';
import { takeUpgrade } from '../storage/passkey-upgrade.ts';
import { isFreshSignIn } from '../two-factor/registration.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { type AccountVisit, accountVisitOf } from './account-visit.ts';
import { countChange } from './count-change.ts';
import { proofToAsk } from './proof-to-ask.ts';
import type { Fields } from './section.ts';

/** Where the script leaves what the browser is told, for the script of the ceremonies (web/passkeys/upgrade.ts). */
const tag = `script[src$="${calls.unaskedPasskeyScript.path}"]`;

/**
 * `GET passkeys/upgrade.js`: the script by which a page of this origin lets the browser make a passkey by itself
 * (docs/decisions/0056); empty where it would make none. It begins the ceremony, so the challenge is in this answer and nowhere
 * else: a copy of the cookies that asks later gets none. `scriptUrl`: of the ceremonies.
 */
export function upgradeScriptRoute(deps: Deps, scriptUrl: string) {
  const rp = deps.config.passkeys;

  return async function unaskedPasskeyScript(request: FastifyRequest, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    reply.type('text/javascript');
    if (!isOfOurPage(request.headers)) return reply.send('');
    const visit = await accountVisitOf(deps, visitor);
    if (!rp || !visit || !(await takeUpgradeOf(deps, visit))) return reply.send('');
    const browserToken = await browserToBegin(deps, request, reply, visitor);
    if (browserToken === null) return reply;
    const begun = JSON.stringify(await beginEnrolment(deps, rp, visit, { browserToken, purpose: 'upgrade' }));
    return reply.send(`import ${JSON.stringify(scriptUrl)};
const script = document.querySelector(${JSON.stringify(tag)});
if (script) script.dataset.begun = ${JSON.stringify(begun)};
`);
  };
}

/**
 * `POST passkeys/upgrade`: stores the passkey that the browser has made, with 204; after any refusal the page tells what keeps it
 * that nobody knows it. No form's mark is needed: the challenge, of this session and browser, is as secret.
 */
export function upgradeRoute(deps: Deps) {
  const rp = deps.config.passkeys;

  return async function unaskedPasskey(request: FastifyRequest, reply: FastifyReply) {
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const visit = await accountVisitOf(deps, visitor);
    if (!rp || !visit) return sendProblem(reply, 401);
    if (!isRightAfterPassword(deps, visit)) return sendProblem(reply, 409);
    const { userId: id, username } = visit.session;
    const wait = await waitOfPasskeys(deps, visitor, { id, username });
    const throttled = wait ?? (await countChange(deps, visit, 'passkey'));
    if (throttled) return await refuse(deps, request, reply, 429, { retryAfter: throttled.retryAfter });
    const { credential = '' } = (request.body ?? {}) as Fields;
    const done = await enrol(deps, rp, visit, { answer: credential, purpose: 'upgrade' });
    return done.kind === 'enrolled' ? reply.code(204).send() : sendProblem(reply, 409);
  };
}

/** Another site's page, or one that is fetched ahead, would use up the session's only passkey. */
function isOfOurPage(headers: IncomingHttpHeaders): boolean {
  return ['same-origin', undefined].includes(headers['sec-fetch-site'] as string) && !isAheadOfPerson(headers);
}

/** Whether a passkey may be begun now: each session begins one, right after its sign-in. */
async function takeUpgradeOf(deps: Deps, visit: AccountVisit): Promise<boolean> {
  const { sessionHash, visitor } = visit;
  if (visitor.deviceToken === null || !isRightAfterPassword(deps, visit)) return false;
  if ((await standingOf(deps.sql, visit)) !== 'open') return false;
  return await takeUpgrade(deps.sql, { sessionHash, deviceHash: tokenHash(visitor.deviceToken), now: deps.now() });
}

/** The password was typed within ten minutes, and the code after it where there is an app: what an enrolment asks for. */
function isRightAfterPassword({ now }: Deps, visit: AccountVisit): boolean {
  const { session, account } = visit;
  return !account.isPart && isFreshSignIn(session, now()) && proofToAsk(visit, now()) === null;
}
