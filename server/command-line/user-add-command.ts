import type { Command } from 'commander';
import { addUser } from '../accounts/add-user.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { readEmail, readUsername } from '../names/read-name.ts';
import { newPasswordRules } from '../password/new-password-rules.ts';
import { findUser } from '../storage/portal-user.ts';
import { failure } from './failure.ts';
import { readNewPassword } from './new-password.ts';
import { printJson, printLine, printWarning } from './print.ts';
import { accepted } from './read-values.ts';
import { addUserFlags, languageOf, type UserFlags } from './user-flags.ts';
import { warnOfPasskeysOnly } from './warn-of-passkeys-only.ts';
import { withDatabase } from './with-database.ts';

/** `vestibule user add` */
export function addUserAddCommand(user: Command): void {
  const command = user
    .command('add')
    .argument('<username>', 'name to sign in with, besides the email address')
    .description('add a user; asks for a password at a terminal')
    .requiredOption('--email <address>', 'email address');
  addUserFlags(command, 'customer the user belongs to; may be repeated')
    .option('--no-password', 'add the user without a password, for single sign-on or to be invited to choose one')
    .addHelpText(
      'after',
      '\nExamples:\n  vestibule user add alice --email alice@acme.example --customer acme\n  pass show alice | vestibule user add alice --email alice@acme.example --customer acme --password-stdin',
    )
    .action(runUserAdd);
}

async function runUserAdd(usernameText: string, flags: UserFlags): Promise<void> {
  const username = accepted(readUsername(usernameText));
  const email = accepted(readEmail(flags.email ?? ''));
  const source = flags.passwordStdin ? 'stdin' : flags.password === false ? null : 'ifGiven';
  const customers = flags.customer ?? [];
  const values = {
    username,
    email,
    customers,
    language: languageOf(flags) ?? null,
    active: !flags.inactive,
    mayChangePassword: flags.passwordChange !== false,
  };
  await withDatabase(async (sql, config) => {
    const passwordHash = source ? await readNewPassword(source, await newPasswordRules(sql, config, values)) : null;
    const result = await addUser(sql, { ...values, passwordHash }, new Date());
    switch (result.kind) {
      case 'taken':
        throw failure(
          `${result.field}: another user already has the name ${result.field === 'email' ? email : username}.`,
        );
      case 'unknownCustomers':
        throw failure(`customer: there is no customer ${result.keys.join(', ')}.`);
      case 'added':
        if (flags.json) return printJson(await findUser(sql, foldLoginName(username)));
        printLine(`User ${username} added${passwordHash ? '' : ', without a password'}.`);
        if (await warnOfPasskeysOnly(sql, username)) return;
        if (!passwordHash && values.active && values.mayChangePassword)
          printLine(`To have them choose one by email: vestibule user invite ${username}`);
        if (customers.length === 0)
          printWarning('The user has no customer and cannot sign in: vestibule user set --add-customer');
    }
  });
}
