import type { Command } from 'commander';
import { type ChangeOfUser, type ChangeUserResult, changeUser } from '../accounts/change-user.ts';
import type { Config } from '../config/config.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { readEmail, readUsername } from '../names/read-name.ts';
import { newPasswordRules } from '../password/new-password-rules.ts';
import type { Database } from '../storage/database.ts';
import { findUser } from '../storage/portal-user.ts';
import { failure } from './failure.ts';
import { type PasswordSource, readNewPassword } from './new-password.ts';
import { printJson, printLine } from './print.ts';
import { accepted } from './read-values.ts';
import { addChangeFlags, addUserFlags, languageOf, type UserFlags } from './user-flags.ts';
import { warnOfPasskeysOnly } from './warn-of-passkeys-only.ts';
import { withDatabase } from './with-database.ts';

/** `vestibule user set` */
export function addUserSetCommand(user: Command): void {
  const command = user
    .command('set')
    .argument('<name>', 'username or email')
    .description(
      'change a user; unspecified options stay unchanged. A new password ends every session and every open link, --inactive every session and an open invitation',
    );
  addUserFlags(addChangeFlags(command), 'the customers of the user, replacing the existing ones; may be repeated')
    .addHelpText(
      'after',
      '\nExamples:\n  vestibule user set alice --password\n  vestibule user set alice --inactive\n  vestibule user set alice --add-customer beta --language de',
    )
    .action(runUserSet);
}

async function runUserSet(name: string, flags: UserFlags, command: Command): Promise<void> {
  const change = changeOf(flags);
  const source = flags.passwordStdin ? 'stdin' : flags.password ? 'prompt' : null;
  if (Object.keys(change).length === 0 && !source) command.error('error: nothing to change, see --help');
  await withDatabase(async (sql, config) => {
    if (source) change.passwordHash = await readPasswordOf(sql, config, name, change, source);
    const result = await changeUser(sql, name, change, new Date());
    if (result.kind !== 'changed' && result.kind !== 'unchanged') throw refusalOf(result, name);
    if (flags.json) return printJson(await findUser(sql, foldLoginName(change.username ?? name)));
    if (result.kind === 'unchanged') return printLine(`User ${name} already has these settings.`);
    printLine(
      [`User ${name} changed.`, ...result.steps.map(({ step, outcome }) => `  ${step}: ${outcome}`)].join('\n'),
    );
    if (change.passwordHash || change.customers) await warnOfPasskeysOnly(sql, change.username ?? name);
  });
}

function changeOf(flags: UserFlags): ChangeOfUser {
  const language = languageOf(flags);
  const customers = customersOf(flags);
  return {
    ...(flags.rename !== undefined && { username: accepted(readUsername(flags.rename)) }),
    ...(flags.email !== undefined && { email: accepted(readEmail(flags.email)) }),
    ...((flags.active || flags.inactive) && { active: flags.active === true }),
    ...(flags.passwordChange !== undefined && { mayChangePassword: flags.passwordChange }),
    ...(language !== undefined && { language }),
    ...(customers && { customers }),
    ...(flags.password === false && { passwordHash: null }),
  };
}

/** Reads the user's password, which may be none of the names that they will have after the change. */
async function readPasswordOf(
  sql: Database,
  config: Config,
  name: string,
  change: ChangeOfUser,
  source: PasswordSource,
): Promise<string | null> {
  const user = await findUser(sql, foldLoginName(name));
  if (!user) throw refusalOf({ kind: 'notFound' }, name);
  const { username = user.username, email = user.email } = change;
  const customers = change.customers?.(user.customers) ?? user.customers;
  return await readNewPassword(source, await newPasswordRules(sql, config, { username, email, customers }));
}

function customersOf({ customer, addCustomer, removeCustomer }: UserFlags): ChangeOfUser['customers'] | null {
  if (customer) return () => customer;
  if (!addCustomer && !removeCustomer) return null;
  return (current) => [...current, ...(addCustomer ?? [])].filter((key) => !removeCustomer?.includes(key));
}

function refusalOf(result: Exclude<ChangeUserResult, { kind: 'changed' | 'unchanged' }>, name: string): Error {
  switch (result.kind) {
    case 'notFound':
      return failure(`There is no user ${name}.`);
    case 'taken':
      return failure(`${result.field}: another user already has that name.`);
    case 'unknownCustomers':
      return failure(`customer: there is no customer ${result.keys.join(', ')}.`);
  }
}
