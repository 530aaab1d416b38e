import { randomBytes } from 'node:crypto';
import { acceptableDestination } from '#contract/destination.ts';
import { queryNames } from '#contract/screens.ts';
import { type Account, landingOf, noAccount, signIn } from './account.ts';
import { type Answer, visitBackend } from './backend-visit.ts';
import { type Finding, judge, judgeRefusal, judgeTarget, notTried, type Verdict } from './finding.ts';
import { targetOf } from './target.ts';

const call = 'POST performlogin';
const isDefaultFailure = (answer: Answer, base: URL) =>
  judgeTarget(
    answer,
    base,
    'loginfail/default',
    (target) => target.kind === 'screen' && target.screen.name === 'loginFail' && target.screen.type === 'default',
  );

/** `POST performlogin` (specification §7, decisions §6). */
export async function* signInChecks(base: URL, account: Account): AsyncGenerator<Finding> {
  const password = randomBytes(12).toString('base64url');
  const post = (username: string) =>
    visitBackend(base).send('performLogin', { form: { username, password, redirectURL: base.pathname } });
  const unknown = await post(`nobody-${password}`);
  yield { call, what: 'an unknown name', ...isDefaultFailure(unknown, base) };
  const wrong = account.username === null ? null : isDefaultFailure(await post(account.username), base);
  yield { call, what: 'a wrong password', ...(wrong ?? notTried(noAccount)) };
  const empty = await visitBackend(base).send('performLogin', { form: {} });
  yield { call, what: 'no fields', ...judgeRefusal(empty, base) };
  yield* rightPassword(base, account);
}

async function* rightPassword(base: URL, account: Account): AsyncGenerator<Finding> {
  const what = 'the right password, with a destination';
  if (account.username === null) {
    for (const each of [what, 'the cookie of a sign-in', 'a destination elsewhere'])
      yield { call, what: each, ...notTried(noAccount) };
    return;
  }
  const destination = `${base.pathname}/portal.html?from=conformance`;
  const answer = await signIn(visitBackend(base), account, destination);
  yield { call, what, ...leadsTo(answer, base, destination) };
  yield { call, what: 'the cookie of a sign-in', ...judgeCookies(answer, base) };
  const lured = await signIn(visitBackend(base), account, 'https://elsewhere.example/');
  yield { call, what: 'a destination elsewhere', ...staysHere(lured, base) };
}

/** The destination itself, or the second factor that carries it on. */
function leadsTo(answer: Answer, base: URL, destination: string): Verdict {
  const expected = 'the destination, or to twoFactor or twoFactorRegistration with redirectURL';
  const landing = landingOf(answer, base);
  const { location } = answer;
  return judgeTarget(answer, base, expected, () => {
    if (!location || landing === 'refused') return false;
    if (landing === 'destination') return location.pathname + location.search === destination;
    return carriedBy(answer, base) === destination;
  });
}

function carriedBy(answer: Answer, base: URL): string | null {
  const target = targetOf(answer, base);
  return target?.kind === 'screen' ? new URLSearchParams(target.search).get(queryNames.redirectUrl) : null;
}

/** Decisions §4: what is not acceptable becomes the default. */
function staysHere(answer: Answer, base: URL): Verdict {
  const rules = { origin: base.origin, basePath: base.pathname, allowedOrigins: [] };
  return judgeTarget(answer, base, 'an address of its own', (target) => {
    const carried = carriedBy(answer, base);
    const isSafe = carried === null || acceptableDestination(carried, rules) !== null;
    return target.kind !== 'elsewhere' && landingOf(answer, base) !== 'refused' && isSafe;
  });
}

function judgeCookies(answer: Answer, base: URL): Verdict {
  const has = (cookie: string, attribute: RegExp) => cookie.split(';').some((part) => attribute.test(part.trim()));
  const { setCookies } = answer;
  const isGuarded = (cookie: string) =>
    has(cookie, /^samesite=(?:lax|strict)$/i) && (base.protocol === 'http:' || has(cookie, /^secure$/i));
  const isKept = setCookies.some((cookie) => has(cookie, /^httponly$/i)) && setCookies.every(isGuarded);
  const expected = 'a cookie with HttpOnly, and SameSite=Lax or Strict and (over https) Secure on all of them';
  const verdict = judge(isKept, expected, answer, base);
  return verdict.kind === 'differs' ? { ...verdict, got: `${setCookies.length} cookies, not all so` } : verdict;
}
