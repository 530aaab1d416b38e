import type { Response } from 'light-my-request';
import { cookiesOf, type PortalForTest, type TestRequest } from './portal-for-test.ts';
import { type Browser, codeNow, giveApp, halfSession, verify } from './two-factor-for-test.ts';

/** Signs in with a code of an app, which the user is given; returns the browser's cookies. */
export async function atDesk(portal: PortalForTest, username: string): Promise<Browser> {
  const secret = await giveApp(portal, username);
  const half = await halfSession(portal, username);
  return { ...half, ...cookiesOf(await verify(portal, codeNow(portal, secret), half)) };
}

export async function getDesk(portal: PortalForTest, path: string, cookies: Browser): Promise<Response> {
  return await portal.send({ url: `/portal/desk${path}`, cookies, headers: { accept: 'text/html' } });
}

/** Posts a form of a page of the desk, as that page has it, hidden fields included. */
export async function postDesk(
  portal: PortalForTest,
  path: string,
  form: Record<string, string>,
  cookies: Browser,
  more: Partial<TestRequest> = {},
): Promise<Response> {
  const { body } = await getDesk(portal, path, cookies);
  const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1] ?? '';
  const known = { session: hidden('session'), seen: hidden('seen') };
  return await portal.send({
    method: 'POST',
    url: `/portal/desk${path}`,
    form: { ...known, ...form },
    cookies,
    ...more,
  });
}
