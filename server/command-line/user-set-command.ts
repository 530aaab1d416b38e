import type { Command } from 'commander';
import { type ChangeOfUser, type ChangeUserResult, changeUser } from '../accounts/change-user.ts';
import { foldLoginName } from '../accounts/fold-name.ts';
import { readEmail, readUsername } from '../accounts/read-name.ts';
import { findUser } from '../storage/portal-user.ts';
import { failure } from './failure.ts';
import { loadConfig } from './load-config.ts';
import { readNewPassword } from './new-password.ts';
import { printJson, printLine } from './print.ts';
import { accepted } from './read-values.ts';
import { addChangeFlags, addUserFlags, languageOf, type UserFlags } from './user-flags.ts';
import { withDatabase } from './with-database.ts';

/** `vestibule user set` */
export function addUserSetCommand(user: Command): void {
  const command = user
    .command('set')
    .argument('<name>', 'username or e-mail')
    .description('change a user; what is not named stays as it is. Another password and --inactive end every session');
  addUserFlags(addChangeFlags(command), 'the customers of the user, in place of those before; may be repeated')
    .addHelpText(
      'after',
      '\nExamples:\n  vestibule user set alice --password\n  vestibule user set alice --inactive\n  vestibule user set alice --add-customer beta --language de',
    )
    .action(runUserSet);
}

async function runUserSet(name: string, flags: UserFlags, command: Command): Promise<void> {
  const change = await changeOf(flags);
  if (Object.keys(change).length === 0) command.error('error: name what to change, see --help');
  await withDatabase(async (sql) => {
    const result = await changeUser(sql, name, change, new Date());
    if (result.kind !== 'changed' && result.kind !== 'unchanged') throw refusalOf(result, name);
    if (flags.json) return printJson(await findUser(sql, foldLoginName(change.username ?? name)));
    if (result.kind === 'unchanged') return printLine(`User ${name} is like that already.`);
    printLine(
      [`User ${name} changed.`, ...result.steps.map(({ step, outcome }) => `  ${step}: ${outcome}`)].join('\n'),
    );
  });
}

async function changeOf(flags: UserFlags): Promise<ChangeOfUser> {
  const language = languageOf(flags);
  const customers = customersOf(flags);
  const change: ChangeOfUser = {
    ...(flags.rename !== undefined && { username: accepted(readUsername(flags.rename)) }),
    ...(flags.email !== undefined && { email: accepted(readEmail(flags.email)) }),
    ...((flags.active || flags.inactive) && { active: flags.active === true }),
    ...(flags.passwordChange !== undefined && { mayChangePassword: flags.passwordChange }),
    ...(language !== undefined && { language }),
    ...(customers && { customers }),
  };
  const source = flags.passwordStdin ? 'stdin' : flags.password ? 'prompt' : null;
  if (source) change.passwordHash = await readNewPassword(source, loadConfig().passwordPolicy);
  else if (flags.password === false) change.passwordHash = null;
  return change;
}

function customersOf({ customer, addCustomer, removeCustomer }: UserFlags): ChangeOfUser['customers'] | null {
  if (customer) return () => customer;
  if (!addCustomer && !removeCustomer) return null;
  return (current) => [...current, ...(addCustomer ?? [])].filter((key) => !removeCustomer?.includes(key));
}

function refusalOf(result: Exclude<ChangeUserResult, { kind: 'changed' | 'unchanged' }>, name: string): Error {
  switch (result.kind) {
    case 'notFound':
      return failure('refused', `There is no user ${name}.`);
    case 'taken':
      return failure('refused', `${result.field}: another user has that name already.`);
    case 'unknownCustomers':
      return failure('refused', `customer: there is no customer ${result.keys.join(', ')}.`);
  }
}
