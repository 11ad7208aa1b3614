// Unwedge: live updates. The server says what changed; the page is fetched
// again and what differs is put in place, so that focus, selection, open
// details and what is being typed stay as they are.
(() => {
  "use strict";
  const root = document.documentElement;
  const kinds = (document.getElementById("main")?.dataset.live ?? "").split(" ").filter(Boolean);
  if (kinds.length === 0 || !window.EventSource) return;
  const regions = ["sheet", "readings", "rail"];
  const pause = 1000; // at most one refresh a second, however fast events come

  // What the reader did to an element is the reader's: it is never taken over.
  const theirs = { DETAILS: ["open"], INPUT: ["checked", "value"], DIALOG: ["open"] };

  // A key says which element of the fresh page an element is. Those without one
  // are told by their place among others of their kind.
  const keyOf = (node) => node.nodeType === Node.ELEMENT_NODE ? node.dataset?.key ?? (node.id || node.getAttribute("aria-labelledby") || node.getAttribute("action")) : null;
  const kind = (node) => `${node.nodeName} ${node.nodeType === Node.ELEMENT_NODE && !keyOf(node) ? node.getAttribute("class") : ""}`;
  const alike = (a, b) => kind(a) === kind(b) && keyOf(a) === keyOf(b);
  const nextAlike = (at, fresh) => {
    while (at && !alike(at, fresh)) at = at.nextSibling;
    return at;
  };

  const morph = (old, fresh) => {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    const keep = theirs[old.nodeName] ?? [];
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !keep.includes(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (!keep.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
    if (old.dataset.hold !== undefined) hold(old, fresh); else children(old, fresh);
  };

  const children = (old, fresh) => {
    const keyed = new Map([...old.childNodes].filter(keyOf).map((n) => [keyOf(n), n]));
    let at = old.firstChild;
    for (const next of [...fresh.childNodes]) {
      const mine = keyOf(next) ? keyed.get(keyOf(next)) : nextAlike(at, next);
      if (!mine || !alike(mine, next)) { old.insertBefore(document.importNode(next, true), at); continue; }
      while (at && at !== mine && !keyOf(at)) at = drop(at); // what stood before it is no longer there
      if (at === mine) at = at.nextSibling; else old.insertBefore(mine, at);
      morph(mine, next);
    }
    while (at) at = drop(at);
  };
  const drop = (node) => { const after = node.nextSibling; node.remove(); return after; };

  // hold updates the rows of a list that somebody works through. New rows are
  // told of and not pushed in; rows that are no longer in the list stay where
  // they are, marked, unless new ones only pushed them off its end.
  const hold = (old, fresh) => {
    const rows = [...old.children], news = new Map([...fresh.children].map((r) => [keyOf(r), r]));
    const arrived = [...news.keys()].filter((k) => !rows.some((r) => keyOf(r) === k)).length;
    let pushed = 0;
    for (const row of rows.reverse()) {
      const next = news.get(keyOf(row));
      if (next) { morph(row, next); pushed = arrived; continue; }
      if (pushed++ < arrived) continue;
      row.dataset.gone = "";
      for (const box of row.querySelectorAll("input[type=checkbox]")) { box.checked = false; box.disabled = true; }
    }
    if (arrived > 0) told.push([old, arrived]);
  };
  let told = [];
  const tell = ([list, arrived]) => {
    const note = list.closest("form, section")?.querySelector("[data-arrived]");
    if (!note) return;
    note.hidden = false;
    note.firstElementChild.textContent = `${arrived} new ${list.dataset.hold}${arrived === 1 ? "" : "s"} came: show`;
  };

  const say = (text) => {
    const place = document.getElementById("stream");
    if (place && place.textContent !== text) place.textContent = text;
  };

  let asked = false, busy = false, last = 0;
  const refresh = async () => {
    if (busy || document.hidden) { asked = true; return; }
    asked = false;
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      root.dataset.now = page.documentElement.dataset.now;
      document.title = page.title;
      for (const id of regions) {
        const old = document.getElementById(id), fresh = page.getElementById(id);
        if (old && fresh) morph(old, fresh);
      }
      told.forEach(tell);
      told = [];
      document.dispatchEvent(new Event("unwedge:fresh"));
      say("");
    } catch (e) {
      say(`Not up to date: this page could not be read again (${e.message}).`);
    }
    busy = false;
    last = performance.now();
    if (asked) later();
  };
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, Math.max(50, pause - (performance.now() - last)));
  };

  // A stream that comes back has missed what happened meanwhile: everything is
  // read afresh.
  let lost = false;
  const listen = () => {
    const stream = new EventSource(`${root.dataset.base ?? ""}/api/v1/events`);
    for (const kind of kinds) stream.addEventListener(kind, later);
    stream.addEventListener("open", () => { if (lost) { lost = false; later(); } });
    stream.addEventListener("error", () => {
      lost = true;
      say("Not live: the connection to Unwedge is lost. What you see is as old as the page.");
      if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 5000);
    });
    addEventListener("pagehide", () => stream.close(), { once: true });
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden && asked) later(); });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-reload]")) { event.preventDefault(); location.reload(); }
  });
  listen();
})();
