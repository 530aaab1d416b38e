import type { PortalForTest } from './portal-for-test.ts';

/** Who is signed in with these cookies, or null. */
export async function signedInAs(portal: PortalForTest, cookies: Record<string, string>): Promise<string | null> {
  const answer = await portal.send({ url: '/portal/session', cookies });
  return answer.statusCode === 200 ? answer.json<{ username: string }>().username : null;
}
