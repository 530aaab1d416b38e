import type { Command } from 'commander';
import { setCustomerBrand, wordsOf } from '../accounts/set-customer-brand.ts';
import { findCustomer } from '../storage/customer.ts';
import { findCustomerBrand, type KeptBrand } from '../storage/customer-brand.ts';
import { failure } from './failure.ts';
import { printJson, printLine } from './print.ts';
import { readBrandFile } from './read-brand-file.ts';
import { withDatabase } from './with-database.ts';

type Flags = { remove?: true; json?: true };

/** `vestibule customer brand`: shows, replaces or removes what a customer's people see instead of the installation's. */
export function addCustomerBrandCommand(customer: Command): void {
  customer
    .command('brand')
    .argument('<key>')
    .argument('[file]', 'JSON file with name, logo, logoDark, accentColour, links, texts and hosts')
    .description('show or replace the brand of a customer; every instance uses it within a second')
    .option('--remove', 'remove it: its people see the brand of the installation again')
    .option('--json', 'print the brand as JSON')
    .addHelpText(
      'after',
      '\nImages are relative to the file. What the file leaves out is as in vestibule.config.json.\n\nExamples:\n  vestibule brand preview acme.png --brand acme/brand.json\n  vestibule customer brand acme acme/brand.json',
    )
    .action((key: string, file: string | undefined, flags: Flags, command: Command) => {
      if (file !== undefined && flags.remove) command.error('error: give either a file or --remove');
      return withDatabase(async (sql, config) => {
        if (file === undefined && !flags.remove) {
          if (!(await findCustomer(sql, key))) throw failure(`There is no customer ${key}.`);
          return show(key, await findCustomerBrand(sql, key), flags);
        }
        const brand = file === undefined ? null : readBrandFile(file, config);
        const result = await setCustomerBrand(sql, key, brand, new Date());
        if (result.kind === 'notFound') throw failure(`There is no customer ${key}.`);
        if (result.kind === 'hostTaken')
          throw failure(
            result.hosts.map(({ host, customerKey }) => `hosts: ${host} belongs to customer ${customerKey}`).join('\n'),
          );
        if (brand) return show(key, brand, flags);
        if (flags.json) return printJson({ removed: result.kind === 'removed' });
        printLine(`Customer ${key} ${result.kind === 'none' ? 'has' : 'now has'} no brand of its own.`);
      });
    });
}

function show(key: string, brand: KeptBrand | null, { json }: Flags): void {
  if (json) printJson(brand && shown(brand));
  else printLine(brand ? `Brand of customer ${key}: ${wordsOf(brand)}` : `Customer ${key} has no brand.`);
}

function shown({ settings, logo, logoDark, hosts }: KeptBrand) {
  return { ...settings, logo: logo !== null, logoDark: logoDark !== null, hosts };
}
