import { createHmac } from 'node:crypto';

const step = 30;

/** What an app with this key shows, on a phone whose clock is off by this many seconds. */
export function appCode(key: string, secondsOff = 0): string {
  return codeOfStep(key, Math.floor((Date.now() / 1000 + secondsOff) / step));
}

/** RFC 6238, once more: the portal's code is not checked by itself. */
function codeOfStep(key: string, counter: number): string {
  const bits = [...key].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const secret = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const moment = Buffer.alloc(8);
  moment.writeBigUInt64BE(BigInt(counter));
  const hash = createHmac('sha1', secret).update(moment).digest();
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** Codes that the app shows at no time near now. */
export function wrongAppCodes(key: string, count: number): string[] {
  const near = (15 * 60) / step;
  const codes = Array.from({ length: 2 * near + 1 }, (_, index) => appCode(key, (index - near) * step));
  const wrong: string[] = [];
  for (let number = 100_000; wrong.length < count; number += 1)
    if (!codes.includes(String(number))) wrong.push(String(number));
  return wrong;
}
