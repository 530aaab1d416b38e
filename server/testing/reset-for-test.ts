import type { Response } from 'light-my-request';
import type { PortalForTest, SentMail, TestRequest } from './portal-for-test.ts';

/** Posts the form of the forgotten page. */
export async function askForReset(
  portal: PortalForTest,
  email: string,
  more: Partial<TestRequest> = {},
): Promise<Response> {
  return await portal.send({ method: 'POST', url: '/portal/password/forgotten', form: { username: email }, ...more });
}

/** Asks for a link for a user at acme.test and opens the mail: the token in it. */
export async function askForLink(portal: PortalForTest, username: string): Promise<string> {
  await askForReset(portal, `${username}@acme.test`);
  await portal.workOff();
  return tokenIn(portal.mails.findLast(({ recipient }) => recipient === `${username}@acme.test`));
}

/** The token of the link in a mail; throws when it has none. */
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
