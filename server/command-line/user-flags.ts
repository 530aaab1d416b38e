import { type Command, Option } from 'commander';
import { type Language, languages } from '#contract/languages.ts';
import { repeatable } from './options.ts';

export type UserFlags = {
  rename?: string;
  email?: string;
  customer?: string[];
  addCustomer?: string[];
  removeCustomer?: string[];
  /** True asks for one, false removes it. */
  password?: boolean;
  passwordStdin?: true;
  language?: Language | 'browser';
  active?: true;
  inactive?: true;
  passwordChange?: boolean;
  json?: true;
};

/** Flags common to `user add` and `user set`. */
export function addUserFlags(command: Command, customerDescription: string): Command {
  return command
    .addOption(repeatable('--customer <key>', customerDescription))
    .addOption(new Option('--password-stdin', 'read the password from standard input').conflicts('password'))
    .addOption(
      new Option('--language <language>', 'language of emails, not of pages; "browser": that of the page').choices([
        ...languages,
        'browser',
      ]),
    )
    .option('--inactive', 'the user cannot sign in')
    .option('--no-password-change', 'the user may not change the password')
    .option('--json', 'print the user as JSON');
}

/** Flags that make sense only for an existing user. */
export function addChangeFlags(command: Command): Command {
  return command
    .option('--rename <username>', 'new username')
    .option('--email <address>', 'new email address')
    .addOption(repeatable('--add-customer <key>', 'add a customer; may be repeated').conflicts('customer'))
    .addOption(repeatable('--remove-customer <key>', 'remove a customer; may be repeated').conflicts('customer'))
    .option('--password', 'ask for a new password')
    .option('--no-password', 'remove the password, and all passkeys unless a customer takes nothing else')
    .addOption(new Option('--active', 'the user can sign in').conflicts('inactive'))
    .option('--password-change', 'the user may change the password');
}

/** The language to store: null follows the page, usually in the browser's, undefined means not given. */
export function languageOf({ language }: UserFlags): Language | null | undefined {
  return language === 'browser' ? null : language;
}
