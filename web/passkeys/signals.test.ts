import { afterEach, expect, it, vi } from 'vitest';
import { makePasskey } from './make-passkey.ts';
import { reportUnknown, tellManagers, tellUnknown } from './signals.ts';

afterEach(() => vi.unstubAllGlobals());

it.each([
  [401, 'old'],
  [409, 'old'],
  [429, 'busy'],
  [503, 'busy'],
])('a %i in place of the options is told as %s', async (status, problem) => {
  vi.stubGlobal('fetch', async () => new Response(null, { status }));
  expect(await makePasskey('/options')).toEqual({ problem });
});

const known = { rpId: 'portal.example', userId: 'AAAA', name: 'ada', allAcceptedCredentialIds: ['BBBB'] };
const unknown = { rpId: 'portal.example', credentialId: 'CCCC' };
const settled = () => new Promise((resolve) => setTimeout(resolve));

it('a browser with the Signal API hears what is left, how the user is called, and which passkey nobody knows', async () => {
  const heard = vi.fn(async () => {});
  vi.stubGlobal('PublicKeyCredential', {
    signalAllAcceptedCredentials: heard,
    signalCurrentUserDetails: heard,
    signalUnknownCredential: heard,
  });
  vi.stubGlobal('document', { querySelector: () => ({ dataset: { unknown: JSON.stringify(unknown) } }) });
  tellManagers(known);
  reportUnknown();
  await settled();
  const { name, allAcceptedCredentialIds, ...user } = known;
  expect(heard.mock.calls).toEqual(
    expect.arrayContaining([
      [{ ...user, allAcceptedCredentialIds }],
      [{ ...user, name, displayName: name }],
      [unknown],
    ]),
  );
});

const refuse = async () => Promise.reject(new Error('no'));

it.each([
  ['without passkeys', undefined],
  ['without signals', {}],
  ['that refuses them', { signalAllAcceptedCredentials: refuse, signalUnknownCredential: refuse }],
])('a browser %s hears nothing, and nothing fails', async (_, signals) => {
  if (signals) vi.stubGlobal('PublicKeyCredential', signals);
  tellManagers(known);
  tellUnknown(unknown);
  await settled();
});
