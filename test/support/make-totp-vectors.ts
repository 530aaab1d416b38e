// Generates totp-vectors.txt with an independent program: `oathtool` of the OATH Toolkit (Debian: apt install
// oathtool). Run `node test/support/make-totp-vectors.ts`; the file is the same every time.
//
// Each line is a secret in base32, the first second of a time step, and the hundred codes from that step on.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';

const secrets = 100;
const codes = 100;
const period = 30;
/** Steps up to the year 2106, where seconds exceed 32 bits. */
const lastStep = Math.floor((2 ** 32 - 1) / period) - codes;
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const lines = Array.from({ length: secrets }, (_, at) => {
  const chance = createHash('sha512').update(`vestibule ${at}`).digest();
  const secret = [...chance.subarray(0, 32)].map((byte) => letters[byte % 32]).join('');
  const time = (chance.readUInt32BE(32) % lastStep) * period;
  const options = ['--totp', '--base32', '--digits=6', `--time-step-size=${period}s`, `--window=${codes - 1}`];
  const out = execFileSync('oathtool', [...options, `--now=@${time}`, secret], { encoding: 'utf8' });
  return `${secret} ${time} ${out.trim().split('\n').join('')}`;
});
writeFileSync(new URL('totp-vectors.txt', import.meta.url), `${lines.join('\n')}\n`);
