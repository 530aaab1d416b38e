#!/usr/bin/env -S node --max-semi-space-size=2
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { root } from '#server/config/root.ts';

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`Vestibule needs Node 24 or newer, and this is ${process.versions.node}.\n`);
  process.exit(1);
}

// Commands are short and start often: cached compiled code halves their time. The cache is in a place writable only by
// those who may change the code; without such a place there is none.
module.enableCompileCache(fileURLToPath(new URL('node_modules/.cache/vestibule', root)));

const { runProgram } = await import('./program.ts');
try {
  await runProgram();
} catch (error) {
  const { sourceStack } = await import('#server/config/source-stack.ts');
  process.stderr.write(`${error instanceof Error ? sourceStack(error) : error}\n`);
  process.exitCode = 1;
}
