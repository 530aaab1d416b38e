import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { field } from '#test/forgeries/forged-saml.ts';
import { bringPackages } from '#test/support/bring-packages.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { entityId, publicAddress } from '../addresses.ts';
import { makeCertificate, portalKeys } from '../portal-keys.ts';
import type { SamlConnection } from '../sso-connection.ts';
import { readLogoutRequest, readPostedMessage } from './logout-message.ts';
import { samlMetadata } from './messages.ts';
import { readSamlMetadata } from './provider-metadata.ts';
import { readSamlAnswer, startSaml } from './sign-in.ts';

const portal = portalOfFile();

it('pysaml2 accepts our signed requests, and its answers and logout are read', async () => {
  const isHere = () => existsSync('/usr/lib/python3/dist-packages/saml2') && existsSync('/usr/bin/xmlsec1');
  expect(await bringPackages(['python3-pysaml2', 'xmlsec1'], isHere, 'Install python3-pysaml2, xmlsec1.')).toBeNull();
  const { deps } = portal;
  // The provider uses the real clock.
  portal.wait(Date.now() - deps.now().getTime());
  const folder = await mkdtemp('/tmp/pysaml2-');
  const made = await makeCertificate('pysaml2', new Date(Date.now() - 24 * 3_600_000));
  const given = { key: join(folder, 'key.pem'), certificate: join(folder, 'certificate.pem') };
  await Promise.all([writeFile(given.key, made.privateKey), writeFile(given.certificate, made.certificate)]);
  const ours = samlMetadata(deps.config, await portalKeys(deps));
  const run = (step: string, more = {}) => {
    const input = JSON.stringify({ ...given, portal: ours, step, ...more });
    return execFileSync('/usr/bin/python3', ['test/providers/pysaml2.py'], { input, encoding: 'utf8' }).trim();
  };
  const reading = readSamlMetadata(run('metadata'), { now: new Date() });
  const settings = reading.kind === 'ok' ? reading.settings : expect.fail(reading.problem);
  const connection = { protocol: 'saml', settings, attributes: {} } as SamlConnection;
  for (const signsBoth of [true, false]) {
    const started = await startSaml(deps, connection, { state: 'state-1' });
    if (started.kind === 'refused') expect.fail(started.words);
    const response = field(run('answer', { request: started.fields?.SAMLRequest, signsBoth }));
    const answer = await readSamlAnswer(deps, connection, { field: response, kept: started.kept });
    expect(answer).toMatchObject({ kind: 'ok', identity: { subject: 'pia-1', email: 'pia@py.test' } });
  }
  const address = { to: publicAddress(deps.config, 'samlLogout'), portalId: entityId(deps.config) };
  const message = readPostedMessage({ SAMLRequest: field(run('logout', address)) });
  const root = message.kind === 'ok' ? message.verified(settings.certificates) : null;
  expect(root && (await readLogoutRequest(deps, root))).toMatchObject({ kind: 'ok', subject: 'pia-1' });
  await rm(folder, { recursive: true });
}, 180_000);
