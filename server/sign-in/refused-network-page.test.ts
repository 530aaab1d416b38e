import { expect, it } from 'vitest';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile();

it('IP-16 the address on the failure page is a valid one, or the word for unknown', async () => {
  const shown = async (text: string) =>
    (await portal.send({ url: `/portal/loginfail/ip?${new URLSearchParams({ ipaddress: text, lang: 'en' })}` })).body;
  expect(await shown('203.0.113.9')).toContain('203.0.113.9');
  expect(await shown('2001:db8::9')).toContain('2001:db8::9');
  for (const text of ['<script>alert(1)</script>', 'x'.repeat(500), '203.0.113.9 or call 555', '\u202e203.0.113.9']) {
    const page = (await shown(text)).replace(/<script type="application\/json"[\s\S]*?<\/script>/g, '');
    expect(page.replaceAll(/href="[^"]*"|action="[^"]*"|value="[^"]*"/g, ''), text).not.toContain(text);
    expect(page).toContain('unknown');
  }
});
