import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { keysOf, unseal } from '#server/crypto/keys.ts';
import { makeCertificate } from '#server/single-sign-on/portal-keys.ts';
import { connectionPlace, findSsoConnectionByKey } from '#server/single-sign-on/sso-connection.ts';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomerTo, addUserTo, commandsOfFile } from '#test/support/commands-of-file.ts';
import { sharedByFile } from '#test/support/portal-of-file.ts';

const commands = commandsOfFile({
  each: async (sql) => {
    await sql`delete from portal_key`;
    await addCustomerTo(sql, 'acme', 'Acme Ltd.');
  },
});
const provider = sharedByFile(() => startForgedProvider({ now: () => new Date() }));
let metadata: string;
beforeAll(async () => {
  metadata = await metadataFile('metadata');
});

/** A file with the metadata of a provider, with a new certificate; `logout` is its address for single logout. */
async function metadataFile(name: string, host = 'idp.acme.example', logout = ''): Promise<string> {
  const { certificate } = await makeCertificate(host, new Date());
  const plain = certificate.replace(/-----[^-]+-----|\s/g, '');
  const path = join(commands.folder, `${name}.xml`);
  const service =
    logout && `<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${logout}"/>`;
  await writeFile(
    path,
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="https://${host}/">
  <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${plain}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
    ${service}<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://${host}/sso"/>
  </md:IDPSSODescriptor></md:EntityDescriptor>`,
  );
  return path;
}

const vestibule = (line: string, input = '') => commands.vestibule(line, input);
const outOf = async (line: string) => (await vestibule(line)).out;
const set = async (flags: string) => await outOf(`connection set ${flags}`);
const addOidc = (more = '') =>
  vestibule(
    `connection add oidc acme-oidc --customer acme --domain acme.example --issuer ${provider.issuer} --client-id vestibule --client-secret-stdin --provider-network 127.0.0.0/8${more}`,
    'the secret\n',
  );
const addSaml = (more = '') =>
  vestibule(`connection add saml acme-saml --customer acme --domain acme.example --metadata ${metadata}${more}`);
const stored = (key: string) => findSsoConnectionByKey(commands.sql, key);
/** Adds ada, whom the only connection knows. */
async function linkAda(): Promise<void> {
  await addUserTo(commands.sql, 'ada');
  await commands.sql`insert into sso_subject select s.id, '1007', u.id, now() from sso_connection s, portal_user u`;
}

describe('connection add', () => {
  it('adds an OpenID Connect connection, its secret sealed, and prints what the provider needs', async () => {
    const { code, out } = await addOidc(
      ' --domain ÄCME.example --jit on --map username=nick,groups=urn:x=y --second-factor mfa',
    );
    expect(code).toBe(0);
    expect(out).toContain('http://localhost:8080/portal/authenticate/oidc/callback/acme-oidc');
    const found = await stored('acme-oidc');
    expect(found).toMatchObject({
      ...{
        name: 'Acme Ltd.',
        domains: ['acme.example', 'xn--cme-pla.example'],
        attributes: { username: 'nick', groups: 'urn:x=y' },
      },
      ...{ makesUsers: true, trustsEmail: false, required: false, secondFactorValues: ['mfa'] },
      settings: { issuer: provider.issuer, clientId: 'vestibule', clientAuthentication: 'secret' },
    });
    const keys = keysOf([commands.env.VESTIBULE_SECRET]);
    const { id = '', sealedSecret } = found ?? {};
    expect(unseal(keys.seal, sealedSecret ?? Buffer.alloc(0), connectionPlace(id))).toBe('the secret');
    expect(await commands.events()).toEqual(['connection-added']);
  });

  it('adds a SAML connection from a file, which vouches for addresses unless told otherwise', async () => {
    const { code, out } = await addSaml(' --jit --name Acme');
    expect([code, out]).toEqual([0, expect.stringContaining('http://localhost:8080/portal/authenticate/saml/acs')]);
    expect(await stored('acme-saml')).toMatchObject({
      ...{ trustsEmail: true, makesUsers: true, name: 'Acme' },
      settings: { entityId: 'https://idp.acme.example/', signOnUrl: 'https://idp.acme.example/sso', mayBegin: false },
    });
    await set('acme-saml --jit off');
    expect(await stored('acme-saml')).toMatchObject({ makesUsers: false });
  });

  const oidc = 'oidc x --customer acme --issuer https://idp.example --client-id a --client-auth private-key';
  it.each([
    ['--issuer', `${oidc} --domain acme.example --issuer http://idp.example`],
    ['--domain', `${oidc} --domain acme`],
    ['--customer', `${oidc} --domain acme.example --customer nobody`],
    ['client secret', `${oidc} --domain acme.example --client-auth post`],
    ['--map', `${oidc} --domain acme.example --map mail`],
    ['--metadata', 'saml x --customer acme --domain acme.example --metadata /nowhere.xml'],
  ])('reports %s as the problem, and adds nothing', async (field, flags) => {
    const refused = await vestibule(`connection add ${flags}`);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(field) });
    expect(await commands.sql`select from sso_connection`).toHaveLength(0);
  });
});

describe('connection set', () => {
  it('changes only what is named; list and show have everything but the secret; remove removes', async () => {
    await addOidc();
    const shown = await outOf('connection show acme-oidc --json');
    expect(shown).not.toMatch(/the secret|sealed/i);
    expect(JSON.parse(shown)).toMatchObject({ key: 'acme-oidc', hasSecret: true });
    const out = await set('acme-oidc --required on --scope email --disable --yes');
    expect(out).toMatch(/required: off → on[\s\S]*scopes: email profile → email/);
    expect(await set('acme-oidc --required on')).toContain('already has these settings');
    expect(await outOf('connection list')).toMatch(/acme-oidc +acme +oidc +acme\.example +yes +no/);
    expect((await vestibule('connection set acme-oidc --metadata x')).err).toContain('uses OpenID Connect');
    expect((await vestibule('connection set acme-oidc')).code).toBe(2);
    expect(await outOf('connection remove acme-oidc --yes')).toContain('removed');
    expect((await vestibule('connection remove acme-oidc')).code).toBe(1);
    expect(await commands.events()).toEqual(['connection-added', 'connection-changed', 'connection-removed']);
  });

  it.each([
    ['--second-factor mfa', '--no-second-factor', 'counts as second factor: mfa → nothing'],
    ['--client-auth post', '--client-auth basic', 'client authentication: post → basic'],
    ['--provider-network fd00::/64', '--provider-network none', '127.0.0.0/8, fd00::/64 → public ones only'],
  ])('OI-34 after add %s: %s says %s', async (added, flags, words) => {
    await addOidc(added && ` ${added}`);
    expect(await set(`acme-oidc ${flags}`)).toContain(words);
  });

  it('OI-34 a provider in a network that is not listed is named with the flag, by add and test', async () => {
    await addOidc();
    await set('acme-oidc --provider-network none');
    const wrong = await vestibule('connection set acme-oidc --provider-network 127.0.0.1/8');
    expect(wrong.err).toMatch(/--provider-network: .*write 127\.0\.0\.0\/8/);
    expect(await outOf('connection test acme-oidc')).toContain('--provider-network <cidr>');
    const saml = `connection add saml x --customer acme --domain acme.example --metadata ${provider.issuer}/metadata`;
    expect((await vestibule(saml)).err).toContain('--provider-network <cidr>');
    expect((await vestibule(`${saml} --provider-network 127.0.0.0/8`)).err).toContain('answers 404');
  });

  it('--metadata adopts the single logout address and a replaced certificate, and says so', async () => {
    await addSaml();
    const logout = 'https://idp.acme.example/slo';
    const file = await metadataFile('next', 'idp.acme.example', logout);
    const out = await set(`acme-saml --metadata ${file}`);
    expect(out).toMatch(/single logout: nothing → "https:\/\/idp\.acme\.example\/slo" by post\n.*certificates: /);
    expect(await set(`acme-saml --metadata ${file}`)).toContain('already has these settings');
    expect(await set(`acme-saml --metadata ${metadata}`)).toContain('by post → nothing');
  });
});

describe('SA-40 whom a connection has linked', () => {
  it('unlink says which sessions ended, and what a stranger may have left', async () => {
    await addSaml();
    await linkAda();
    const [link] = await commands.sql<{ user_id: string }[]>`select * from sso_subject`;
    expect(await vestibule('connection unlink acme-saml ada')).toEqual({
      ...{ code: 0, err: '' },
      out: 'User ada will be linked again at the next sign-in; sessions ended: 0.\n',
    });
    expect(await outOf('connection unlink acme-saml ada')).toBe('User ada is not linked.\n');
    await commands.sql`insert into sso_subject select s.id, '1007', u.id, now() from sso_connection s, portal_user u`;
    await commands.sql`
      insert into totp (user_id, sealed_secret, last_step, confirmed_at) values (${link?.user_id ?? null}, ${Buffer.alloc(40)}, 0, now())`;
    expect((await vestibule('connection unlink acme-saml ada')).err).toBe(
      'Warning: ada has an authenticator app, perhaps set up by the person who was linked – vestibule user reset-two-factor ada.\n',
    );
    expect(JSON.parse(await outOf('connection unlink acme-saml ada --json'))).toEqual({ unlinked: false });
  });

  it.each([
    ['--issuer http://127.0.0.1:1', /another provider.*Users who are unlinked: 1;.*--keep-links/],
    ['--domain other.example', /no longer vouches for acme\.example.*Users who are unlinked: 1;.*--keep-links/],
  ])('%s unlinks them, after a yes; with --keep-links they stay', async (flags, words) => {
    await addOidc(' --domain other.example');
    await linkAda();
    const asked = await vestibule(`connection set acme-oidc ${flags}`);
    expect(asked).toMatchObject({ code: 1, err: expect.stringMatching(words) });
    expect((await vestibule(`connection set acme-oidc ${flags} --keep-links`)).code).toBe(0);
    const back = `acme-oidc --issuer ${provider.issuer} --domain acme.example --yes --json`;
    await set(back);
    expect(await commands.sql`select from sso_subject`).toHaveLength(flags.startsWith('--domain') ? 1 : 0);
  });
});

describe('OI-35 allowing passwords again or locking a domain out', () => {
  const state = async () =>
    await commands.sql`select key, active, required, array(select domain from sso_domain d where d.connection_id = s.id
      order by domain) as domains from sso_connection s order by key`;
  const add = async (key: string) =>
    await vestibule(
      `connection add oidc ${key} --customer acme --domain acme.example --domain acme.test --issuer https://idp.acme.example --client-id a --client-auth private-key --required on`,
    );

  it.each([
    ['connection set main --disable', 'Then nobody in acme.example, acme.test can sign in:'],
    ['connection remove main', 'can sign in with it again'],
    ['customer remove acme', 'can sign in with it again'],
    ['connection set main --domain acme.test', 'no longer required for acme.example:'],
  ])('%s says what follows and changes nothing without --yes', async (line, words) => {
    await add('main');
    const before = await state();
    const { code, err, out } = await vestibule(line);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(words);
    expect(await state()).toEqual(before);
    expect((await vestibule(`${line} --yes`)).code).toBe(0);
    expect(await state()).not.toEqual(before);
  });
});

it('connection test reports success, or the wrong field', async () => {
  await addOidc();
  await set('acme-oidc --issuer http://127.0.0.1:1');
  const wrong = await vestibule('connection test acme-oidc');
  expect(wrong).toMatchObject({ code: 1, out: expect.stringContaining('--issuer') });
  await addSaml();
  const [first] = JSON.parse(await outOf('connection test acme-saml --json'));
  expect(first).toMatchObject({ connection: 'acme-saml', step: 'certificate 1', ok: true });
});

it('connection keys publishes the next key, promotes it, and withdraws the last one', async () => {
  const stages = async (flags: string) => {
    const rows = JSON.parse(await outOf(`connection keys --json${flags}`)) as { stage: string; id: string }[];
    return rows.map(({ stage, id }) => [stage, id]);
  };
  const [first] = await stages('');
  const both = await stages(' --add');
  expect(both).toEqual([first, ['next', expect.any(String)]]);
  const last = ['last', first?.[1]];
  expect(await stages(' --use')).toEqual([['current', both[1]?.[1]], last]);
  expect((await stages(' --withdraw last --yes')).map(([stage]) => stage)).toEqual(['current']);
  expect((await vestibule('connection keys --use')).err).toContain('--add');
});
