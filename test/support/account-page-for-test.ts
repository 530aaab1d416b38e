import type { Response } from 'light-my-request';
import { addCustomer, addUser } from './accounts-for-test.ts';
import { cookiesOf, type PortalForTest, type TestRequest, testPassword } from './portal-for-test.ts';
import { emptyDatabase } from './rows-for-test.ts';
import type { Browser } from './two-factor-for-test.ts';

/** The account page of a portal, empty but for alice and bob at acme, without second factors. */
export async function startAccountAfresh(portal: PortalForTest): Promise<void> {
  await emptyDatabase(portal);
  portal.mails.length = 0;
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'bob']) await addUser(portal, { username });
}

/** Signs in without a second factor; returns the browser's cookies. */
export async function signedIn(
  portal: PortalForTest,
  username: string,
  more: Partial<TestRequest> = {},
): Promise<Browser> {
  return { ...more.cookies, ...cookiesOf(await portal.signIn(username, testPassword, more)) };
}

/** What the forms on a page of this session carry: its id. */
export async function sessionIdOf(portal: PortalForTest, cookies: Browser): Promise<string> {
  const { body } = await portal.send({ url: '/portal/account', cookies });
  const id = /name="session" value="([^"]+)"/.exec(body)?.[1];
  if (!id) throw new Error('no form on the account page');
  return id;
}

/** Posts a form of a section as the page of these cookies has it. */
export async function postAccount(
  portal: PortalForTest,
  section: string,
  form: Record<string, string>,
  cookies: Browser,
  more: Partial<TestRequest> = {},
): Promise<Response> {
  return await portal.send({
    method: 'POST',
    url: `/portal/account/${section}`,
    form: { session: form.session ?? (await sessionIdOf(portal, cookies)), ...form },
    cookies,
    ...more,
  });
}

/** The events of the account page so far, with their reasons, oldest first. */
export async function accountEvents({ sql }: PortalForTest): Promise<string[]> {
  const rows = await sql<{ event: string; reason: string | null }[]>`
    select event, reason from audit_event
    where event not in ('signed-in', 'second-factor-asked', 'sign-in-refused') order by id`;
  return rows.map(({ event, reason }) => (reason === null ? event : `${event} ${reason}`));
}

/** The kinds of the emails that were queued, oldest first. */
export async function mailKinds({ sql }: PortalForTest): Promise<string[]> {
  return (
    await sql<{ kind: string }[]>`
    select payload->>'kind' as kind from job order by made_at`
  ).map(({ kind }) => kind);
}
