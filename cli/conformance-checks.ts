import { randomBytes } from 'node:crypto';
import { generateSync } from 'otplib';
import type { Call } from '#contract/calls.ts';
import { acceptableDestination } from '#contract/destination.ts';
import { reasonOfSearch } from '#contract/reasons.ts';
import {
  type Answer,
  type BackendVisit,
  carriedBy,
  check,
  type Finding,
  judge,
  judgeCookies,
  judgeTarget,
  landingOf,
  postForm,
  type Sender,
  signedIn,
  type Target,
  visitBackend,
} from './backend-visit.ts';

/** What the checks know of the backend's side; what is missing is not tried. */
export type Account = {
  username: string | null;
  password: string | null;
  /** Of its authenticator app, in base32. */
  totpSecret: string | null;
  /** Of somebody who may be sent a reset link. */
  email: string | null;
  /** Of somebody who signs in through a provider. */
  ssoEmail: string | null;
  /** The hash of a reset link, and the password that it may set. */
  reset: { hash: string; password: string } | null;
};

/**
 * Tries every call of specification §7 at a backend, as a browser with the pages would. `base` is the address below which
 * the calls lie. Throws if the backend does not answer.
 */
export async function* conformanceChecks(base: URL, account: Account, now: () => Date): AsyncGenerator<Finding> {
  yield* signIn(base, account);
  yield* signOut(base);
  yield* singleSignOn(base, account);
  yield* password(base, account);
  yield* twoFactor(base, account, now);
  yield* crossSite(base);
}

async function* signIn(base: URL, account: Account): AsyncGenerator<Finding> {
  const call = 'performLogin';
  const missing = needs('--username', account.username);
  const wrong = randomBytes(12).toString('base64url');
  const post = (username: string | null, password: string | null, redirectURL: string) =>
    postForm(base, call, { username: username ?? '', password: password ?? '', redirectURL });
  const right = (redirectURL: string) => post(account.username, account.password, redirectURL);
  const isDefaultFailure = ({ screen }: Target) => screen?.name === 'loginFail' && screen.type === 'default';
  const fails = async (username: string | null) =>
    judgeTarget(await post(username, wrong, base.pathname), base, 'loginfail/default', isDefaultFailure);
  yield await check(call, 'an unknown name', null, () => fails(`nobody-${wrong}`));
  yield await check(call, 'a wrong password', missing, () => fails(account.username));
  yield await check(call, 'the right password, with a destination', missing, async () => {
    const destination = `${base.pathname}/portal.html?from=conformance`;
    const answer = await right(destination);
    const expected = 'the destination, or to twoFactor or twoFactorRegistration with redirectURL';
    const landing = landingOf(answer, base);
    const { pathname = '', search = '' } = answer.location ?? {};
    return judgeTarget(answer, base, expected, () => {
      if (landing === 'destination') return pathname + search === destination;
      return landing !== 'refused' && carriedBy(answer, base) === destination;
    });
  });
  yield await check(call, 'the cookie of a sign-in', missing, async () =>
    judgeCookies(await right(base.pathname), base),
  );
  yield await check(call, 'a destination elsewhere', missing, async () => {
    const answer = await right('https://elsewhere.example/');
    const rules = { origin: base.origin, basePath: base.pathname, allowedOrigins: [] };
    const carried = carriedBy(answer, base);
    const isSafe = carried === null || acceptableDestination(carried, rules) !== null;
    const isHere = landingOf(answer, base) !== 'refused' && answer.location?.origin === base.origin;
    return judgeTarget(answer, base, 'an address of its own', () => isHere && isSafe);
  });
}

async function* singleSignOn(base: URL, { ssoEmail }: Account): AsyncGenerator<Finding> {
  /** To a provider, at once or by an address of the backend's own. */
  const isAway = ({ screen }: Target) => screen === null;
  const isFailure = ({ screen }: Target) => screen?.name === 'loginFail' && /^(?:oidc|saml)$/.test(screen.type);
  const leave = async (username: string, expected: string, isRight: (target: Target) => boolean) =>
    judgeTarget(
      await postForm(base, 'performSsoLogin', { username, redirectURL: base.pathname }),
      base,
      expected,
      isRight,
    );
  yield await check('checkSsoLogin', 'a new browser', null, async () =>
    judgeTarget(
      await postForm(base, 'checkSsoLogin', { redirectURLSSO: base.pathname }),
      base,
      'singleSignOn, or to a provider',
      (target) => isScreen('singleSignOn')(target) || isAway(target),
    ),
  );
  yield await check('performSsoLogin', 'an unknown domain', null, () =>
    leave('nobody@unknown.invalid', 'loginfail/oidc or loginfail/saml', isFailure),
  );
  yield await check('performSsoLogin', 'a known domain', needs('--sso-email', ssoEmail), () =>
    leave(ssoEmail ?? '', 'the provider', isAway),
  );
}

async function* password(base: URL, { email, reset }: Account): AsyncGenerator<Finding> {
  const nobody = () => `nobody-${randomBytes(8).toString('hex')}@unknown.invalid`;
  const ask = (username: string, by: Sender) => postForm(base, 'passwordForgotten', { username }, by);
  const isDone = ({ status }: Answer) => status >= 200 && status < 400;
  const change = (one: string, repeat: string, hash: string) =>
    postForm(base, 'passwordChange', { password: one, repeat, hash });
  const fresh = `Zeltplatz-${randomBytes(6).toString('base64url')}-9!`;
  /** The failure page with one of these reasons, or the form itself. */
  const failsFor = async (answer: Promise<Answer>, ...reasons: number[]) =>
    judgeTarget(
      await answer,
      base,
      `forgottenChangeFailedInfo?reason=${reasons.join(' or ')}`,
      (target) =>
        target.screen !== null &&
        ['forgottenChangeFailedInfo', 'forgottenChange'].includes(target.screen.name) &&
        reasons.includes(reasonOfSearch(`?${target.query}`) ?? 0),
    );
  const missing = needs('--reset-link', reset);
  const { hash, password: wanted } = reset ?? { hash: '', password: '' };
  yield await check('passwordForgotten', 'an unknown address, by script', null, async () => {
    const answer = await ask(nobody(), 'script');
    return judge(answer, base, '2xx, or a redirect', isDone(answer));
  });
  yield await check('passwordForgotten', 'the form without JavaScript', null, async () =>
    judgeTarget(await ask(nobody(), 'page'), base, 'emailInfo', isScreen('emailInfo')),
  );
  yield await check(
    'passwordForgotten',
    'a known address, as an unknown one',
    email === null ? 'needs --email, which gets a reset link' : null,
    async () => {
      const [unknown, known] = [await ask(nobody(), 'script'), await ask(email ?? '', 'script')];
      return judge(known, base, `${unknown.status}`, known.status === unknown.status);
    },
  );
  yield await check('passwordChange', 'an unknown link', null, () =>
    failsFor(change(fresh, fresh, randomBytes(32).toString('base64url')), 4),
  );
  yield await check('passwordChange', 'two different passwords', missing, () =>
    failsFor(change(fresh, `${fresh}x`, hash), 5),
  );
  yield await check('passwordChange', 'a weak password', missing, () =>
    failsFor(change('aaaaaaaa', 'aaaaaaaa', hash), 1),
  );
  yield await check('passwordChange', 'a new password', missing, async () =>
    judgeTarget(await change(wanted, wanted, hash), base, 'forgottenChangedInfo', isScreen('forgottenChangedInfo')),
  );
  yield await check('passwordChange', 'the same link again', missing, () => failsFor(change(fresh, fresh, hash), 3, 4));
}

async function* twoFactor(base: URL, account: Account, now: () => Date): AsyncGenerator<Finding> {
  const { totpSecret } = account;
  const { visit, landing } = await signedIn(base, account);
  const noAccount = needs('--username', account.username);
  const isPending = landing !== 'destination' && landing !== 'refused';
  const noFactor = noAccount ?? (isPending ? null : 'the account has no second factor');
  const noSetUp = noAccount ?? (landing === 'registration' ? null : 'the account need not set up an app');
  const noApp = noAccount ?? (landing !== 'app' ? 'the account has no app' : needs('--totp', totpSecret));
  const ask = (browser: BackendVisit) => browser.send('twoFactorRegistration', 'script');
  const refuses = async (answer: Promise<Answer>) => {
    const given = await answer;
    return judge(given, base, '4xx, or falsy JSON', !isRight(given) && given.status < 500);
  };
  yield await check('twoFactorVerify', 'without a sign-in', null, () =>
    refuses(sendCode(visitBackend(base), totpSecret === null ? '123456' : codeAt(totpSecret, now()))),
  );
  yield await check('twoFactorRegistration', 'without a sign-in', null, async () => {
    const answer = await ask(visitBackend(base));
    return judge(answer, base, '401', answer.status >= 300 && answer.status < 500);
  });
  yield await check('twoFactorVerify', 'a wrong code', noFactor, async () => {
    const answer = await sendCode(visit, '000000');
    const isFalsy = answer.json !== undefined && !answer.json;
    return judge(answer, base, '200 with falsy JSON', answer.status >= 200 && answer.status < 300 && isFalsy);
  });
  yield await check('twoFactorRegistration', 'url and totpSecret', noSetUp, async () => {
    const answer = await ask(visit);
    const { url, totpSecret: key } = (answer.json ?? {}) as { url?: unknown; totpSecret?: unknown };
    // The page shows a picture of its own origin or in the address itself, and no other (img-src of its policy).
    const isImage = typeof url === 'string' && /^(?:data:image\/|\/(?!\/))/.test(url);
    const isSecret = typeof key === 'string' && /^[A-Z2-7]{16,}=*$/i.test(key);
    const expected = '200 with url, an image address, and totpSecret, base32';
    return judge(answer, base, expected, answer.status === 200 && isImage && isSecret);
  });
  yield await check('twoFactorRegistration', 'the same secret on a reload', noSetUp, async () => {
    const keyOf = ({ json }: Answer) => (json as { totpSecret?: unknown } | null | undefined)?.totpSecret;
    const [once, again] = [await ask(visit), await ask(visit)];
    return judge(again, base, 'the same totpSecret', keyOf(once) === keyOf(again));
  });
  const code = totpSecret === null ? '' : codeAt(totpSecret, now());
  yield await check('twoFactorVerify', 'the right code', noApp, async () => {
    const answer = await sendCode((await signedIn(base, account)).visit, code);
    return judge(answer, base, 'truthy JSON (a code works once: was it used a moment ago?)', isRight(answer));
  });
  yield await check(
    'twoFactorVerify',
    'the same code again',
    noApp,
    async () => await refuses(sendCode((await signedIn(base, account)).visit, code)),
  );
}

async function* signOut(base: URL): AsyncGenerator<Finding> {
  yield await check('logout', 'by script', null, async () => {
    const answer = await visitBackend(base).send('logout', 'script');
    return judge(answer, base, '2xx, or a redirect', answer.status >= 200 && answer.status < 400);
  });
  yield await check('logout', 'by a link', null, async () =>
    judgeTarget(await visitBackend(base).send('logout', 'page'), base, 'login', isScreen('login')),
  );
}

/** What another site's form posts is refused. JSON is not posted without the backend's agreement. */
async function* crossSite(base: URL): AsyncGenerator<Finding> {
  const forms: [Call, Record<string, string>][] = [
    ['performLogin', { username: 'nobody', password: 'nothing', redirectURL: '' }],
    ['checkSsoLogin', { redirectURLSSO: '' }],
    ['performSsoLogin', { username: 'nobody@unknown.invalid', redirectURL: '' }],
    ['passwordForgotten', { username: 'nobody@unknown.invalid' }],
    ['passwordChange', { password: 'x', repeat: 'x', hash: 'x' }],
  ];
  for (const [call, form] of forms)
    yield await check(call, 'posted by another site', null, async () => {
      const answer = await postForm(base, call, form, 'otherSite');
      return judge(answer, base, '403', isRefused(answer));
    });
}

const needs = (flag: string, value: unknown) => (value === null ? `needs ${flag}` : null);
const isScreen = (name: string) => (target: Target) => target.screen?.name === name;
const isRefused = ({ status }: Answer) => status >= 400 && status < 500;

/** Whether the page takes it for a right code. */
const isRight = ({ status, json }: Answer) => status >= 200 && status < 300 && Boolean(json);
const sendCode = (visit: BackendVisit, code: string) => visit.send('twoFactorVerify', 'script', { json: code });
const codeAt = (secret: string, now: Date) => generateSync({ secret, epoch: Math.floor(now.getTime() / 1000) });
