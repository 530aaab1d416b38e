import { type Command, Option } from 'commander';
import { addCustomer, changeCustomer, customerInWords, removeCustomer } from '#server/accounts/customers.ts';
import { readNetwork } from '#server/names/network.ts';
import { readDisplayName, readShortName } from '#server/names/read-name.ts';
import {
  type CustomerChanges,
  countUsersWithPasswordAlone,
  findCustomer,
  listCustomers,
} from '#server/people/customer.ts';
import { listSsoConnections } from '#server/single-sign-on/sso-connection.ts';
import { listEnds } from '#server/single-sign-on/sso-warnings.ts';
import { confirmIfNeeded, type YesFlag, yesFlag } from './confirm.ts';
import { accepted, activeOptions, given, onOff, optionOf, repeatable, withOptions } from './options.ts';
import { type Answer, factsOf, failure, localTime, stepsInWords, tableOf, yesOrNo } from './print.ts';
import { byOperator, type Opened, onDatabase } from './with-database.ts';

type Flags = Pick<CustomerChanges, 'name' | 'twoFactor' | 'newDeviceMail' | 'rememberDevices' | 'passkeys'> & {
  allowNetwork?: string[];
  allowAnywhere?: true;
  isActive?: boolean;
};

const options = () => [
  optionOf('--name <name>', 'display name (default: the key)', readDisplayName),
  repeatable('--allow-network <cidr>', 'network to sign in from; may be repeated', readNetwork),
  new Option('--two-factor <policy>', 'second factor required of its users').choices(['off', 'app', 'email']),
  onOff('--new-device-mail', 'email its users about sign-ins from a new browser (default: off)'),
  onOff('--remember-devices', 'let its users skip the code on a device for 30 days (default: on)'),
  new Option('--passkeys <policy>', 'whether its users may use passkeys (default: on)').choices(['off', 'on']),
];

/** `vestibule customer …` */
export function addCustomerCommands(program: Command): void {
  const customer = program.command('customer').description('the companies whose users sign in');
  const add = customer
    .command('add')
    .argument('<key>', 'short name of lower-case letters, digits and dashes')
    .description('add a customer, whose users sign in from anywhere with one factor unless told otherwise');
  withOptions(add, options())
    .addHelpText(
      'after',
      '\nExamples:\n  vestibule customer add acme --name "Acme Ltd."\n  vestibule customer add bank --allow-network 203.0.113.0/24 --two-factor app',
    )
    .action(onDatabase(runAdd));
  customer.command('list').description('list all customers').action(onDatabase(runList));
  customer
    .command('show <key>')
    .description('show what a customer has: its settings, people, connections, and when their certificates end')
    .action(onDatabase(runShow));
  const set = customer
    .command('set <key>')
    .description('change a customer; unspecified options stay unchanged, networks are replaced')
    .addOption(new Option('--allow-anywhere', 'allow sign-in from any network again').conflicts('allowNetwork'));
  const active = activeOptions(
    ['--enable', 'its users can sign in again'],
    ['--disable', 'its users can no longer sign in for it'],
  );
  withOptions(set, [...active, ...options()])
    .addHelpText(
      'after',
      '\nExamples:\n  vestibule customer set acme --two-factor email\n  vestibule customer set acme --allow-network 203.0.113.0/24 --allow-network 2001:db8::/32\n  vestibule customer set acme --allow-anywhere',
    )
    .action(onDatabase(runSet));
  customer
    .command('remove <key>')
    .description('remove a customer and its single sign-on connections; its users stay')
    .option(...yesFlag)
    .action(onDatabase(runRemove));
}

async function runAdd({ sql }: Opened, keyText: string, flags: Flags): Promise<Answer> {
  const key = accepted(readShortName(keyText));
  const made = { key, name: key, allowedNetworks: [], twoFactor: 'off' as const, ...changesOf(flags) };
  if (!(await addCustomer(sql, made, byOperator()))) throw failure(`key: customer ${key} already exists.`);
  return { value: await findCustomer(sql, key), words: `Customer ${key} added.` };
}

async function runList({ sql }: Opened): Promise<Answer> {
  const customers = await listCustomers(sql);
  if (customers.length === 0) return { value: [], words: 'There are no customers yet: vestibule customer add <key>' };
  const rows = customers.map(({ key, name, users, allowedNetworks, twoFactor, active, createdAt }) => {
    const networks = allowedNetworks.join(', ') || 'anywhere';
    return [key, name, String(users), networks, twoFactor, yesOrNo(active), localTime(createdAt)];
  });
  const words = tableOf(['KEY', 'NAME', 'USERS', 'NETWORKS', 'TWO-FACTOR', 'ACTIVE', 'ADDED'], rows);
  return { value: customers, words };
}

async function runShow({ sql }: Opened, key: string): Promise<Answer> {
  const found = (await listCustomers(sql)).find((one) => one.key === key);
  if (!found) throw failure(`There is no customer ${key}.`);
  const ends = await listEnds(sql);
  const connections = (await listSsoConnections(sql))
    .filter(({ customerKey }) => customerKey === key)
    .map(({ key, protocol, domains, active, required }) => ({
      ...{ key, protocol, domains, active, required },
      ends: ends.filter(({ connection }) => connection === key).map(({ what, endsAt }) => ({ what, endsAt })),
    }));
  const words = factsOf([
    ['key', key],
    ...customerInWords(found).map(({ step, outcome }) => [step, outcome] as const),
    ['people', `${found.users}: vestibule user list --customer ${key}`],
    ...connections.map(({ key, protocol, domains, active, required, ends }) => {
      const states = [...(active ? [] : ['disabled']), ...(required ? ['required'] : [])];
      const until = ends.map(({ what, endsAt }) => `${what} ends ${localTime(endsAt)}`);
      return [`connection ${key}`, [protocol, domains.join(' '), ...states, ...until].join(', ')] as const;
    }),
  ]);
  return { value: { ...found, connections }, words };
}

async function runSet({ sql }: Opened, key: string, flags: Flags, command: Command): Promise<Answer> {
  const changes = changesOf(flags);
  if (Object.keys(changes).length === 0) command.error('error: nothing to change, see --help');
  const result = await changeCustomer(sql, key, changes, byOperator());
  if (result.kind === 'notFound') throw failure(`There is no customer ${key}.`);
  const value = await findCustomer(sql, key);
  if (result.kind !== 'changed') return { value, words: `Customer ${key} already has these settings.` };
  const lacking = flags.twoFactor === 'app' ? await countUsersWithPasswordAlone(sql, key) : 0;
  const warning = `Users of this customer with neither an app nor a confirmed email: ${lacking}. Until each has set up an app, anyone who knows their password can do it instead.`;
  const words = `Customer ${key} changed.\n${stepsInWords(result.steps)}`;
  return { value, words, warnings: lacking > 0 ? [warning] : [] };
}

function changesOf({ allowNetwork, allowAnywhere, isActive: active, ...flags }: Flags) {
  const { name, twoFactor, newDeviceMail, rememberDevices, passkeys } = flags;
  const allowedNetworks = allowAnywhere ? [] : allowNetwork;
  return given({ name, twoFactor, newDeviceMail, rememberDevices, passkeys, active, allowedNetworks });
}

async function runRemove({ sql }: Opened, key: string, flags: YesFlag): Promise<Answer> {
  const result = await confirmIfNeeded(`This removes customer ${key} for good`, flags, (isAgreed) =>
    removeCustomer(sql, key, byOperator(), isAgreed),
  );
  if (result.kind === 'notFound') throw failure(`There is no customer ${key}.`);
  const { usersLeftWithout } = result;
  const left = `These users no longer have a customer and cannot sign in: ${usersLeftWithout.join(', ')}`;
  const warnings = usersLeftWithout.length > 0 ? [left] : [];
  return { value: { removed: key, usersLeftWithout }, words: `Customer ${key} removed.`, warnings };
}
