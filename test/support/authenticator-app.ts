import { createHmac } from 'node:crypto';

const step = 30;

/** What an app with this key shows, on a phone whose clock is off by this many seconds. */
export function appCode(key: string, secondsOff = 0): string {
  return codeOfStep(key, Math.floor((Date.now() / 1000 + secondsOff) / step));
}

/** The code that an app shows in a time step, computed independently of the product's library (RFC 4226 §5.3). */
export function codeOfStep(key: string, timeStep: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...key].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(timeStep));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** Codes that the app shows at no time near now. */
export function wrongAppCodes(key: string, count: number): string[] {
  const near = (15 * 60) / step;
  const codes = Array.from({ length: 2 * near + 1 }, (_, index) => appCode(key, (index - near) * step));
  const all = Array.from({ length: count + codes.length }, (_, index) => String(100_000 + index));
  return all.filter((code) => !codes.includes(code)).slice(0, count);
}
