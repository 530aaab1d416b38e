import { afterEach, expect, it, vi } from 'vitest';
import { makePasskey } from './make-passkey.ts';
import { reportUnknown, tellManagers, tellUnknown } from './signals.ts';

it.each([
  [204, 'old'],
  [401, 'old'],
  [409, 'old'],
  [429, 'busy'],
  [503, 'busy'],
])('a %i in place of the options is told as %s', async (status, problem) => {
  vi.stubGlobal('fetch', async () => new Response(null, { status }));
  expect(await makePasskey('/options')).toEqual({ problem });
});

afterEach(() => vi.unstubAllGlobals());

const known = { rpId: 'portal.example', userId: 'AAAA', name: 'ada', allAcceptedCredentialIds: ['BBBB'] };
const unknown = { rpId: 'portal.example', credentialId: 'CCCC' };
const settled = () => new Promise((resolve) => setTimeout(resolve));

it('a browser with the Signal API hears what is left, and how the user is called', async () => {
  const signals = {
    signalAllAcceptedCredentials: vi.fn(async () => {}),
    signalCurrentUserDetails: vi.fn(async () => {}),
  };
  vi.stubGlobal('PublicKeyCredential', signals);
  tellManagers(known);
  await settled();
  const { name, ...left } = known;
  expect(signals.signalAllAcceptedCredentials.mock.calls).toEqual([[left]]);
  const user = { rpId: 'portal.example', userId: 'AAAA', name, displayName: name };
  expect(signals.signalCurrentUserDetails.mock.calls).toEqual([[user]]);
});

it('a page says which passkey nobody knows', async () => {
  const signalUnknownCredential = vi.fn(async () => {});
  vi.stubGlobal('PublicKeyCredential', { signalUnknownCredential });
  vi.stubGlobal('document', { querySelector: () => ({ dataset: { unknown: JSON.stringify(unknown) } }) });
  reportUnknown();
  await settled();
  expect(signalUnknownCredential.mock.calls).toEqual([[unknown]]);
});

it.each([
  ['without passkeys', undefined],
  ['without signals', {}],
  [
    'that refuses them',
    {
      signalAllAcceptedCredentials: async () => Promise.reject(new Error('no')),
      signalUnknownCredential: async () => Promise.reject(new Error('no')),
    },
  ],
])('a browser %s hears nothing, and nothing fails', async (_, signals) => {
  if (signals) vi.stubGlobal('PublicKeyCredential', signals);
  tellManagers(known);
  tellUnknown(unknown);
  await settled();
});
