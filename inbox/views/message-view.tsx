// One message: its form with the draft that is kept of it, and its answer on the way to the service.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { fitting, mediaIn } from '../form/check.ts';
import { fieldsOf } from '../form/form.ts';
import { writeJson } from '../form/json.ts';
import type { Entered, Message, Place } from '../form/types.ts';
import { textOf } from '../form/types.ts';
import type { Inbox } from '../inbox.ts';
import type { Snapshot } from '../snapshot.ts';
import { PLACE_WAIT_MS, whereAmI } from '../capture/camera.ts';
import { newUuid } from '../store/uuid.ts';
import { useUi } from './context.ts';
import { FormView } from './form-view.tsx';

interface MessageProps {
  readonly inbox: Inbox;
  readonly message: Message;
  readonly snapshot: Snapshot;
  readonly onClose: () => void;
}

export function MessageView({ inbox, message, snapshot, onClose }: MessageProps) {
  const { say, language } = useUi();
  const { messageId, payload, title, category, createdAt } = message;
  const { person } = inbox;
  const draft = snapshot.kept.drafts.get(messageId);
  const fields = useMemo(() => fieldsOf(payload), [payload]);
  const [entered, setEntered] = useState<Entered>(() => fitting(fields, draft?.values ?? {}));
  const heading = useRef<HTMLHeadingElement>(null);
  const place = usePlace(fields.some(({ type }) => type === 'currentLocation'));
  const isOnItsWay = snapshot.kept.answers.has(messageId);
  // From the tap on: looking for the place may take a while.
  const [isAnswering, setAnswering] = useState(false);
  const isBusy = isOnItsWay || isAnswering;
  // Set at the first tap, before anything is stored: the next tap finds it.
  const isTapped = useRef(false);

  useEffect(() => {
    heading.current?.focus();
    void inbox.open(message);
  }, [messageId]);
  // What another tab has entered, or the service has sent back, takes the place of what is here.
  // What was written here is here already, and more may have been typed since.
  const foreign = draft && draft.tab !== inbox.tab ? writeJson({ ...draft.values }) : '';
  useEffect(() => {
    if (draft && foreign !== '') setEntered(fitting(fields, draft.values));
  }, [foreign]);
  useEffect(() => {
    isTapped.current = isOnItsWay;
  }, [isOnItsWay]);

  const change = (values: Entered): void => {
    setEntered(values);
    inbox.keepDraft(person, messageId, values).catch((error: unknown) => inbox.say('notRecorded', messageOf(error)));
  };
  const submit = async (submitValue: number | bigint): Promise<void> => {
    if (isTapped.current) return;
    isTapped.current = true;
    setAnswering(true);
    const now = new Date().toISOString();
    const times = fields.filter(({ type }) => type === 'currentDateTime').map(({ id }) => [id, now] as const);
    const values: Entered = { ...entered, ...Object.fromEntries(times) };
    const media = mediaIn(fields, values);
    try {
      const location = await place.current();
      if (inbox.person !== person) return;
      const sentAt = createdAt;
      await inbox.answer(person, { messageId, title, sentAt, requestId: newUuid(), submitValue, values, location, media });
    } catch (error) {
      isTapped.current = false;
      setAnswering(false);
      inbox.say('notAccepted', messageOf(error));
      return;
    }
    onClose();
  };
  const dismiss = async (): Promise<void> => {
    if (!confirm(say('dismissSure'))) return;
    try {
      await inbox.dismiss(message);
      if (inbox.person === person) onClose();
    } catch {
      inbox.say('unreachable');
    }
  };
  return (
    <article aria-busy={isBusy}>
      <header class="message-head">
        <a class="back" href="#/">
          <span aria-hidden="true">‹</span> {say('back')}
        </a>
        <h1 ref={heading} tabIndex={-1} dir="auto">
          {title || category || say('inbox')}
        </h1>
        <p class="quiet">
          {category !== '' && <span dir="auto">{category} · </span>}
          <Time iso={createdAt} language={language} />
        </p>
      </header>
      {isBusy && <p role="status">{say(snapshot.live === 'open' || !isOnItsWay ? 'uploading' : 'kept')}</p>}
      {draft && draft.refusal !== '' && <p role="alert">{say('notAccepted', draft.refusal)}</p>}
      {isPlain(message) ? (
        <p class="text" dir="auto">
          {textOf(payload, 'body') || textOf(payload, 'subtitle')}
        </p>
      ) : (
        <FormView
          payload={payload}
          entered={entered}
          refused={draft?.refused ?? []}
          isBusy={isBusy}
          onChange={change}
          onSubmit={(value) => void submit(value)}
        />
      )}
      <button type="button" class="quiet-button" onClick={() => void dismiss()}>
        {say('dismiss')}
      </button>
    </article>
  );
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A notification without a form has no topic that an answer could go to. */
const isPlain = ({ payload }: Message): boolean => textOf(payload, 'responseTopic') === '';

export function Time({ iso, language }: { iso: string; language: string }) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return null;
  // As it is written where the person lives, when that is in the same language.
  const place = navigator.languages.find((one) => one.split('-', 1)[0] === language) ?? language;
  return <time dateTime={iso}>{new Intl.DateTimeFormat(place, { dateStyle: 'medium', timeStyle: 'short' }).format(at)}</time>;
}

const LONGEST_PLACE_MS = PLACE_WAIT_MS + 2_000;

/** Looked for while the form is filled, so that the answer need not wait. Null where it is not known: the answer goes without it. */
function usePlace(isWanted: boolean): { current(): Promise<Place | null> } {
  const looking = useRef<Promise<Place | null> | null>(null);
  useEffect(() => {
    if (isWanted) looking.current = whereAmI().catch(() => null);
  }, [isWanted]);
  return {
    current() {
      const found = async (): Promise<Place | null> => (await looking.current) ?? (isWanted ? whereAmI().catch(() => null) : null);
      // Nobody need answer the browser's question.
      return Promise.race([found(), new Promise<null>((resolve) => setTimeout(() => resolve(null), LONGEST_PLACE_MS))]);
    },
  };
}
