import { describe, expect, it } from 'vitest';
import type { ConfigFile } from './config-file.ts';
import { readRelyingParty } from './public-url.ts';

function read(publicUrl: string, settings?: ConfigFile['passkeys']) {
  const problems: string[] = [];
  return { rp: readRelyingParty(new URL(publicUrl), settings, problems), problems };
}

describe('the domain of the passkeys', () => {
  it.each([
    ['https://hub.acme.example', undefined, 'hub.acme.example'],
    ['https://hub.acme.example:8443', 'hub.acme.example', 'hub.acme.example'],
    ['https://hub.acme.example', 'acme.example', 'acme.example'],
    ['http://localhost:8080', 'localhost', 'localhost'],
    ['http://hub.localhost', 'localhost', 'localhost'],
  ])('%s with %s is %s', (publicUrl, domain, id) => {
    const { rp, problems } = read(publicUrl, domain === undefined ? undefined : { domain });
    expect(problems).toEqual([]);
    expect(rp).toEqual({ id, origin: new URL(publicUrl).origin });
  });

  it.each([
    ['https://hub.acme.example', 'evil.example'],
    ['https://hub.acme.example', 'www.hub.acme.example'],
    ['https://hub.acme.example', 'cme.example'],
    ['https://hub.acme.example', '192.0.2.7'],
    ['https://hub.acme.example', 'example'],
  ])('%s refuses %s', (publicUrl, domain) =>
    expect(read(publicUrl, { domain }).problems).toEqual([
      `passkeys.domain: ${JSON.stringify(domain)} is neither the host of PUBLIC_URL nor a parent of it`,
    ]),
  );

  it.each(['https://192.0.2.7', 'https://[2001:db8::7]'])('%s has none, whatever is set', (publicUrl) => {
    expect(read(publicUrl)).toEqual({ rp: null, problems: [] });
    const problem = 'passkeys: no passkey can be made for the host of PUBLIC_URL, which is a number';
    expect(read(publicUrl, { domain: 'acme.example' })).toEqual({ rp: null, problems: [problem] });
  });
});
