import type { Command } from 'commander';
import { resetTwoFactor } from '../accounts/reset-two-factor.ts';
import { revokeDevices } from '../accounts/revoke-devices.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { isUuid } from '../names/is-uuid.ts';
import type { Database } from '../storage/database.ts';
import { findUser } from '../storage/portal-user.ts';
import { listRememberedDevices, type RememberedDevice } from '../storage/remembered-device.ts';
import { failure } from './failure.ts';
import { localTime, printJson, printLine, printTable } from './print.ts';
import { withDatabase } from './with-database.ts';

type DeviceFlags = { revoke?: string; revokeAll?: true; json?: true };

/** `vestibule user reset-two-factor` and `vestibule user devices` */
export function addUserTwoFactorCommands(user: Command): void {
  user
    .command('reset-two-factor')
    .argument('<name>', 'username or email')
    .description(
      'remove the app, recovery codes and remembered devices of a user, who registers again at the next sign-in',
    )
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', '\nVerify who is asking: this removes the second factor. The user is notified by email.')
    .action((name: string, { json }: { json?: true }) =>
      withDatabase(async (sql) => {
        const result = await resetTwoFactor(sql, name, new Date());
        if (result.kind === 'notFound') throw failure(`There is no user ${name}.`);
        if (json) return printJson(result);
        if (result.kind === 'nothing') return printLine(`User ${name} has no second factor.`);
        printLine(`User ${name} no longer has a second factor; sessions ended: ${result.sessionsEnded}.`);
      }),
    );
  user
    .command('devices')
    .argument('<name>', 'username or email')
    .description('list the devices on which a user needs no code, or revoke them')
    .option('--revoke <id>', 'revoke this device')
    .option('--revoke-all', 'revoke every device')
    .option('--json', 'print them as JSON')
    .action((name: string, flags: DeviceFlags) => withDatabase((sql) => runDevices(sql, name, flags)));
}

async function runDevices(sql: Database, name: string, { revoke, revokeAll, json }: DeviceFlags): Promise<void> {
  const now = new Date();
  const user = await findUser(sql, foldLoginName(name));
  if (!user) throw failure(`There is no user ${name}.`);
  if (revoke !== undefined || revokeAll) {
    const { username } = user;
    if (revoke !== undefined && !isUuid(revoke))
      throw failure(`--revoke: ${revoke} is not the id of a device; vestibule user devices ${username} lists them.`);
    const revoked = await revokeDevices(sql, user, revoke, now);
    if (revoked === 0 && revoke !== undefined) throw failure(`There is no device ${revoke} of ${username}.`);
    return json ? printJson({ revoked }) : printLine(`Devices revoked: ${revoked}.`);
  }
  const devices = await listRememberedDevices(sql, user.id, now);
  if (json) return printJson(devices);
  if (devices.length === 0) return printLine(`User ${name} has no remembered devices.`);
  printTable(['ID', 'FACTOR', 'BROWSER', 'ADDRESS', 'SINCE', 'LAST USED', 'UNTIL'], devices.map(rowOf));
}

function rowOf({ id, factor, browser, address, madeAt, lastUsedAt, endsAt }: RememberedDevice): string[] {
  return [id, factor, browser ?? '-', address, localTime(madeAt), localTime(lastUsedAt), localTime(endsAt)];
}
