import { mkdtemp, rm } from 'node:fs/promises';
import { measureImports } from '/work/wt-moving-in/bench/imports.ts';
import { openEmbedded } from '/work/wt-moving-in/server/embedded/embedded.ts';
import { connect } from '/work/wt-moving-in/server/storage/connect.ts';
import { migrate } from '/work/wt-moving-in/server/storage/migrate.ts';

const dataFolder = await mkdtemp('/tmp/moving-in-bench-');
const d = await openEmbedded({ dataFolder, log: { info() {}, warn: console.warn } });
const sql = connect(d.place);
await migrate(sql);
await sql`insert into customer (key,name,created_at) values ('acme','Acme',now())`;
await measureImports(dataFolder);
await sql.end();
await d.close();
await rm(dataFolder, { recursive: true, force: true });
