import type { Reading } from '../names/read-name.ts';
import type { ReadSource } from './source-user.ts';
import { readVestibule } from './vestibule-source.ts';

/** Prepares the reading of an export; `firebaseConfig` is the path of a file. */
type OpenSource = (firebaseConfig: string | undefined) => Promise<Reading<ReadSource>>;

const plain =
  (readSource: ReadSource): OpenSource =>
  async () => ({ kind: 'ok', value: readSource });

/** The systems whose exports can be imported. */
export const importSources = {
  vestibule: plain(readVestibule),
} satisfies Record<string, OpenSource>;
