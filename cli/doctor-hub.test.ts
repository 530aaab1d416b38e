import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Hub, HubAudience } from '#server/config/hub.ts';
import { askHub, checkLogoutUrl } from '#server/hub/check-hub.ts';
import { day, limits } from '#server/limits.ts';
import { commandsOfFile } from '#test/support/commands-of-file.ts';
import { freePort } from '#test/support/free-port.ts';
import { configFrom } from '#test/support/portal-for-test.ts';
import { checkHub } from './doctor-checks.ts';

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

/** A hub that gives this answer; what it was asked is in `asked`. */
const asked: IncomingMessage[] = [];
const answering = async (listener: RequestListener) => await listening(createServer(listener));
const withStatus = (status: number) =>
  answering((request, response) => {
    asked.push(request);
    response.writeHead(status, { location: '/elsewhere' }).end();
  });

async function withForeignCertificate(): Promise<number> {
  const read = async (name: string) =>
    await readFile(new URL(`../test/support/test-only-${name}.pem`, import.meta.url));
  return await listening(createHttpsServer({ key: await read('server-key'), cert: await read('localhost') }));
}

const config = configFrom({ PUBLIC_URL: 'https://hub.example' });
const hubAt = (url: string, secret: string | null = null): Hub => ({
  ...{ url: new URL(url), paths: [], publicPaths: [], answerWithin: 1000, secret, audience: null },
});
const check = async (url: string) => await checkHub(config, hubAt(url));

describe('the hub', () => {
  it('is asked as the gate asks it, for its own page and on behalf of nobody', async () => {
    const own = hubAt(`http://127.0.0.1:${await withStatus(200)}`, 's'.repeat(32));
    expect((await checkHub({ ...config, hub: own }, own)).words).toMatch(
      /answers 200 to a visitor who is not signed in$/,
    );
    expect(asked.at(-1)).toMatchObject({ method: 'GET', url: '/portal/portal.html' });
    expect(asked.at(-1)?.headers).toMatchObject({
      ...{ host: 'hub.example', 'x-forwarded-proto': 'https', 'x-vestibule-hub-secret': 's'.repeat(32) },
    });
    expect(asked.at(-1)?.headers.cookie).toBeUndefined();
  });

  it.each([302, 401, 404, 500])('that answers %i is there, with a warning from 500 on', async (status) => {
    const found = await check(`http://127.0.0.1:${await withStatus(status)}`);
    expect([found.ok, found.warning === true]).toEqual([true, status >= 500]);
  });

  it.each([
    [async () => `http://127.0.0.1:${await freePort()}`, /\(ECONNREFUSED\) – start the hub, or correct hub\.url$/],
    [async () => 'http://hub.invalid', /has a name that cannot be resolved .* – .*correct hub\.url$/],
    [async () => `https://localhost:${await withForeignCertificate()}`, /not trusted here .* – .*NODE_EXTRA_CA_CERTS/],
    [async () => `https://127.0.0.1:${await withStatus(200)}`, /failed the TLS handshake .* – hub\.url begins/],
    [async () => `http://127.0.0.1:${await answering(({ socket }) => void socket.destroy())}`, /broke the connection/],
  ])('that cannot be asked is named with what to do (%#)', async (start, words) => {
    expect(await check(await start())).toEqual({ ok: false, words: expect.stringMatching(words) });
  });

  it('that is silent is given up', async () => {
    const silent = hubAt(`http://127.0.0.1:${await answering(() => {})}`);
    expect(await askHub(config, silent, 200)).toMatchObject({ kind: 'failed', failure: { kind: 'silent' } });
  });
});

describe('the address where a hub is told of sign-outs', () => {
  const audience: HubAudience = { name: 'crm', algorithm: 'ES256', logoutUrl: null, logoutNetworks: ['127.0.0.1'] };
  const at = async (logoutUrl: string, more: Partial<HubAudience> = {}) =>
    await checkLogoutUrl({ ...audience, logoutUrl, ...more } as never, 30_000);

  it.each([
    [400, 'ok', /as it should/],
    [200, 'doubtful', /let the hub check logout_token/],
    [302, 'wrong', /correct logoutUrl/],
    [401, 'wrong', /without a sign-in/],
    [404, 'wrong', /correct logoutUrl/],
    [500, 'wrong', /mend the hub/],
  ])('answers %i to a request without a token: %s', async (status, kind, words) => {
    const found = await at(`http://127.0.0.1:${await withStatus(status)}/logout`);
    expect(found).toEqual({ kind, words: expect.stringMatching(words) });
    expect(asked.at(-1)).toMatchObject({ method: 'POST', url: '/logout' });
    expect(asked.at(-1)?.headers['content-length']).toBe('0');
  });

  it('that cannot be asked is named with what to do', async () => {
    const closed = `http://127.0.0.1:${await freePort()}/logout`;
    expect((await at(closed)).words).toMatch(/cannot be reached \(ECONNREFUSED\) – start the hub/);
    expect((await at(closed, { logoutNetworks: [] })).words).toMatch(/ – add its network to logoutNetworks/);
  });
});

describe('vestibule doctor', () => {
  const commands = commandsOfFile();

  it('reports the hub, its logout address, what waits for it, and the age of the keys', async () => {
    const port = await withStatus(400);
    const file = join(commands.folder, 'config.json');
    const audiences = [{ name: 'crm', logoutUrl: `http://127.0.0.1:${port}/logout`, logoutNetworks: ['127.0.0.1'] }];
    await writeFile(file, JSON.stringify({ hub: { url: `http://127.0.0.1:${port}`, audiences } }));
    const hubLines = async () => {
      const { code, out } = await commands.vestibule('doctor', '', { VESTIBULE_CONFIG: file });
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
    await commands.sql`
      insert into hub_key (id, algorithm, jwk, sealed_key, made_at, signs_from)
      values (gen_random_uuid(), 'ES256', '{}', ${Buffer.alloc(80)}, ${since}, ${since})`;
    await commands.sql`
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
