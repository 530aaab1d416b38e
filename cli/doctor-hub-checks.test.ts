import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Hub, HubAudience } from '#server/config/hub.ts';
import { askHub, checkLogoutUrl } from '#server/hub/check-hub.ts';
import { day, limits } from '#server/limits.ts';
import { type CuttableDatabase, cuttableDatabase } from '#test/support/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { freePort } from '#test/support/free-port.ts';
import { configFrom } from '#test/support/portal-for-test.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { runVestibuleProcess } from '#test/support/run-vestibule.ts';
import { checkHub } from './doctor-hub-checks.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const answering = async (listener: RequestListener) => await listening(createServer(listener));
const withStatus = async (status: number) =>
  await answering((_request, response) => void response.writeHead(status, { location: '/elsewhere' }).end());

async function withForeignCertificate(): Promise<number> {
  const read = async (name: string) =>
    await readFile(new URL(`../test/support/test-only-${name}.pem`, import.meta.url));
  return await listening(createHttpsServer({ key: await read('server-key'), cert: await read('localhost') }));
}

const config = configFrom({ PUBLIC_URL: 'https://hub.example' });
const hubAt = (url: string, secret: string | null = null): Hub => ({
  url: new URL(url),
  paths: [],
  publicPaths: [],
  answerWithin: 1000,
  secret,
  audience: null,
});
const hub = async (url: string) => await checkHub(config, hubAt(url));

describe('the hub', () => {
  it('is asked as the gate asks it, for its own page and on behalf of nobody', async () => {
    const seen: unknown[] = [];
    const port = await answering(({ method, url, headers }, response) => {
      seen.push([
        method,
        url,
        headers.host,
        headers['x-forwarded-proto'],
        headers['x-vestibule-hub-secret'],
        headers.cookie,
      ]);
      response.end();
    });
    const own = hubAt(`http://127.0.0.1:${port}`, 's'.repeat(32));
    expect(await checkHub({ ...config, hub: own }, own)).toEqual({
      ok: true,
      words: `http://127.0.0.1:${port} answers 200 to a visitor who is not signed in`,
    });
    expect(seen).toEqual([['GET', '/portal/portal.html', 'hub.example', 'https', 's'.repeat(32), undefined]]);
  });

  it.each([302, 401, 403, 404])('that answers %i is there', async (status) => {
    const finding = await hub(`http://127.0.0.1:${await withStatus(status)}`);
    expect(finding).toEqual({ ok: true, words: expect.stringContaining(`answers ${status} to a visitor`) });
  });

  it('that fails is a warning', async () => {
    const finding = await hub(`http://127.0.0.1:${await withStatus(500)}`);
    expect(finding).toMatchObject({
      ok: true,
      warning: true,
      words: expect.stringContaining("see the hub's log"),
    });
  });

  it('that cannot be asked is named with what to do', async () => {
    const words = async (url: string) => {
      const finding = await hub(url);
      expect(finding.ok).toBe(false);
      return finding.words;
    };
    expect(await words(`http://127.0.0.1:${await freePort()}`)).toMatch(
      /portal\.html cannot be reached \(ECONNREFUSED\) – start the hub, or correct hub\.url$/,
    );
    expect(await words('http://hub.invalid')).toMatch(/has a name that cannot be resolved .* – .*correct hub\.url$/);
    expect(await words(`https://localhost:${await withForeignCertificate()}`)).toMatch(
      /certificate that is not trusted here \([A-Z_]+\) – put your own CA into NODE_EXTRA_CA_CERTS/,
    );
    expect(await words(`https://127.0.0.1:${await withStatus(200)}`)).toMatch(
      /failed the TLS handshake .* – hub\.url begins/,
    );
    expect(await words(`http://127.0.0.1:${await answering(({ socket }) => void socket.destroy())}`)).toMatch(
      /broke the connection/,
    );
  });

  it('that is silent is given up', async () => {
    const silent = hubAt(`http://127.0.0.1:${await answering(() => {})}`);
    expect(await askHub(config, silent, 200)).toEqual({
      kind: 'failed',
      failure: expect.objectContaining({ kind: 'silent', message: expect.stringMatching(/did not answer in time$/) }),
    });
  });
});

describe('the address where a hub is told of sign-outs', () => {
  const audience: HubAudience = { name: 'crm', algorithm: 'ES256', logoutUrl: null, logoutNetworks: ['127.0.0.1'] };
  const at = async (logoutUrl: string, more: Partial<HubAudience> = {}) =>
    await checkLogoutUrl({ ...audience, logoutUrl, ...more } as never, 30_000);

  it.each<[number, string, RegExp]>([
    [400, 'ok', /as it should/],
    [200, 'doubtful', /let the hub check logout_token/],
    [302, 'wrong', /a redirect, which is not followed/],
    [401, 'wrong', /without a sign-in/],
    [403, 'wrong', /without a sign-in/],
    [404, 'wrong', /correct logoutUrl/],
    [405, 'wrong', /take POST/],
    [500, 'wrong', /mend the hub/],
  ])('answers %i to a request without a token: %s', async (status, kind, words) => {
    const found = await at(`http://127.0.0.1:${await withStatus(status)}/logout`);
    expect(found).toEqual({ kind, words: expect.stringMatching(words) });
  });

  it('is posted to without a token', async () => {
    const seen: unknown[] = [];
    const port = await answering(({ method, url, headers }, response) => {
      seen.push([method, url, headers['content-length']]);
      response.writeHead(400).end();
    });
    await at(`http://127.0.0.1:${port}/logout`);
    expect(seen).toEqual([['POST', '/logout', '0']]);
  });

  it('that cannot be asked is named with what to do', async () => {
    const closed = `http://127.0.0.1:${await freePort()}/logout`;
    expect((await at(closed)).words).toMatch(/cannot be reached \(ECONNREFUSED\) – start the hub/);
    expect((await at(closed, { logoutNetworks: [] })).words).toMatch(/ – add its network to logoutNetworks/);
    const { words } = await at(`https://localhost:${await withForeignCertificate()}/`, {
      logoutNetworks: ['127.0.0.1', '::1'],
    });
    expect(words).toMatch(/certificate that is not trusted here .* – put your own CA into NODE_EXTRA_CA_CERTS/);
  });
});

describe('vestibule doctor', () => {
  let database: DatabaseForTest;
  let wire: CuttableDatabase;
  let folder: string;
  beforeAll(async () => {
    database = await databaseForTest();
    wire = await cuttableDatabase(database);
    folder = await mkdtemp(join(quickFolder, 'vestibule-doctor-hub-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await wire.close();
    await database.close();
  });

  it('reports the hub, its logout address, what waits for it, and the age of the keys', async () => {
    const port = await withStatus(400);
    const file = join(folder, 'config.json');
    const audiences = [{ name: 'crm', logoutUrl: `http://127.0.0.1:${port}/logout`, logoutNetworks: ['127.0.0.1'] }];
    await writeFile(file, JSON.stringify({ hub: { url: `http://127.0.0.1:${port}`, audiences } }));
    const env = {
      DATABASE_URL: wire.url,
      VESTIBULE_SECRET: 'x'.repeat(43),
      VESTIBULE_DATA: folder,
      VESTIBULE_CONFIG: file,
    };
    const hubLines = async () => {
      const { code, out } = await runVestibuleProcess(['doctor'], { env });
      return { code, lines: out.split('\n').filter((line) => line.includes('– hub')) };
    };
    expect(await hubLines()).toEqual({
      code: 0,
      lines: [
        `ok      – hub – http://127.0.0.1:${port} answers 400 to a visitor who is not signed in`,
        'ok      – hub logout crm – answers 400 to a request without a token, as it should',
        'ok      – hub keys – there are none yet: the first token makes them',
      ],
    });
    const since = new Date(Date.now() - limits.hubKeyAge - 2 * day);
    await database.sql`
      insert into hub_key (id, algorithm, jwk, sealed_key, made_at, signs_from)
      values (gen_random_uuid(), 'ES256', '{}', ${Buffer.alloc(80)}, ${since}, ${since})`;
    await database.sql`
      insert into job (queue, payload, run_after, made_at, problem)
      select 'hub-logout crm', '{}', now(), now(), 'the hub answers 500' from generate_series(1, 3)`;
    const { code, lines } = await hubLines();
    expect(code).toBe(1);
    expect(lines[1]).toMatch(
      /^warning – hub logout crm – .*; 3 ended sessions not taken since .*, last: the hub answers 500$/,
    );
    expect(lines[2]).toMatch(/^failed {2}– hub keys – made on .*, and not replaced since .* – start the portal/);
  });
});
