/** The baker's screens: signing in, all bakes, a new bake, and the day of a bake. */
import { call, ending, field, html, load, money, on, onSubmit, show, sum, when } from './web.js';

const PASSWORD = html`name="password" type="password" maxlength="200" required`;

function drawSignIn() {
  const email = () =>
    field('E-mail address', html`name="email" type="email" autocomplete="email" maxlength="200" required`);
  const place = html`name="place" maxlength="120" required`;
  const newPassword = html`${PASSWORD} minlength="10" autocomplete="new-password"`;
  show(
    'Ovenful',
    html`<h1>Take orders for one bake, up to what your oven holds.</h1>
      <form id="sign-in">
        ${email()} ${field('Password', html`${PASSWORD} autocomplete="current-password"`)} ${ending('Sign in')}
      </form>
      <h2>New here?</h2>
      <form id="sign-up">
        ${field('Name of your bakery', html`name="bakery" maxlength="60" required`)}
        ${field('Where loaves are collected', place, 'Neighbours see this: 4 Mill Lane, blue door.')}
        ${email()} ${field('Password', newPassword, 'At least 10 characters.')}
        ${ending('Open your bakery')}
      </form>`,
  );
  onSubmit('#sign-in', (values) => call('POST', '/api/sessions', values).then(open));
  onSubmit('#sign-up', (values) => call('POST', '/api/bakers', values).then(open));
}

const stateOf = ({ is_open, closes_at }) =>
  html`<span class="state ${is_open && 'open'}">${is_open ? 'Open until' : 'Closed'} ${when(closes_at)}</span>`;

function drawBakes({ bakery, bakes }) {
  const card = (bake) =>
    html`<li>
      <a href="#bake/${bake.id}">${bake.collection}</a>
      <span>${bake.loaves - bake.left} of ${bake.loaves} loaves ordered</span>
      ${stateOf(bake)}
    </li>`;
  const empty = html`<p>No bakes yet. Say what the oven holds, and send your neighbours the link.</p>`;
  show(
    bakery,
    html`<h1>${bakery}</h1>
      <a class="button" href="#new">New bake</a>
      ${bakes.length > 0 ? html`<ul class="cards">${bakes.map(card)}</ul>` : empty}
      <form id="sign-out">${ending('Sign out')}</form>`,
  );
  onSubmit('#sign-out', () => call('DELETE', '/api/sessions').then(open));
}

/** A new bake starts with the breads of the latest one, because most weeks are like the week before. */
async function readLatestBreads() {
  const [latest] = (await call('GET', '/api/bakes')).bakes;
  return latest ? (await call('GET', `/api/bakes/${latest.id}`)).breads : [{ name: '', loaves: '' }];
}

function breadRow({ name, price_cents, loaves }) {
  const dollars = name && (price_cents / 100).toFixed(2);
  const price = html`name="price" type="number" min="0" max="1000" step="0.01" value="${dollars}"`;
  return html`<fieldset class="bread">
    <legend>Bread</legend>
    ${field('Name', html`name="name" maxlength="40" value="${name}" required`)}
    ${field('Price in $', html`${price} required`)}
    ${field('Loaves', html`name="loaves" type="number" min="1" max="500" value="${loaves}" required`)}
    <button type="button" class="quiet remove">Remove</button>
  </fieldset>`;
}

function drawNewBake(breads) {
  const collection = html`name="collection" maxlength="80" required`;
  show(
    'New bake',
    html`<h1>New bake</h1>
      <form>
        ${field('Day and hours of collection', collection, 'In your own words: Saturday, June 13, 9 to 11.')}
        ${field('Orders close', html`name="closes" type="datetime-local" required`)}
        <div id="breads">${breads.map(breadRow)}</div>
        <p><button type="button" class="quiet" id="add">Add a bread</button></p>
        ${ending('Open the bake')}
      </form>`,
  );
  const rows = document.querySelector('#breads');
  rows.addEventListener('click', ({ target }) => {
    if (target.matches('.remove') && rows.children.length > 1) target.closest('.bread').remove();
  });
  on('click', '#add', () => {
    if (rows.children.length < 8) rows.insertAdjacentHTML('beforeend', breadRow({ name: '', loaves: '' }).text);
    rows.lastElementChild.querySelector('input').focus();
  });
  onSubmit('form', async ({ collection, closes }) => {
    const given = [...rows.children].map((row) => {
      const value = (name) => row.querySelector(`[name=${name}]`).value;
      return { name: value('name'), price_cents: Math.round(value('price') * 100), loaves: Number(value('loaves')) };
    });
    const closes_at = new Date(closes).toISOString();
    const { id } = await call('POST', '/api/bakes', { collection, closes_at, breads: given });
    location.hash = `#bake/${id}`;
  });
}

const breadOfBake = ({ name, loaves, left }) =>
  html`<tr>
    <th scope="row">${name}</th>
    <td>${loaves - left}</td>
    <td>${loaves}</td>
  </tr>`;

const orderOfBake = ({ number, name, phone, state, lines, total_cents }) =>
  html`<li>
    <label>
      <input type="checkbox" id="order-${number}" data-number="${number}" ${state === 'collected' && html`checked`} />
      <span>
        <strong>${name || 'Name deleted'}</strong>
        ${lines.map((line) => `${line.count} × ${line.name}`).join(', ')}
      </span>
    </label>
    <span class="price">${money(total_cents)}</span>
    ${phone && html`<a href="tel:${phone}">${phone}</a>`}
    ${state === 'placed' && html`<button class="quiet cancel" data-number="${number}">Cancel order</button>`}
  </li>`;

function drawBake(bake) {
  const waiting = bake.orders.filter(({ state }) => state === 'placed');
  const owed = money(sum(waiting, ({ total_cents }) => total_cents));
  const stillToCollect = `Still to collect: ${waiting.length} of ${bake.orders.length} orders, ${owed}`;
  const message = `Bread for ${bake.collection}. Order until ${when(bake.closes_at)}: ${location.origin}/b/${bake.id}`;
  const share = html`<section class="share">
    <h2>Send this</h2>
    <p id="message">${message}</p>
    <button id="copy">Copy</button>
    <button class="quiet" id="close">Close now</button>
  </section>`;
  show(
    bake.collection,
    html`<h1>${bake.collection}</h1>
      <p>${stateOf(bake)}</p>
      ${bake.is_open && share}
      <h2>To bake</h2>
      <table>
        <tr><th scope="col">Bread</th><th scope="col">Ordered</th><th scope="col">Oven holds</th></tr>
        ${bake.breads.map(breadOfBake)}
      </table>
      <h2>To hand over</h2>
      <p>${bake.orders.length > 0 ? stillToCollect : 'No orders yet.'}</p>
      <p role="alert" class="problem"></p>
      <ul class="orders">${bake.orders.map(orderOfBake)}</ul>`,
  );
  const here = location.hash;
  const path = `/api/bakes/${bake.id}`;
  /** Draws what the server has kept, so that nothing looks saved before it is. One change at a time. */
  const change = async (address, body, control) => {
    const controls = [...document.querySelectorAll('main input, main button')];
    for (const each of controls) each.disabled = true;
    try {
      const changed = await call('PATCH', address, body);
      if (location.hash !== here) return;
      drawBake(changed);
      document.getElementById(control.id)?.focus({ preventScroll: true });
    } catch (problem) {
      for (const each of controls) each.disabled = false;
      if (control.type === 'checkbox') control.checked = !control.checked;
      document.querySelector('.problem').textContent = `This may not be saved. ${problem.message}`;
    }
  };
  const changeOrder = (control, state) => change(`${path}/orders/${control.dataset.number}`, { state }, control);
  on('change', '[type=checkbox]', (tick) => changeOrder(tick, tick.checked ? 'collected' : 'placed'));
  on('click', '.cancel', (button) => {
    if (confirm('Cancel this order? Its loaves can be ordered again.')) changeOrder(button, 'cancelled');
  });
  on('click', '#close', (button) => {
    if (confirm('Close this bake for orders? This cannot be undone.')) change(path, { is_open: false }, button);
  });
  on('click', '#copy', async (button) => {
    getSelection().selectAllChildren(document.querySelector('#message'));
    await navigator.clipboard?.writeText(message);
    button.textContent = navigator.clipboard ? 'Copied' : 'Selected: now copy it';
  });
}

function open() {
  const [name, id] = location.hash.slice(1).split('/');
  const signedOut = ({ status }) => status === 401 && (drawSignIn(), true);
  if (name === 'new') load(readLatestBreads, drawNewBake, signedOut);
  else if (name === 'bake') load(() => call('GET', `/api/bakes/${id}`), drawBake, signedOut);
  else load(() => call('GET', '/api/bakes'), drawBakes, signedOut);
}

addEventListener('hashchange', open);
open();
