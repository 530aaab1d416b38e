import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { minute } from '../limits.ts';
import { failure } from './failure.ts';
import { type Sheet, sheetName } from './preview-sheet.ts';

const run = promisify(execFile);

/** Device pixels for one CSS pixel: small letters stay readable. */
const sharpness = 1.5;

/** Writes a picture (PNG) of a sheet with this Chromium. Throws a failure if there is none afterwards. */
export async function takePicture(chromium: string, { files, width, height }: Sheet, picture: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vestibule-preview-'));
  try {
    for (const [name, html] of files) await writeFile(join(folder, name), html);
    await run(
      chromium,
      [
        '--headless',
        // Chromium refuses to run as root with its sandbox; the pages are ours and have no script.
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--disable-gpu',
        '--hide-scrollbars',
        '--no-first-run',
        '--host-resolver-rules=MAP * ~NOTFOUND',
        `--user-data-dir=${join(folder, 'profile')}`,
        `--force-device-scale-factor=${sharpness}`,
        `--window-size=${width},${height}`,
        `--screenshot=${picture}`,
        pathToFileURL(join(folder, sheetName)).href,
      ],
      { timeout: 2 * minute },
    );
    await stat(picture);
  } catch (error) {
    throw failure(`${chromium} could not write ${picture}: ${(error as Error).message.split('\n')[0]}`);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
