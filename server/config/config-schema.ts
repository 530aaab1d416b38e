import { writeFileSync } from 'node:fs';
import { ConfigFile } from './config-file.ts';

export const configSchemaFile = new URL('../../vestibule.config.schema.json', import.meta.url);

/** The JSON Schema of the configuration file, for completion and checks in editors. */
export function configSchemaText(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Vestibule',
    ...ConfigFile,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

// `node server/config/config-schema.ts` rewrites the file.
if (import.meta.main) writeFileSync(configSchemaFile, configSchemaText());
