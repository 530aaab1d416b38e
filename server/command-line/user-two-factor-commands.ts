import type { Command } from 'commander';
import { foldLoginName } from '../accounts/fold-name.ts';
import { resetTwoFactor } from '../accounts/reset-two-factor.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { findUser, type User } from '../storage/portal-user.ts';
import { deleteRememberedDevices, listRememberedDevices, type RememberedDevice } from '../storage/remembered-device.ts';
import { failure } from './failure.ts';
import { localTime, printJson, printLine, printTable } from './print.ts';
import { withDatabase } from './with-database.ts';

type DeviceFlags = { revoke?: string; revokeAll?: true; json?: true };

/** `vestibule user reset-two-factor` and `vestibule user devices` */
export function addUserTwoFactorCommands(user: Command): void {
  user
    .command('reset-two-factor')
    .argument('<name>', 'username or e-mail')
    .description('remove app, recovery codes and remembered devices of a user, who registers anew at the next sign-in')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', '\nMake sure who is asking: this takes away the second lock. The user is told by mail.')
    .action((name: string, { json }: { json?: true }) =>
      withDatabase(async (sql) => {
        const result = await resetTwoFactor(sql, name, new Date());
        if (result.kind === 'notFound') throw failure('refused', `There is no user ${name}.`);
        if (json) return printJson(result);
        if (result.kind === 'nothing') return printLine(`User ${name} has registered nothing.`);
        printLine(`User ${name} has no second factor any more; sessions ended: ${result.sessionsEnded}.`);
      }),
    );
  user
    .command('devices')
    .argument('<name>', 'username or e-mail')
    .description('list the devices on which a user needs no code, or make them need one again')
    .option('--revoke <id>', 'this device needs a code again')
    .option('--revoke-all', 'every device needs a code again')
    .option('--json', 'print them as JSON')
    .action((name: string, flags: DeviceFlags) => withDatabase((sql) => runDevices(sql, name, flags)));
}

async function runDevices(sql: Database, name: string, { revoke, revokeAll, json }: DeviceFlags): Promise<void> {
  const now = new Date();
  const user = await findUser(sql, foldLoginName(name));
  if (!user) throw failure('refused', `There is no user ${name}.`);
  if (revoke !== undefined || revokeAll) {
    const revoked = await revokeDevices(sql, user, revoke, now);
    return json ? printJson({ revoked }) : printLine(`Devices that need a code again: ${revoked}.`);
  }
  const devices = await listRememberedDevices(sql, user.id, now);
  if (json) return printJson(devices);
  if (devices.length === 0) return printLine(`User ${name} needs a code on every device, if at all.`);
  printTable(['ID', 'FACTOR', 'BROWSER', 'ADDRESS', 'SINCE', 'LAST USED', 'UNTIL'], devices.map(rowOf));
}

async function revokeDevices(sql: Database, user: User, id: string | undefined, now: Date): Promise<number> {
  if (id !== undefined && !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    throw failure(
      'refused',
      `--revoke: ${id} is not the id of a device; vestibule user devices ${user.username} lists them.`,
    );
  return await sql.begin(async (sql) => {
    const revoked = await deleteRememberedDevices(sql, user.id, id);
    if (revoked === 0 && id !== undefined) throw failure('refused', `There is no device ${id} of ${user.username}.`);
    const steps = [{ step: 'devices forgotten', outcome: String(revoked) }];
    const event = { event: 'device-forgotten', userId: user.id, username: user.username, steps } as const;
    if (revoked > 0) await insertAuditEvent(sql, event, now);
    return revoked;
  });
}

function rowOf({ id, factor, browser, address, madeAt, lastUsedAt, endsAt }: RememberedDevice): string[] {
  return [id, factor, browser ?? '-', address, localTime(madeAt), localTime(lastUsedAt), localTime(endsAt)];
}
