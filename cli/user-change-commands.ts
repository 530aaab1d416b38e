import { type Command, Option } from 'commander';
import type { DeskRole } from '#contract/desk.ts';
import { type Language, languages } from '#contract/languages.ts';
import { addUser, type ChangeOfUser, changeUser } from '#server/accounts/users.ts';
import type { Connection } from '#server/database/database.ts';
import { foldLoginName, readDisplayName, readEmail, readUsername } from '#server/names/read-name.ts';
import { readGroups } from '#server/people/groups.ts';
import { findUser, type User } from '#server/people/portal-user.ts';
import { newPasswordRules } from '#server/sign-in/new-password.ts';
import { readNewPassword } from './ask.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import { accepted, activeOptions, given, nameArgument, optionOf, repeatable, withOptions } from './options.ts';
import { type Answer, failure, stepsInWords } from './print.ts';
import { byOperator, type Opened, onDatabase } from './with-database.ts';

type Flags = YesFlag & {
  rename?: string;
  email?: string;
  /** False: removed. */
  name?: string | false;
  group?: string[] | false;
  customer?: string[];
  addCustomer?: string[];
  removeCustomer?: string[];
  /** True asks for one, false removes it. */
  password?: boolean;
  role?: DeskRole | 'none';
  administer?: string[] | false;
  passwordStdin?: true;
  language?: Language | 'browser';
  isActive?: boolean;
  passwordChange?: boolean;
};

/** `vestibule user add` and `vestibule user set` */
export function addUserChangeCommands(user: Command): void {
  const add = user
    .command('add')
    .argument('<username>', 'name to sign in with, besides the email address')
    .description('add a user; asks for a password at a terminal')
    .addOption(emailOption().makeOptionMandatory());
  withOptions(add, options('customer the user belongs to; may be repeated'))
    .option('--no-password', 'add the user without a password, for single sign-on or to be invited to choose one')
    .addHelpText(
      'after',
      '\nExamples:\n  vestibule user add alice --email alice@acme.example --customer acme --name "Alice Arden" --group acme:finance\n  pass show alice | vestibule user add alice --email alice@acme.example --customer acme --password-stdin',
    )
    .action(onDatabase(runAdd));
  const set = user
    .command('set')
    .argument(...nameArgument)
    .description('change a user; a new password and --inactive end every session, a new email every open link')
    .addOption(optionOf('--rename <username>', 'new username', readUsername))
    .addOption(emailOption())
    .addOption(repeatable('--add-customer <key>', 'add a customer; may be repeated').conflicts('customer'))
    .addOption(repeatable('--remove-customer <key>', 'remove a customer; may be repeated').conflicts('customer'))
    .option('--password', 'ask for a new password')
    .option('--no-name', 'show the username again')
    .option('--no-group', 'remove all groups')
    .option('--no-administer', 'the user administers no customer')
    .option('--no-password', 'remove the password, and all passkeys unless a customer takes nothing else')
    .option('--password-change', 'the user may change the password')
    .option(...yesFlag);
  withOptions(set, options('the customers of the user, replacing the existing ones; may be repeated'))
    .addHelpText(
      'after',
      '\nExamples:\n  vestibule user set alice --password\n  vestibule user set alice --inactive\n  vestibule user set alice --add-customer beta --language de',
    )
    .action(onDatabase(runSet));
}

const emailOption = () => optionOf('--email <address>', 'email address', readEmail);

const options = (customers: string) => [
  repeatable('--customer <key>', customers),
  optionOf('--name <name>', 'display name, such as "Alice Arden"', readDisplayName),
  repeatable('--group <customer:group>', 'such as acme:finance, replacing existing ones; may be repeated'),
  new Option('--role <role>', 'at the desk, for all customers').choices(['operator', 'support', 'none']),
  repeatable('--administer <key>', 'customer that the user administers at the desk; may be repeated'),
  new Option('--password-stdin', 'read the password from standard input').conflicts('password'),
  new Option('--language <language>', 'of emails; "browser": that of the page').choices([...languages, 'browser']),
  ...activeOptions(['--active', 'the user can sign in'], ['--inactive', 'the user cannot sign in']),
  new Option('--no-password-change', 'the user may not change the password'),
];

async function runAdd({ sql, config }: Opened, usernameText: string, flags: Flags): Promise<Answer> {
  const username = accepted(readUsername(usernameText));
  const source = flags.passwordStdin ? 'stdin' : flags.password === false ? null : 'ifGiven';
  const customers = flags.customer ?? [];
  const values = {
    username,
    email: flags.email ?? '',
    customers,
    name: flags.name || null,
    groups: accepted(readGroups(flags.group || [])),
    role: flags.role === 'none' ? null : (flags.role ?? null),
    administers: flags.administer || [],
    language: languageOf(flags) ?? null,
    active: flags.isActive !== false,
    mayChangePassword: flags.passwordChange !== false,
  };
  const passwordHash = source ? await readNewPassword(source, await newPasswordRules(sql, config, values)) : null;
  const result = await addUser(sql, { ...values, passwordHash }, byOperator());
  if (result.kind === 'refused') throw failure(`${result.problem}.`);
  const added = `User ${username} added${passwordHash ? '' : ', without a password'}.`;
  const mayInvite = !passwordHash && values.active && values.mayChangePassword;
  const none = 'The user has no customer and cannot sign in: vestibule user set --add-customer';
  return {
    value: await findUser(sql, foldLoginName(username)),
    words: mayInvite ? `${added}\nTo have them choose one by email: vestibule user invite ${username}` : added,
    warnings: customers.length === 0 ? [none] : [],
  };
}

async function runSet({ sql, config }: Opened, name: string, flags: Flags, command: Command): Promise<Answer> {
  const change = changeOf(flags);
  const source = flags.passwordStdin ? 'stdin' : flags.password ? 'prompt' : null;
  if (Object.keys(change).length === 0 && !source) command.error('error: nothing to change, see --help');
  const user = await existingUser(sql, name);
  if (source) {
    // It may be none of the names that they will have after the change.
    const { username = user.username, email = user.email } = change;
    const customers = change.customers?.(user.customers) ?? user.customers;
    const rules = await newPasswordRules(sql, config, { username, email, customers });
    change.passwordHash = await readNewPassword(source, rules);
  }
  if (flags.password === false && user.hasPassword)
    await confirm(`This removes the password of ${user.username} for good, and passkeys beside it`, flags);
  const result = await changeUser(sql, name, change, byOperator());
  if (result.kind === 'notFound') throw failure(`There is no user ${name}.`);
  if (result.kind === 'refused') throw failure(`${result.problem}.`);
  const value = await findUser(sql, foldLoginName(change.username ?? name));
  if (result.kind !== 'changed') return { value, words: `User ${name} already has these settings.` };
  return { value, words: `User ${name} changed.\n${stepsInWords(result.steps)}` };
}

function changeOf(flags: Flags): ChangeOfUser {
  const { rename, email, name, group, passwordChange, customer, addCustomer = [], removeCustomer = [] } = flags;
  const others = (current: readonly string[]) =>
    [...current, ...addCustomer].filter((key) => !removeCustomer.includes(key));
  const isOther = addCustomer.length > 0 || removeCustomer.length > 0;
  return given({
    username: rename,
    email,
    name: name === false ? null : name,
    groups: group === undefined ? undefined : () => accepted(readGroups(group || [])),
    role: flags.role === 'none' ? null : flags.role,
    administers: flags.administer === undefined ? undefined : () => flags.administer || [],
    active: flags.isActive,
    mayChangePassword: passwordChange,
    language: languageOf(flags),
    customers: customer ? () => customer : isOther ? others : undefined,
    passwordHash: flags.password === false ? null : undefined,
  });
}

/** The language to store: null follows the page, usually in the browser's, undefined means not given. */
function languageOf({ language }: Flags): Language | null | undefined {
  return language === 'browser' ? null : language;
}

/** The user with a name. Throws a failure if there is none. */
export async function existingUser(sql: Connection, name: string): Promise<User> {
  const user = await findUser(sql, foldLoginName(name));
  if (!user) throw failure(`There is no user ${name}.`);
  return user;
}
