import { randomBytes } from 'node:crypto';
import { generateSync } from 'otplib';
import { type Call, calls } from '#contract/calls.ts';
import { acceptableDestination } from '#contract/destination.ts';
import { reasonOfSearch } from '#contract/reasons.ts';
import { queryNames } from '#contract/screens.ts';
import {
  type Answer,
  judge,
  judgeCookies,
  judgeTarget,
  landingOf,
  type Sender,
  type Target,
  type Verdict,
  visitBackend,
} from './backend-visit.ts';

/** What the checks know of the backend's side; what is missing is not tried. */
export type Account = {
  username?: string;
  password?: string;
  /** Of its authenticator app, in base32. */
  totpSecret?: string;
  /** Of somebody who may be sent a reset link. */
  email?: string;
  /** Of somebody who signs in through a provider. */
  ssoEmail?: string;
  /** An open reset link, or its hash, and the password that it may set. */
  resetLink?: string;
  newPassword?: string;
};

/** What came of one check. `call` is the method and path of specification §7. */
export type Finding = { call: string; what: string } & Verdict;

/** By call and by what is tried: how, or why it cannot be. */
type Checks = Partial<Record<Call, Record<string, string | (() => Promise<Verdict>)>>>;

type Post = (call: Call, form: Record<string, string>, by?: Sender) => Promise<Answer>;

/** What is checked, by whom; `post` sends a form in a browser of its own. */
type Backend = { base: URL; account: Account; codeNow: () => string; post: Post };

/**
 * Tries every call of specification §7 at a backend, as a browser with the pages would. `base` is the address below which
 * the calls lie. Throws if the backend does not answer.
 */
export async function* conformanceChecks(base: URL, account: Account, now: () => Date): AsyncGenerator<Finding> {
  const codeNow = () => {
    const { totpSecret: secret } = account;
    return secret ? generateSync({ secret, epoch: Math.floor(now().getTime() / 1000) }) : '123456';
  };
  const post: Post = (call, form, by = 'page') => visitBackend(base).send(call, by, { form });
  for (const group of [signIn, signOut, singleSignOn, password, twoFactor, crossSite])
    for (const [call, tried] of Object.entries(await group({ base, account, codeNow, post })))
      for (const [what, run] of Object.entries(tried)) {
        const verdict: Verdict = typeof run === 'string' ? { kind: 'not tried', why: run } : await run();
        const { method, path } = calls[call as Call];
        yield { call: `${method} ${path.slice(1)}`, what, ...verdict };
      }
}

function signIn({ base, account, post }: Backend): Checks {
  const { username = '', password = '' } = account;
  const missing = needs('username', account.username);
  const wrong = randomBytes(12).toString('base64url');
  const fails = async (username: string) =>
    judgeTarget(
      await post('performLogin', { username, password: wrong, redirectURL: base.pathname }),
      'loginfail/default',
      ({ screen }) => screen?.name === 'loginFail' && screen.type === 'default',
    );
  const right = (redirectURL: string) => post('performLogin', { username, password, redirectURL });
  const carried = ({ target }: Answer) => (target?.screen ? target.query.get(queryNames.redirectUrl) : null);
  async function toDestination() {
    const destination = `${base.pathname}/portal.html?from=conformance`;
    const answer = await right(destination);
    const { pathname = '', search = '' } = answer.location ?? {};
    const arrives = landingOf(answer) === 'destination' && pathname + search === destination;
    const expected = 'the destination, or to twoFactor or twoFactorRegistration with redirectURL';
    return judgeTarget(answer, expected, () => arrives || carried(answer) === destination);
  }
  async function staysHere() {
    const answer = await right('https://elsewhere.example/');
    const rules = { origin: base.origin, basePath: base.pathname, allowedOrigins: [] };
    const then = carried(answer);
    const isSafe = then === null || acceptableDestination(then, rules) !== null;
    const isHere = landingOf(answer) !== 'refused' && answer.location?.origin === base.origin;
    return judgeTarget(answer, 'an address of its own', () => isHere && isSafe);
  }
  return {
    performLogin: {
      'an unknown name': () => fails(`nobody-${wrong}`),
      'a wrong password': missing ?? (() => fails(username)),
      'the right password, with a destination': missing ?? toDestination,
      'the cookie of a sign-in': missing ?? (async () => judgeCookies(await right(base.pathname), base)),
      'a destination elsewhere': missing ?? staysHere,
    },
  };
}

function signOut({ base }: Backend): Checks {
  const leave = (by: Sender) => visitBackend(base).send('logout', by);
  return {
    logout: {
      'by script': async () => isDone(await leave('script')),
      'by a link': () => leadsTo(leave('page'), 'login'),
    },
  };
}

function singleSignOn({ base, account: { ssoEmail }, post }: Backend): Checks {
  /** To a provider, at once or by an address of the backend's own. */
  const isAway = ({ screen }: Target) => screen === null;
  const isFailure = ({ screen }: Target) => screen?.name === 'loginFail' && /^(?:oidc|saml)$/.test(screen.type);
  const leave = (username: string) => post('performSsoLogin', { username, redirectURL: base.pathname });
  const begin = () => post('checkSsoLogin', { redirectURLSSO: base.pathname });
  const isFormOrAway = (target: Target) => isScreen('singleSignOn')(target) || isAway(target);
  const unknown = 'nobody@unknown.invalid';
  return {
    checkSsoLogin: {
      'a new browser': async () => judgeTarget(await begin(), 'singleSignOn, or to a provider', isFormOrAway),
    },
    performSsoLogin: {
      'an unknown domain': async () => judgeTarget(await leave(unknown), 'loginfail/oidc or loginfail/saml', isFailure),
      'a known domain':
        needs('ssoEmail', ssoEmail) ?? (async () => judgeTarget(await leave(ssoEmail ?? ''), 'the provider', isAway)),
    },
  };
}

function password({ account, post }: Backend): Checks {
  const { email = '', resetLink = '', newPassword = '' } = account;
  const hash = URL.parse(resetLink)?.searchParams.get(queryNames.hash) ?? resetLink;
  const nobody = () => `nobody-${randomBytes(8).toString('hex')}@unknown.invalid`;
  const ask = (username: string, by: Sender) => post('passwordForgotten', { username }, by);
  const change = (password: string, repeat: string, hash: string) => post('passwordChange', { password, repeat, hash });
  const fresh = `Zeltplatz-${randomBytes(6).toString('base64url')}-9!`;
  /** The failure page with one of these reasons, or the form itself. */
  const fails = async (answer: Promise<Answer>, ...reasons: number[]) =>
    judgeTarget(
      await answer,
      `forgottenChangeFailedInfo?reason=${reasons.join(' or ')}`,
      (target) =>
        (isScreen('forgottenChangeFailedInfo')(target) || isScreen('forgottenChange')(target)) &&
        reasons.includes(reasonOfSearch(`?${target.query}`) ?? 0),
    );
  const missing = needs('resetLink', account.resetLink) ?? needs('newPassword', account.newPassword);
  async function isAsUnknown() {
    const [unknown, known] = [await ask(nobody(), 'script'), await ask(email, 'script')];
    return judge(known, `${unknown.status}`, known.status === unknown.status);
  }
  return {
    passwordForgotten: {
      'an unknown address, by script': async () => isDone(await ask(nobody(), 'script')),
      'the form without JavaScript': () => leadsTo(ask(nobody(), 'page'), 'emailInfo'),
      'a known address, as an unknown one': needs('email', account.email) ?? isAsUnknown,
    },
    passwordChange: {
      'an unknown link': () => fails(change(fresh, fresh, randomBytes(32).toString('hex')), 4),
      'two different passwords': missing ?? (() => fails(change(fresh, `${fresh}x`, hash), 5)),
      'a weak password': missing ?? (() => fails(change('aaaaaaaa', 'aaaaaaaa', hash), 1)),
      'a new password': missing ?? (() => leadsTo(change(newPassword, newPassword, hash), 'forgottenChangedInfo')),
      'the same link again': missing ?? (() => fails(change(fresh, fresh, hash), 3, 4)),
    },
  };
}

async function twoFactor({ base, account, codeNow }: Backend): Promise<Checks> {
  const { username, password = '' } = account;
  async function signedIn() {
    const visit = visitBackend(base);
    const form = { username: username ?? '', password, redirectURL: base.pathname };
    return { visit, landing: username ? landingOf(await visit.send('performLogin', 'page', { form })) : 'refused' };
  }
  const { visit, landing } = await signedIn();
  const noAccount = needs('username', username);
  const isPending = landing !== 'destination' && landing !== 'refused';
  const noFactor = noAccount ?? (isPending ? null : 'the account has no second factor');
  const noSetUp = noAccount ?? (landing === 'registration' ? null : 'the account need not set up an app');
  const noApp = noAccount ?? (landing === 'app' ? needs('totpSecret', account.totpSecret) : 'the account has no app');
  const verify = (code: string, browser = visit) => browser.send('twoFactorVerify', 'script', { json: code });
  const registration = async (browser = visit) => await browser.send('twoFactorRegistration', 'script');
  const keyOf = ({ json }: Answer) => (json ?? {}) as { url?: unknown; totpSecret?: unknown };
  const refuses = async (answer: Promise<Answer>) => {
    const given = await answer;
    return judge(given, '4xx, or falsy JSON', !isRight(given) && given.status < 500);
  };
  async function refusesStranger() {
    const answer = await registration(visitBackend(base));
    return judge(answer, '401', answer.status >= 300 && answer.status < 500);
  }
  async function answersWrong() {
    const answer = await verify('000000');
    return judge(answer, '200 with falsy JSON', isAnswered(answer) && answer.json !== undefined && !answer.json);
  }
  async function givesKey() {
    const answer = await registration();
    const { url, totpSecret } = keyOf(answer);
    // The page shows a picture of its own origin or in the address itself, and no other (img-src of its policy).
    const isImage = typeof url === 'string' && /^(?:data:image\/|\/(?!\/))/.test(url);
    const isSecret = typeof totpSecret === 'string' && /^[A-Z2-7]{16,}=*$/i.test(totpSecret);
    const expected = '200 with url, an image address, and totpSecret, base32';
    return judge(answer, expected, answer.status === 200 && isImage && isSecret);
  }
  async function keepsKey() {
    const [once, again] = [await registration(), await registration()];
    return judge(again, 'the same totpSecret', keyOf(once).totpSecret === keyOf(again).totpSecret);
  }
  async function takesCode() {
    const answer = await verify(code, (await signedIn()).visit);
    return judge(answer, 'truthy JSON (a code works once: was it used a moment ago?)', isRight(answer));
  }
  const code = codeNow();
  return {
    twoFactorRegistration: {
      'without a sign-in': refusesStranger,
      'url and totpSecret': noSetUp ?? givesKey,
      'the same secret on a reload': noSetUp ?? keepsKey,
    },
    twoFactorVerify: {
      'without a sign-in': () => refuses(verify(code, visitBackend(base))),
      'a wrong code': noFactor ?? answersWrong,
      'the right code': noApp ?? takesCode,
      'the same code again': noApp ?? (async () => refuses(verify(code, (await signedIn()).visit))),
    },
  };
}

/** What another site's form posts is refused. JSON is not posted without the backend's agreement. */
function crossSite({ post }: Backend): Checks {
  const form = { username: 'nobody@unknown.invalid', password: 'x', repeat: 'x', hash: 'x' };
  const posted = ['performLogin', 'checkSsoLogin', 'performSsoLogin', 'passwordForgotten', 'passwordChange'] as const;
  const refuses = (call: Call) => async () => {
    const answer = await post(call, form, 'otherSite');
    return judge(answer, '403', answer.status >= 400 && answer.status < 500);
  };
  return Object.fromEntries(posted.map((call) => [call, { 'posted by another site': refuses(call) }]));
}

const needs = (name: keyof Account, value: unknown) => (value ? null : `needs ${name} of the account`);
const isScreen = (name: string) => (target: Target) => target.screen?.name === name;
const leadsTo = async (answer: Promise<Answer>, name: string) => judgeTarget(await answer, name, isScreen(name));
const isAnswered = ({ status }: Answer) => status >= 200 && status < 300;
const isDone = (answer: Answer) =>
  judge(answer, '2xx, or a redirect', isAnswered(answer) || (answer.status >= 300 && answer.status < 400));

/** Whether the page takes it for a right code. */
const isRight = (answer: Answer) => isAnswered(answer) && Boolean(answer.json);
