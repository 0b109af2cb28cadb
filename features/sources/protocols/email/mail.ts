// Converts a request to a mail (integrations.md 5), and checks it completely before anything connects. Pure.
import { fromBase64, getOwn, isObject, type ObjectValue, text as textOf, type Value } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { documentNameOf } from '../documents.ts';
import { own } from '../fields.ts';

export interface Address {
  readonly name: string;
  readonly address: string;
}

export interface Mail {
  readonly from: Address;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly replyTo: readonly Address[];
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  readonly attachments: readonly { readonly filename: string | false; readonly contentType: string; readonly content: Buffer }[];
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** Headers that the mail sets itself. */
const RESERVED = /^(?:from|to|cc|bcc|reply-to|sender|subject|date|message-id|mime-version|content-.*|return-path)$/i;
const BARE = /^[^\s<>@",;:()[\]\\]{1,64}@[^\s<>@",;:()[\]\\]{1,255}$/;
// Control characters that end a line, or that a server may take for one.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const CONTROL = /[\0-\x08\x0a-\x1f\x7f\u2028\u2029]/;

/** Reads a document: its bytes and its media type. */
export type ReadDocument = (name: string) => Promise<{ readonly bytes: Buffer; readonly fileType: string }>;

type CheckedMail = Omit<Mail, 'attachments'> & { readonly attachments: readonly CheckedAttachment[] };

/** Documents are read last, after all other checks. @throws as `checkedMail`; cascade.resource.not.found of a document */
export async function mailOf(request: ObjectValue, read: ReadDocument): Promise<Mail> {
  const checked = checkedMail(request);
  return { ...checked, attachments: await loaded(checked.attachments, read) };
}

/** @throws cascade.email.parameter.missing, .address.invalid, .body.invalid, .header.invalid */
export function checkedMail(request: ObjectValue): CheckedMail {
  const from = oneText(request, 'from');
  const to = list(request, 'to');
  if (to.length === 0) throw missing('to');
  const subject = own(request, 'subject');
  if (typeof subject !== 'string') throw missing('subject');
  if (CONTROL.test(subject)) throw apiError('cascade.email.header.invalid', 'subject');
  const [text, html] = [bodyText(request, 'text'), bodyText(request, 'html')];
  if ((text === null) === (html === null)) throw apiError('cascade.email.body.invalid', 'either text or html must be given');
  return {
    from: addressOf(from),
    to: to.map(addressOf),
    cc: list(request, 'cc').map(addressOf),
    bcc: list(request, 'bcc').map(addressOf),
    replyTo: list(request, 'replyTo').map(addressOf),
    subject,
    ...(text === null ? {} : { text }),
    ...(html === null ? {} : { html }),
    headers: headersOf(own(request, 'headers')),
    attachments: attachmentsOf(own(request, 'attachments')),
  };
}

const missing = (key: string) => apiError('cascade.email.parameter.missing', key);

function oneText(request: ObjectValue, key: string): string {
  const value = own(request, key);
  if (typeof value !== 'string' || value === '') throw missing(key);
  return value;
}

function bodyText(request: ObjectValue, key: string): string | null {
  const value = own(request, key);
  if (value !== null && typeof value !== 'string') throw apiError('cascade.email.body.invalid', `${key} is no String`);
  return value;
}

function list(request: ObjectValue, key: string): string[] {
  const value = own(request, key);
  if (value === null || value === '') return [];
  const all = Array.isArray(value) ? value : [value];
  return all.map((one) => {
    if (typeof one !== 'string') throw apiError('cascade.email.address.invalid', `${key} holds what is no String`);
    return one;
  });
}

/** `local@domain`, or `Name <local@domain>`. */
function addressOf(written: string): Address {
  const shown = written.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, '?');
  if (CONTROL.test(written)) throw apiError('cascade.email.address.invalid', `${shown} has a line break`);
  const [, name = '', inner] = /^([^<>]*)<([^<>]*)>\s*$/.exec(written) ?? [];
  const address = (inner ?? written).trim();
  if (!BARE.test(address)) throw apiError('cascade.email.address.invalid', `${shown} is no address`);
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address };
}

function headersOf(headers: Value): Mail['headers'] {
  if (headers === null) return [];
  if (!isObject(headers)) throw apiError('cascade.email.header.invalid', 'headers');
  return Object.keys(headers).flatMap((key) => {
    const value = getOwn(headers, key);
    if (value === null) return [];
    const invalid = !NAME.test(key) || RESERVED.test(key) || isObject(value) || Array.isArray(value) || CONTROL.test(textOf(value));
    if (invalid) throw apiError('cascade.email.header.invalid', key.slice(0, 100));
    return [{ key, value: textOf(value) }];
  });
}

const wrongBody = (detail: string) => apiError('cascade.email.body.invalid', detail);

function attachmentsOf(attachments: Value): CheckedAttachment[] {
  if (attachments === null) return [];
  if (!Array.isArray(attachments) || !attachments.every(isObject)) throw wrongBody('attachments is no array of Objects');
  return attachments.map((one, i) => checkedAttachment(one, i));
}

async function loaded(checked: readonly CheckedAttachment[], read: ReadDocument): Promise<Mail['attachments']> {
  const all: Mail['attachments'][number][] = [];
  for (const { filename, contentType, content } of checked) {
    const document = Buffer.isBuffer(content) ? null : await read(content.document);
    const ofDocument = Buffer.isBuffer(content) ? null : lastOf(content.document);
    all.push({
      filename: filename ?? ofDocument ?? false,
      contentType: contentType ?? document?.fileType ?? 'application/octet-stream',
      content: document?.bytes ?? (content as Buffer),
    });
  }
  return all;
}

const lastOf = (name: string): string => name.slice(name.lastIndexOf('/') + 1).replaceAll(new RegExp(CONTROL, 'g'), '_');

interface CheckedAttachment {
  readonly filename: string | null;
  readonly contentType: string | null;
  readonly content: Buffer | { readonly document: string };
}

function checkedAttachment(one: ObjectValue, i: number): CheckedAttachment {
  const [filename = null, contentType = null] = ['filename', 'contentType'].map((key) => own(one, key));
  if (filename !== null && (typeof filename !== 'string' || CONTROL.test(filename)))
    throw apiError('cascade.email.header.invalid', 'filename');
  const isType =
    contentType === null || (typeof contentType === 'string' && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:;[\x20-\x7e]*)?$/.test(contentType));
  if (!isType) throw apiError('cascade.email.header.invalid', 'contentType');
  return { filename: filename === '' ? null : filename, contentType, content: contentOf(one, i) };
}

function contentOf(one: ObjectValue, i: number): CheckedAttachment['content'] {
  const [ref = null, content = null, encoding = null] = ['ref', 'content', 'encoding'].map((key) => own(one, key));
  if (ref !== null) {
    if (content !== null) throw wrongBody(`attachments[${i}] has both content and ref`);
    const document = documentNameOf(ref);
    if (document === null) throw wrongBody(`attachments[${i}].ref refers to no document`);
    return { document };
  }
  if (typeof content !== 'string') throw wrongBody(`attachments[${i}].content is no String`);
  if (encoding !== null && encoding !== 'base64') throw wrongBody(`attachments[${i}].encoding is not base64`);
  const bytes = encoding === 'base64' ? fromBase64(content) : Buffer.from(content);
  if (typeof bytes === 'number') throw wrongBody(`attachments[${i}].content is no base64 at ${bytes}`);
  return Buffer.from(bytes);
}
