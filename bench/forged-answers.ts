import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import type { Database } from '#server/database/database.ts';
import { makeCertificate } from '#server/single-sign-on/portal-keys.ts';
import { insertSsoConnection } from '#server/single-sign-on/sso-connection.ts';
import { type ForgerKey, field, forger } from '#test/forgeries/forged-saml.ts';
import { median, report } from './figures.ts';
import type { RunningServer } from './servers.ts';
import { formHeaders } from './sign-in-form.ts';

const entityId = 'https://idp.bench.test';
const inARow = 20;
const rounds = 5;

/** Posts costly forged SAML answers, 20 in a row, each to a visit of its own, and measures what visitors of the sign-in page notice (SA-43). */
export async function measureForgedAnswers({ origin }: RunningServer, sql: Database): Promise<void> {
  const now = new Date();
  const [own, stranger] = await Promise.all([makeCertificate('own', now), makeCertificate('stranger', now)]);
  await addProvider(sql, own, now);
  const answers = costlyAnswers(origin, stranger, now);
  const quiet: number[] = [];
  const meanwhile: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Throttling starts long before an hour of them: this measures the first ones.
    await sql`delete from throttle`;
    for (let page = 0; page < 50; page += 1) quiet.push(await timeOfPage(origin));
    let over = false;
    const visits = await begin(origin);
    const posting = postInARow(origin, visits, answers, costs).finally(() => {
      over = true;
    });
    while (!over) {
      meanwhile.push(await timeOfPage(origin));
      await wait(1);
    }
    await posting;
  }
  const ratio = median(meanwhile) / median(quiet);
  report(
    `median of /portal/login, ${inARow} costly forged answers in a row`,
    `${ratio.toFixed(2)} of the quiet one (${median(meanwhile).toFixed(1)} to ${median(quiet).toFixed(1)} ms); an answer ${median(costs).toFixed(1)} ms`,
    'under 2',
    ratio < 2,
  );
}

async function addProvider(sql: Database, { certificate }: ForgerKey, now: Date): Promise<void> {
  const [customer] = await sql<{ id: string }[]>`select id from customer where key = 'acme'`;
  const signOnUrl = `${entityId}/sign-on`;
  await insertSsoConnection(
    sql,
    {
      id: randomUUID(),
      key: 'forged',
      name: 'Forged',
      customerId: customer?.id ?? '',
      protocol: 'saml',
      settings: {
        entityId,
        signOnUrl,
        certificates: [certificate],
        metadataUrl: null,
        mayBegin: false,
        wantsEncryption: false,
      },
      attributes: {},
      required: false,
      makesUsers: false,
      trustsEmail: false,
      secondFactorValues: [],
      domains: ['bench.test'],
      sealedSecret: null,
      secretEndsAt: null,
      providerNetworks: [],
    },
    now,
  );
}

/** In the provider's name, with another key: one just within every limit, one as large as a body may be. */
function costlyAnswers(origin: string, key: ForgerKey, now: Date): string[] {
  const acs = `${origin}/portal/authenticate/saml/acs`;
  const audience = `${origin}/portal/authenticate/saml/metadata`;
  const made = forger({ key, now, entityId, acs, audience, requestId: null });
  return [700, 2500].map((count) => {
    const value = '<saml:AttributeValue>a group of somebody</saml:AttributeValue>';
    const attributes = `<saml:AttributeStatement><saml:Attribute Name="groups">${value.repeat(count)}</saml:Attribute></saml:AttributeStatement>`;
    const signed = made.sign(made.assertion());
    return field(made.response(signed.replace('</saml:Assertion>', `${attributes}</saml:Assertion>`)));
  });
}

type BegunVisit = { cookie: string; state: string };

/** As many visits as answers are posted. */
async function begin(origin: string): Promise<BegunVisit[]> {
  const visits: BegunVisit[] = [];
  while (visits.length < inARow) {
    const pressed = await request(`${origin}/portal/authenticate/performSsoLogin`, {
      method: 'POST',
      headers: formHeaders,
      body: 'username=anybody%40bench.test',
    });
    await pressed.body.dump();
    const cookie = [pressed.headers['set-cookie']]
      .flat()
      .map((one) => String(one).split(';')[0])
      .join('; ');
    const leaving = await request(`${origin}${pressed.headers.location}`, { headers: { cookie } });
    const [, state = ''] = /RelayState=([\w-]{43})/.exec(await leaving.body.text()) ?? [];
    visits.push({ cookie, state });
  }
  return visits;
}

async function postInARow(
  origin: string,
  visits: readonly BegunVisit[],
  answers: readonly string[],
  costs: number[],
): Promise<void> {
  for (const [sent, { cookie, state }] of visits.entries()) {
    const body = new URLSearchParams({ SAMLResponse: answers[sent % answers.length] ?? '', RelayState: state });
    const started = performance.now();
    // Not by fetch, which identifies itself as a script: the portal refuses that before reading the answer.
    const answer = await request(`${origin}/portal/authenticate/saml/finish`, {
      method: 'POST',
      headers: { ...formHeaders, cookie },
      body: body.toString(),
    });
    await answer.body.dump();
    costs.push(performance.now() - started);
    const { location } = answer.headers;
    if (!location?.includes('/loginfail/saml'))
      throw new Error(`a forged answer was answered ${answer.statusCode}, ${location}`);
  }
}

async function timeOfPage(origin: string): Promise<number> {
  const started = performance.now();
  await (await fetch(`${origin}/portal/login`)).arrayBuffer();
  return performance.now() - started;
}
