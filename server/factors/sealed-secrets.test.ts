import { beforeEach, expect, it } from 'vitest';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { userId } from '#test/support/reset-for-test.ts';
import { everyRow } from '#test/support/rows-for-test.ts';
import {
  askForKey,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  recoveryCodesShown,
  registerApp,
  startTwoFactorAfresh,
  step,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';
import type { Keys } from '../crypto/keys.ts';
import { keysOf } from '../crypto/keys.ts';

const [old, fresh, other] = ['the old secret of the server', 'a fresh one', 'another one'] as const;

const portal = portalOfFile();
beforeEach(async () => {
  use(old);
  await startTwoFactorAfresh(portal);
});

/** Continues as a server whose VESTIBULE_SECRET lists these. */
function use(...secrets: string[]): void {
  (portal.deps as { keys: Keys }).keys = keysOf(secrets);
}

async function tried(username: string, secret: string): Promise<unknown> {
  portal.wait(step);
  return verdict(await verify(portal, codeNow(portal, secret), await halfSession(portal, username)));
}

it('MF-19 no secret is stored in plain, nor are its bytes: pending, confirmed, and recovery codes', async () => {
  const cookies = await halfSession(portal, 'alice');
  await askForKey(portal, cookies);
  const pending = await everyRow(portal);
  const { secret, cookies: full } = await registerApp(portal, cookies);
  const { codes } = await recoveryCodesShown(portal, full);
  const rows = (pending + (await everyRow(portal))).toLowerCase();
  const bits = [...secret].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const bytes = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const texts = [secret, ...(codes ?? []), ...(codes ?? []).map((code) => code.replaceAll('-', ''))];
  expect(texts).toHaveLength(21);
  for (const form of [...texts, ...[bytes, ...texts.map((text) => Buffer.from(text))].flatMap(encodings)])
    expect(rows.includes(form.toLowerCase()), form).toBe(false);
});

function encodings(bytes: Buffer): string[] {
  return [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')];
}

it('MF-19 the secret of an app opens only for its own user', async () => {
  const [alices, adams] = [await giveApp(portal, 'alice'), await giveApp(portal, 'adam')];
  const [alice, adam] = [await userId(portal, 'alice'), await userId(portal, 'adam')];
  expect([await tried('alice', alices), await tried('adam', adams)]).toEqual([true, true]);
  await portal.sql`
    update totp set sealed_secret = (select sealed_secret from totp where user_id = ${adam}) where user_id = ${alice}`;
  for (const secret of [alices, adams]) expect(await tried('alice', secret)).toBe(false);
});

it('MF-19 an app, a half session, a sent code and recovery codes survive a new secret of the server', async () => {
  const adams = await giveApp(portal, 'adam');
  const [alice, bob] = [await halfSession(portal, 'alice'), await halfSession(portal, 'bob')];
  const shown = (await askForKey(portal, alice)).json();
  const code = await codeByMail(portal, 'bob');
  use(fresh, old);
  expect(await tried('adam', adams)).toBe(true);
  expect((await askForKey(portal, alice)).json()).toEqual(shown);
  expect(verdict(await verify(portal, code, bob))).toBe(true);
  const { cookies } = await registerApp(portal, alice);
  const { codes } = await recoveryCodesShown(portal, cookies);
  use(other, fresh);
  expect((await recoveryCodesShown(portal, cookies)).codes).toEqual(codes);
  expect(verdict(await verify(portal, codes?.[0], await halfSession(portal, 'alice')))).toBe(true);
  use(other);
  expect(verdict(await verify(portal, codes?.[1], await halfSession(portal, 'alice')))).toBe(false);
  expect(await tried('adam', adams)).toBe(false);
});
