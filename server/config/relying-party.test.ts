import { describe, expect, it } from 'vitest';
import type { ConfigFile } from './config-file.ts';
import { readRelyingParty } from './relying-party.ts';

function read(publicUrl: string, settings?: ConfigFile['passkeys']) {
  const problems: string[] = [];
  return { rp: readRelyingParty(new URL(publicUrl), settings, problems), problems };
}

describe('the domain of the passkeys', () => {
  it.each([
    ['https://hub.acme.example', undefined, 'hub.acme.example'],
    ['https://hub.acme.example:8443', 'hub.acme.example', 'hub.acme.example'],
    ['https://hub.acme.example', 'acme.example', 'acme.example'],
    ['https://a.b.acme.co.uk', 'acme.co.uk', 'acme.co.uk'],
    ['https://hub.corp.internal', 'corp.internal', 'corp.internal'],
    ['http://localhost:8080', 'localhost', 'localhost'],
    ['http://hub.localhost', 'localhost', 'localhost'],
    // Equal to the host, it need not be anybody's own.
    ['https://github.io', undefined, 'github.io'],
  ])('%s with %s is %s', (publicUrl, domain, id) => {
    const { rp, problems } = read(publicUrl, domain === undefined ? undefined : { domain });
    expect(problems).toEqual([]);
    expect(rp).toEqual({ id, origins: [new URL(publicUrl).origin], related: [] });
  });

  const foreign = 'is neither the host of PUBLIC_URL nor a parent of it';
  const shared = 'is not one owner’s: anybody may have a name below it, so browsers refuse it';
  it.each([
    ['https://hub.acme.example', 'evil.example', foreign],
    ['https://hub.acme.example', 'www.hub.acme.example', foreign],
    ['https://hub.acme.example', 'cme.example', foreign],
    ['https://hub.acme.example', 'ub.acme.example', foreign],
    ['https://hub.acme.example', '192.0.2.7', foreign],
    ['https://hub.acme.example', 'localhost', foreign],
    ['https://hub.acme.example', 'example', shared],
    ['https://hub.acme.com', 'com', shared],
    ['https://hub.acme.co.uk', 'co.uk', shared],
    ['https://acme.github.io', 'github.io', shared],
    // A public suffix lies below it.
    ['https://hub.s3.amazonaws.com', 'amazonaws.com', shared],
    ['https://hub.internal', 'internal', shared],
  ])('%s refuses %s, which %s', (publicUrl, domain, problem) =>
    expect(read(publicUrl, { domain }).problems).toEqual([`passkeys.domain: ${JSON.stringify(domain)} ${problem}`]),
  );

  it.each(['https://192.0.2.7', 'https://[2001:db8::7]'])('%s has none, whatever is set', (publicUrl) => {
    expect(read(publicUrl)).toEqual({ rp: null, problems: [] });
    const problem = 'passkeys: no passkey can be made for the host of PUBLIC_URL, which is a number';
    expect(read(publicUrl, { domain: 'acme.example' })).toEqual({ rp: null, problems: [problem] });
    expect(read(publicUrl, { relatedOrigins: ['https://acme.example'] }).problems).toEqual([problem]);
  });
});

describe('related origins', () => {
  it('are in the form that browsers send, and pages there may ask', () => {
    const { rp, problems } = read('https://hub.acme.example', {
      relatedOrigins: ['https://Shop.example:443', 'https://hub.acme.example', 'https://acme.example:8443'],
    });
    expect(problems).toEqual([]);
    expect(rp?.origins).toEqual(['https://hub.acme.example']);
    expect(rp?.related).toEqual(['https://shop.example', 'https://hub.acme.example', 'https://acme.example:8443']);
  });

  it.each(['https://192.0.2.7', 'https://a..b:99999'])('%s is none', (origin) =>
    expect(read('https://hub.acme.example', { relatedOrigins: [origin] }).problems).toEqual([
      `passkeys.relatedOrigins: ${JSON.stringify(origin)} is not an origin such as https://shop.example`,
    ]),
  );
});
