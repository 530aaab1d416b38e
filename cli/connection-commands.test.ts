import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addCustomer } from '#server/accounts/customers.ts';
import { keysOf, secretsOfDataFolder } from '#server/crypto/keys.ts';
import { unseal } from '#server/crypto/sealed.ts';
import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { type EmbeddedPostgres, openEmbedded } from '#server/database/embedded/embedded.ts';
import { migrate } from '#server/database/migrate.ts';
import { makeCertificate } from '#server/single-sign-on/portal-keys.ts';
import { connectionPlace, findSsoConnectionByKey } from '#server/single-sign-on/sso-connection.ts';
import { type ForgedProvider, startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';

let dataFolder: string;
let embedded: EmbeddedPostgres;
let sql: Database;
let provider: ForgedProvider;
let metadata: string;
const day = 86_400_000;

beforeAll(async () => {
  dataFolder = await mkdtemp(join(quickFolder, 'vestibule-connections-'));
  embedded = await openEmbedded({ dataFolder, log: { info() {}, warn() {} }, durable: false });
  sql = connect(embedded.place);
  await migrate(sql);
  provider = await startForgedProvider({ now: () => new Date() });
  metadata = join(dataFolder, 'metadata.xml');
  await writeFile(metadata, metadataOf(await makeCertificate('idp.acme.example', new Date())));
});
beforeEach(async () => {
  await emptyTables({ sql }, 'customer', 'portal_user', 'sso_connection', 'audit_event', 'portal_key');
  await addCustomer(sql, { key: 'acme', name: 'Acme Ltd.', allowedNetworks: [], twoFactor: 'off' }, new Date());
});
afterAll(async () => {
  await provider.close();
  await sql.end();
  await embedded.close();
  await rm(dataFolder, { recursive: true });
});

function metadataOf({ certificate }: { certificate: string }): string {
  const plain = certificate.replace(/-----[^-]+-----|\s/g, '');
  return `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="https://idp.acme.example/">
  <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${plain}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
    <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.acme.example/sso"/>
  </md:IDPSSODescriptor></md:EntityDescriptor>`;
}

const vestibule = (line: string, input = '') =>
  runVestibule(line.split(' '), { env: { VESTIBULE_DATA: dataFolder }, input });
const addOidc = (more = '', input = 'the secret\n') =>
  vestibule(
    `connection add oidc acme-oidc --customer acme --domain acme.example --issuer ${provider.issuer} --client-id vestibule --client-secret-stdin --provider-network 127.0.0.0/8${more}`,
    input,
  );
const addSaml = (more = '') =>
  vestibule(`connection add saml acme-saml --customer acme --domain acme.example --metadata ${metadata}${more}`);
const events = async () =>
  (await sql<{ event: string }[]>`select event from audit_event where event like 'connection%' order by id`).map(
    ({ event }) => event,
  );

describe('connection add', () => {
  it('adds an OpenID Connect connection, its secret sealed, and prints what the provider needs', async () => {
    const { code, out } = await addOidc(' --domain ÄCME.example --jit on --map username=nick --second-factor mfa');
    expect(code).toBe(0);
    expect(out).toContain('http://localhost:8080/portal/authenticate/oidc/callback/acme-oidc');
    const stored = await findSsoConnectionByKey(sql, 'acme-oidc');
    expect(stored).toMatchObject({
      name: 'Acme Ltd.',
      domains: ['acme.example', 'xn--cme-pla.example'],
      makesUsers: true,
      trustsEmail: false,
      required: false,
      attributes: { username: 'nick' },
      secondFactorValues: ['mfa'],
      settings: {
        issuer: provider.issuer,
        clientId: 'vestibule',
        clientAuthentication: 'secret',
        scopes: ['email', 'profile'],
      },
    });
    const keys = keysOf(await secretsOfDataFolder(dataFolder));
    const { id = '', sealedSecret } = stored ?? {};
    expect(unseal(keys.seal, sealedSecret ?? Buffer.alloc(0), connectionPlace(id))).toBe('the secret');
    expect(await events()).toEqual(['connection-added']);
  });

  it('takes an option that is on or off alone for on', async () => {
    expect((await addSaml(' --jit --name Acme')).code).toBe(0);
    expect(await findSsoConnectionByKey(sql, 'acme-saml')).toMatchObject({ makesUsers: true, name: 'Acme' });
    expect((await vestibule('connection set acme-saml --jit off')).code).toBe(0);
    expect(await findSsoConnectionByKey(sql, 'acme-saml')).toMatchObject({ makesUsers: false });
    expect((await vestibule('connection set acme-saml --jit of')).code).not.toBe(0);
  });

  it('SA-44 accepts, changes and removes a maximum age of sign-ins at the provider', async () => {
    await addOidc(' --max-authentication-age 12h');
    await addSaml(' --max-authentication-age 30m');
    const ageOf = async (key: string) => (await findSsoConnectionByKey(sql, key))?.settings.maxAuthenticationAge;
    expect([await ageOf('acme-oidc'), await ageOf('acme-saml')]).toEqual([12 * 3600, 30 * 60]);
    expect((await vestibule('connection show acme-oidc')).out).toMatch(/maximum age of a sign-in\s+12h/);
    expect((await vestibule('connection set acme-saml --max-authentication-age 7d')).out).toMatch(
      /maximum age of a sign-in: 30m → 7d/,
    );
    expect((await vestibule('connection set acme-oidc --max-authentication-age off')).out).toContain('12h → none');
    expect([await ageOf('acme-oidc'), await ageOf('acme-saml')]).toEqual([null, 7 * 24 * 3600]);
  });

  it('adds a SAML connection from a file, which vouches for addresses unless told otherwise', async () => {
    const { code, out } = await addSaml();
    expect(code).toBe(0);
    expect(out).toContain('http://localhost:8080/portal/authenticate/saml/acs');
    const stored = await findSsoConnectionByKey(sql, 'acme-saml');
    expect(stored).toMatchObject({
      trustsEmail: true,
      settings: { entityId: 'https://idp.acme.example/', signOnUrl: 'https://idp.acme.example/sso', mayBegin: false },
    });
  });

  it.each([
    [
      '--issuer',
      'connection add oidc x --customer acme --domain acme.example --issuer http://idp.example --client-id a --client-secret-stdin',
    ],
    [
      '--domain',
      'connection add oidc x --customer acme --domain acme --issuer https://idp.example --client-id a --client-secret-stdin',
    ],
    [
      '--domain',
      'connection add oidc x --customer acme --issuer https://idp.example --client-id a --client-secret-stdin',
    ],
    [
      '--customer',
      'connection add oidc x --customer nobody --domain acme.example --issuer https://idp.example --client-id a --client-secret-stdin',
    ],
    [
      'key',
      'connection add oidc X! --customer acme --domain acme.example --issuer https://idp.example --client-id a --client-secret-stdin',
    ],
    [
      'client secret',
      'connection add oidc x --customer acme --domain acme.example --issuer https://idp.example --client-id a',
    ],
    [
      '--map',
      'connection add oidc x --customer acme --domain acme.example --issuer https://idp.example --client-id a --private-key --map mail',
    ],
    [
      '--secret-ends',
      'connection add oidc x --customer acme --domain acme.example --issuer https://idp.example --client-id a --private-key --secret-ends soon',
    ],
    ['--metadata', 'connection add saml x --customer acme --domain acme.example --metadata /nowhere.xml'],
  ])('reports %s as the problem, and adds nothing', async (field, line) => {
    const { code, err } = await vestibule(line, 'secret');
    expect(code).toBe(1);
    expect(err).toContain(field);
    expect(await sql`select from sso_connection`).toHaveLength(0);
  });
});

describe('connection list, show, set, remove', () => {
  it('shows everything but the secret, and changes only what is named', async () => {
    await addOidc();
    const shown = await vestibule('connection show acme-oidc --json');
    expect(shown.out).not.toMatch(/the secret|sealed/i);
    expect(JSON.parse(shown.out)).toMatchObject({ key: 'acme-oidc', hasSecret: true });
    const { out } = await vestibule('connection set acme-oidc --required on --scope email --disable --yes');
    expect(out).toContain('required: off → on');
    expect(out).toContain('scopes: email profile → email');
    expect((await vestibule('connection set acme-oidc --required on')).out).toContain('already has these settings');
    expect((await vestibule('connection list')).out).toMatch(/acme-oidc +acme +oidc +acme\.example +yes +no/);
    expect((await vestibule('connection set acme-oidc --metadata x')).err).toContain('uses OpenID Connect');
    expect((await vestibule('connection set acme-oidc')).code).toBe(2);
    expect((await vestibule('connection remove acme-oidc --yes')).out).toContain('removed');
    expect((await vestibule('connection remove acme-oidc')).code).toBe(1);
    expect(await events()).toEqual(['connection-added', 'connection-changed', 'connection-removed']);
  });
});

describe('allowed but probably unintended', () => {
  it('causes a warning when a connection is added or changed, and in doctor', async () => {
    expect((await addOidc()).err).not.toContain('Mind');
    const alike = await addSaml(' --domain gmail.com');
    expect(alike.code).toBe(0);
    expect(alike.err).toContain(
      'Warning: people of acme.example cannot tell connections acme-oidc and acme-saml apart',
    );
    expect(alike.err).toContain('Warning: connection acme-saml vouches for gmail.com');
    const { out } = await vestibule('doctor');
    expect(out).toMatch(/^warning – connections – people of acme\.example .*; connection acme-saml vouches for gmail/m);
    const named = await vestibule('connection set acme-saml --name Staff --domain acme.example');
    expect(named).toMatchObject({ code: 0, err: '' });
    expect((await vestibule('connection set acme-oidc --domain web.de')).err).toContain('web.de, where anyone');
  }, 30_000);
});

describe('connection set --no-second-factor', () => {
  it('empties the list, and a later --second-factor fills it again', async () => {
    await addOidc(' --second-factor mfa');
    const values = async () => (await findSsoConnectionByKey(sql, 'acme-oidc'))?.secondFactorValues;
    const { code, out } = await vestibule('connection set acme-oidc --no-second-factor');
    expect(code).toBe(0);
    expect(out).toContain('counts as second factor: mfa → nothing');
    expect(await values()).toEqual([]);
    await vestibule('connection set acme-oidc --no-second-factor --second-factor otp --second-factor hwk');
    expect(await values()).toEqual(['otp', 'hwk']);
  });
});

describe('the networks of providers', () => {
  it('OI-34 lists networks of a connection, names an invalid one, and removes them again', async () => {
    await addOidc(' --provider-network fd00::/64');
    const networks = async () => (await findSsoConnectionByKey(sql, 'acme-oidc'))?.providerNetworks;
    expect(await networks()).toEqual(['127.0.0.0/8', 'fd00::/64']);
    const { out } = await vestibule('connection set acme-oidc --provider-network none');
    expect(out).toContain('provider networks: 127.0.0.0/8, fd00::/64 → public ones only');
    expect(await networks()).toEqual([]);
    const wrong = await vestibule('connection set acme-oidc --provider-network 127.0.0.1/8');
    expect(wrong.err).toMatch(/^.*--provider-network: .*write 127\.0\.0\.0\/8/m);
    expect((await vestibule('connection test acme-oidc')).out).toContain('--provider-network <cidr>');
    expect((await vestibule('doctor')).out).toContain('connection set acme-oidc --provider-network 127.0.0.1/32');
    const url = provider.issuer;
    const saml = `connection add saml x --customer acme --domain acme.example --metadata ${url}/metadata`;
    expect((await vestibule(saml)).err).toContain('--provider-network <cidr>');
    expect((await vestibule(`${saml} --provider-network 127.0.0.0/8`)).err).toContain('answers 404');
  });
});

describe('how the portal authenticates', () => {
  it('is set by --client-auth, at add and at set, and needs a secret if the method uses one', async () => {
    await addOidc(' --client-auth post');
    const way = async () => (await findSsoConnectionByKey(sql, 'acme-oidc'))?.settings;
    expect(await way()).toMatchObject({ clientAuthentication: 'post' });
    const { out } = await vestibule('connection set acme-oidc --client-auth basic');
    expect(out).toContain('client authentication: post → basic');
    await vestibule('connection set acme-oidc --client-auth private-key');
    expect(await way()).toMatchObject({ clientAuthentication: 'privateKey' });
    await sql`update sso_connection set sealed_secret = null`;
    const { code, err } = await vestibule('connection set acme-oidc --client-auth post');
    expect([code, err]).toEqual([1, expect.stringContaining('--client-auth: there is no client secret yet')]);
    const given = await vestibule('connection set acme-oidc --client-auth post --client-secret-stdin', 'new secret');
    expect(given.code).toBe(0);
    expect((await vestibule('connection set acme-oidc --client-auth jwt')).err).toContain('basic, post, private-key');
  });
});

describe('connection set --metadata', () => {
  it('adopts the single logout address, and says so', async () => {
    await addSaml();
    const file = join(dataFolder, 'logout.xml');
    const service =
      '<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://idp.acme.example/slo"/>';
    const text = metadataOf(await makeCertificate('idp.acme.example', new Date()));
    await writeFile(file, text.replace(/(?=<md:SingleSignOnService)/, service));
    const { out } = await vestibule(`connection set acme-saml --metadata ${file}`);
    expect(out).toContain('single logout: nothing → "https://idp.acme.example/slo" by post');
    await writeFile(file, text);
    expect((await vestibule(`connection set acme-saml --metadata ${file}`)).out).toContain('by post → nothing');
  });

  it('adopts a replaced certificate even if nothing else changed', async () => {
    await addSaml();
    const next = await makeCertificate('idp.acme.example', new Date());
    const file = join(dataFolder, 'next.xml');
    await writeFile(file, metadataOf(next));
    const { code, out } = await vestibule(`connection set acme-saml --metadata ${file}`);
    expect(code).toBe(0);
    expect(out).toContain('certificates: ');
    const stored = await findSsoConnectionByKey(sql, 'acme-saml');
    const plain = (pem: string) => pem.replace(/\s/g, '');
    expect(plain(JSON.stringify(stored?.settings).replaceAll('\\n', ''))).toContain(plain(next.certificate));
    expect((await vestibule(`connection set acme-saml --metadata ${file}`)).out).toContain(
      'already has these settings',
    );
  });
});

it("a provider may not use another provider's address for single logout", async () => {
  const logout = `<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.acme.example/slo"/>`;
  const plain = metadataOf(await makeCertificate('idp.m.example', new Date())).replaceAll('acme', 'm');
  const file = join(dataFolder, 'm.xml');
  await writeFile(file, plain.replace('<md:SingleSignOnService', `${logout}$&`));
  await addSaml();
  const add = `connection add saml m --customer acme --domain m.example --metadata ${file}`;
  expect(await vestibule(add)).toMatchObject({ code: 1, err: expect.stringContaining('connection acme-saml') });
  await writeFile(join(dataFolder, 'plain.xml'), plain);
  expect((await vestibule(add.replace('m.xml', 'plain.xml'))).code).toBe(0);
  const set = await vestibule(`connection set m --metadata ${file}`);
  expect(set).toMatchObject({ code: 1, err: expect.stringContaining('connection acme-saml') });
});

it('SA-40 connection unlink says which sessions ended, and what the stranger may have left', async () => {
  await addSaml();
  expect((await vestibule('user add ada --email ada@acme.example --customer acme --no-password')).code).toBe(0);
  const link = async () =>
    await sql`insert into sso_subject select s.id, 'x', u.id, now() from sso_connection s, portal_user u`;
  await link();
  const plain = await vestibule('connection unlink acme-saml ada');
  expect(plain).toMatchObject({ code: 0, err: '' });
  expect(plain.out).toBe('User ada will be linked again at the next sign-in; sessions ended: 0.\n');
  await link();
  await sql`insert into totp (user_id, sealed_secret, last_step, confirmed_at) select id, ${Buffer.alloc(40)}, 0, now() from portal_user`;
  const mind = await vestibule('connection unlink acme-saml ada');
  expect(mind.err).toBe(
    'Warning: ada has an authenticator app, perhaps set up by the person who was linked – vestibule user reset-two-factor ada.\n',
  );
  await link();
  const json = await vestibule('connection unlink acme-saml ada --json');
  expect(JSON.parse(json.out)).toEqual({ unlinked: true, sessionsEnded: 0, hasApp: true, rememberedDevices: 0 });
  expect((await vestibule('connection unlink acme-saml ada')).out).toBe('User ada is not linked.\n');
  expect(JSON.parse((await vestibule('connection unlink acme-saml ada --json')).out)).toEqual({ unlinked: false });
});

it('SA-40 connection set --disable and --enable say who is linked, and how to undo it', async () => {
  await addSaml();
  const disabled = (await vestibule('connection set acme-saml --disable --yes')).out;
  expect(disabled).toMatch(/^Linked users: 0\.$/m);
  expect(disabled).not.toContain('unlink');
  expect((await vestibule('user add ada --email ada@acme.example --customer acme --no-password')).code).toBe(0);
  await sql`insert into sso_subject select s.id, 'x', u.id, now() from sso_connection s, portal_user u`;
  for (const flag of ['--enable', '--disable --yes']) {
    const { out } = await vestibule(`connection set acme-saml ${flag}`);
    expect(out).toMatch(/^Linked users: 1, the latest: ada \(.+\)\.$/m);
    expect(out).toContain('vestibule connection unlink acme-saml <name>');
  }
  expect((await vestibule('connection set acme-saml --name Acme')).out).not.toContain('Linked');
});

it('SA-40 connection set --disable and --enable say the same as JSON: sessions ended, who is linked', async () => {
  await addSaml();
  expect((await vestibule('user add ada --email ada@acme.example --customer acme --no-password')).code).toBe(0);
  await sql`insert into sso_subject select s.id, 'x', u.id, now() from sso_connection s, portal_user u`;
  await sql`
    insert into session (token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at, connection_id)
    select sha256('x'), u.id, 'full', '{}', '192.0.2.1', now(), now(), now() + interval '1 hour', s.id
    from sso_connection s, portal_user u`;
  const set = async (flags: string) =>
    JSON.parse((await vestibule(`connection set acme-saml ${flags} --json`)).out) as Record<string, unknown>;
  const linkedUsers = { count: 1, latest: [{ username: 'ada', linkedAt: expect.any(String) }] };
  expect(await set('--disable --yes')).toMatchObject({
    key: 'acme-saml',
    active: false,
    sessionsEnded: 1,
    linkedUsers,
  });
  expect(await set('--disable --yes')).toMatchObject({ active: false, sessionsEnded: 0, linkedUsers });
  const enabled = await set('--enable');
  expect(enabled).toMatchObject({ active: true, linkedUsers });
  expect(enabled).not.toHaveProperty('sessionsEnded');
  expect(Object.keys(await set('--name Acme')).filter((name) => /ended|linked/i.test(name))).toEqual([]);
});

describe('a provider that may start sign-ins', () => {
  it('is allowed for one connection only', async () => {
    await addSaml(' --idp-initiated');
    const second = `connection add saml other --customer acme --domain other.example --metadata ${metadata}`;
    expect((await vestibule(`${second} --idp-initiated`)).err).toContain('connection acme-saml');
    expect((await vestibule(second)).code).toBe(0);
    expect((await vestibule('connection set other --idp-initiated on')).err).toContain('connection acme-saml');
  });
});

/** Adds ada, whom acme-oidc knows. */
async function linkAda(): Promise<void> {
  expect((await vestibule('user add ada --email ada@acme.example --customer acme --no-password')).code).toBe(0);
  await sql`insert into sso_subject select s.id, '1007', u.id, now() from sso_connection s, portal_user u`;
}

describe('another provider', () => {
  it('is taken only after a yes, as its users are unlinked; --keep-links says that it is the same one', async () => {
    await addOidc();
    await linkAda();
    const asked = await vestibule('connection set acme-oidc --issuer http://127.0.0.1:1');
    expect([asked.code, asked.err]).toEqual([1, expect.stringContaining('Users who are unlinked: 1;')]);
    expect((await vestibule('connection set acme-oidc --issuer http://127.0.0.1:1 --keep-links')).code).toBe(0);
    const { out } = await vestibule(`connection set acme-oidc --issuer ${provider.issuer} --yes --json`);
    expect(JSON.parse(out)).toMatchObject({ usersUnlinked: 1, sessionsEnded: 0 });
  });
});

describe('less trust in a provider', () => {
  it('SA-40 a domain is dropped only after a yes, as its users are unlinked; --keep-links keeps them', async () => {
    await addOidc(' --domain other.example');
    await linkAda();
    const asked = await vestibule('connection set acme-oidc --domain other.example');
    expect([asked.code, asked.err]).toEqual([
      1,
      expect.stringMatching(/no longer vouches for acme\.example.*Users who are unlinked: 1;.*--keep-links/),
    ]);
    expect((await vestibule('connection set acme-oidc --domain other.example --keep-links')).code).toBe(0);
    expect((await vestibule('connection set acme-oidc --domain acme.example')).code).toBe(0);
    const { out } = await vestibule('connection set acme-oidc --domain other.example --yes --json');
    expect(JSON.parse(out)).toMatchObject({ usersUnlinked: 1, sessionsEnded: 0 });
  });
});

describe('connection test', () => {
  it('reports success, or the wrong field', async () => {
    await addOidc();
    expect((await vestibule('connection set acme-oidc --issuer http://127.0.0.1:1')).code).toBe(0);
    const wrong = await vestibule('connection test acme-oidc');
    expect(wrong.code).toBe(1);
    expect(wrong.out).toContain('--issuer');
    await addSaml();
    const { out } = await vestibule('connection test acme-saml --json');
    expect(JSON.parse(out)[0]).toMatchObject({ connection: 'acme-saml', step: 'certificate 1', ok: true });
  });
});

describe('connection keys', () => {
  it('publishes the next key, promotes it, and withdraws the last one', async () => {
    const stages = async (line: string) =>
      (
        JSON.parse((await vestibule(`connection keys ${line} --json`.replace('  ', ' '))).out) as {
          stage: string;
          id: string;
        }[]
      ).map(({ stage, id }) => [stage, id]);
    const [first] = await stages('');
    const both = await stages('--add');
    expect(both.map(([stage]) => stage)).toEqual(['current', 'next']);
    expect(both[0]).toEqual(first);
    expect(await stages('--use')).toEqual([
      ['current', both[1]?.[1]],
      ['last', first?.[1]],
    ]);
    expect((await stages('--withdraw last')).map(([stage]) => stage)).toEqual(['current']);
    expect((await vestibule('connection keys --use')).err).toContain('--add');
  });
});

describe('doctor', () => {
  it('warns of a secret that expires within sixty days, and of an expired one', async () => {
    const date = (days: number) => new Date(Date.now() + days * day).toISOString().slice(0, 10);
    await addOidc(` --secret-ends ${date(70)}`);
    expect((await vestibule('doctor')).out).toContain('ok      – single sign-on');
    await vestibule(`connection set acme-oidc --secret-ends ${date(30)}`);
    const soon = await vestibule('doctor');
    expect(soon.code).toBe(1);
    expect(soon.out).toMatch(
      /failed +– single sign-on – the client secret of connection acme-oidc expires in (?:29|30) days/,
    );
    await vestibule(`connection set acme-oidc --secret-ends ${date(-2)}`);
    expect((await vestibule('doctor')).out).toContain('expired on');
  });
});
