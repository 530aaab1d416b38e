import type { Response } from 'light-my-request';
import { screenUrl } from '#contract/screens.ts';
import { inviteUsers } from '#server/accounts/invite-users.ts';
import { makeLink } from '#server/sign-in/reset-link.ts';
import { addAttackFixtures } from './accounts-for-test.ts';
import type { PortalForTest, SentMail, TestRequest } from './portal-for-test.ts';
import { emptyDatabase } from './rows-for-test.ts';

/** A password that satisfies every rule. */
export const newPassword = 'Harbour-Lantern-77';

/** Where a successful change leads. */
export const changedPage = screenUrl('/portal', 'forgottenChangedInfo');

/** Where a change refused for a reason leads. */
export function failedPage(reason: number): string {
  return screenUrl('/portal', reason === 1 ? 'forgottenChange' : 'forgottenChangeFailedInfo', { reason: `${reason}` });
}

/** Empties a portal's database except for the users of the attack list. */
export async function startAfresh(portal: PortalForTest): Promise<void> {
  await emptyDatabase(portal);
  portal.mails.length = 0;
  await addAttackFixtures(portal);
}

/** Posts the form of the forgotten page. */
export async function askForReset(
  portal: PortalForTest,
  email: string,
  more: Partial<TestRequest> = {},
): Promise<Response> {
  return await portal.send({ method: 'POST', url: '/portal/password/forgotten', form: { username: email }, ...more });
}

/** Requests a link for a user at acme.test; returns the token in the email. */
export async function askForLink(portal: PortalForTest, username: string): Promise<string> {
  await askForReset(portal, `${username}@acme.test`);
  await portal.workOff();
  return tokenIn(portal.mails.findLast(({ recipient }) => recipient === `${username}@acme.test`));
}

/** The token of an open link of a user, made without an email. */
export async function linkFor(portal: PortalForTest, username: string): Promise<string> {
  return (await makeLink(portal.sql, await userId(portal, username), portal.deps.now())).token;
}

export async function userId({ sql }: PortalForTest, username: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`select id from portal_user where username = ${username}`;
  if (!row) throw new Error(`no user ${username}`);
  return row.id;
}

/** The stored hash of a user's password. */
export async function storedHash({ sql }: PortalForTest, username: string): Promise<string | null> {
  const [row] = await sql<{ hash: string | null }[]>`
    select password_hash as hash from portal_user where username = ${username}`;
  return row?.hash ?? null;
}

/** The token of the link in an email; throws if it has none. */
export function tokenIn(mail: SentMail | undefined): string {
  const token = mail?.text.match(/\/forgottenChange\?hash=([\w-]+)/)?.[1];
  if (!token) throw new Error(`no link in ${mail?.subject}`);
  return token;
}

/** Posts the form of the change page, the password twice unless `repeat` differs. */
export async function changeTo(
  portal: PortalForTest,
  hash: string,
  password: string,
  { repeat = password, ...more }: Partial<TestRequest> & { repeat?: string } = {},
): Promise<Response> {
  return await portal.send({
    method: 'POST',
    url: '/portal/password/change',
    form: { password, repeat, hash },
    ...more,
  });
}

/** The hash in the hidden field of the change page; null if the page has no such form. */
export function hiddenHash({ body }: Response): string | null {
  return /<input type="hidden" name="hash" value="([^"]*)"/.exec(body)?.[1] ?? null;
}

/** The username in the field for password managers. */
export function hiddenUsername({ body }: Response): string | null {
  return /<input[^>]*autoComplete="username(?: webauthn)?"[^>]*value="([^"]*)"/.exec(body)?.[1] ?? null;
}

/** The outcome of requests for links: who was sent an email so far, and what was recorded of each, oldest first. */
export async function comesOf(
  portal: PortalForTest,
  emails: string[],
): Promise<{ to: string[]; events: (string | null)[][] }> {
  for (const email of emails) {
    const { headers } = await askForReset(portal, email);
    if (headers.location !== '/portal/emailInfo') throw new Error(`${email} was refused`);
  }
  await portal.workOff();
  const events = await portal.sql<{ reason: string; username: string | null }[]>`
    select reason, username from audit_event where event = 'password-forgotten' order by id`;
  return {
    to: portal.mails.map(({ recipient }) => recipient),
    events: events.map(({ reason, username }) => [reason, username]),
  };
}

/** Does what `vestibule user invite` does after parsing. */
export async function invite({ sql, deps }: PortalForTest, ...names: string[]) {
  return await inviteUsers(sql, deps.keys, names, { actor: 'os:alice', now: deps.now() });
}

/** Invites a user at acme.test; returns the token in the email. */
export async function invitationFor(portal: PortalForTest, username: string): Promise<string> {
  const result = await invite(portal, username);
  if (result.kind === 'refused') throw new Error(result.refusals[0]?.problem);
  await portal.workOff();
  return tokenIn(portal.mails.findLast(({ recipient }) => recipient === `${username}@acme.test`));
}
