import { expect, it } from 'vitest';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile({ env: { PUBLIC_URL: 'https://portal.example' } });

it('Host tricks reach no route', async () => {
  const hosts = [
    'evil.example',
    'portal.example.evil.example',
    'portal.example:444',
    'portal.example@evil.example',
    'x portal.example',
    '',
    'portal.example.',
  ];
  for (const host of hosts)
    expect((await portal.send({ url: '/portal/login', headers: { host } })).statusCode, host).toBe(421);
  for (const name of ['x-forwarded-host', 'forwarded', 'x-host', 'x-original-host']) {
    const value = name === 'forwarded' ? 'host=evil.example' : 'evil.example';
    const answer = await portal.send({ url: '/portal/portal.html', headers: { [name]: value } });
    expect(JSON.stringify(answer.headers) + answer.body, name).not.toContain('evil');
  }
});
