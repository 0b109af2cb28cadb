// `npm run inbox`: what the page of the inbox weighs, how fast it is there on a slow phone and what axe-core says of it; and the pictures of the documents.
import { parseArgs } from 'node:util';
import { openChromium } from '../../conformance/inbox/chromium.ts';
import { printAccess } from './access.ts';
import { printLoading } from './loading.ts';
import { takePictures } from './pictures.ts';
import { openScene } from './scene.ts';
import { printWeight } from './weight.ts';

const HELP = `npm run inbox -- [--pictures] [--help]
  Prints what the inbox weighs (gzip), when it is there on a phone with a slow 4G connection and a processor of a quarter of ours, and what axe-core finds.
  --pictures  takes those in docs/images anew instead. Both want chromium (CASCADE_CHROMIUM: where it is, else /usr/bin/chromium).`;

const { values } = parseArgs({ options: { pictures: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } } });
if (values.help) {
  console.log(HELP);
  process.exit();
}
await using browser = await openChromium();
if (values.pictures) await takePictures(browser);
else {
  printWeight();
  await using scene = await openScene(browser);
  await printLoading(scene);
  await printAccess(scene);
}
