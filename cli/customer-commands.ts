import { type Command, Option } from 'commander';
import { addCustomer, changeCustomer, customerInWords, removeCustomer } from '#server/accounts/customers.ts';
import { readNetwork } from '#server/names/network.ts';
import { readCustomerName, readShortName } from '#server/names/read-name.ts';
import {
  type Customer,
  type CustomerChanges,
  countUsersWithPasswordAlone,
  findCustomer,
  listCustomers,
} from '#server/people/customer.ts';
import { listSsoConnections } from '#server/single-sign-on/sso-connection.ts';
import { listEnds } from '#server/single-sign-on/sso-warnings.ts';
import { confirmIfNeeded, type YesFlag, yesFlag } from './confirm.ts';
import { accepted, given, type JsonFlag, onOff, optionOf, repeatable } from './options.ts';
import {
  failure,
  localTime,
  printFacts,
  printJson,
  printLine,
  printOutcome,
  printTable,
  printWarning,
  stepsInWords,
  yesOrNo,
} from './print.ts';
import { byOperator, withDatabase } from './with-database.ts';

type Flags = JsonFlag &
  Pick<CustomerChanges, 'name' | 'twoFactor' | 'newDeviceMail' | 'rememberDevices' | 'passkeys'> & {
    allowNetwork?: string[];
    allowAnywhere?: true;
    enable?: true;
    disable?: true;
  };

function addFlags(command: Command): Command {
  return command
    .addOption(optionOf('--name <name>', 'display name (default: the key)', readCustomerName))
    .addOption(repeatable('--allow-network <cidr>', 'network to sign in from; may be repeated', readNetwork))
    .addOption(
      new Option('--two-factor <policy>', 'second factor required of its users').choices(['off', 'app', 'email']),
    )
    .addOption(onOff('--new-device-mail', 'email its users about sign-ins from a new browser (default: off)'))
    .addOption(onOff('--remember-devices', 'let its users skip the code on a device for 30 days (default: on)'))
    .addOption(
      new Option('--passkeys <policy>', 'whether its users may sign in by passkey (default: on)').choices([
        'off',
        'on',
      ]),
    );
}

/** `vestibule customer …` */
export function addCustomerCommands(program: Command): void {
  const customer = program.command('customer').description('the companies whose users sign in');
  addAddCommand(customer);
  addListCommand(customer);
  addShowCommand(customer);
  addSetCommand(customer);
  addRemoveCommand(customer);
}

function addAddCommand(customer: Command): void {
  const add = customer
    .command('add')
    .argument('<key>', 'short name of lower-case letters, digits and dashes')
    .description('add a customer, whose users sign in from anywhere with one factor unless told otherwise');
  addFlags(add)
    .addHelpText(
      'after',
      '\nExamples:\n  vestibule customer add acme --name "Acme Ltd."\n  vestibule customer add bank --allow-network 203.0.113.0/24 --two-factor app',
    )
    .action((keyText: string, flags: Flags) => {
      const key = accepted(readShortName(keyText));
      const made = { key, name: key, allowedNetworks: [], twoFactor: 'off' as const, ...changesOf(flags) };
      return withDatabase(async (sql) => {
        if (!(await addCustomer(sql, made, byOperator()))) throw failure(`key: customer ${key} already exists.`);
        if (flags.json) printJson(await findCustomer(sql, key));
        else printLine(`Customer ${key} added.`);
      });
    });
}

function addListCommand(customer: Command): void {
  customer
    .command('list')
    .description('list all customers')
    .action(({ json }: Flags) =>
      withDatabase(async (sql) => {
        const customers = await listCustomers(sql);
        if (json) return printJson(customers);
        if (customers.length === 0) return printLine('There are no customers yet: vestibule customer add <key>');
        printTable(['KEY', 'NAME', 'USERS', 'NETWORKS', 'TWO-FACTOR', 'ACTIVE', 'ADDED'], customers.map(rowOf));
      }),
    );
}

function rowOf(customer: Customer & { users: number }): string[] {
  const { key, name, users, allowedNetworks, twoFactor, active, createdAt } = customer;
  const networks = allowedNetworks.join(', ') || 'anywhere';
  return [key, name, String(users), networks, twoFactor, yesOrNo(active), localTime(createdAt)];
}

function addShowCommand(customer: Command): void {
  customer
    .command('show')
    .argument('<key>')
    .description('show what a customer has: its settings, people, connections, and when their certificates end')
    .action((key: string, { json }: JsonFlag) =>
      withDatabase(async (sql) => {
        const found = (await listCustomers(sql)).find((one) => one.key === key);
        if (!found) throw failure(`There is no customer ${key}.`);
        const ends = await listEnds(sql);
        const connections = (await listSsoConnections(sql))
          .filter(({ customerKey }) => customerKey === key)
          .map(({ key, protocol, domains, active, required }) => ({
            ...{ key, protocol, domains, active, required },
            ends: ends.filter(({ connection }) => connection === key).map(({ what, endsAt }) => ({ what, endsAt })),
          }));
        if (json) return printJson({ ...found, connections });
        printFacts([
          ['key', key],
          ...customerInWords(found).map(({ step, outcome }) => [step, outcome] as const),
          ['people', `${found.users}: vestibule user list --customer ${key}`],
          ...connections.map(({ key, protocol, domains, active, required, ends }) => {
            const states = [...(active ? [] : ['disabled']), ...(required ? ['required'] : [])];
            const until = ends.map(({ what, endsAt }) => `${what} ends ${localTime(endsAt)}`);
            return [`connection ${key}`, [protocol, domains.join(' '), ...states, ...until].join(', ')] as const;
          }),
        ]);
      }),
    );
}

function addSetCommand(customer: Command): void {
  const set = customer
    .command('set')
    .argument('<key>')
    .description('change a customer; unspecified options stay unchanged, networks are replaced')
    .addOption(new Option('--allow-anywhere', 'allow sign-in from any network again').conflicts('allowNetwork'))
    .addOption(new Option('--disable', 'its users can no longer sign in for it').conflicts('enable'))
    .option('--enable', 'its users can sign in again');
  addFlags(set)
    .addHelpText(
      'after',
      '\nExamples:\n  vestibule customer set acme --two-factor email\n  vestibule customer set acme --allow-network 203.0.113.0/24 --allow-network 2001:db8::/32\n  vestibule customer set acme --allow-anywhere',
    )
    .action((key: string, flags: Flags, command: Command) => {
      const changes = changesOf(flags);
      if (Object.keys(changes).length === 0) command.error('error: nothing to change, see --help');
      return withDatabase(async (sql) => {
        const result = await changeCustomer(sql, key, changes, byOperator());
        if (result.kind === 'notFound') throw failure(`There is no customer ${key}.`);
        const lacking =
          flags.twoFactor === 'app' && result.kind === 'changed' ? await countUsersWithPasswordAlone(sql, key) : 0;
        if (lacking > 0)
          printWarning(
            `Users of this customer with neither an app nor a confirmed email: ${lacking}. Until each has set up an app, anyone who knows their password can do it instead.`,
          );
        if (flags.json) return printJson(await findCustomer(sql, key));
        if (result.kind === 'unchanged') return printLine(`Customer ${key} already has these settings.`);
        printLine(`Customer ${key} changed.\n${stepsInWords(result.steps)}`);
      });
    });
}

function changesOf({ json: _, allowNetwork, allowAnywhere, enable, disable, ...own }: Flags) {
  return given({
    ...own,
    allowedNetworks: allowAnywhere ? [] : allowNetwork,
    active: enable || disable ? enable === true : undefined,
  });
}

function addRemoveCommand(customer: Command): void {
  customer
    .command('remove')
    .argument('<key>')
    .description('remove a customer and its single sign-on connections; its users stay')
    .option(...yesFlag)
    .action((key: string, flags: JsonFlag & YesFlag) =>
      withDatabase(async (sql) => {
        const result = await confirmIfNeeded(`This removes customer ${key} for good`, flags, (isAgreed) =>
          removeCustomer(sql, key, byOperator(), isAgreed),
        );
        if (result.kind === 'notFound') throw failure(`There is no customer ${key}.`);
        const { usersLeftWithout } = result;
        printOutcome(flags.json, { removed: key, usersLeftWithout }, `Customer ${key} removed.`);
        if (usersLeftWithout.length > 0 && !flags.json) {
          printWarning(`These users no longer have a customer and cannot sign in: ${usersLeftWithout.join(', ')}`);
        }
      }),
    );
}
