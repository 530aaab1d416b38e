import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import { afterEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type PortalForTest, portalForTest } from '#test/support/portal-for-test.ts';
import { halfSession, registrationUrl } from '#test/support/two-factor-for-test.ts';

let portal: PortalForTest;
afterEach(() => portal.close());

/** What a hub with this name shows a user with this name. */
async function shown(hub: string, username: string): Promise<{ image: PNG; totpSecret: string }> {
  const made = await portalForTest();
  portal = made;
  made.deps.config.brand.branding.name = hub;
  await addCustomer(portal, 'app', { twoFactor: 'app' });
  await addUser(portal, { username, customers: ['app'], email: 'someone@acme.test' });
  const cookies = await halfSession(portal, username);
  const { url, totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<Record<string, string>>();
  return { image: PNG.sync.read(Buffer.from(url?.split(',')[1] ?? '', 'base64')), totpSecret: totpSecret ?? '' };
}

describe('the QR code', () => {
  it.each([
    ['plain names', 'Vestibule', 'alice'],
    ['names of signs', 'R&D: Häuser & Söhne', 'a:b&secret=AAAA#x@corp.example'],
    ['names in other letters', 'Größe "50 %"', 'ředitel+ключ@corp.example'],
    ['the longest names', '😀'.repeat(64), '漢'.repeat(100)],
  ])(
    'MF-18 of %s is read by another reader as the address of this secret, with a margin',
    async (_what, hub, username) => {
      const { image, totpSecret } = await shown(hub, username);
      const { width, height, data } = image;
      const read = jsqr.default(new Uint8ClampedArray(data), width, height);
      const uri = new URL(read?.data ?? '');
      expect([uri.protocol, uri.hostname]).toEqual(['otpauth:', 'totp']);
      const plain = (text: string) => text.replaceAll(':', ' ');
      expect(decodeURIComponent(uri.pathname)).toBe(`/${plain(hub)}:${plain(username)}`);
      expect([...uri.searchParams]).toEqual([
        ['secret', totpSecret],
        ['issuer', plain(hub)],
      ]);

      // ISO/IEC 18004: four white modules on every side, next to the black corners of the finder patterns.
      const modules = 17 + 4 * (read?.version ?? 0);
      const side = width / (modules + 8);
      expect([height, Number.isInteger(side), side >= 3]).toEqual([width, true, true]);
      const pixel = (x: number, y: number) => data.readUInt32BE(4 * (y * width + x));
      const [white, black] = [0xffffffff, 0x000000ff];
      const room = 4 * side;
      for (let y = 0; y < height; y += 1)
        for (let x = 0; x < width; x += 1)
          if (Math.min(x, y, width - 1 - x, height - 1 - y) < room && pixel(x, y) !== white)
            throw new Error(`${x}, ${y}`);
      expect([pixel(room, room), pixel(width - room - 1, room), pixel(room, height - room - 1)]).toEqual([
        black,
        black,
        black,
      ]);
    },
  );
});
