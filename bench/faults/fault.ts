import type { OpenIdProvider } from '#test/providers/openid-provider-for-test.ts';
import type { MailServerForTest } from '#test/support/mail-for-test.ts';
import type { TwoPortals, TwoPortalsOnOne } from '#test/support/two-portals.ts';
import type { AskedMails } from './asked-mails.ts';
import type { Crowd } from './crowd.ts';
import type { FullDisk } from './full-disk.ts';

/** Two instances, and who uses them beside the constant load. */
export type UnderLoad = { portals: TwoPortals; crowds: readonly Crowd[] };

/** All that a fault may touch. */
export type World = UnderLoad & {
  portals: TwoPortalsOnOne;
  disk: FullDisk;
  mailServer: MailServerForTest;
  askedMails: AskedMails;
  provider: OpenIdProvider;
};

/**
 * What is done to two instances under load. `begin` returns what ends it, which is done `lasts` milliseconds later.
 * `mayLose` is how many requests may get no answer or a wrong one; all others are answered well or refused honestly.
 */
export type Fault<W = World> = {
  name: string;
  lasts: number;
  mayLose: number;
  begin: (world: W) => Promise<() => unknown>;
  /** Whether people who sign in with a password may notice nothing of it. */
  sparesPasswords?: boolean;
};
