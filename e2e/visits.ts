import type { BrowserContext, Route } from '@playwright/test';
import { familyCookie } from '#server/http/family-cookies.ts';
import { seal } from '#server/secrets/sealed.ts';
import { keysOf, secretsOfDataFolder } from '#server/secrets/server-secret.ts';
import { newToken, tokenHash } from '#server/secrets/token.ts';
import { answerCookie } from '#server/single-sign-on/answer-cookie.ts';
import { requestPlace } from '#server/storage/sso-request.ts';
import { onDatabaseOf } from './portal-database.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

// Visits to a provider at a moment at which no test could hold one, at addresses that are known in advance.

type Cookie = { name: string; value: string; url: string };

const decided = { id: '00000000-0000-4000-8000-00000000000d', state: 'decided'.padEnd(43, '-') };

/** The end of a visit, opened while another request decides what comes of it. */
export const decidedUrl = `/portal/authenticate/saml/finish?state=${decided.state}`;

/** Puts a visit into the database whose first of two presses is never done; returns the cookies of its browser. */
export async function putDecidedVisit(portal: PortalUnderTest): Promise<Cookie[]> {
  const [visitToken, answerToken] = [newToken(), newToken()];
  const sealedDetails = seal(await sealKeys(portal), '{}', requestPlace(decided.id));
  await onDatabaseOf(
    portal,
    (sql) => sql`
      insert into sso_request (id, state_hash, connection_id, browser_hash, answer_hash, sealed_details,
        made_at, ends_at, answer_ends_at, used_at, outcome_ends_at)
      select ${decided.id}, ${tokenHash(decided.state)}, c.id, ${tokenHash(visitToken)}, ${tokenHash(answerToken)},
        ${sealedDetails}, now(), now() + interval '1 day', now(), now(), now() + interval '1 day'
      from sso_connection c where c.key = 'begins'
      on conflict (id) do update set browser_hash = excluded.browser_hash, answer_hash = excluded.answer_hash`,
  );
  return [
    cookie(portal, familyCookie('visit', tokenHash(decided.state)), visitToken),
    cookie(portal, answerCookie(decided.state), answerToken),
  ];
}

/** Keeps the page of `decidedUrl` from loading itself again every second, which interrupts a test that measures it. */
export async function stayAtDecidedVisit(context: BrowserContext): Promise<void> {
  await context.route(`**${decidedUrl}*`, async (route: Route) => {
    const response = await route.fetch();
    const body = await response.text();
    await route.fulfill({ response, body: body.replace(/<meta http-equiv="refresh"[^>]*>/, '') });
  });
}

async function sealKeys({ env }: PortalUnderTest): Promise<readonly Buffer[]> {
  return keysOf(await secretsOfDataFolder(env.VESTIBULE_DATA as string)).seal;
}

function cookie({ origin }: PortalUnderTest, name: string, value: string): Cookie {
  return { name: `vestibule-${name}`, value, url: origin };
}
