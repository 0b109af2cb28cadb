// A process of its own that downloads one version of MongoDB with mongodb-memory-server's downloader: it reads its settings from the environment,
// prints, and can hang, none of which must happen in the service. Its only argument is JSON: { folder, version }; what it says goes to its parent.
import { DryMongoBinary } from 'mongodb-memory-server-core/lib/util/DryMongoBinary.js';
import { MongoBinaryDownload } from 'mongodb-memory-server-core/lib/util/MongoBinaryDownload.js';
import type { DownloadMessage } from './download.ts';

const { folder, version } = JSON.parse(process.argv[2] ?? '') as { folder: string; version: string };

const send = (message: DownloadMessage): Promise<void> =>
  new Promise((resolve, reject) => process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve())));

class Download extends MongoBinaryDownload {
  /** One attempt: its parent knows what comes next. */
  override async httpDownload(...[url, options, file, unfinished]: Parameters<MongoBinaryDownload['httpDownload']>): Promise<string> {
    await send({ asked: url.host });
    return super.httpDownload(url, options, file, unfinished, 1);
  }

  override printDownloadProgress({ length }: { length: number }): void {
    this.dlProgress.current += length;
    void send({ received: this.dlProgress.current, of: this.dlProgress.length }).catch(() => undefined); // the parent is gone, see above
  }
}

process.once('disconnect', () => process.exit(1)); // the parent is gone
try {
  const options = await DryMongoBinary.generateOptions({ downloadDir: folder, version }); // finds out which system this is
  await send({ file: await new Download({ ...options, checkMD5: true }).getMongodPath() });
} catch (error) {
  const { code, message } = error as Error & { code?: string };
  await send({
    failed: message.trim().replace(/\s*\n\s*/g, ' '),
    isAbsent: code === 'Status: 403' || code === 'Status: 404' || isForeign(error),
  });
}
// The parent ends it, having heard: a process that ended by itself might be gone before its last word has arrived.

/** The downloader knows that there is no such version for this system. */
function isForeign(error: unknown): boolean {
  return /Incompatib|UnknownLinuxDistro|UnknownPlatform|UnknownArchitecture/.test((error as Error).constructor.name);
}
