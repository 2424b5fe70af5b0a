/** The neighbour's screens: `/b/<bake>` takes an order, `/o/<key>` shows and cancels it. */
import { call, ending, field, html, load, money, NoAnswer, on, onSubmit, show, sum, when } from './web.js';

const [, kind, id] = location.pathname.split('/');

/** 32 hexadecimal digits that nobody can guess: the private address of an order. */
const newKey = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** An order that was sent and not answered. It outlives a reload, so that this one is sent again and no second one. */
const unanswered = {
  get: () => JSON.parse(localStorage.getItem(`unanswered ${id}`)),
  keep: (order) => localStorage.setItem(`unanswered ${id}`, JSON.stringify(order)),
  drop: () => localStorage.removeItem(`unanswered ${id}`),
};

/** Leaves the page when the order stands. @throws Refused */
async function send(order) {
  unanswered.keep(order);
  try {
    await call('PUT', `/api/orders/${order.key}`, order.body);
    unanswered.drop();
    location.replace(`/o/${order.key}`);
  } catch (problem) {
    if (problem instanceof NoAnswer) return drawUnanswered();
    unanswered.drop();
    throw problem;
  }
}

function drawUnanswered() {
  show(
    'No answer yet',
    html`<h1>No answer yet</h1>
      <p>We cannot tell whether your order arrived. Sending it again is safe: it counts once.</p>
      <form>${ending('Send it again')}</form>`,
  );
  onSubmit('form', () => send(unanswered.get()).catch(({ message }) => openMenu(message)));
}

function breadLine({ id: breadId, name, price_cents, left }) {
  const most = Math.min(left, 20);
  const words = `${money(price_cents)}, ${left > 0 ? `${left} left` : 'sold out'}`;
  const stepper = html`<div class="steps">
    <button type="button" class="step" data-by="-1" aria-label="One less ${name}">−</button>
    <input type="number" id="bread-${breadId}" data-bread="${breadId}" min="0" max="${most}" value="0" />
    <button type="button" class="step" data-by="1" aria-label="One more ${name}">+</button>
  </div>`;
  return html`<li>
    <label for="bread-${breadId}"><span><strong>${name}</strong> ${words}</span></label>
    ${left > 0 && stepper}
  </li>`;
}

function drawMenu(bake, notice) {
  const phone = html`name="phone" type="tel" maxlength="30" autocomplete="tel"`;
  const form = html`<p>Order until ${when(bake.closes_at)}.</p>
    <form>
      <ul class="orders">${bake.breads.map(breadLine)}</ul>
      <output class="total"></output>
      ${field('Your name', html`name="name" maxlength="60" autocomplete="name" required`)}
      ${field('Phone, if you like', phone, 'Only in case the bake is off. Deleted 30 days after closing, like your name.')}
      ${ending('Order')}
    </form>`;
  const isSoldOut = bake.breads.every(({ left }) => left === 0);
  const soldOut = html`<p class="problem">Everything is ordered. When somebody cancels, their loaves come back here.</p>`;
  const closed = html`<p class="problem">Orders for this bake are closed.</p>`;
  show(
    bake.bakery,
    html`<h1>${bake.bakery}</h1>
      <p class="lead">${bake.collection}</p>
      <p>Collect at ${bake.place}. Pay when you collect.</p>
      <p role="alert" class="problem">${notice}</p>
      ${!bake.is_open ? closed : isSoldOut ? soldOut : form}`,
  );
  if (!bake.is_open || isSoldOut) return;
  const inputs = [...document.querySelectorAll('[data-bread]')];
  const wanted = () =>
    inputs
      .map((input) => ({ bread_id: Number(input.dataset.bread), count: Number(input.value) }))
      .filter(({ count }) => count > 0);
  const priceOf = new Map(bake.breads.map((bread) => [bread.id, bread.price_cents]));
  const showTotal = () => {
    const cents = sum(wanted(), ({ bread_id, count }) => count * priceOf.get(bread_id));
    document.querySelector('.total').textContent = `Together ${money(cents)}`;
  };
  on('click', '.step', ({ dataset, parentElement }) => {
    const input = parentElement.querySelector('input');
    input.value = Math.max(0, Math.min(input.max, Number(input.value) + Number(dataset.by)));
    showTotal();
  });
  on('input', '[data-bread]', showTotal);
  onSubmit('form', ({ name, phone }) => {
    if (wanted().length === 0) throw new Error('Choose at least one loaf.');
    return send({ key: newKey(), body: { bake_id: id, name, phone, lines: wanted() } });
  });
  showTotal();
}

function drawOrder({ name, state, lines, total_cents, bake }) {
  const [title, words] = {
    placed: [`Thank you${name && `, ${name}`}`, `Collect at ${bake.place}, ${bake.collection}. Pay then.`],
    collected: ['Collected', 'Enjoy the bread.'],
    cancelled: ['Cancelled', 'These loaves can be ordered again. You owe nothing.'],
  }[state];
  const open = html`<p>Keep the address of this page: with it you can cancel until ${when(bake.closes_at)}.</p>
    <form>${ending('Cancel this order')}</form>`;
  const closed = html`<p>Orders are closed. If you cannot come, please tell ${bake.bakery}.</p>`;
  show(
    title,
    html`<h1>${title}</h1>
      <p class="lead">${words}</p>
      <ul class="orders">
        ${lines.map((line) => html`<li>${line.count} × ${line.name} <span class="price">${money(line.cents)}</span></li>`)}
        <li class="total">Together <span class="price">${money(total_cents)}</span></li>
      </ul>
      ${state === 'placed' && (bake.is_open ? open : closed)}`,
  );
  if (state !== 'placed' || !bake.is_open) return;
  onSubmit('form', async () => {
    if (!confirm('Cancel this order?')) return;
    await call('DELETE', `/api/orders/${id}`);
    openOrder();
  });
}

function openMenu(notice = '') {
  if (unanswered.get()) drawUnanswered();
  else load(() => call('GET', `/api/menus/${id}`), (bake) => drawMenu(bake, notice));
}
const openOrder = () => load(() => call('GET', `/api/orders/${id}`), drawOrder);

if (kind === 'b') openMenu();
else openOrder();
