import { beforeEach, describe, expect, it } from 'vitest';
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
  recoveryCodesUrl,
  registerApp,
  registrationUrl,
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

const sealedOf = async (username: string) =>
  (
    await portal.sql<{ sealed: Buffer }[]>`
    select sealed_secret as sealed from totp where user_id = ${await userId(portal, username)}`
  )[0]?.sealed as Buffer;

describe('MF-19 the secret of an app in the database', () => {
  it('MF-19 is not stored unencrypted, nor are its bytes: pending, confirmed, and recovery codes', async () => {
    const cookies = await halfSession(portal, 'alice');
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>();
    const pending = await everyRow(portal);
    const { secret, cookies: full } = await registerApp(portal, cookies);
    expect(secret).toBe(totpSecret);
    const { codes } = await recoveryCodesShown(portal, full);
    expect(codes).toHaveLength(10);
    const rows = pending + (await everyRow(portal));
    const secrets = [secret, ...(codes ?? []), ...(codes ?? []).map((code) => code.replaceAll('-', ''))];
    for (const form of [
      ...secrets.flatMap(formsOf),
      bytesOf(secret).toString('hex'),
      bytesOf(secret).toString('base64'),
    ])
      expect(rows.toLowerCase().includes(form.toLowerCase()), form).toBe(false);
  });

  it('MF-19 opens only for its own user: swapped or copied rows open for nobody', async () => {
    const [alices, adams] = [await giveApp(portal, 'alice'), await giveApp(portal, 'adam')];
    expect([await tried('alice', alices), await tried('adam', adams)]).toEqual([true, true]);
    const [ofAlice, ofAdam] = [await sealedOf('alice'), await sealedOf('adam')];
    const put = async (username: string, sealed: Buffer) =>
      await portal.sql`update totp set sealed_secret = ${sealed} where user_id = ${await userId(portal, username)}`;
    await put('alice', ofAdam);
    await put('adam', ofAlice);
    for (const secret of [alices, adams])
      expect([await tried('alice', secret), await tried('adam', secret)]).toEqual([false, false]);
    await portal.sql`delete from throttle`;
    await put('adam', ofAdam);
    expect([await tried('alice', adams), await tried('adam', adams)]).toEqual([false, true]);
  });

  it('MF-19 does not open if one bit was changed, or it was cut', async () => {
    const secret = await giveApp(portal, 'alice');
    const sealed = await sealedOf('alice');
    for (const at of [0, 4, 16, 32, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] as number) ^ 1;
      await portal.sql`update totp set sealed_secret = ${changed}`;
      expect(await tried('alice', secret), `${at}`).toBe(false);
    }
    const cutTo = (length: number) => portal.sql`update totp set sealed_secret = ${sealed.subarray(0, length)}`;
    for (const length of [0, 3, 15, 31, 32, sealed.length - 1]) {
      await cutTo(length);
      expect(await tried('alice', secret), `${length}`).toBe(false);
    }
    await portal.sql`delete from throttle`;
    await portal.sql`update totp set sealed_secret = ${sealed}`;
    expect(await tried('alice', secret)).toBe(true);
  });

  it('MF-19 opens by any secret of the server, as long as that is there', async () => {
    const secret = await giveApp(portal, 'alice');
    use(fresh);
    expect(await tried('alice', secret)).toBe(false);
    use(fresh, other, old);
    expect(await tried('alice', secret)).toBe(true);
  });
});

it('MF-19 a half session, a sent code and recovery codes survive a new secret of the server as well', async () => {
  const [alice, bob] = [await halfSession(portal, 'alice'), await halfSession(portal, 'bob')];
  const shown = (await askForKey(portal, alice)).json();
  const code = await codeByMail(portal, 'bob');
  use(fresh, old);
  expect((await portal.send({ url: registrationUrl, cookies: alice })).json()).toEqual(shown);
  expect(verdict(await verify(portal, code, bob))).toBe(true);
  const { cookies } = await registerApp(portal, alice);
  const { codes } = await recoveryCodesShown(portal, cookies);
  use(other, fresh);
  expect((await recoveryCodesShown(portal, cookies)).codes).toEqual(codes);
  expect((await portal.send({ url: recoveryCodesUrl, cookies })).body).toContain(codes?.[0]);
  expect(verdict(await verify(portal, codes?.[0], await halfSession(portal, 'alice')))).toBe(true);
  use(other);
  expect(verdict(await verify(portal, codes?.[1], await halfSession(portal, 'alice')))).toBe(false);
});

/** The bytes that base32 text encodes. */
function bytesOf(text: string): Buffer {
  const bits = [...text].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  return Buffer.from(
    bits
      .join('')
      .match(/.{8}/g)
      ?.map((byte) => Number.parseInt(byte, 2)) ?? [],
  );
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')];
}
