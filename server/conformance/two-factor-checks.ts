import { generateSync } from 'otplib';
import { type Account, landingOf, noAccount, signIn } from './account.ts';
import { type Answer, type BackendVisit, visitBackend } from './backend-visit.ts';
import { type Finding, isScreen, judge, judgeTarget, notTried, passed, type Verdict } from './finding.ts';

const verify = 'POST two-factor-authentication/verify';
const registration = 'GET two-factor-authentication/registration';
const logout = 'GET logout';

/** Whether the page takes it for a right code (decisions §5). */
const isRight = ({ status, json }: Answer) => status >= 200 && status < 300 && Boolean(json);
const isRefused = ({ status }: Answer) => status >= 400 && status < 500;

const sendCode = (visit: BackendVisit, code: string) => visit.send('twoFactorVerify', { json: code, by: 'script' });
const codeAt = (secret: string, now: Date) => generateSync({ secret, epoch: Math.floor(now.getTime() / 1000) });

/** A code that no neighbouring time step has. */
function wrongCode(secret: string | null, now: Date): string {
  const near =
    secret === null ? [] : [-2, -1, 0, 1, 2].map((step) => codeAt(secret, new Date(now.getTime() + step * 30_000)));
  return ['000000', '000001', '000002', '000003', '000004', '000005'].find((code) => !near.includes(code)) as string;
}

/** The two-factor calls and `GET logout` (specification §7, decisions §6 and §8). */
export async function* twoFactorChecks(base: URL, account: Account, now: () => Date): AsyncGenerator<Finding> {
  yield* withoutSession(base, account, now);
  const first = visitBackend(base);
  const landing = account.username === null ? null : landingOf(await signIn(first, account, base.pathname), base);
  const isPending = landing !== null && landing !== 'destination' && landing !== 'refused';
  yield* pendingChecks(base, account, now, landing !== null && isPending ? first : null);
  yield* registrationChecks(base, account, landing === 'registration');
  yield* rightCodeChecks(base, account, now, landing === 'app');
  yield* logoutChecks(base, account, now, landing);
}

async function* withoutSession(base: URL, { totpSecret }: Account, now: () => Date): AsyncGenerator<Finding> {
  const code = totpSecret === null ? '123456' : codeAt(totpSecret, now());
  const checked = await sendCode(visitBackend(base), code);
  const isOpen = isRight(checked) || checked.status >= 500;
  yield { call: verify, what: 'without a sign-in', ...judge(!isOpen, '401, or falsy JSON', checked, base) };
  const asked = await visitBackend(base).send('twoFactorRegistration', { by: 'script' });
  const isShut = isRefused(asked) || (asked.status >= 300 && asked.status < 400);
  yield { call: registration, what: 'without a sign-in', ...judge(isShut, '401', asked, base) };
}

async function* pendingChecks(
  base: URL,
  { username, totpSecret }: Account,
  now: () => Date,
  visit: BackendVisit | null,
): AsyncGenerator<Finding> {
  const why = username === null ? noAccount : 'the account has no second factor';
  const tried = async (step: (visit: BackendVisit) => Promise<Verdict>) => (visit ? await step(visit) : notTried(why));
  yield {
    call: verify,
    what: 'a wrong code',
    ...(await tried(async (visit) => {
      const answer = await sendCode(visit, wrongCode(totpSecret, now()));
      const isWrong = answer.status >= 200 && answer.status < 300 && answer.json !== undefined && !answer.json;
      return judge(isWrong, '200 with falsy JSON', answer, base);
    })),
  };
  yield {
    call: verify,
    what: 'what is no code',
    ...(await tried(async (visit) => {
      const answer = await sendCode(visit, '12');
      return judge(!isRight(answer) && answer.status < 500, '4xx, or falsy JSON', answer, base);
    })),
  };
}

async function* registrationChecks(base: URL, account: Account, isOpen: boolean): AsyncGenerator<Finding> {
  const why = account.username === null ? noAccount : 'the account need not set up an app';
  const visit = visitBackend(base);
  if (isOpen) await signIn(visit, account, base.pathname);
  const ask = () => visit.send('twoFactorRegistration', { by: 'script' });
  const [once, again] = isOpen ? [await ask(), await ask()] : [null, null];
  const keyOf = (answer: Answer) => answer.json as { url?: unknown; totpSecret?: unknown } | null | undefined;
  const expected = '200 with url, an image address, and totpSecret, base32';
  yield {
    call: registration,
    what: 'url and totpSecret',
    ...(once
      ? judge(
          once.status === 200 && isImage(keyOf(once)?.url) && isSecret(keyOf(once)?.totpSecret),
          expected,
          once,
          base,
        )
      : notTried(why)),
  };
  const isSame = once && again && keyOf(again)?.totpSecret === keyOf(once)?.totpSecret;
  yield {
    call: registration,
    what: 'the same secret on a reload',
    ...(again ? judge(Boolean(isSame), 'the same totpSecret', again, base) : notTried(why)),
  };
}

/** The page shows a picture of its own origin or in the address itself, and no other (img-src of its policy). */
const isImage = (url: unknown) => typeof url === 'string' && (/^data:image\//.test(url) || /^\/(?!\/)/.test(url));
const isSecret = (secret: unknown) => typeof secret === 'string' && /^[A-Z2-7]{16,}=*$/i.test(secret);

async function* rightCodeChecks(
  base: URL,
  account: Account,
  now: () => Date,
  hasApp: boolean,
): AsyncGenerator<Finding> {
  const { username, totpSecret } = account;
  const isOpen = hasApp && totpSecret !== null;
  const why = username === null ? noAccount : hasApp ? 'needs --totp' : 'the account has no app';
  const signedIn = async () => {
    const visit = visitBackend(base);
    await signIn(visit, account, base.pathname);
    return visit;
  };
  if (!isOpen) {
    for (const what of ['the right code after a sign-out', 'the right code', 'the same code again'])
      yield { call: verify, what, ...notTried(why) };
    return;
  }
  const left = await signedIn();
  await left.send('logout', { by: 'script' });
  const code = codeAt(totpSecret, now());
  const late = await sendCode(left, code);
  yield {
    call: verify,
    what: 'the right code after a sign-out',
    ...judge(!isRight(late) && late.status < 500, '401, or falsy JSON', late, base),
  };
  const right = await sendCode(await signedIn(), code);
  const expected = 'truthy JSON (a code works once: was it used a moment ago?)';
  yield { call: verify, what: 'the right code', ...judge(isRight(right), expected, right, base) };
  const again = await sendCode(await signedIn(), code);
  yield { call: verify, what: 'the same code again', ...judge(!isRight(again), 'falsy JSON', again, base) };
}

async function* logoutChecks(
  base: URL,
  account: Account,
  now: () => Date,
  landing: ReturnType<typeof landingOf> | null,
): AsyncGenerator<Finding> {
  const fetched = await visitBackend(base).send('logout', { by: 'script' });
  const isDone = fetched.status >= 200 && fetched.status < 400;
  yield { call: logout, what: 'by script', ...judge(isDone, '2xx, or a redirect', fetched, base) };
  const followed = await visitBackend(base).send('logout');
  const isLogin = judgeTarget(followed, base, 'login', (target) => isScreen(target, 'login'));
  yield { call: logout, what: 'by a link', ...isLogin };
  yield { call: logout, what: 'from another site changes nothing', ...(await survives(base, account, now, landing)) };
}

/** A pending second factor shows it: its call still answers. */
async function survives(
  base: URL,
  account: Account,
  now: () => Date,
  landing: ReturnType<typeof landingOf> | null,
): Promise<Verdict> {
  if (landing === null) return notTried(noAccount);
  if (landing === 'destination' || landing === 'refused') return notTried('only a second factor shows it');
  const code = wrongCode(account.totpSecret, now());
  const signedOut = await sendCode(visitBackend(base), code);
  if (signedOut.status < 300) return notTried('its answer is the same without a sign-in');
  const visit = visitBackend(base);
  await signIn(visit, account, base.pathname);
  await visit.send('logout', { by: 'otherSite' });
  const answer = await sendCode(visit, code);
  return answer.status < 300 ? passed : judge(false, 'the sign-in is still open (200)', answer, base);
}
