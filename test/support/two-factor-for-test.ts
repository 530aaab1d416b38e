import type { Response } from 'light-my-request';
import { vi } from 'vitest';
import { groupedRecoveryCode } from '#contract/codes.ts';
import type { Page, PageScreen } from '#contract/page.ts';
import { codeDigest, seal } from '#server/crypto/keys.ts';
import { newRecoveryCode, replaceRecoveryCodes } from '#server/factors/recovery-codes.ts';
import { totpPlace } from '#server/factors/registration.ts';
import { insertTotp, newTotpSecret } from '#server/factors/totp.ts';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from './accounts-for-test.ts';
import { codeOfStep } from './authenticator-app.ts';
import { cookiesOf, type PortalForTest, type TestRequest, testPassword } from './portal-for-test.ts';
import { userId } from './reset-for-test.ts';
import { emptyDatabase } from './rows-for-test.ts';

/** The cookies of one browser. */
export type Browser = Record<string, string>;

/** One TOTP time step, in milliseconds (RFC 6238). */
export const step = 30_000;

export const verifyUrl = '/portal/two-factor-authentication/verify';
export const sendUrl = '/portal/two-factor-authentication/send';
export const registrationUrl = '/portal/two-factor-authentication/registration';
export const recoveryCodesUrl = '/portal/two-factor-authentication/recovery-codes';

/**
 * Empties the database except for a customer per policy, `app`, `mail` and `plain`, and their users: alice and adam,
 * bob and beth, pat. All have testPassword and no registered factor.
 */
export async function startTwoFactorAfresh(portal: PortalForTest): Promise<void> {
  await emptyDatabase(portal);
  portal.mails.length = 0;
  await addCustomer(portal, 'app', { twoFactor: 'app' });
  await addCustomer(portal, 'mail', { twoFactor: 'email' });
  await addCustomer(portal, 'plain');
  for (const username of ['alice', 'adam']) await addUser(portal, { username, customers: ['app'] });
  for (const username of ['bob', 'beth']) await addUser(portal, { username, customers: ['mail'] });
  await addUser(portal, { username: 'pat', customers: ['plain'] });
}

/** Gives a user an app, as if registered long ago; returns its secret in base32. */
export async function giveApp(portal: PortalForTest, username: string): Promise<string> {
  const id = await userId(portal, username);
  const secret = newTotpSecret();
  const sealedSecret = seal(portal.deps.keys.seal, secret, totpPlace(id));
  const confirmedAt = new Date(0);
  if (!(await insertTotp(portal.sql, { userId: id, sealedSecret, lastStep: 0, confirmedAt })))
    throw new Error(`${username} has an app`);
  return secret;
}

/** Gives a user recovery codes, as if registered elsewhere; returns the codes. */
export async function giveRecoveryCodes(portal: PortalForTest, username: string): Promise<string[]> {
  const { keys } = portal.deps;
  const id = await userId(portal, username);
  const codes = Array.from({ length: limits.recoveryCodes }, newRecoveryCode);
  await replaceRecoveryCodes(
    portal.sql,
    id,
    codes.map((code) => codeDigest(keys.code, code, id)),
  );
  return codes.map(groupedRecoveryCode);
}

/** What the recovery codes page tells a full session. */
export async function recoveryCodesShown(
  portal: PortalForTest,
  cookies: Browser,
): Promise<{ codes: string[] | null; left: number }> {
  const { status, screen } = await pageOf(portal, { url: recoveryCodesUrl, cookies });
  if (status !== 200 || screen?.name !== 'recoveryCodes') throw new Error(`${status} ${screen?.name}`);
  return { codes: screen.codes, left: screen.left };
}

/** Signs in up to the password; returns the cookies of the half session. */
export async function halfSession(
  portal: PortalForTest,
  username: string,
  more: Partial<TestRequest> = {},
): Promise<Browser> {
  const answer = await portal.signIn(username, testPassword, more);
  if (!answer.headers.location?.includes('/twoFactor')) throw new Error(`${username}: ${answer.headers.location}`);
  return { ...more.cookies, ...cookiesOf(answer) };
}

/** Posts a code as a script does: a JSON string, or the given JSON. */
export async function verify(
  portal: PortalForTest,
  code: unknown,
  cookies: Browser,
  { query = '', ...more }: Partial<TestRequest> & { query?: string } = {},
): Promise<Response> {
  return await portal.send({
    method: 'POST',
    url: verifyUrl + query,
    body: JSON.stringify(code),
    headers: { 'content-type': 'application/json', accept: 'application/json', ...more.headers },
    cookies,
    ...(more.from && { from: more.from }),
  });
}

/** Posts a code as a browser without JavaScript does. */
export async function verifyByForm(
  portal: PortalForTest,
  form: Record<string, string>,
  cookies: Browser,
  query = '',
): Promise<Response> {
  return await portal.send({ method: 'POST', url: verifyUrl + query, form, cookies });
}

/** What a script learns from an answer to a code: the JSON of 200, else the status and the notice. */
export function verdict(answer: Response): unknown {
  const { statusCode } = answer;
  if (statusCode === 200) return answer.json();
  return [statusCode, answer.json<{ notice?: string }>().notice ?? null];
}

/** How many attempts were counted: in half sessions, for accounts, and as events. */
export async function triesCounted({ sql }: PortalForTest): Promise<number[]> {
  const [row] = await sql<Record<string, number>[]>`
    select (select coalesce(sum(code_tries), 0)::int from session) as tries,
      (select coalesce(sum(failures), 0)::int from throttle where key like 'code:%') as failures,
      (select count(*)::int from audit_event where event = 'code-refused') as refused`;
  return Object.values(row ?? {});
}

/** Signs in completely with an app's code. */
export async function signInWithApp(
  portal: PortalForTest,
  username: string,
  secret: string,
  more: Parameters<typeof verify>[3] & { cookies?: Browser } = {},
): Promise<Browser> {
  const cookies = await halfSession(portal, username, { ...(more.cookies && { cookies: more.cookies }) });
  const answer = await verify(portal, codeNow(portal, secret), cookies, more);
  if (answer.body !== 'true') throw new Error(`${username}: ${answer.statusCode} ${answer.body}`);
  return { ...cookies, ...cookiesOf(answer) };
}

/** Asks for what an app is set up with, in a browser that keeps the cookie of its key. */
export async function askForKey(
  portal: PortalForTest,
  cookies: Browser,
  more: Partial<TestRequest> = {},
): Promise<Response> {
  const answer = await portal.send({ url: registrationUrl, cookies, ...more });
  Object.assign(cookies, cookiesOf(answer));
  return answer;
}

/** Registers an app in a session that may; returns its secret and the new cookies. */
export async function registerApp(
  portal: PortalForTest,
  cookies: Browser,
): Promise<{ secret: string; cookies: Browser }> {
  const { totpSecret } = (await askForKey(portal, cookies)).json<{ totpSecret: string }>();
  const answer = await verify(portal, codeNow(portal, totpSecret), cookies);
  if (answer.body !== 'true') throw new Error(`${answer.statusCode} ${answer.body}`);
  return { secret: totpSecret, cookies: { ...cookies, ...cookiesOf(answer) } };
}

/** The code that an app shows now, or that many steps from now. */
export function codeNow({ deps }: PortalForTest, secret: string, steps = 0): string {
  return codeOfStep(secret, Math.floor(deps.now().getTime() / step) + steps);
}

/** Six digits that are none of these. */
export function otherThan(...codes: string[]): string {
  return ['111111', '222222', '333333', '444444', '555555', '666666'].find((code) => !codes.includes(code)) as string;
}

/** That many different codes that an app shows at no time near now. */
export function wrongCodes(portal: PortalForTest, secret: string, count: number): string[] {
  const near = new Set(Array.from({ length: 101 }, (_, n) => codeNow(portal, secret, n - 50)));
  const codes = Array.from({ length: count + near.size }, (_, n) => String(n + 1).padStart(6, '0'));
  return codes.filter((code) => !near.has(code)).slice(0, count);
}

/** The six digits of the newest email sent to a user at acme.test, after the double-press window. */
export async function codeByMail(portal: PortalForTest, username: string): Promise<string> {
  portal.wait(1000);
  await portal.workOff();
  const mail = portal.mails.findLast(({ recipient }) => recipient === `${username}@acme.test`);
  const code = mail?.text.match(/#(\d{6})$/)?.[1];
  if (!code) throw new Error(`no code in ${mail?.subject}`);
  return code;
}

type TwoFactorScreen = Extract<PageScreen, { name: 'twoFactorRegistration' }>;

/** What the server tells the page of an answer, besides what every page is told; and what it tells a second-factor screen. */
export async function pageOf(
  portal: PortalForTest,
  request: TestRequest,
): Promise<Partial<Page> & Omit<TwoFactorScreen, 'name'> & { status: number; location?: string | undefined }> {
  const send = vi.spyOn(portal.deps.pages, 'send');
  try {
    const { statusCode, headers } = await portal.send(request);
    const more = send.mock.lastCall?.[2];
    const { secondFactor, registration } = (more?.screen ?? {}) as Partial<TwoFactorScreen>;
    return {
      status: statusCode,
      location: headers.location,
      ...more,
      ...(secondFactor && { secondFactor }),
      ...(registration && { registration }),
    };
  } finally {
    send.mockRestore();
  }
}
