/** Code that runs inside the page that is looked at, as text: this project's types know no browser. */

/** Gives a list of faults: what reaches over the right edge of the window, and texts that are cut off. */
export const OVERFLOWS = `(() => {
  const faults = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width)
    faults.push('scrolls sideways: ' + document.documentElement.scrollWidth + ' px in ' + width + ' px');
  for (const element of document.querySelectorAll('body *:not(svg *)')) {
    const style = getComputedStyle(element);
    if (style.position === 'absolute' && style.clipPath !== 'none') continue;
    const isCut = ['hidden', 'clip'].includes(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
    if (isCut && element.innerText?.trim())
      faults.push('cut off: ' + element.tagName + ' "' + element.innerText.slice(0, 60) + '"');
  }
  for (const text of document.querySelectorAll('svg text')) {
    const frame = text.ownerSVGElement.getBoundingClientRect();
    const box = text.getBoundingClientRect();
    if (box.width > 0 && (box.left < frame.left - 2 || box.right > frame.right + 2))
      faults.push('reaches over its drawing: "' + text.textContent.slice(0, 60) + '"');
  }
  return faults;
})()`;
