import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

// Traefik is not in Debian, so its file is parsed only, and the fields checked that protect the hub. The names of the fields
// are those of Traefik 3.
type Json = { [key: string]: Json } & Json[] & string;

const read = async (path: string) =>
  parse(await readFile(new URL(`../../deploy/${path}`, import.meta.url), 'utf8'), {
    strict: true,
    merge: false,
  }) as Json;

const identity = ['user', 'email', 'customers', 'language', 'token'].map((name) => `x-vestibule-${name}`);

describe('the file for Traefik', async () => {
  const { http } = await read('traefik/vestibule.yaml');
  const { routers, middlewares, services } = http as Json;

  it('every router leads to what is defined', () => {
    for (const router of Object.values(routers as Json)) {
      expect(Object.keys(services as Json)).toContain(router.service);
      for (const name of router.middlewares as Json) expect(Object.keys(middlewares as Json)).toContain(name);
      expect(Object.keys(router).sort()).toEqual(['entryPoints', 'middlewares', 'priority', 'rule', 'service', 'tls']);
    }
  });

  it('the hub is reached through the check, except by paths in plain spelling', () => {
    const checks = ['signed-in-only', 'reports-only'];
    const open = Object.entries(routers as Json).filter(
      ([, { service, middlewares: used = [] as unknown as Json }]) =>
        service === 'hub' && !checks.some((check) => used.includes(check)),
    );
    expect(open.map(([name]) => name)).toEqual(['public']);
    const [, pattern = ''] = /PathRegexp\(`(.+)`\)/.exec(routers?.public?.rule ?? '') ?? [];
    expectPlain(new RegExp(pattern));
  });

  it('GT-03 GT-12 no hub is asked for another protocol than WebSockets', () => {
    const { rule = '', priority, service } = (routers as Json)['other-protocols'] as Json;
    const others = Object.entries(routers as Json).filter(([name]) => name !== 'other-protocols');
    for (const [, router] of others) expect(Number(priority)).toBeGreaterThan(Number(router.priority));
    expect(service).toBe('vestibule');
    const [, pattern = ''] = /HeaderRegexp\(`Upgrade`, `\(\?i\)(.+)`\)/.exec(rule) ?? [];
    for (const protocol of ['h2c', 'H2C', 'websocket, h2c', 'TLS/1.0', 'HTTP/2.0'])
      expect(protocol).toMatch(new RegExp(pattern, 'i'));
    expect('websocket').not.toMatch(new RegExp(pattern, 'i'));
  });

  it('GT-03 identity that a client sends is removed, and no forwarded header of a client is believed', () => {
    for (const name of ['signed-in-only', 'reports-only']) {
      const forwardAuth = middlewares?.[name]?.forwardAuth as Json;
      expect(Object.keys(forwardAuth)).toEqual(['address', 'trustForwardHeader', 'authResponseHeadersRegex']);
      const { address, trustForwardHeader, authResponseHeadersRegex } = forwardAuth;
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:8080\/portal\/session(?:\?customer=acme)?$/);
      expect(trustForwardHeader).toBe(false);
      // Go's inline flag.
      const pattern = new RegExp((authResponseHeadersRegex ?? '').replace('(?i)', ''), 'i');
      for (const header of [...identity, 'X_Vestibule_User', 'X.Vestibule-User']) expect(header).toMatch(pattern);
    }
    const removed = middlewares?.['without-identity']?.headers?.customRequestHeaders as Json;
    expect(Object.values(removed).every((value) => value === '')).toBe(true);
    const names = Object.keys(removed).map((key) => key.toLowerCase());
    for (const name of [...identity, 'http2-settings']) expect(names).toContain(name);
  });
});

function expectPlain(pattern: RegExp): void {
  for (const path of ['/public/', '/public/a.css', '/public/a/b-c_d~e.js']) expect(path).toMatch(pattern);
  const odd = ['/publicx', '/public/../app', '/public/%2e%2e/app', '/public/..;/app', '/public//app', '/public/.git'];
  for (const path of [...odd, '/app', '/PUBLIC/x', '/public/a\\b', '/public/a%2fb']) expect(path).not.toMatch(pattern);
}
