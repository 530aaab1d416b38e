import { type ImportOptions, importUsers } from '#server/accounts/import-users.ts';
import { readJsonLines } from '#server/accounts/read-records.ts';
import type { StoredBatch } from '#server/accounts/store-batch.ts';
import type { PortalForTest } from './portal-for-test.ts';

/** Imports records, or raw lines, with the portal's keys and clock; users without customers get `acme`. */
export async function importLines(
  { deps, sql }: Pick<PortalForTest, 'deps' | 'sql'>,
  lines: readonly (Record<string, unknown> | string)[],
  options: Partial<ImportOptions> = {},
): Promise<StoredBatch> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  return await importUsers({ ...deps, sql, actor: 'os:alice' }, readJsonLines(text).entries, {
    ...{ from: 'vestibule', dryRun: false, customers: ['acme'], acceptsUnverified: false },
    ...options,
  });
}

/**
 * Hashes of testPassword that other implementations made: Django 3.2 and passlib 1.7.4 of Debian 12 and, in the layout that
 * ASP.NET Core Identity documents, Python's hashlib. Their costs are low, so that tests are quick.
 */
export const hashesByOthers = {
  'argon2i by passlib': '$argon2i$v=19$m=8192,t=2,p=1$YUyp1bp3jhFiLAXgXKt1rg$FXS4otQr5O7JDfC5UKMuDA',
  'argon2id by passlib': '$argon2id$v=19$m=8192,t=3,p=4$zRmD0Po/x7iXknLunZOS8g$dvJu+lvM+GNXrS0+WM/n3Q',
  'argon2id by Django': 'argon2$argon2id$v=19$m=8192,t=2,p=2$c2FsdHNhbHRzYWx0$fsJQaSSFN1gmcMJI8yMyYw',
  'bcrypt 2a by passlib': '$2a$06$fDAmoNUKEvd2Om8q2hLFY.cBgfDLJZGejB6wY3FkhjfkCK7SLKbj.',
  'bcrypt 2b by passlib': '$2b$06$lXXXRQ/f6byA74HeWwUFOuykdy8oCY4ma3eir8v5PbY1UQSnpBReC',
  'bcrypt 2y by passlib': '$2y$06$gn1I1S07AUJjU40NRfiPJeYTKYGVbWJwCEZTjJ2ULA.y6MLtgWADi',
  'bcrypt by Django': 'bcrypt$$2b$06$M1Z8ElH.P5bD59.Z8Hi3oevMTixJK3491eakHsb3ngMUBRiJOqUtO',
  'bcrypt_sha256 by Django': 'bcrypt_sha256$$2b$06$XOr7jpHDrtjwpQU4NNsiauY16G6HatGtanh/3sqOoOta8O4N9zL3a',
  'PBKDF2 SHA-1 by passlib': '$pbkdf2$5000$713rXStl7D0HAECIkdKaMw$ATM6lxpOwe4RD2AWwxw8fO9dBBE',
  'PBKDF2 SHA-256 by passlib': '$pbkdf2-sha256$5000$ntOaMwYgZEzpnRPiHENozQ$dSXNoqIvnZg9zxO1l/AR9OobKnMyhFXNvHvnaNCtOqM',
  'PBKDF2 SHA-512 by passlib':
    '$pbkdf2-sha512$5000$j5EypnQuJeQcIwSg9P6/Fw$U4aUoWkhs9fzUXL.DvayJQsZ2hV.5KEQnU5/z9l9LbkqEUApwiXHcJxHmUjuMcbH.SZV56VcCq5bhAW.lWYTVw',
  'PBKDF2 SHA-1 by Django': 'pbkdf2_sha1$20000$seasalt1$whlF5zBQnApkDv0JVOnNqhf0ZGY=',
  'PBKDF2 SHA-256 by Django': 'pbkdf2_sha256$20000$seasalt1$V/qr91UONz1Lpw5IIKnxXsk423NaVmG/uvbXaqY73+Y=',
  'scrypt by passlib': '$scrypt$ln=10,r=8,p=1$GMMYI+Rcq/W+Vwrh3FvLWQ$7breWKJ93eCO0kTgReRW/oNGkpcnPsbVRG7Aoejdn6o',
  'scrypt as Django writes it':
    'scrypt$1024$seasalt1$8$1$gwzU7gNWdcTcm8BBggI51EnZiGoi/QezDSaPMqPVtNOgw3isR+Z/MM7SMaqzpe2lv5ZJOyDcb+wdQrOMQ3FtTg==',
  'ASP.NET Core Identity, version 2': 'AAABAgMEBQYHCAkKCwwNDg8Iu2vK3yhkK5s57c1myB1JVucyTfhiIi3/1un0p2YlNw==',
  'ASP.NET Core Identity, version 3, SHA-1':
    'AQAAAAAAACcQAAAAEAABAgMEBQYHCAkKCwwNDg8EPO5W5oXgplLJr1RkC8ogXA/cndy+4vAaV6XAlhV2OQ==',
  'ASP.NET Core Identity, version 3, SHA-256':
    'AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg9g1Rw/uT5aclO+v1viBUfgWDDGixf2MbdpLUhX7vv0yA==',
  'ASP.NET Core Identity, version 3, SHA-512':
    'AQAAAAIAAYagAAAAEAABAgMEBQYHCAkKCwwNDg+gXd92uVhJHViZumOjKUYSsNBAuCxUgo7jIklu+KXaUA==',
};
