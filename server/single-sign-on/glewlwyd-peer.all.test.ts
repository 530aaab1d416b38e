import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { bringPackages } from '#test/support/bring-packages.ts';
import { freePort } from '#test/support/free-port.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { addOidcConnection, browserForTest, departFor, pathOf } from '#test/support/sso-for-test.ts';
import { redirectUri } from './addresses.ts';

const tables = '/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3';
const origin = `http://127.0.0.1:${await freePort()}`;
const client = { issuer: `${origin}/api/oidc`, clientId: 'vestibule', clientSecret: 'a-secret-of-ours' };
const person = { username: 'alice', password: 'Lantern-Harbour-42' };

const portal = portalOfFile();
let folder: string;
let server: ChildProcess;
beforeAll(async () => {
  const complaint = await bringPackages(['glewlwyd'], () => existsSync(tables), 'Install Glewlwyd 2.7.');
  if (complaint) throw new Error(complaint);
  folder = await mkdtemp(join(tmpdir(), 'glewlwyd-'));
  new DatabaseSync(join(folder, 'database')).exec(readFileSync(tables, 'utf8'));
  await writeFile(join(folder, 'conf'), configuration(join(folder, 'database')));
  server = spawn('glewlwyd', ['-c', join(folder, 'conf')], { stdio: 'ignore' });
  process.once('exit', () => server.kill());
  while (!(await fetch(origin).catch(() => null))) await wait(50);
  await register(visitor());
  // Its clock is the real one.
  portal.wait(Date.now() - portal.deps.now().getTime());
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addOidcConnection(portal, client, { trustsEmail: true });
}, 180_000);
afterAll(async () => {
  server?.kill();
  await rm(folder, { recursive: true });
});

const configuration = (database: string) => `
  port=${new URL(origin).port}  external_url="${origin}"  cookie_domain="127.0.0.1"
  login_url="login.html"  api_prefix="api"  admin_scope="g_admin"  profile_scope="g_profile"  hash_algorithm="SHA512"
  user_module_path="/usr/lib/glewlwyd/user"  client_module_path="/usr/lib/glewlwyd/client"
  user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"  plugin_module_path="/usr/lib/glewlwyd/plugin"
  database={ type="sqlite3" path="${database}" };`;

/** A browser at Glewlwyd, whose pages are an application that calls its interface. Answers where it is redirected. */
function visitor() {
  let cookie = '';
  return async (url: string, method = 'GET', sent?: object): Promise<string> => {
    const headers = { cookie, 'content-type': 'application/json' };
    const body = sent ? JSON.stringify(sent) : null;
    const answer = await fetch(new URL(url, origin), { method, headers, redirect: 'manual', body });
    for (const line of answer.headers.getSetCookie()) cookie += `${line.split(';')[0]}; `;
    if (answer.status >= 400) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    return answer.headers.get('location') ?? '';
  };
}

/** The client with its redirect URI, and where it comes back to after a sign-out. */
async function register(admin: ReturnType<typeof visitor>): Promise<void> {
  await admin('/api/auth/', 'POST', { username: 'admin', password: 'password' });
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const parameters = {
    ...{ iss: client.issuer, 'jwt-type': 'rsa', 'jwt-key-size': '256', 'jwks-show': true, 'email-claim': 'mandatory' },
    key: privateKey.export({ type: 'pkcs1', format: 'pem' }),
    cert: publicKey.export({ type: 'spki', format: 'pem' }),
    ...{ 'access-token-duration': 60, 'refresh-token-duration': 60, 'code-duration': 60, 'pkce-allowed': true },
    ...{ 'auth-type-code-enabled': true, 'auth-type-id-token-enabled': true, 'session-management-allowed': true },
    ...{ 'session-cookie-name': 'OIDC', 'session-cookie-expiration': 60, 'subject-type': 'public' },
    'refresh-token-rolling': true,
  };
  await admin('/api/mod/plugin/', 'POST', { module: 'oidc', name: 'oidc', display_name: 'OpenID', parameters });
  await admin('/api/user/', 'POST', { ...person, email: 'alice@acme.test', enabled: true, scope: ['openid'] });
  await admin('/api/client/', 'POST', {
    ...{ client_id: client.clientId, password: client.clientSecret, confidential: true, enabled: true, scope: [] },
    ...{ authorization_type: ['code'], token_endpoint_auth_method: ['client_secret_basic'] },
    redirect_uri: [redirectUri(portal.deps.config, { key: 'acme-oidc' })],
    post_logout_redirect_uris: 'http://localhost:8080/portal/login',
  });
}

it('Glewlwyd signs a person in and out', async () => {
  const [browser, there] = [browserForTest(portal), visitor()];
  const departure = await departFor(browser);
  expect(await there(departure)).toContain('/login.html?');
  await there('/api/auth/', 'POST', person);
  await there(`/api/auth/grant/${client.clientId}`, 'PUT', { scope: 'openid' });
  const callback = new URL(await there(`${departure}&g_continue`));
  expect((await browser.get(pathOf(callback))).headers.location).toBe('/portal/portal.html');
  const page = await browser.post('/portal/logout', {});
  const [, end = ''] = /url=(http:[^"]*end_session[^"]*)"/.exec(page.body) ?? [];
  expect(await there(end.replaceAll('&#38;', '&'))).toContain('prompt=end_session');
  expect((await browser.get('/portal/session')).statusCode).toBe(401);
});
