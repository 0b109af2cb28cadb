// What waits, the oldest first, by category.
import { useEffect, useRef } from 'preact/hooks';
import type { Message } from '../form/types.ts';
import type { Snapshot } from '../snapshot.ts';
import { useUi } from './context.ts';
import { Time } from './message-view.tsx';

export const linkTo = (messageId: string): string => `#/message/${encodeURIComponent(messageId)}`;
export const linkToTab = (tab: string): string => (tab === '' ? '#/' : `#/tab/${encodeURIComponent(tab)}`);

export function ListView({ snapshot, tab }: { snapshot: Snapshot; tab: string }) {
  const { say } = useUi();
  const { kept } = snapshot;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [tab]);
  const categories = [...new Set(kept.messages.map(({ category }) => category))].filter((category) => category !== '').sort();
  const shown = kept.messages.filter(({ category }) => tab === '' || category === tab);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {say('inbox')}
      </h1>
      {(categories.length > 1 || tab !== '') && (
        <nav class="tabs" aria-label={say('inbox')}>
          {['', ...categories].map((category) => (
            <a key={category} href={linkToTab(category)} aria-current={category === tab ? 'page' : undefined} dir="auto">
              {category || say('all')}
            </a>
          ))}
        </nav>
      )}
      <p class="quiet" role="status">
        {shown.length === 0 ? say(snapshot.isFresh || snapshot.live === 'open' ? 'empty' : 'loading') : say('waiting', shown.length)}
      </p>
      <ul class="messages">
        {shown.map((message) => (
          <Row key={message.messageId} message={message} snapshot={snapshot} />
        ))}
      </ul>
    </>
  );
}

function Row({ message, snapshot }: { message: Message; snapshot: Snapshot }) {
  const { say, language } = useUi();
  const { messageId, title, category, createdAt } = message;
  const { answers, drafts, seen } = snapshot.kept;
  const draft = drafts.get(messageId);
  const mark = answers.has(messageId)
    ? say('sending')
    : draft
      ? say(draft.refusal === '' ? 'draft' : 'refused')
      : seen.has(messageId)
        ? ''
        : say('unread');
  return (
    <li>
      <a class="message" href={linkTo(messageId)}>
        <span class="title" dir="auto">
          {title || category || messageId}
        </span>
        {mark !== '' && <span class="mark">{mark}</span>}
        <span class="quiet">
          {category !== '' && <span dir="auto">{category} · </span>}
          <Time iso={createdAt} language={language} />
        </span>
      </a>
    </li>
  );
}
