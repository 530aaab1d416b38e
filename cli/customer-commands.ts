import { type Command, Option } from 'commander';
import { addCustomer, changeCustomer, customerInWords, removeCustomer } from '#server/accounts/customers.ts';
import { readNetwork } from '#server/names/network.ts';
import { readCustomerName, readShortName } from '#server/names/read-name.ts';
import {
  type Customer,
  countUsersWithPasswordAlone,
  findCustomer,
  listCustomers,
  type PasskeyPolicy,
  type TwoFactorPolicy,
} from '#server/people/customer.ts';
import { listSsoConnections } from '#server/single-sign-on/sso-connection.ts';
import { listEnds } from '#server/single-sign-on/sso-warnings.ts';
import { confirmIfNeeded, type YesFlag, yesFlag } from './confirm.ts';
import { accepted, type JsonFlag, type OnOff, onOff, repeatable } from './options.ts';
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

type Flags = JsonFlag & {
  name?: string;
  allowNetwork?: string[];
  allowAnywhere?: true;
  twoFactor?: TwoFactorPolicy;
  newDeviceMail?: OnOff;
  rememberDevices?: OnOff;
  passkeys?: PasskeyPolicy;
  enable?: true;
  disable?: true;
};

const twoFactorOption = () =>
  new Option('--two-factor <policy>', 'second factor required of its users').choices(['off', 'app', 'email']);

const newDeviceMailOption = () => onOff('--new-device-mail', 'email its users about sign-ins from a new browser');

const rememberDevicesOption = () =>
  onOff('--remember-devices', 'let its users skip the second factor on a device for 30 days');

const passkeysOption = () =>
  new Option('--passkeys <policy>', 'whether its users may sign in by passkey').choices(['off', 'on']);

const networkOption = (description: string) => repeatable('--allow-network <cidr>', description);

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
  customer
    .command('add')
    .argument('<key>', 'short name of lower-case letters, digits and dashes')
    .description('add a customer')
    .option('--name <name>', 'display name (default: the key)')
    .addOption(networkOption('network to sign in from; may be repeated (default: anywhere)'))
    .addOption(twoFactorOption().default('off'))
    .addOption(newDeviceMailOption().default('off'))
    .addOption(rememberDevicesOption().default('on'))
    .addOption(passkeysOption().default('on'))
    .option('--json', 'print the customer as JSON')
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
    .option('--json', 'print them as JSON')
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
    .option('--json', 'print it as JSON')
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
            const ways = [...(active ? [] : ['disabled']), ...(required ? ['required'] : [])];
            const until = ends.map(({ what, endsAt }) => `${what} ends ${localTime(endsAt)}`);
            return [`connection ${key}`, [protocol, domains.join(' '), ...ways, ...until].join(', ')] as const;
          }),
        ]);
      }),
    );
}

function addSetCommand(customer: Command): void {
  customer
    .command('set')
    .argument('<key>')
    .description('change a customer; unspecified options stay unchanged')
    .option('--name <name>', 'display name')
    .addOption(
      networkOption('network to sign in from, replacing the existing ones; may be repeated').conflicts('allowAnywhere'),
    )
    .option('--allow-anywhere', 'allow sign-in from any network again')
    .addOption(twoFactorOption())
    .addOption(newDeviceMailOption())
    .addOption(rememberDevicesOption())
    .addOption(passkeysOption())
    .addOption(new Option('--disable', 'its users can no longer sign in for it').conflicts('enable'))
    .option('--enable', 'its users can sign in again')
    .option('--json', 'print the customer as JSON')
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

function changesOf(flags: Flags) {
  const networks = flags.allowAnywhere ? [] : flags.allowNetwork?.map((text) => accepted(readNetwork(text)));
  return {
    ...(flags.name !== undefined && { name: accepted(readCustomerName(flags.name)) }),
    ...(networks && { allowedNetworks: networks }),
    ...(flags.twoFactor && { twoFactor: flags.twoFactor }),
    ...(flags.newDeviceMail && { newDeviceMail: flags.newDeviceMail === 'on' }),
    ...(flags.passkeys && { passkeys: flags.passkeys }),
    ...(flags.rememberDevices && { rememberDevices: flags.rememberDevices === 'on' }),
    ...((flags.enable || flags.disable) && { active: flags.enable === true }),
  };
}

function addRemoveCommand(customer: Command): void {
  customer
    .command('remove')
    .argument('<key>')
    .description('remove a customer and its single sign-on connections; its users stay')
    .option(...yesFlag)
    .option('--json', 'print the outcome as JSON')
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
